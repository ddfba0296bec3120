/* plane_case.c - one iteration on the data planes themselves, in virtual time. */
#include "tests/plane_case.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/schedule/channel.h"
#include "tests/pair_exchange.h"
#include "tests/tap.h"

enum { EVENTS_MAX = 16, TEXT_BYTES = 200, RUN = 7 };

static int64_t clock_ns(void *context)
{
	return ((const struct plane_case *)context)->now_ns;
}

static int n_ops(const struct plane_case *c)
{
	return OP_KINDS * c->net->plan.n_microbatches;
}

static int open_transport(struct plane_case *c)
{
	bool is_local[NET_CASE_STAGES_MAX];
	struct transport_address addresses[NET_CASE_STAGES_MAX];
	struct transport_config config = {.run = RUN,
	                                  .n_stages = c->net->plan.n_stages,
	                                  .is_local = is_local,
	                                  .n_rails = c->n_rails,
	                                  .n_queues = c->rules.n_queues,
	                                  .max_bytes = c->payload_bytes,
	                                  .clock_ns = clock_ns,
	                                  .clock_context = c};
	const struct transport_ops *ops;
	struct transport *inner;
	int rc = transport_find("loopback", &ops, &c->err);

	memset(is_local, true, sizeof(is_local));
	memset(addresses, 0, sizeof(addresses));
	rc = rc ? rc : ops->open(&config, addresses, &inner, &c->err);
	rc = rc ? rc : shaped_wrap(inner, &config, &c->transport, &c->err);
	return rc ? rc : transport_connect(c->transport, addresses, 1000000000, &c->err);
}

static int64_t hold_ns(void *context, const struct message *message)
{
	const struct plane_case *c = context;
	bool is_backward = message->from_stage > message->to_stage;
	int link = is_backward ? message->to_stage : message->from_stage;

	return c->net->messages[sim_direction(link, is_backward)].hold_ns;
}

static int open_stage(struct plane_case *c, int index)
{
	const struct device_config device = {.speed = 1, .clock_ns = clock_ns, .clock_context = c};
	struct plane_stage *stage = &c->stages[index];
	struct dataplane_config plane = {.stage = index,
	                                 .n_stages = c->net->plan.n_stages,
	                                 .n_microbatches = c->net->plan.n_microbatches,
	                                 .n_rails = c->n_rails,
	                                 .n_queues = c->rules.n_queues,
	                                 .run = RUN,
	                                 .tensor_bytes = PLANE_CASE_TENSOR_BYTES,
	                                 .payload_bytes = (size_t)c->payload_bytes,
	                                 .failover_ns = c->failover_ns,
	                                 .transport = c->transport,
	                                 .uses_exchanges = c->uses_exchanges,
	                                 .hold_ns = c->occupies_streams ? hold_ns : shaped_hold_ns,
	                                 .hold_context = c->occupies_streams ? (void *)c
	                                                                     : (void *)c->transport,
	                                 .occupies_streams = c->occupies_streams,
	                                 .clock_ns = clock_ns,
	                                 .clock_context = c};
	const struct device_ops *ops;
	int rc = device_find("null", &ops, &c->err);

	rc = rc ? rc : ops->open(&device, &stage->device, &c->err);
	rc = rc ? rc : device_stream_new(stage->device, &stage->compute, &c->err);
	plane.device = stage->device;
	rc = rc ? rc : dataplane_open(&plane, &stage->plane, &c->err);
	stage->begin = array_new((size_t)n_ops(c), sizeof(*stage->begin));
	stage->end = array_new((size_t)n_ops(c), sizeof(*stage->end));
	for (int i = 0; rc == 0 && i < n_ops(c); i++) {
		rc = device_event_new(stage->device, &stage->begin[i], &c->err);
		rc = rc ? rc : device_event_new(stage->device, &stage->end[i], &c->err);
	}
	return rc;
}

/* Between stages low and low + 1. */
static int open_exchanges(struct plane_case *c, int low)
{
	struct exchange_config config = {0};
	int rc = pair_exchange_ops.make_id(&config.id, &c->err);

	for (int side = 0; rc == 0 && side < 2; side++) {
		struct plane_stage *stage = &c->stages[low + side];
		struct exchange *exchange;

		config.device = stage->device;
		config.stage = low + side;
		config.peer_stage = low + !side;
		rc = pair_exchange_ops.open(&config, &exchange, &c->err);
		if (rc == 0)
			dataplane_set_exchange(stage->plane, config.peer_stage, exchange);
	}
	return rc;
}

static bool open_all(struct plane_case *c)
{
	int rc = plan_copy_in_units(&c->net->plan, &c->unit_copy, &c->err);

	c->times = array_new((size_t)n_ops(c) * (size_t)c->net->plan.n_stages, sizeof(*c->times));
	rc = rc ? rc : open_transport(c);
	for (int stage = 0; rc == 0 && stage < c->net->plan.n_stages; stage++)
		rc = open_stage(c, stage);
	for (int low = 0; rc == 0 && c->uses_exchanges && low + 1 < c->net->plan.n_stages; low++)
		rc = open_exchanges(c, low);
	return rc == 0 || tap_ok(false, "data planes open: %s", c->err.text);
}

bool plane_case_init(struct plane_case *c, struct net_case *net, const struct plane_rules *rules)
{
	*c = (struct plane_case){
		.net = net, .rules = *rules, .payload_bytes = 100, .n_rails = 1, .now_ns = 1000000};
	if (c->rules.n_queues == 0)
		c->rules.n_queues = PLANE_QUEUES_DEFAULT;
	return true;
}

void plane_case_fini(struct plane_case *c)
{
	for (int i = 0; i < NET_CASE_STAGES_MAX; i++) {
		dataplane_close(c->stages[i].plane);
		device_close(c->stages[i].device);
		free(c->stages[i].begin);
		free(c->stages[i].end);
	}
	transport_close(c->transport);
	if (c->transport)
		plan_fini(&c->unit_copy);
	free(c->times);
}

static bool has_input(const struct plane_case *c, int index, const struct plan_op *op)
{
	return (op->kind == OP_F && index > 0) ||
	       (op->kind == OP_B && index < c->net->plan.n_stages - 1);
}

static enum op_kind message_kind(enum op_kind kind)
{
	return kind == OP_F ? OP_F : OP_B;
}

static int64_t duration_ns(const struct plane_case *c, int index, const struct plan_op *op)
{
	int n_messages = has_input(c, index, op) + plan_op_sends(&c->net->plan, index, op);
	int64_t cost_ns = c->rules.kind == PLANE_DELEGATE ? c->rules.message_cost_ns : 0;

	return c->net->op_ns[op->kind][index] + n_messages * cost_ns;
}

static int issue(struct plane_case *c, int index)
{
	struct plane_stage *stage = &c->stages[index];
	int i = stage->n_issued++, rc = 0;
	const struct plan_op *op = plan_stage(&c->net->plan, index) + i;

	device_issue_as_of(stage->device, stage->last_end_ns);
	if (has_input(c, index, op))
		rc = dataplane_receive(stage->plane, stage->compute, op->kind, op->microbatch,
		                       &c->err);
	rc = rc ? rc : device_record(stage->begin[i], stage->compute, &c->err);
	rc = rc ? rc
	        : device_launch(stage->compute, NULL, NULL, duration_ns(c, index, op), &c->err);
	rc = rc ? rc : device_record(stage->end[i], stage->compute, &c->err);
	if (rc || !plan_op_sends(&c->net->plan, index, op))
		return rc;
	return dataplane_send(stage->plane, stage->compute, stage->end[i], message_kind(op->kind),
	                      op->microbatch, &c->err);
}

/* 1: the next op has ended. */
static int collect(struct plane_case *c, int index)
{
	struct plane_stage *stage = &c->stages[index];
	int i = stage->n_ended, rc;
	struct sim_op_times *times = &c->times[index * n_ops(c) + i];
	int64_t begin_ns = 0, end_ns = 0;

	rc = device_query(stage->end[i], &end_ns, NULL, &c->err);
	if (rc == 1)
		rc = device_query(stage->begin[i], &begin_ns, NULL, &c->err);
	if (rc != 1)
		return rc;
	times->start_ns = begin_ns - c->start_ns;
	times->end_ns = end_ns - c->start_ns;
	stage->last_end_ns = end_ns;
	stage->n_ended++;
	return 1;
}

static int advance(struct plane_case *c, int index)
{
	struct plane_stage *stage = &c->stages[index];
	int n_ahead = c->rules.kind == PLANE_STREAM && c->rules.host_waits ? 1 : 3, rc = 1;

	while (rc == 1 && stage->n_ended < stage->n_issued)
		rc = collect(c, index);
	rc = rc < 0 ? rc : 0;
	while (rc == 0 && stage->n_issued < n_ops(c) && stage->n_issued - stage->n_ended < n_ahead)
		rc = issue(c, index);
	return rc;
}

static int poll_transport(struct plane_case *c, size_t *n_out)
{
	struct transport_event events[EVENTS_MAX];
	int rc = transport_poll(c->transport, events, EVENTS_MAX, n_out, &c->err);

	for (size_t i = 0; rc == 0 && i < *n_out; i++) {
		bool is_incoming = events[i].kind == TRANSPORT_RECEIVED;
		int stage = is_incoming ? events[i].message.to_stage : events[i].message.from_stage;

		rc = dataplane_event(c->stages[stage].plane, &events[i], &c->err);
	}
	return rc;
}

int plane_case_poll(struct plane_case *c)
{
	size_t n = 1;
	int rc = 0;

	while (rc == 0 && n > 0)
		rc = poll_transport(c, &n);
	return rc;
}

/* Let everything happen that is due now; *next_ns_out: the next moment. */
static int settle(struct plane_case *c, int64_t *next_ns_out)
{
	size_t n = 1;
	int rc = 0;

	/* Some rounds more than needed: what one stage does now can be another's business now, and
	 * a post goes back and forth until it has run. */
	int n_quiet = c->uses_exchanges ? 12 : 3;

	for (int quiet = 0; rc == 0 && quiet<n_quiet; quiet = n> 0 ? 0 : quiet + 1) {
		*next_ns_out = INT64_MAX;
		rc = poll_transport(c, &n);
		for (int i = 0; rc == 0 && i < c->net->plan.n_stages; i++) {
			struct device_state state = {0};
			int n_before = c->stages[i].n_ended;

			rc = device_progress(c->stages[i].device, true, &state, &c->err);
			rc = rc ? rc : advance(c, i);
			rc = rc ? rc : dataplane_progress(c->stages[i].plane, c->now_ns, &c->err);
			n += (size_t)(c->stages[i].n_ended - n_before);
			if (state.next_ns > c->now_ns && state.next_ns < *next_ns_out)
				*next_ns_out = state.next_ns;
			if (dataplane_next_ns(c->stages[i].plane) < *next_ns_out)
				*next_ns_out = dataplane_next_ns(c->stages[i].plane);
		}
		if (transport_next_ns(c->transport) < *next_ns_out)
			*next_ns_out = transport_next_ns(c->transport);
	}
	return rc;
}

static bool is_done(const struct plane_case *c)
{
	for (int i = 0; i < c->net->plan.n_stages; i++)
		if (c->stages[i].n_ended < n_ops(c) || !dataplane_is_quiet(c->stages[i].plane))
			return false;
	return true;
}

static int begin(struct plane_case *c, int iteration)
{
	int rc = 0;

	c->start_ns = c->now_ns;
	shaped_set_plane(c->transport, c->rules.kind, c->rules.window_bytes);
	for (int i = 0; rc == 0 && i < c->net->plan.n_stages * SIM_DIRECTIONS - 2; i++) {
		int link = i / SIM_DIRECTIONS, is_backward = i % SIM_DIRECTIONS;
		struct shape shape = c->net->messages[i];

		if (c->occupies_streams)
			shape.hold_ns = 0;
		rc = shaped_set(c->transport, link + is_backward, link + !is_backward, &shape,
		                &c->err);
	}
	for (int i = 0; rc == 0 && i < c->net->plan.n_stages; i++) {
		c->stages[i].n_issued = c->stages[i].n_ended = 0;
		c->stages[i].last_end_ns = c->start_ns;
		rc = dataplane_begin(c->stages[i].plane, &c->rules,
		                     iteration == 0 ? &c->unit_copy : NULL, 0, iteration, &c->err);
	}
	return rc;
}

static void take_message_times(struct plane_case *c, int index, int i)
{
	const struct plan_op *op = plan_stage(&c->net->plan, index) + i;
	struct sim_op_times *times = &c->times[index * n_ops(c) + i];
	int peer = op->kind == OP_F ? index + 1 : index - 1;
	struct dataplane_moments moments;
	struct dataplane_path path;

	times->queue = -1;
	times->rail = times->n_resends = 0;
	times->transfer_start_ns = times->transfer_end_ns = times->arrive_ns = -1;
	if (!plan_op_sends(&c->net->plan, index, op))
		return;
	moments = dataplane_sent(c->stages[index].plane, message_kind(op->kind), op->microbatch);
	times->transfer_start_ns = moments.started_ns - c->start_ns;
	times->transfer_end_ns = moments.done_ns - c->start_ns;
	path = dataplane_path(c->stages[index].plane, message_kind(op->kind), op->microbatch);
	times->queue = path.queue;
	times->rail = (int16_t)path.rail;
	times->n_resends = (int16_t)path.n_resends;
	times->arrive_ns = dataplane_arrived_ns(c->stages[peer].plane, message_kind(op->kind),
	                                        op->microbatch) -
	                   c->start_ns;
}

static int ring(struct plane_case *c)
{
	int (*on_alarm)(struct plane_case *) = c->on_alarm;

	if (!on_alarm || c->now_ns < c->start_ns + c->alarm_ns)
		return 0;
	c->on_alarm = NULL;
	return on_alarm(c);
}

const struct transport_address *plane_case_addresses(void)
{
	static const struct transport_address none[NET_CASE_STAGES_MAX];

	return none;
}

int plane_case_run(struct plane_case *c, int iteration)
{
	int64_t next_ns = 0;
	int rc = c->transport || open_all(c) ? begin(c, iteration) : -ENOMEM;

	while (rc == 0 && !is_done(c)) {
		rc = settle(c, &next_ns);
		if (rc || is_done(c))
			break;
		if (c->on_alarm && c->start_ns + c->alarm_ns < next_ns)
			next_ns = c->start_ns + c->alarm_ns;
		if (next_ns == INT64_MAX)
			rc = err_set(&c->err, -EDEADLK, "nothing happens any more");
		if (rc == 0 && next_ns > c->now_ns)
			c->now_ns = next_ns;
		if (rc == 0)
			rc = ring(c);
	}
	for (int i = 0; rc == 0 && i < c->net->plan.n_stages * n_ops(c); i++)
		take_message_times(c, i / n_ops(c), i % n_ops(c));
	return rc;
}

/* A message held in front of its transport has not left when its rail dies; in sim it has. */
static bool are_equal(const struct plane_case *c, const struct sim_op_times *a,
                      const struct sim_op_times *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
	       a->transfer_start_ns == b->transfer_start_ns &&
	       a->transfer_end_ns == b->transfer_end_ns && a->arrive_ns == b->arrive_ns &&
	       a->queue == b->queue && a->rail == b->rail &&
	       (c->occupies_streams || a->n_resends == b->n_resends);
}

static void show(const char *who, const struct sim_op_times *times)
{
	tap_note(
		"%s: start %lld, end %lld, transfer %lld to %lld, arrives %lld; queue %d, rail %d, "
		"%d resends",
		who, (long long)times->start_ns, (long long)times->end_ns,
		(long long)times->transfer_start_ns, (long long)times->transfer_end_ns,
		(long long)times->arrive_ns, times->queue, times->rail, times->n_resends);
}

bool plane_case_is_like_sim(struct plane_case *c, const char *name, ...)
{
	char text[TEXT_BYTES];
	int differs = -1;
	va_list args;

	va_start(args, name);
	(void)vsnprintf(text, sizeof(text), name, args);
	va_end(args);
	if (!net_case_run(c->net, &c->rules))
		return false;
	sim_net_rails(&c->net->plan, &c->net->world, c->rails, c->net->times);
	for (int i = 0; i < c->net->plan.n_stages * n_ops(c); i++)
		if (!are_equal(c, &c->times[i], &c->net->times[i]) &&
		    (differs < 0 || c->net->times[i].start_ns < c->net->times[differs].start_ns))
			differs = i;
	if (differs < 0)
		return tap_ok(true, "%s", text);
	show("planes", &c->times[differs]);
	show("sim", &c->net->times[differs]);
	return tap_ok(false, "%s: op %d of stage %d, %c%d", text, differs % n_ops(c),
	              differs / n_ops(c), op_kind_letter(c->net->plan.ops[differs].kind),
	              c->net->plan.ops[differs].microbatch);
}

const struct sim_op_times *plane_case_op(const struct plane_case *c, int stage, enum op_kind kind,
                                         int microbatch)
{
	const struct plan_op *ops = plan_stage(&c->net->plan, stage);

	for (int i = 0; i < n_ops(c); i++)
		if (ops[i].kind == kind && ops[i].microbatch == microbatch)
			return &c->times[stage * n_ops(c) + i];
	return NULL;
}
