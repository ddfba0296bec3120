/* execute.c - iterations that somebody else runs: what came of them, as the simulator would have
 * it. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/sim/run_internal.h"

static struct executor_job make_job(const struct sim *sim, const struct executor_outage *outages,
                                    size_t n_outages)
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
		.outages = outages,
		.n_outages = n_outages,
	};
}

/* Outages that fired become part of the run's state; a fatal one ends the iteration. */
static int settle_outages(struct sim *sim, const struct executor_job *job,
                          const struct executor_result *result, bool *is_over, struct err *err)
{
	int fatal = -1, rc = 0;

	for (size_t i = 0; rc == 0 && i < job->n_outages; i++) {
		if (!result->has_fired[i])
			continue;
		if (result->died_ns >= 0 && (job->outages[i].is_fatal || fatal < 0))
			fatal = job->outages[i].fault;
		if (!job->outages[i].is_fatal && result->died_ns < 0)
			rc = sim_fail_over(sim, job->outages[i].fault, job->outages[i].at_ns, err);
	}
	*is_over = result->died_ns >= 0;
	if (rc || !*is_over)
		return rc;
	if (fatal < 0)
		return err_set(err, -EIO, "the job died without an RNIC that died");
	rc = sim_end_by_restart(sim, fatal, result->died_ns, err);
	if (rc)
		return rc;
	return sim->request->executor->ops->restart(sim->request->executor, sim->attempt,
	                                            sim->iteration,
	                                            sim->scenario->recovery.restart_ns, err);
}

int sim_execute(struct sim *sim, struct sim_outcome *out, double *loss_out, bool *is_over,
                struct err *err)
{
	struct executor_result result = {.times = sim->times, .died_ns = -1};
	struct executor_outage *outages = NULL;
	struct executor_job job;
	size_t n_outages = 0;
	int rc = sim_list_outages(sim, &outages, &n_outages, err);

	*is_over = false;
	if (rc)
		return rc;
	result.has_fired = array_new(n_outages, sizeof(*result.has_fired));
	job = make_job(sim, outages, n_outages);
	rc = result.has_fired
	             ? sim->request->executor->ops->run(sim->request->executor, &job, &result, err)
	             : err_set(err, -ENOMEM, "no memory for the outages of an iteration");
	if (rc == 0)
		rc = settle_outages(sim, &job, &result, is_over, err);
	if (rc == 0 && !*is_over) {
		sim_outcome_until(&sim->plan, sim->times, result.makespan_ns, out);
		*loss_out = result.loss;
	}
	free(result.has_fired);
	free(outages);
	return rc;
}
