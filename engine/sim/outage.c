/* outage.c - a dead RNIC: fail-over to the next rail, or restart from the last checkpoint.
 *
 * A job on the stream plane dies with its RNIC, as NCCL's communicators do. Delegates, and
 * schedules that can switch to them at once, send what was under way again over the next rail
 * (DESIGN.md section 6). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/sim/run_internal.h"

enum { REASON_BYTES = 128 };

/* When a DOWN that starts at an op does, since the iteration's start; −1: not, or not yet. */
static int64_t start_op_ns(const struct sim *sim, const struct fault *fault)
{
	int op = world_start_op(sim->world, (size_t)(fault - sim->scenario->faults));
	int64_t start_ns = world_op_ns(sim->world, op);

	return fault->start.value == sim->iteration && start_ns != WORLD_NOT_YET
	               ? start_ns - sim->now_ns
	               : -1;
}

/* When a DOWN starts, since the iteration's start; −1: not in this iteration. */
static int64_t outage_start_ns(const struct sim *sim, const struct fault *fault)
{
	if (fault->start.kind == MOMENT_ITERATION)
		return fault->start.value == sim->iteration ? 0 : -1;
	if (fault->start.kind == MOMENT_OP)
		return start_op_ns(sim, fault);
	/* One that fell into a restart is replaced by that restart. */
	if (fault->start.kind == MOMENT_TIME && fault->start.value >= sim->now_ns)
		return fault->start.value - sim->now_ns;
	return -1;
}

int sim_next_outage(const struct sim *sim, int64_t end_ns, int64_t *at_ns_out)
{
	int first = -1;

	for (size_t i = 0; i < sim->scenario->n_faults; i++) {
		const struct fault *fault = &sim->scenario->faults[i];
		int64_t at_ns;

		if (fault->kind != FAULT_DOWN || sim->outages[i].since_ns >= 0)
			continue;
		at_ns = outage_start_ns(sim, fault);
		if (at_ns < 0 || at_ns >= end_ns || (first >= 0 && at_ns >= *at_ns_out))
			continue;
		first = (int)i;
		*at_ns_out = at_ns;
	}
	return first;
}

/* Of two at one moment the first that the scenario names, as sim_next_outage() has it. */
static int compare_outages(const void *a, const void *b)
{
	const struct executor_outage *x = a, *y = b;

	if ((x->op >= 0) != (y->op >= 0))
		return x->op >= 0 ? -1 : 1;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->fault - y->fault;
}

/* Not a rail in use: nothing but the spare is lost. */
static bool is_harmless(const struct sim *sim, const struct fault *fault)
{
	return !sim_uses_rail(sim, fault->from_stage, fault->rail);
}

/* Of one that ends at a time. */
static int64_t length_ns(const struct fault *fault)
{
	return fault->start.kind == MOMENT_TIME ? fault->end.value - fault->start.value
	                                        : fault->end.value;
}

/* Is the rail back before anybody gives up on it? When an op comes, nobody knows beforehand. */
static bool is_short(const struct sim *sim, const struct fault *fault)
{
	return fault->end.kind == MOMENT_TIME && !fault->is_permanent &&
	       length_ns(fault) <= sim->scenario->recovery.failover_ns;
}

bool sim_can_fail_over(const struct sim *sim, const struct fault *fault)
{
	if (is_harmless(sim, fault))
		return true;
	if (sim->plane == PLANE_STREAM && sim->request->schedule->adaptation == SCHEDULE_FIXED)
		return false;
	return is_short(sim, fault) || sim_has_spare(sim, fault);
}

/* End of the outage since the run's start; INT64_MAX: it has none that a clock knows. */
static int64_t outage_end_ns(const struct fault *fault, int64_t start_ns)
{
	if (fault->end.kind != MOMENT_TIME)
		return INT64_MAX;
	/* A DOWN from an iteration or an op for a time: the end is a length. */
	return fault->start.kind == MOMENT_TIME ? fault->end.value : start_ns + fault->end.value;
}

int sim_list_outages(const struct sim *sim, struct executor_outage **outages_out, size_t *n_out,
                     struct err *err)
{
	const struct scenario *scenario = sim->scenario;
	struct executor_outage *outages = array_new(scenario->n_faults, sizeof(*outages));
	size_t n = 0;

	if (!outages)
		return err_set(err, -ENOMEM, "no memory for the outages of an iteration");
	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];
		bool is_at_op;
		int64_t at_ns;

		if (fault->kind != FAULT_DOWN || sim->outages[i].since_ns >= 0)
			continue;
		is_at_op = fault->start.kind == MOMENT_OP && fault->start.value == sim->iteration;
		at_ns = is_at_op ? WORLD_NOT_YET : outage_start_ns(sim, fault);
		if (at_ns < 0)
			continue;
		outages[n++] = (struct executor_outage){
			.op = is_at_op ? world_start_op(sim->world, i) : -1,
			.fault = (int)i,
			.stage = fault->from_stage,
			.rail = fault->rail,
			.at_ns = at_ns,
			.is_fatal = !sim_can_fail_over(sim, fault),
			.lasts_ns = is_short(sim, fault) ? length_ns(fault) : -1,
		};
	}
	qsort(outages, n, sizeof(*outages), compare_outages);
	*outages_out = outages;
	*n_out = n;
	return 0;
}

static void begin_outage(struct sim *sim, int fault, int64_t at_ns)
{
	const struct fault *down = &sim->scenario->faults[fault];
	int64_t since_ns = sim->now_ns + at_ns;

	sim->outages[fault] = (struct outage){.since_ns = since_ns,
	                                      .until_ns = outage_end_ns(down, since_ns),
	                                      .attempt = sim->attempt};
	*sim_is_down(sim, down->from_stage, down->rail) = true;
}

int sim_fail_over(struct sim *sim, int fault, int64_t at_ns, struct err *err)
{
	const struct fault *down = &sim->scenario->faults[fault];
	int stage = down->from_stage;
	bool is_lost = !is_harmless(sim, down);
	char reason[REASON_BYTES];
	struct record_decision decision = {.kind = DECISION_FAILOVER,
	                                   .iteration = sim->iteration,
	                                   .at_ns = at_ns,
	                                   .link = -1,
	                                   .seen_ns = -1,
	                                   .since_iteration = sim->iteration,
	                                   .reason = reason};

	begin_outage(sim, fault, at_ns);
	snprintf(reason, sizeof(reason),
	         "rail %d of stage %d died; its messages go over the next one", down->rail, stage);
	if (!is_lost)
		return 0;
	if (is_short(sim, down)) {
		*sim_is_down(sim, stage, down->rail) = false;
		sim_leave_rail(sim, down, at_ns, sim->outages[fault].until_ns - sim->now_ns, true);
		return 0;
	}
	sim_leave_rail(sim, down, at_ns, at_ns + sim->scenario->recovery.failover_ns, false);
	/* A second RNIC that dies in this iteration finds the plane switched. */
	if (sim->plane == PLANE_STREAM && !sim->is_pinned)
		world_set_switch(sim->world, &sim->rules[PLANE_DELEGATE], at_ns);
	sim->is_pinned = true;
	return sim_decide(sim, &decision, err);
}

static int last_checkpoint(const struct sim *sim)
{
	int every = sim->scenario->recovery.checkpoint_every;

	return every > 0 ? sim->iteration - sim->iteration % every : 0;
}

static bool has_fired(const struct sim *sim, size_t fault)
{
	return sim->scenario->faults[fault].kind == FAULT_DOWN && sim->outages[fault].since_ns >= 0;
}

static bool is_over(const struct sim *sim, size_t i)
{
	const struct fault *fault = &sim->scenario->faults[i];

	if (fault->is_permanent)
		return false;
	return sim->now_ns >= sim->outages[i].until_ns ||
	       (fault->end.kind == MOMENT_ITERATION && sim->iteration >= fault->end.value);
}

/* A rail can have several outages, one after the other: one that is over does not mend another. */
static void mark_rails(struct sim *sim)
{
	size_t n_rails =
		(size_t)sim->scenario->topology.n_stages * (size_t)sim->scenario->topology.n_rails;

	memset(sim->is_down, 0, n_rails * sizeof(*sim->is_down));
	for (size_t i = 0; i < sim->scenario->n_faults; i++)
		if (has_fired(sim, i) && !is_over(sim, i))
			*sim_is_down(sim, sim->scenario->faults[i].from_stage,
			             sim->scenario->faults[i].rail) = true;
}

/* Those that end at an op are over when that has started. */
static void notice_ends(struct sim *sim)
{
	for (size_t i = 0; i < sim->scenario->n_faults; i++) {
		const struct fault *fault = &sim->scenario->faults[i];
		struct outage *outage = &sim->outages[i];
		int64_t end_ns;

		if (!has_fired(sim, i) || fault->end.kind != MOMENT_OP ||
		    fault->end.value > sim->iteration)
			continue;
		end_ns = world_op_ns(sim->world, world_end_op(sim->world, i));
		if (end_ns <= sim->now_ns && end_ns < outage->until_ns)
			outage->until_ns = end_ns;
	}
}

/* A restart puts new RNICs in place of those that are not gone for good; they are there when it is
 * done. */
static int replace_rnics(struct sim *sim, struct err *err)
{
	for (size_t i = 0; i < sim->scenario->n_faults; i++)
		if (has_fired(sim, i) && !sim->scenario->faults[i].is_permanent &&
		    sim->outages[i].until_ns > sim->now_ns)
			sim->outages[i].until_ns = sim->now_ns;
	mark_rails(sim);
	return sim_choose_rails(sim, err);
}

/* The initial plan, and nothing believed of the links. */
static int start_over(struct sim *sim, struct err *err)
{
	sim->is_pinned = false;
	for (int link = 0; link < sim->scenario->topology.n_stages - 1; link++)
		sim->links[link] = (struct monitor_link){.transfer_ns = sim->healthy_ns[link],
		                                         .since_iteration = -1};
	for (int stage = 0; stage < sim->scenario->topology.n_stages; stage++)
		sim->stages[stage] = (struct monitor_stage){.factor = 1, .since_iteration = -1};
	sim_believe_stages(sim);
	if (sim->monitor)
		monitor_reset(sim->monitor);
	return sim_make_plan(sim, false, sim->start_plane, err);
}

int sim_restart(struct sim *sim, int fault, int64_t at_ns, struct err *err)
{
	int64_t died_ns = sim->now_ns + at_ns,
		back_ns = died_ns + sim->scenario->recovery.restart_ns;
	char reason[REASON_BYTES];
	struct record_decision decision = {.kind = DECISION_RESTART,
	                                   .link = -1,
	                                   .seen_ns = -1,
	                                   .since_iteration = sim->iteration,
	                                   .reason = reason};
	int rc;

	snprintf(reason, sizeof(reason),
	         "rail %d of stage %d died; the job starts again from its last checkpoint",
	         sim->scenario->faults[fault].rail, sim->scenario->faults[fault].from_stage);
	sim->outages[fault] = (struct outage){
		.since_ns = died_ns, .until_ns = INT64_MAX, .attempt = sim->attempt};
	sim->now_ns = died_ns;
	notice_ends(sim);
	sim->now_ns = back_ns;
	rc = replace_rnics(sim, err);
	if (rc) {
		sim->now_ns = died_ns;
		return rc;
	}
	sim->iteration = last_checkpoint(sim);
	sim->attempt++;
	sim->totals.n_restarts++;
	rc = start_over(sim, err);
	decision.iteration = sim->iteration;
	return rc ? rc : sim_decide(sim, &decision, err);
}

/* When who takes RNICs down for real did; NULL: nobody does. */
static const struct fault_times *times_of(const struct sim *sim, size_t fault)
{
	const struct executor *executor = sim->request->executor;

	if (!executor || !executor->fault_times || executor->fault_times[fault].applied_ns < 0)
		return NULL;
	return &executor->fault_times[fault];
}

/* Tell the sink of an outage, once; cleared_ns −1: it lasts. */
static int report_outage(struct sim *sim, size_t fault, int64_t cleared_ns, struct err *err)
{
	struct outage *outage = &sim->outages[fault];
	const struct fault_times *times = times_of(sim, fault);
	struct record_fault row = {.fault = fault,
	                           .attempt = outage->attempt,
	                           .asked_ns = outage->since_ns,
	                           .applied_ns = outage->since_ns,
	                           .cleared_ns = cleared_ns,
	                           .measured_ns = -1};

	outage->is_reported = true;
	if (times) {
		/* A job dies a moment after its RNIC has. */
		if (row.asked_ns > times->applied_ns)
			row.asked_ns = times->applied_ns;
		row.applied_ns = times->applied_ns;
		row.detected_ns = times->detected_ns > 0 ? times->detected_ns : 0;
		row.recovered_ns = times->recovered_ns > 0 ? times->recovered_ns : 0;
	}
	return record_put_fault(sim->sink, &row, err);
}

/* An outage is reported when it is over, as other faults are, so that nothing is said of a time
 * that the run may not reach. One whose end is an iteration was over when that began. */
static int report_outages(struct sim *sim, bool is_end, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sim->scenario->n_faults; i++) {
		int64_t until_ns = sim->outages[i].until_ns;

		if (!has_fired(sim, i) || sim->outages[i].is_reported)
			continue;
		if (is_over(sim, i))
			rc = report_outage(sim, i, until_ns < sim->now_ns ? until_ns : sim->now_ns,
			                   err);
		else if (is_end)
			rc = report_outage(sim, i, -1, err);
	}
	return rc;
}

int sim_mend_rails(struct sim *sim, struct err *err)
{
	notice_ends(sim);
	mark_rails(sim);
	return report_outages(sim, false, err);
}

int sim_report_outages(struct sim *sim, struct err *err)
{
	notice_ends(sim);
	return report_outages(sim, true, err);
}
