/* injection.c - when a site's faults begin and end, as the coordinator carries it out.
 *
 * At the edge between two iterations nobody computes and the run's clock stands still, so what is
 * to be in force is, before the first op starts. Inside an iteration the coordinator sleeps until
 * the next moment that is known, or until a worker says that an op has started that a fault waits
 * for; by how much that is late is in the run's facts, and in the record when it really was. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/injection_internal.h"
#include "engine/sim/world.h"

static const struct scenario *scenario_of(const struct live *live)
{
	return live->config.scenario;
}

static bool is_ours(const struct live *live, size_t fault)
{
	return site_takes(live->config.site, fault) &&
	       scenario_of(live)->faults[fault].kind != FAULT_DOWN;
}

int64_t injection_run_ns(const struct live *live, int64_t moment_ns)
{
	return live->injection.start_ns +
	       llround((double)(moment_ns - live->begun_ns) * live->config.speed);
}

int64_t injection_now_ns(const struct live *live)
{
	return injection_run_ns(live, clock_monotonic_ns());
}

int injection_set(struct live *live, size_t fault, bool is_on, struct err *err)
{
	struct site *site = live->config.site;

	if (site->ops->set(site, fault, is_on, err))
		return err_wrap(err, "fault %zu could not be %s", fault,
		                is_on ? "applied" : "cleared");
	live->injection.is_on[fault] = is_on;
	return 0;
}

void injection_note_lateness(struct live *live, int64_t asked_ns, int64_t done_ns)
{
	int64_t late_ns = llround((double)(done_ns - asked_ns) / live->config.speed);

	live->facts.n_applied++;
	live->facts.apply_late_ns_sum += late_ns;
	if (late_ns > live->facts.apply_late_ns_max)
		live->facts.apply_late_ns_max = late_ns;
}

/* Bring the fault to what it is to be at a moment of the run; *done_ns_out is when it was, by a
 * clock that stands still at an edge. */
static int settle_one(struct live *live, size_t fault, int64_t at_ns, bool is_edge, struct err *err)
{
	struct injection *injection = &live->injection;
	bool is_on = world_is_on(injection->world, fault, at_ns);
	int64_t done_ns;
	int rc = injection_set(live, fault, is_on, err);

	if (rc)
		return rc;
	done_ns = is_edge ? at_ns : injection_now_ns(live);
	if (is_on)
		injection->times[fault].applied_ns = done_ns;
	else
		injection->times[fault].cleared_ns = done_ns;
	if (!is_edge)
		injection_note_lateness(live, world_change_ns(injection->world, fault, is_on),
		                        done_ns);
	return 0;
}

/* Those that end first: what they stood in the way of can begin then. */
static int settle(struct live *live, int64_t at_ns, bool is_edge, struct err *err)
{
	struct injection *injection = &live->injection;
	int rc = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; rc == 0 && i < scenario_of(live)->n_faults; i++)
			if (is_ours(live, i) && injection->is_on[i] == (pass == 0) &&
			    world_is_on(injection->world, i, at_ns) != injection->is_on[i])
				rc = settle_one(live, i, at_ns, is_edge, err);
	return rc;
}

/* What the first change on a host takes longer for is made before the run's clock begins: a fault
 * that starts inside an iteration finds it there. What is done on paper only is not done twice. */
static int rehearse(struct live *live, struct err *err)
{
	int rc = 0;

	if (strcmp(live->config.site->injector, "dry_run") == 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < scenario_of(live)->n_faults; i++) {
		if (!is_ours(live, i) ||
		    scenario_of(live)->faults[i].start.kind == MOMENT_ITERATION)
			continue;
		rc = injection_set(live, i, true, err);
		rc = rc ? rc : injection_set(live, i, false, err);
	}
	return rc;
}

int injection_open(struct live *live, struct err *err)
{
	struct injection *injection = &live->injection;
	size_t n = scenario_of(live)->n_faults;
	int rc;

	if (!live->config.site)
		return 0;
	injection->is_on = array_new(n, sizeof(*injection->is_on));
	injection->times = array_new(n, sizeof(*injection->times));
	if (!injection->is_on || !injection->times)
		return err_set(err, -ENOMEM, "no memory for the coordinator");
	for (size_t i = 0; i < n; i++)
		injection->times[i] = (struct fault_times){-1, -1, -1, -1};
	rc = world_new(scenario_of(live), live->config.seed, &injection->world, err);
	if (rc)
		return rc;
	world_share_ops(injection->world, live->board.op_starts);
	live->base.fault_times = injection->times;
	rc = rnics_open(live, err);
	return rc ? rc : rehearse(live, err);
}

void injection_close(struct live *live)
{
	world_free(live->injection.world);
	free(live->injection.is_on);
	free(live->injection.times);
	rnics_close(live);
}

int injection_begin(struct live *live, const struct executor_job *job, struct err *err)
{
	int rc;

	if (!live->config.site)
		return 0;
	live->injection.start_ns = job->start_ns;
	world_begin(live->injection.world, job->iteration, job->start_ns);
	rc = settle(live, job->start_ns, true, err);
	return rc ? rc : rnics_begin(live, job, err);
}

int injection_continue(struct live *live, int64_t *wait_ns, struct err *err)
{
	int64_t next_ns, left_ns;
	int rc;

	if (!live->config.site)
		return 0;
	rc = settle(live, injection_now_ns(live), false, err);
	if (rc)
		return rc;
	next_ns = world_next_change_ns(live->injection.world, injection_now_ns(live));
	rc = rnics_continue(live, &next_ns, err);
	if (rc || next_ns == WORLD_NOT_YET)
		return rc;
	left_ns = llround((double)(next_ns - injection_now_ns(live)) / live->config.speed);
	left_ns = left_ns > 0 ? left_ns : 0;
	*wait_ns = left_ns < *wait_ns ? left_ns : *wait_ns;
	return 0;
}
