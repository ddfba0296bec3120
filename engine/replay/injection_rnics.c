/* injection_rnics.c - RNICs that a site takes down and brings back, as the coordinator has it done.
 *
 * An RNIC goes down when its outage comes, be that inside an iteration, and is back when the outage
 * says; at an edge it is as the job says. What follows is not for the coordinator to tell: the
 * worker at the RNIC's own end sees it go and tells the others. An outage that is over before
 * anybody gives up, and one whose moment came when all ops had ended, do not outlast their
 * iteration. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/replay/injection_internal.h"

static const struct topology *topology_of(const struct live *live)
{
	return &live->config.scenario->topology;
}

static const struct fault *fault_of(const struct live *live, size_t i)
{
	return &live->config.scenario->faults[i];
}

static bool is_rnic(const struct live *live, size_t fault)
{
	return fault_of(live, fault)->kind == FAULT_DOWN && site_takes(live->config.site, fault);
}

int rnics_open(struct live *live, struct err *err)
{
	struct injection *injection = &live->injection;
	size_t n = live->config.scenario->n_faults;

	injection->has_begun = array_new(n, sizeof(*injection->has_begun));
	injection->until_ns = array_new(n, sizeof(*injection->until_ns));
	return injection->has_begun && injection->until_ns
	               ? 0
	               : err_set(err, -ENOMEM, "no memory for the coordinator");
}

/* When an outage that begins now is over; INT64_MAX: no clock knows. */
static int64_t until_ns(const struct fault *fault, int64_t now_ns)
{
	if (fault->end.kind != MOMENT_TIME)
		return INT64_MAX;
	return fault->start.kind == MOMENT_TIME ? fault->end.value : now_ns + fault->end.value;
}

static int take_down(struct live *live, size_t fault, int64_t asked_ns, bool is_edge,
                     struct err *err)
{
	struct injection *injection = &live->injection;
	int64_t now_ns;
	int rc = injection_set(live, fault, true, err);

	if (rc)
		return rc;
	now_ns = is_edge ? injection->start_ns : injection_now_ns(live);
	injection->has_begun[fault] = true;
	injection->until_ns[fault] = until_ns(fault_of(live, fault), now_ns);
	injection->times[fault] = (struct fault_times){
		.applied_ns = now_ns, .cleared_ns = -1, .detected_ns = -1, .recovered_ns = -1};
	if (!is_edge)
		injection_note_lateness(live, asked_ns, now_ns);
	return 0;
}

static int bring_back(struct live *live, size_t fault, struct err *err)
{
	int rc = injection_set(live, fault, false, err);

	if (rc)
		return rc;
	live->injection.times[fault].cleared_ns = injection_now_ns(live);
	board_set_moment(live->board.back_ns, fault, clock_monotonic_ns());
	return 0;
}

/* When an outage of the iteration in hand begins, since the run's start; WORLD_NOT_YET. */
static int64_t begins_ns(const struct live *live, const struct executor_outage *outage)
{
	if (outage->op < 0)
		return live->injection.start_ns + outage->at_ns;
	return __atomic_load_n(&live->board.op_starts[outage->op], __ATOMIC_ACQUIRE);
}

int rnics_begin(struct live *live, const struct executor_job *job, struct err *err)
{
	struct injection *injection = &live->injection;
	int rc = 0;

	injection->job = job;
	for (size_t i = 0; i < live->config.scenario->n_faults; i++)
		injection->has_begun[i] = false;
	for (size_t i = 0; rc == 0 && i < job->n_outages; i++) {
		size_t fault = (size_t)job->outages[i].fault;

		if (!is_rnic(live, fault))
			continue;
		board_set_moment(live->board.noticed_ns, fault, 0);
		board_set_moment(live->board.back_ns, fault, 0);
		if (job->outages[i].op < 0 && job->outages[i].at_ns <= 0)
			rc = take_down(live, fault, job->start_ns, true, err);
	}
	return rc;
}

static int64_t sooner_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static int64_t later_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

int rnics_continue(struct live *live, int64_t *next_ns, struct err *err)
{
	struct injection *injection = &live->injection;
	const struct executor_job *job = injection->job;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < job->n_outages; i++) {
		size_t fault = (size_t)job->outages[i].fault;
		int64_t at_ns = begins_ns(live, &job->outages[i]);

		if (!is_rnic(live, fault) || injection->has_begun[fault])
			continue;
		if (at_ns <= injection_now_ns(live))
			rc = take_down(live, fault, at_ns, false, err);
		else
			*next_ns = sooner_ns(*next_ns, at_ns);
	}
	for (size_t i = 0; rc == 0 && i < live->config.scenario->n_faults; i++) {
		int64_t end_ns = injection->until_ns[i];

		if (!is_rnic(live, i) || !injection->is_on[i] || end_ns == INT64_MAX)
			continue;
		if (end_ns > injection_now_ns(live)) {
			*next_ns = sooner_ns(*next_ns, end_ns);
			continue;
		}
		rc = bring_back(live, i, err);
		if (rc == 0)
			injection_note_lateness(live, end_ns, injection->times[i].cleared_ns);
	}
	return rc;
}

/* Did the outage hold the message of an op up? It was sent again, or was on the rail before that
 * was back; of an outage that did not end, back_ns means nothing. */
static bool has_waited(const struct sim_op_times *times, const struct executor_outage *outage,
                       int64_t back_ns)
{
	bool was_on_rail = times->rail == outage->rail && times->transfer_start_ns >= 0 &&
	                   times->transfer_start_ns < back_ns;

	return times->n_resends > 0 ||
	       (was_on_rail && outage->lasts_ns >= 0 && times->arrive_ns > back_ns);
}

/* The arrival of the last message from the stage or to it that the outage held up; −1: there was
 * none. All since the iteration's start. */
static int64_t last_arrival_ns(const struct live *live, const struct executor_job *job,
                               const struct executor_outage *outage, int64_t back_ns)
{
	const struct board *board = &live->board;
	int per_stage = OP_KINDS * board->n_microbatches, n_ops = board_ops(board);
	int64_t last_ns = -1;

	for (int i = 0; i < n_ops * board->n_replicas; i++) {
		int from = i % n_ops / per_stage;
		const struct plan_op *op = plan_stage(job->plan, from) + i % per_stage;
		int to = op->kind == OP_F ? from + 1 : from - 1;

		if ((from == outage->stage || to == outage->stage) &&
		    has_waited(&board->times[i], outage, back_ns))
			last_ns = later_ns(last_ns, board->times[i].arrive_ns);
	}
	return last_ns;
}

static void count_recovery(struct live *live, const struct fault_times *times)
{
	double speed = live->config.speed;

	if (times->detected_ns < 0) /* it was too short, or on paper */
		return;
	live->facts.n_outages++;
	live->facts.notice_ns_max =
		later_ns(live->facts.notice_ns_max,
	                 llround((double)(times->detected_ns - times->applied_ns) / speed));
	live->facts.recover_ns_max =
		later_ns(live->facts.recover_ns_max,
	                 llround((double)(times->recovered_ns - times->applied_ns) / speed));
}

/* What nobody gave up on waits until the rail is back, all else until its sender goes over to the
 * next one; what was lost may take longer. */
static void note_recovery(struct live *live, const struct executor_job *job,
                          const struct executor_outage *outage, int64_t died_ns)
{
	struct injection *injection = &live->injection;
	struct fault_times *times = &injection->times[outage->fault];
	int64_t noticed_ns = board_moment_ns(live->board.noticed_ns, (size_t)outage->fault);
	int64_t arrival_ns;

	if (noticed_ns > 0)
		times->detected_ns = injection_run_ns(live, noticed_ns);
	/* The kernel may have been done before this process got to look at its clock. */
	if (noticed_ns > 0 && times->applied_ns > times->detected_ns)
		times->applied_ns = times->detected_ns;
	if (died_ns >= 0) {
		injection->died_ns = injection->start_ns + died_ns;
		return;
	}
	times->recovered_ns = later_ns(times->detected_ns, times->applied_ns);
	if (outage->lasts_ns >= 0)
		times->recovered_ns = later_ns(times->recovered_ns, times->cleared_ns);
	arrival_ns = last_arrival_ns(live, job, outage, times->cleared_ns - injection->start_ns);
	if (arrival_ns >= 0)
		times->recovered_ns =
			later_ns(times->recovered_ns, injection->start_ns + arrival_ns);
	if (outage->lasts_ns < 0 && !outage->is_spare)
		times->recovered_ns =
			later_ns(times->recovered_ns, times->applied_ns + job->failover_ns);
	count_recovery(live, times);
}

int rnics_finish(struct live *live, const struct executor_job *job,
                 const struct executor_result *result, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; live->config.site && rc == 0 && i < job->n_outages; i++) {
		const struct executor_outage *outage = &job->outages[i];
		size_t fault = (size_t)outage->fault;

		if (!is_rnic(live, fault) || !live->injection.has_begun[fault])
			continue;
		if (result->died_ns < 0 && live->injection.is_on[fault] &&
		    (outage->lasts_ns >= 0 || !result->has_fired[i]))
			rc = bring_back(live, fault, err);
		if (rc == 0 && result->has_fired[i])
			note_recovery(live, job, outage, result->died_ns);
	}
	return rc;
}

static bool is_at(const struct live *live, size_t fault, int rail)
{
	return is_rnic(live, fault) &&
	       fault_of(live, fault)->from_stage * topology_of(live)->n_rails +
	                       fault_of(live, fault)->rail ==
	               rail;
}

/* One rail as the job has it. After a restart an outage that is permanent is there again. */
static int follow(struct live *live, int rail, bool is_down, struct err *err)
{
	int rc = 0;
	bool has_one = false;

	for (size_t i = 0; rc == 0 && i < live->config.scenario->n_faults; i++) {
		if (!is_at(live, i, rail) || !live->injection.is_on[i])
			continue;
		has_one = is_down;
		rc = is_down ? 0 : bring_back(live, i, err);
	}
	for (size_t i = 0; rc == 0 && is_down && !has_one && i < live->config.scenario->n_faults;
	     i++)
		if (is_at(live, i, rail) && fault_of(live, i)->is_permanent) {
			has_one = true;
			rc = injection_set(live, i, true, err);
		}
	return rc;
}

int rnics_follow(struct live *live, const bool *is_down, struct err *err)
{
	int n_rnics = topology_of(live)->n_stages * topology_of(live)->n_rails, rc = 0;

	for (int i = 0; live->config.site && rc == 0 && i < n_rnics; i++)
		rc = follow(live, i, is_down[i], err);
	return rc;
}

int rnics_restore(struct live *live, int64_t cost_ns, struct err *err)
{
	struct injection *injection = &live->injection;
	int rc = 0;

	for (size_t i = 0; live->config.site && rc == 0 && i < live->config.scenario->n_faults;
	     i++) {
		struct fault_times *times = &injection->times[i];

		if (!is_rnic(live, i))
			continue;
		if (injection->is_on[i])
			rc = bring_back(live, i, err);
		if (times->applied_ns < 0 || times->recovered_ns >= 0)
			continue;
		/* Of what began when all ops had ended the job died before it was there. */
		times->recovered_ns = later_ns(injection->died_ns + cost_ns,
		                               later_ns(times->applied_ns, times->detected_ns));
		count_recovery(live, times);
	}
	return rc;
}

void rnics_close(struct live *live)
{
	free(live->injection.has_begun);
	free(live->injection.until_ns);
}
