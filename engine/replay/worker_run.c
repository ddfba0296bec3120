/* worker_run.c - one iteration of a worker: poll, end what is due, compute once, poll again.
 *
 * The loop never lets a core idle on the critical path: waking up is what costs on a virtual
 * machine. All messages that have come are handed to their stages before anything is computed, and
 * at most one computation runs between two polls, so that one stage's work does not delay another's
 * message by more than that. */
#include <errno.h>
#include <math.h>
#include <sched.h>

#include "engine/base/clock.h"
#include "engine/replay/worker_internal.h"
#include "engine/schedule/channel.h"
#include "engine/transport/shaped.h"

enum { EVENTS_MAX = 32 };

struct stage *worker_stage(const struct worker *worker, int stage)
{
	int i = stage - worker->first_stage;

	return i >= 0 && i < worker->n_stages ? worker->stages[i] : NULL;
}

static int64_t real_ns(const struct worker *worker, int64_t profile_ns)
{
	return llround((double)profile_ns / worker->config->live->speed);
}

static struct shape real_shape(const struct worker *worker, const struct shape *profile)
{
	return (struct shape){
		.hold_ns = real_ns(worker, profile->hold_ns),
		.transmit_ns = real_ns(worker, profile->transmit_ns),
		.latency_ns = real_ns(worker, profile->latency_ns),
		.return_ns = real_ns(worker, profile->return_ns),
	};
}

/* What a message meets, with jitter, and faults by time or at ops. */
static struct shape find_shape(const struct worker *worker, const struct message *message)
{
	const struct sim_world *view = world_view(worker->world);
	bool is_backward = message->from_stage > message->to_stage;
	int direction =
		sim_direction(is_backward ? message->to_stage : message->from_stage, is_backward);
	struct shape met = view->messages[direction];
	int64_t now_ns = llround((double)(message->sent_ns - worker->run.order.real_start_ns) *
	                         worker->config->live->speed);

	if (view->ask_message)
		view->ask_message(view->context, direction, message->microbatch, now_ns, &met);
	return real_shape(worker, &met);
}

int64_t worker_hold_ns(void *worker, const struct message *message)
{
	int64_t hold_ns = find_shape(worker, message).hold_ns;

	return hold_ns > 0 ? hold_ns : 0;
}

/* The transport's part: it holds nothing that streams do. */
static struct shape shape_of_transport(const struct worker *worker, struct shape shape)
{
	if (worker->config->live->occupies_streams)
		shape.hold_ns = 0;
	return shape;
}

/* Asked for by the transport for every message. */
static void ask_shape(void *context, const struct message *message, struct shape *shape)
{
	*shape = shape_of_transport(context, find_shape(context, message));
}

static struct shape direction_shape(const struct worker *worker, int link, bool is_backward)
{
	const struct sim_world *view = world_view(worker->world);
	struct shape shape = real_shape(worker, &view->messages[sim_direction(link, is_backward)]);

	return shape_of_transport(worker, shape);
}

static int set_shapes(struct worker *worker, const struct plane_rules *rules, struct err *err)
{
	const struct sim_world *view = world_view(worker->world);
	int n_all = worker->config->board->n_stages, rc = 0;

	for (int stage = worker->first_stage;
	     rc == 0 && stage < worker->first_stage + worker->n_stages; stage++) {
		struct shape forward = direction_shape(worker, stage, false);

		if (stage < n_all - 1)
			rc = shaped_set(worker->transport, stage, stage + 1, &forward, err);
		if (rc == 0 && stage > 0) {
			struct shape backward = direction_shape(worker, stage - 1, true);

			rc = shaped_set(worker->transport, stage, stage - 1, &backward, err);
		}
	}
	shaped_set_hook(worker->transport, view->ask_message ? ask_shape : NULL, worker);
	shaped_set_plane(worker->transport, rules->kind,
	                 rules->kind == PLANE_STREAM ? rules->window_bytes : 0);
	return rc;
}

/* Copy the plan that the coordinator put on the board. */
static int take_plan(struct worker *worker, const struct order *order, struct err *err)
{
	const struct board *board = worker->config->board;
	struct plan plan;
	int rc = plan_init(&plan, board->n_stages, board->n_microbatches, err);
	if (rc)
		return rc;
	for (int i = 0; i < board_ops(board); i++)
		plan.ops[i] = board->ops[i];
	plan.merges_backward = order->merges_backward;
	plan_fini(&worker->plan);
	worker->plan = plan;
	worker->plan_version = order->plan_version;
	return 0;
}

/* Channels have an order on the stream plane alone, the same as long as the plan is. It is not made
 * again, for the iteration's clock runs already. */
static int begin_stages(struct worker *worker, bool is_plan_new, struct err *err)
{
	bool has_order = is_plan_new && worker->run.rules.kind == PLANE_STREAM;
	struct plan unit_copy;
	int rc = has_order ? plan_copy_in_units(&worker->plan, &unit_copy, err) : 0;

	if (rc)
		return rc;
	for (int i = 0; rc == 0 && i < worker->n_stages; i++)
		rc = stage_begin(worker->stages[i], &worker->run.stages,
		                 has_order ? &unit_copy : NULL, err);
	if (has_order)
		plan_fini(&unit_copy);
	return rc;
}

static int begin(struct worker *worker, const struct order *order, struct err *err)
{
	struct worker_run *run = &worker->run;
	bool is_plan_new = order->plan_version != worker->plan_version;
	int rc = is_plan_new ? take_plan(worker, order, err) : 0;

	if (rc)
		return rc;
	world_begin(worker->world, order->iteration, order->run_start_ns);
	*run = (struct worker_run){.order = *order, .rules = order->rules[order->plane]};
	run->stages = (struct stage_iteration){
		.plan = &worker->plan,
		.rules = &run->rules,
		.view = world_view(worker->world),
		.attempt = order->attempt,
		.iteration = order->iteration,
		.real_start_ns = order->real_start_ns,
	};
	rc = set_shapes(worker, &run->rules, err);
	return rc ? rc : begin_stages(worker, is_plan_new, err);
}

static int take_event(struct worker *worker, const struct transport_event *event, struct err *err)
{
	bool is_incoming = event->kind == TRANSPORT_RECEIVED;
	struct stage *stage = worker_stage(worker, is_incoming ? event->message.to_stage
	                                                       : event->message.from_stage);

	if (!stage)
		return err_set(err, -EBADMSG, "a message of stage %d came to a worker without it",
		               event->message.to_stage);
	if (event->kind == TRANSPORT_LOST)
		return worker_lose_rail(worker, event, err);
	return dataplane_event(stage_plane(stage), event, err);
}

static int take_events(struct worker *worker, const struct transport_event *events, size_t n,
                       struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_event(worker, &events[i], err);
	return rc;
}

int worker_poll(struct worker *worker, size_t *n_out, struct err *err)
{
	struct transport_event events[EVENTS_MAX];
	size_t n = EVENTS_MAX;
	int rc = 0;

	*n_out = 0;
	while (rc == 0 && n == EVENTS_MAX) {
		rc = transport_poll(worker->transport, events, EVENTS_MAX, &n, err);
		rc = rc ? rc : take_events(worker, events, n, err);
		*n_out += rc == 0 ? n : 0;
	}
	return rc;
}

/* The same, but outages first: who has gone over to delegates sends out of the channels' order, so
 * everybody has to have done that before such a message is taken. The clock is read after poll(),
 * so that a message that left after an outage began is never seen before it. */
static int poll_in_order(struct worker *worker, size_t *n_out, struct err *err)
{
	struct transport_event events[EVENTS_MAX];
	size_t n = 0, n_more = 0;
	int rc = transport_poll(worker->transport, events, EVENTS_MAX, &n, err);

	rc = rc ? rc : worker_begin_outages(worker, clock_monotonic_ns(), err);
	rc = rc ? rc : take_events(worker, events, n, err);
	if (rc == 0 && n == EVENTS_MAX)
		rc = poll_in_order(worker, &n_more, err);
	*n_out = n + n_more;
	return rc;
}

/* End what is due on all stages; *first_out: the stage whose computation comes first, *ready_ns_out
 * its moment. */
static int settle_stages(struct worker *worker, int64_t now_ns, struct stage **first_out,
                         int64_t *ready_ns_out, struct err *err)
{
	int rc = 0;

	*first_out = NULL;
	*ready_ns_out = INT64_MAX;
	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		struct stage *stage = worker->stages[i];
		struct device_state state = {0};

		rc = device_progress(stage_device(stage), false, &state, err);
		rc = rc ? rc : stage_advance(stage, err);
		rc = rc ? rc : dataplane_progress(stage_plane(stage), now_ns, err);
		if (rc)
			return err_wrap(err, "stage %d", worker->first_stage + i);
		if (state.ready_ns < *ready_ns_out) {
			*ready_ns_out = state.ready_ns;
			*first_out = stage;
		}
	}
	return rc;
}

/* What started by now at which faults start or end is noted before any message leaves that left
 * later. Twice: an op is issued when the one before it is seen to end, and starts at that moment.
 */
static int note_ops(struct worker *worker, struct err *err)
{
	struct device_state state;
	int rc = 0;

	for (int i = 0; i < worker->n_stages; i++)
		for (int round = 0; round < 2 && stage_has_ops_to_note(worker->stages[i]);
		     round++) {
			rc = device_progress(stage_device(worker->stages[i]), false, &state, err);
			rc = rc ? rc : stage_advance(worker->stages[i], err);
			if (rc)
				return err_wrap(err, "stage %d", worker->first_stage + i);
		}
	return rc;
}

/* Have all ops ended, and is everything acknowledged that was sent? Who has nothing left to compute
 * may still have messages to send: for a queue that is held, over a rail that died. */
static bool is_done(const struct worker *worker)
{
	for (int i = 0; i < worker->n_stages; i++)
		if (!stage_is_done(worker->stages[i]) ||
		    !dataplane_is_quiet(stage_plane(worker->stages[i])))
			return false;
	return true;
}

int worker_turn(struct worker *worker, struct err *err)
{
	struct stage *first = NULL;
	int64_t now_ns, ready_ns;
	struct device_state state;
	size_t n_events = 0;
	int rc = note_ops(worker, err);

	rc = rc ? rc : poll_in_order(worker, &n_events, err);
	now_ns = clock_monotonic_ns();
	rc = rc ? rc : worker_end_outages(worker, now_ns, err);
	rc = rc ? rc : settle_stages(worker, now_ns, &first, &ready_ns, err);
	if (rc)
		return rc;
	if (first && ready_ns <= now_ns)
		return device_progress(stage_device(first), true, &state, err);
	if (n_events == 0)
		(void)sched_yield();
	return 0;
}

int64_t worker_since_start_ns(const struct worker *worker)
{
	return llround((double)(clock_monotonic_ns() - worker->run.order.real_start_ns) *
	               worker->config->live->speed);
}

/* A turn, unless the job has died elsewhere: then nothing more is written on the board but the
 * report. */
static int turn_if_alive(struct worker *worker, struct err *err)
{
	if (board_has_died(worker->config->board))
		return err_set(err, -ENETDOWN, "the job has died elsewhere");
	return worker_turn(worker, err);
}

/* What faults of links cost TCP. */
static void count_resent(const struct worker *worker)
{
	const struct worker_config *config = worker->config;
	const struct scenario *scenario = config->live->scenario;

	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];
		int stage = fault->from_stage, peer = fault->to_stage;

		if (fault_is_on_link(fault) && worker_stage(worker, stage))
			board_stage(config->board, config->replica, stage)->n_resent[peer > stage] =
				transport_count_resent(worker->transport, stage, peer);
	}
}

int worker_run(struct worker *worker, const struct order *order, int64_t *died_ns_out,
               struct err *err)
{
	int rc = begin(worker, order, err);

	worker->run.is_done = false;
	/* Stages that did not begin have nothing to report. */
	if (rc)
		return rc;
	while (rc == 0 && !is_done(worker))
		rc = turn_if_alive(worker, err);
	worker->run.is_done = rc == 0;
	if (rc == -ENETDOWN)
		*died_ns_out = worker_since_start_ns(worker);
	count_resent(worker);
	/* Why the iteration ended is worth more than what cannot be said of it. */
	for (int i = 0; i < worker->n_stages; i++) {
		int report_rc = stage_report(worker->stages[i], rc ? NULL : err);

		rc = rc ? rc : report_rc;
	}
	return rc;
}
