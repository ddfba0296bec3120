/* rails.c - which rail every link uses: the first that both its ends have, until it dies. */
#include <errno.h>

#include "engine/sim/run_internal.h"

bool *sim_is_down(const struct sim *sim, int stage, int rail)
{
	return &sim->is_down[stage * sim->scenario->topology.n_rails + rail];
}

static int last_stage(const struct sim *sim)
{
	return sim->scenario->topology.n_stages - 1;
}

/* Links of stage are first_link() to last_link(); link 0 is also the only stage of a pipeline. */
static int first_link(int stage)
{
	return stage > 0 ? stage - 1 : 0;
}

static int last_link(const struct sim *sim, int stage)
{
	return stage < last_stage(sim) ? stage : first_link(stage);
}

/* The first rail that is up at both ends of link; −1: none is. */
static int usable_rail(const struct sim *sim, int link)
{
	int above = link < last_stage(sim) ? link + 1 : link;

	for (int rail = 0; rail < sim->scenario->topology.n_rails; rail++)
		if (!*sim_is_down(sim, link, rail) && !*sim_is_down(sim, above, rail))
			return rail;
	return -1;
}

bool sim_uses_rail(const struct sim *sim, int stage, int rail)
{
	return sim->rails[first_link(stage)] == rail || sim->rails[last_link(sim, stage)] == rail;
}

bool sim_has_spare(const struct sim *sim, const struct fault *down)
{
	bool *is_down = sim_is_down(sim, down->from_stage, down->rail), was_down = *is_down;
	int last = last_link(sim, down->from_stage), n_without = 0;

	*is_down = true;
	for (int link = first_link(down->from_stage); link <= last; link++)
		n_without += sim->rails[link] == down->rail && usable_rail(sim, link) < 0;
	*is_down = was_down;
	return n_without == 0;
}

void sim_leave_rail(struct sim *sim, const struct fault *down, int64_t from_ns, int64_t until_ns,
                    bool is_back)
{
	struct sim_outage outage = {.from_ns = from_ns, .until_ns = until_ns, .rail = down->rail};
	int last = last_link(sim, down->from_stage);

	for (int link = first_link(down->from_stage); link <= last; link++) {
		if (sim->rails[link] != down->rail)
			continue;
		outage.link = link;
		world_add_outage(sim->world, &outage);
		if (!is_back)
			sim->rails[link] = usable_rail(sim, link);
	}
}

static bool has_rail(const struct sim *sim, int stage)
{
	for (int rail = 0; rail < sim->scenario->topology.n_rails; rail++)
		if (!*sim_is_down(sim, stage, rail))
			return true;
	return false;
}

int sim_choose_rails(struct sim *sim, struct err *err)
{
	for (int stage = 0; stage <= last_stage(sim); stage++)
		if (!has_rail(sim, stage))
			return err_set(err, -ENETDOWN,
			               "stage %d has no rail left: its last RNIC is gone for good; "
			               "give it a spare rail, or a failure that is not permanent",
			               stage);
	for (int link = 0; link <= last_link(sim, last_stage(sim)); link++) {
		sim->rails[link] = usable_rail(sim, link);
		if (sim->rails[link] < 0)
			return err_set(err, -ENETDOWN,
			               "no rail is left between stages %d and %d: of each one end "
			               "is gone for good; give them a spare rail, or a failure "
			               "that is not permanent",
			               link, link + 1);
	}
	return 0;
}
