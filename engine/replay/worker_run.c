/* worker_run.c - one iteration of a worker: poll, end what is due, compute once, poll again.
 *
 * The loop never lets a core idle on the critical path: waking up is what costs on a virtual
 * machine. All messages that have come are handed to their stages before anything is computed, and
 * at most one computation runs between two polls, so that one stage's work does not delay another's
 * message by more than that. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <time.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/worker_internal.h"
#include "engine/schedule/channel.h"
#include "engine/transport/shaped.h"

enum { EVENTS_MAX = 32, NAP_NS = 200 * NS_PER_US };

/* What the iteration still waits for. */
struct run {
	struct worker *worker;
	const struct order *order;
	struct plane_rules rules; /* in force; change when a rail dies */
	uint32_t fired;
	uint32_t handled; /* outages whose moment has come, here or elsewhere */
};

struct stage *worker_stage(const struct worker *worker, int stage)
{
	int i = stage - worker->first_stage;

	return i >= 0 && i < worker->n_stages ? worker->stages[i] : NULL;
}

static int64_t real_ns(const struct worker *worker, int64_t profile_ns)
{
	return llround((double)profile_ns / worker->config->live->speed);
}

static struct shape shape_of(const struct worker *worker, const struct sim_message *message)
{
	return (struct shape){
		.hold_ns = real_ns(worker, message->hold_ns),
		.transmit_ns = real_ns(worker, message->transmit_ns),
		.latency_ns = real_ns(worker, message->latency_ns),
		.return_ns = real_ns(worker, message->return_ns),
	};
}

/* Jitter and faults by time, asked for by the transport for every message. */
static void ask_shape(void *context, const struct message *message, struct shape *shape)
{
	struct worker *worker = context;
	const struct sim_world *view = world_view(worker->world);
	bool is_backward = message->from_stage > message->to_stage;
	int direction =
		sim_direction(is_backward ? message->to_stage : message->from_stage, is_backward);
	struct sim_message met = view->messages[direction];
	int64_t now_ns = llround((double)(message->sent_ns - worker->real_start_ns) *
	                         worker->config->live->speed);

	view->ask_message(view->context, direction, message->microbatch, now_ns, &met);
	*shape = shape_of(worker, &met);
}

static int set_shapes(struct worker *worker, const struct plane_rules *rules, struct err *err)
{
	const struct sim_world *view = world_view(worker->world);
	int n_all = worker->config->board->n_stages, rc = 0;

	for (int stage = worker->first_stage;
	     rc == 0 && stage < worker->first_stage + worker->n_stages; stage++) {
		struct shape forward =
			shape_of(worker, &view->messages[sim_direction(stage, false)]);

		if (stage < n_all - 1)
			rc = shaped_set(worker->transport, stage, stage + 1, &forward, err);
		if (rc == 0 && stage > 0) {
			struct shape backward =
				shape_of(worker, &view->messages[sim_direction(stage - 1, true)]);

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
	int rc;

	if (order->plan_version == worker->plan_version)
		return 0;
	rc = plan_init(&plan, board->n_stages, board->n_microbatches, err);
	if (rc)
		return rc;
	for (int i = 0; i < board_ops(board); i++)
		plan.ops[i] = board->ops[i];
	plan.merges_backward = order->merges_backward;
	if (worker->plan_version) {
		plan_fini(&worker->plan);
		plan_fini(&worker->unit_copy);
	}
	worker->plan_version = 0;
	worker->plan = plan;
	rc = plan_copy_in_units(&worker->plan, &worker->unit_copy, err);
	if (rc) {
		plan_fini(&worker->plan);
		return rc;
	}
	worker->plan_version = order->plan_version;
	return 0;
}

static int begin(struct run *run, struct stage_iteration *iteration, struct err *err)
{
	struct worker *worker = run->worker;
	const struct order *order = run->order;
	int rc = take_plan(worker, order, err);

	if (rc)
		return rc;
	world_begin(worker->world, order->iteration, order->run_start_ns);
	worker->real_start_ns = order->real_start_ns;
	run->rules = order->rules[order->plane];
	*iteration = (struct stage_iteration){
		.plan = &worker->plan,
		.unit_copy = &worker->unit_copy,
		.rules = &run->rules,
		.view = world_view(worker->world),
		.attempt = order->attempt,
		.iteration = order->iteration,
		.real_start_ns = order->real_start_ns,
	};
	rc = set_shapes(worker, &run->rules, err);
	for (int i = 0; rc == 0 && i < worker->n_stages; i++)
		rc = stage_begin(worker->stages[i], iteration, err);
	return rc;
}

/* All stages go over to delegates: a rail is gone that they could not do without. */
static int switch_plane(struct run *run, int64_t now_ns, struct err *err)
{
	struct worker *worker = run->worker;
	int rc = 0;

	if (run->rules.kind == PLANE_DELEGATE)
		return 0;
	run->rules = run->order->rules[PLANE_DELEGATE];
	shaped_set_plane(worker->transport, PLANE_DELEGATE, 0);
	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		rc = dataplane_switch(stage_plane(worker->stages[i]), &run->rules, now_ns, err);
		stage_switched(worker->stages[i], &run->rules);
	}
	return rc;
}

/* Is the iteration to survive the loss of a rail? */
static bool survives(const struct order *order)
{
	for (int i = 0; i < order->n_outages; i++)
		if (order->outages[i].is_fatal)
			return false;
	return order->n_outages > 0;
}

static int take_lost(struct run *run, const struct transport_event *event, struct err *err)
{
	int rc = 0;

	if (survives(run->order))
		rc = switch_plane(run, event->at_ns, err);
	if (rc)
		return rc;
	return dataplane_event(stage_plane(worker_stage(run->worker, event->message.from_stage)),
	                       event, err);
}

static int take_event(struct run *run, const struct transport_event *event, struct err *err)
{
	bool is_arrival = event->kind == TRANSPORT_RECEIVED;
	struct stage *stage = worker_stage(run->worker, is_arrival ? event->message.to_stage
	                                                           : event->message.from_stage);

	if (!stage)
		return err_set(err, -EBADMSG, "a message of stage %d came to a worker without it",
		               event->message.to_stage);
	if (event->kind == TRANSPORT_LOST)
		return take_lost(run, event, err);
	return dataplane_event(stage_plane(stage), event, err);
}

/* Everything that has happened on the transport. *n_out: events. */
static int poll_transport(struct run *run, size_t *n_out, struct err *err)
{
	struct transport_event events[EVENTS_MAX];
	size_t n = EVENTS_MAX;
	int rc = 0;

	*n_out = 0;
	while (rc == 0 && n == EVENTS_MAX) {
		rc = transport_poll(run->worker->transport, events, EVENTS_MAX, &n, err);
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = take_event(run, &events[i], err);
		*n_out += rc == 0 ? n : 0;
	}
	return rc;
}

/* RNICs whose moment has come. */
static int fire_outages(struct run *run, int64_t now_ns, struct err *err)
{
	const struct order *order = run->order;
	int rc = 0;

	for (int i = 0; rc == 0 && i < order->n_outages; i++) {
		const struct executor_outage *outage = &order->outages[i];

		if ((run->handled >> i & 1) ||
		    now_ns < order->real_start_ns + real_ns(run->worker, outage->at_ns))
			continue;
		run->handled |= 1u << i;
		if (!outage->is_fatal)
			rc = switch_plane(run, now_ns, err);
		if (rc || !worker_stage(run->worker, outage->stage))
			continue;
		run->fired |= 1u << i;
		rc = transport_set_rail(run->worker->transport, outage->stage, outage->rail, false,
		                        err);
	}
	return rc;
}

/* End what is due on all stages; *first_out: the stage whose computation comes first, *ready_ns_out
 * its moment. */
static int settle_stages(struct run *run, int64_t now_ns, struct stage **first_out,
                         int64_t *ready_ns_out, int64_t *next_ns_out, struct err *err)
{
	struct worker *worker = run->worker;
	int rc = 0;

	*first_out = NULL;
	*ready_ns_out = *next_ns_out = INT64_MAX;
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
		if (state.next_ns < *next_ns_out)
			*next_ns_out = state.next_ns;
	}
	return rc;
}

static bool is_done(const struct worker *worker)
{
	for (int i = 0; i < worker->n_stages; i++)
		if (!stage_is_done(worker->stages[i]))
			return false;
	return true;
}

/* One turn of the loop. */
static int turn(struct run *run, struct err *err)
{
	struct stage *first = NULL;
	int64_t now_ns, ready_ns, next_ns;
	struct device_state state;
	size_t n_events;
	int rc = poll_transport(run, &n_events, err);

	now_ns = clock_monotonic_ns();
	rc = rc ? rc : fire_outages(run, now_ns, err);
	rc = rc ? rc : settle_stages(run, now_ns, &first, &ready_ns, &next_ns, err);
	if (rc)
		return rc;
	if (first && ready_ns <= now_ns)
		return device_progress(stage_device(first), true, &state, err);
	if (n_events == 0)
		(void)sched_yield();
	return 0;
}

int worker_run(struct worker *worker, const struct order *order, uint32_t *fired_out,
               int64_t *died_ns_out, struct err *err)
{
	struct run run = {.worker = worker, .order = order};
	struct stage_iteration iteration;
	int rc = begin(&run, &iteration, err);

	while (rc == 0 && !is_done(worker))
		rc = turn(&run, err);
	*fired_out = run.fired;
	if (rc == -ENETDOWN)
		*died_ns_out = llround((double)(clock_monotonic_ns() - order->real_start_ns) *
		                       worker->config->live->speed);
	for (int i = 0; i < worker->n_stages; i++)
		stage_report(worker->stages[i]);
	return rc;
}
