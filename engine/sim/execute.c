/* execute.c - iterations that somebody else runs: what came of them, as the simulator would have
 * it. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/sim/run_internal.h"

/* What a job borrows. */
struct lists {
	struct executor_outage *outages;
	size_t n_outages;
	bool *is_down;
	bool *has_fired;
};

static void free_lists(struct lists *lists)
{
	free(lists->outages);
	free(lists->is_down);
	free(lists->has_fired);
}

/* A rail in use counts as up: the outage that the simulator has it in is over before anybody gave
 * up on it, and belongs to the iteration in which it began. */
static int make_lists(const struct sim *sim, struct lists *out, struct err *err)
{
	int n_stages = sim->scenario->topology.n_stages, n_rails = sim->scenario->topology.n_rails;
	int rc = sim_list_outages(sim, &out->outages, &out->n_outages, err);

	if (rc)
		return rc;
	out->has_fired = array_new(out->n_outages, sizeof(*out->has_fired));
	out->is_down = array_new((size_t)n_stages * (size_t)n_rails, sizeof(*out->is_down));
	if (!out->has_fired || !out->is_down)
		return err_set(err, -ENOMEM, "no memory for the outages of an iteration");
	for (int i = 0; i < n_stages * n_rails; i++)
		out->is_down[i] = sim->is_down[i] && !sim_uses_rail(sim, i / n_rails, i % n_rails);
	for (size_t i = 0; i < out->n_outages; i++)
		out->outages[i].is_spare =
			!sim_uses_rail(sim, out->outages[i].stage, out->outages[i].rail);
	return 0;
}

static struct executor_job make_job(const struct sim *sim, const struct lists *lists)
{
	int every = sim->scenario->recovery.checkpoint_every;

	return (struct executor_job){
		.plan = &sim->plan,
		.plan_version = sim->plan_version,
		.plane = sim->plane,
		.rules = sim->rules,
		.attempt = sim->attempt,
		.iteration = sim->iteration,
		.start_ns = sim->now_ns,
		.failover_ns = sim->scenario->recovery.failover_ns,
		.wants_checkpoint = every > 0 && (sim->iteration + 1) % every == 0,
		.outages = lists->outages,
		.n_outages = lists->n_outages,
		.is_down = lists->is_down,
	};
}

static bool is_later(const struct executor_outage *a, const struct executor_outage *b)
{
	return a->at_ns > b->at_ns || (a->at_ns == b->at_ns && a->fault > b->fault);
}

/* Keep the outages that fired, in the order in which they did. */
static void keep_fired(const struct sim *sim, struct lists *lists)
{
	size_t n = 0;

	for (size_t i = 0; i < lists->n_outages; i++) {
		struct executor_outage fired = lists->outages[i];
		size_t at = n;

		if (!lists->has_fired[i])
			continue;
		if (fired.op >= 0)
			fired.at_ns = world_op_ns(sim->world, fired.op) - sim->now_ns;
		for (; at > 0 && is_later(&lists->outages[at - 1], &fired); at--)
			lists->outages[at] = lists->outages[at - 1];
		lists->outages[at] = fired;
		n++;
	}
	lists->n_outages = n;
}

/* Put what fired into the run's state. *fatal_out: the outage of which the job died, NULL: it did
 * not. That is the first that leaves no way on, whether or not somebody still had something to send
 * and noticed; or, where somebody gave up all the same, the last. */
static int fail_over(struct sim *sim, const struct lists *lists, bool has_died,
                     const struct executor_outage **fatal_out, struct err *err)
{
	int rc = 0;

	*fatal_out = NULL;
	for (size_t i = 0; rc == 0 && i < lists->n_outages; i++) {
		const struct executor_outage *outage = &lists->outages[i];

		if ((has_died && i + 1 == lists->n_outages) ||
		    !sim_can_fail_over(sim, &sim->scenario->faults[outage->fault])) {
			*fatal_out = outage;
			return 0;
		}
		rc = sim_fail_over(sim, outage->fault, outage->at_ns, err);
	}
	return rc;
}

/* Outages that fired become part of the run's state; one that the job died of ends the iteration,
 * at died_ns or, if that is −1, when the outage began. */
static int settle_outages(struct sim *sim, struct lists *lists, int64_t died_ns, bool *is_over,
                          struct err *err)
{
	struct executor *executor = sim->request->executor;
	const struct executor_outage *fatal;
	int rc;

	keep_fired(sim, lists);
	rc = fail_over(sim, lists, died_ns >= 0, &fatal, err);
	*is_over = fatal || died_ns >= 0;
	if (rc || !*is_over)
		return rc;
	if (!fatal)
		return err_set(err, -EIO, "the job died without an RNIC that died");
	rc = sim_end_by_restart(sim, fatal->fault, died_ns >= 0 ? died_ns : fatal->at_ns, err);
	if (rc)
		return rc;
	return executor->ops->restart(executor, sim->attempt, sim->iteration,
	                              sim->scenario->recovery.restart_ns, err);
}

int sim_execute(struct sim *sim, struct sim_outcome *out, double *loss_out, bool *is_over,
                struct err *err)
{
	struct executor_result result = {.times = sim->times, .died_ns = -1};
	struct lists lists = {0};
	int rc = make_lists(sim, &lists, err);

	*is_over = false;
	result.has_fired = lists.has_fired;
	if (rc == 0) {
		const struct executor_job job = make_job(sim, &lists);

		rc = sim->request->executor->ops->run(sim->request->executor, &job, &result, err);
	}
	if (rc == 0)
		rc = settle_outages(sim, &lists, result.died_ns, is_over, err);
	if (rc == 0 && !*is_over) {
		sim_sum_until(sim, result.makespan_ns, out);
		*loss_out = result.loss;
	}
	free_lists(&lists);
	return rc;
}
