/* nccl_plane.c - the stream plane over exchanges of NCCL, all stages in this thread, over its
 * double: what ops find in their inputs when they run is what was sent, in every iteration, also in
 * one in the midst of which all go over to delegates. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/dataplane/dataplane.h"
#include "engine/schedule/channel.h"
#include "engine/transport/exchange.h"
#include "engine/transport/shaped.h"
#include "tests/net_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_SLOTS = 2 * N_MICROBATCHES, BYTES = 4096, LIMIT_S = 60 };
enum { N_OPS = OP_KINDS * N_MICROBATCHES, EVENTS_MAX = 16, NEVER = 1000 };

struct stage {
	struct device *device;
	struct device_stream *compute;
	struct dataplane *plane;
	struct device_event *ended[N_OPS];
	uint8_t *made[N_SLOTS], *found[N_SLOTS]; /* host memory: what goes out, what ops found */
	int n_issued, n_ended;
};

struct bench {
	struct net_case net;
	struct plan unit_copy;
	struct plane_rules rules, later;
	struct transport *transport;
	struct stage stages[N_STAGES];
	int iteration;
	struct err err;
};

static int64_t clock_ns(void *context)
{
	(void)context;
	return clock_monotonic_ns();
}

static int slot_of(enum op_kind kind, int microbatch)
{
	return (kind == OP_F ? 0 : N_MICROBATCHES) + microbatch;
}

static int open_transport(struct bench *b)
{
	static const bool is_local[N_STAGES] = {true, true, true, true};
	struct transport_address addresses[N_STAGES];
	const struct transport_config config = {.run = 1,
	                                        .n_stages = N_STAGES,
	                                        .is_local = is_local,
	                                        .n_rails = 1,
	                                        .n_queues = b->later.n_queues,
	                                        .max_bytes = BYTES};
	const struct transport_ops *ops;
	struct transport *inner;
	int rc = transport_find("loopback", &ops, &b->err);

	rc = rc ? rc : ops->open(&config, addresses, &inner, &b->err);
	rc = rc ? rc : shaped_wrap(inner, &config, &b->transport, &b->err);
	return rc ? rc : transport_connect(b->transport, addresses, NS_PER_S, &b->err);
}

static int open_stage(struct bench *b, int index)
{
	const struct device_config device = {.speed = 1, .unit = index};
	struct stage *stage = &b->stages[index];
	struct dataplane_config plane = {.stage = index,
	                                 .n_stages = N_STAGES,
	                                 .n_microbatches = N_MICROBATCHES,
	                                 .n_rails = 1,
	                                 .n_queues = b->later.n_queues,
	                                 .run = 1,
	                                 .tensor_bytes = BYTES,
	                                 .payload_bytes = BYTES,
	                                 .transport = b->transport,
	                                 .uses_exchanges = true,
	                                 .clock_ns = clock_ns};
	const struct device_ops *ops;
	int rc = device_find("cuda", &ops, &b->err);

	rc = rc ? rc : ops->open(&device, &stage->device, &b->err);
	rc = rc ? rc : device_stream_new(stage->device, &stage->compute, &b->err);
	plane.device = stage->device;
	rc = rc ? rc : dataplane_open(&plane, &stage->plane, &b->err);
	for (int i = 0; rc == 0 && i < N_OPS; i++)
		rc = device_event_new(stage->device, &stage->ended[i], &b->err);
	for (int i = 0; rc == 0 && i < N_SLOTS; i++) {
		stage->made[i] = device_alloc(stage->device, BYTES, true);
		stage->found[i] = device_alloc(stage->device, BYTES, true);
	}
	return rc;
}

static int open_exchanges(struct bench *b)
{
	struct exchange *ends[2 * (N_STAGES - 1)];
	const struct exchange_ops *ops;
	int rc = exchange_find("nccl", &ops, &b->err);
	bool are_ready = false;

	rc = rc ? rc : ops->check(b->stages[0].device, N_STAGES, &b->err);
	for (int low = 0; rc == 0 && low + 1 < N_STAGES; low++) {
		struct exchange_config config = {0};

		rc = ops->make_id(&config.id, &b->err);
		for (int side = 0; rc == 0 && side < 2; side++) {
			struct stage *stage = &b->stages[low + side];

			config.device = stage->device;
			config.stage = low + side;
			config.peer_stage = low + !side;
			rc = ops->open(&config, &ends[2 * low + side], &b->err);
			if (rc == 0)
				dataplane_set_exchange(stage->plane, config.peer_stage,
				                       ends[2 * low + side]);
		}
	}
	while (rc == 0 && !are_ready) {
		are_ready = true;
		for (int i = 0; rc >= 0 && i < 2 * (N_STAGES - 1); i++) {
			rc = exchange_progress(ends[i], &b->err);
			are_ready &= rc == 1;
		}
		rc = rc < 0 ? rc : 0;
	}
	return rc;
}

static bool open_bench(struct bench *b, const char *schedule)
{
	int rc;

	*b = (struct bench){.rules = strcmp(schedule, "zb") == 0 ? plane_unbatched()
	                                                         : plane_batched(),
	                    .later = plane_delegate()};
	b->later.n_queues = PLANE_QUEUES_DEFAULT;
	if (!net_case_init(&b->net, schedule, N_STAGES, N_MICROBATCHES, NS_PER_MS))
		return false;
	rc = plan_copy_in_units(&b->net.plan, &b->unit_copy, &b->err);
	rc = rc ? rc : open_transport(b);
	for (int i = 0; rc == 0 && i < N_STAGES; i++)
		rc = open_stage(b, i);
	rc = rc ? rc : open_exchanges(b);
	return rc == 0 || tap_ok(false, "a pipeline on GPUs opens: %s", b->err.text);
}

static void close_bench(struct bench *b)
{
	for (int i = 0; i < N_STAGES; i++) {
		dataplane_close(b->stages[i].plane);
		device_close(b->stages[i].device);
	}
	transport_close(b->transport);
	plan_fini(&b->unit_copy);
	net_case_fini(&b->net);
}

static uint8_t pattern(const struct bench *b, int stage, int slot, size_t i)
{
	return (uint8_t)rng_mix(((uint64_t)b->iteration << 32) | (uint64_t)(stage * N_SLOTS + slot),
	                        i);
}

static bool has_input(int index, const struct plan_op *op)
{
	return (op->kind == OP_F && index > 0) || (op->kind == OP_B && index < N_STAGES - 1);
}

/* An op copies what it finds, then what it makes. */
static int issue(struct bench *b, int index)
{
	struct stage *stage = &b->stages[index];
	int i = stage->n_issued++, rc = 0;
	const struct plan_op *op = plan_stage(&b->net.plan, index) + i;
	enum op_kind kind = op->kind == OP_F ? OP_F : OP_B;
	int mb = op->microbatch, slot = slot_of(kind, mb);
	bool sends = plan_op_sends(&b->net.plan, index, op);

	if (has_input(index, op)) {
		rc = dataplane_receive(stage->plane, stage->compute, kind, mb, &b->err);
		rc = rc ? rc
		        : device_copy(stage->compute, stage->found[slot],
		                      dataplane_input(stage->plane, kind, mb), BYTES, &b->err);
	}
	if (rc == 0 && sends)
		rc = device_copy(stage->compute, dataplane_output(stage->plane, kind, mb),
		                 stage->made[slot], BYTES, &b->err);
	rc = rc ? rc : device_record(stage->ended[i], stage->compute, &b->err);
	if (rc || !sends)
		return rc;
	return dataplane_send(stage->plane, stage->compute, stage->ended[i], kind, mb, &b->err);
}

static int advance(struct bench *b, int index)
{
	struct stage *stage = &b->stages[index];
	int rc = 1;

	while (rc == 1 && stage->n_ended < stage->n_issued) {
		rc = device_query(stage->ended[stage->n_ended], NULL, NULL, &b->err);
		stage->n_ended += rc == 1;
	}
	rc = rc < 0 ? rc : 0;
	while (rc == 0 && stage->n_issued < N_OPS && stage->n_issued - stage->n_ended < 2)
		rc = issue(b, index);
	return rc;
}

static int poll_transport(struct bench *b)
{
	struct transport_event events[EVENTS_MAX];
	size_t n = 0;
	int rc = transport_poll(b->transport, events, EVENTS_MAX, &n, &b->err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		int stage = events[i].kind == TRANSPORT_RECEIVED ? events[i].message.to_stage
		                                                 : events[i].message.from_stage;

		rc = dataplane_event(b->stages[stage].plane, &events[i], &b->err);
	}
	return rc;
}

static int turn(struct bench *b)
{
	int rc = poll_transport(b);

	for (int i = 0; rc == 0 && i < N_STAGES; i++) {
		struct device_state state;

		rc = device_progress(b->stages[i].device, true, &state, &b->err);
		rc = rc ? rc : advance(b, i);
		rc = rc ? rc
		        : dataplane_progress(b->stages[i].plane, clock_monotonic_ns(), &b->err);
	}
	return rc;
}

static int n_ended(const struct bench *b)
{
	int n = 0;

	for (int i = 0; i < N_STAGES; i++)
		n += b->stages[i].n_ended;
	return n;
}

static bool is_done(const struct bench *b)
{
	bool is_quiet = true;

	for (int i = 0; i < N_STAGES; i++)
		is_quiet &= dataplane_is_quiet(b->stages[i].plane);
	return is_quiet && n_ended(b) == N_STAGES * N_OPS;
}

static int begin(struct bench *b, const struct plane_rules *rules)
{
	int rc = 0;

	shaped_set_plane(b->transport, rules->kind, 0);
	for (int i = 0; rc == 0 && i < N_STAGES; i++) {
		struct stage *stage = &b->stages[i];

		stage->n_issued = stage->n_ended = 0;
		for (int slot = 0; slot < N_SLOTS; slot++) {
			for (size_t k = 0; k < BYTES; k++)
				stage->made[slot][k] = pattern(b, i, slot, k);
			memset(stage->found[slot], 0, BYTES);
		}
		rc = dataplane_begin(stage->plane, rules, b->iteration == 0 ? &b->unit_copy : NULL,
		                     0, b->iteration, &b->err);
	}
	return rc;
}

static int switch_all(struct bench *b)
{
	int rc = 0;

	shaped_set_plane(b->transport, PLANE_DELEGATE, 0);
	for (int i = 0; i < N_STAGES; i++)
		dataplane_abort_exchanges(b->stages[i].plane);
	for (int i = 0; rc == 0 && i < N_STAGES; i++)
		rc = dataplane_switch(b->stages[i].plane, &b->later, clock_monotonic_ns(), &b->err);
	return rc;
}

/* All go over to delegates when so many ops have ended. */
static int run(struct bench *b, const struct plane_rules *rules, int n_before_switch)
{
	int64_t end_ns = clock_monotonic_ns() + LIMIT_S * (int64_t)NS_PER_S;
	int rc = begin(b, rules);

	while (rc == 0 && !is_done(b)) {
		rc = turn(b);
		if (rc == 0 && n_ended(b) >= n_before_switch) {
			n_before_switch = NEVER;
			rc = switch_all(b);
		}
		if (rc == 0 && clock_monotonic_ns() > end_ns)
			rc = err_set(&b->err, -ETIMEDOUT, "%d ops have ended", n_ended(b));
	}
	return rc;
}

static int count_wrong(const struct bench *b)
{
	int n_wrong = 0;

	for (int i = 0; i < N_STAGES * N_SLOTS; i++) {
		int index = i / N_SLOTS, slot = i % N_SLOTS;
		const struct plan_op op = {.kind = slot < N_MICROBATCHES ? OP_F : OP_B};
		int from = index + (op.kind == OP_F ? -1 : 1);
		bool is_wrong = false;

		for (size_t k = 0; k < BYTES && has_input(index, &op); k++)
			is_wrong |= b->stages[index].found[slot][k] != pattern(b, from, slot, k);
		n_wrong += is_wrong;
	}
	return n_wrong;
}

static void check(struct bench *b, const struct plane_rules *rules, int n_before_switch,
                  const char *schedule, const char *how)
{
	tap_is_int(run(b, rules, n_before_switch), 0, "%s, %s: iteration %d ends: %s", schedule,
	           how, b->iteration, b->err.text);
	tap_is_int(count_wrong(b), 0, "and every op has found what was sent");
	b->iteration++;
}

static void test_switch(const char *schedule, int n_before_switch)
{
	struct bench b;

	if (open_bench(&b, schedule)) {
		check(&b, &b.rules, NEVER, schedule, "exchanges");
		check(&b, &b.rules, NEVER, schedule, "exchanges");
		check(&b, &b.rules, n_before_switch, schedule, "delegates from its midst on");
		check(&b, &b.later, NEVER, schedule, "delegates");
	}
	close_bench(&b);
}

int main(void)
{
	(void)setenv("CUDA_DOUBLE_GPUS", "4", 1);
	for (int n = 0; n < N_STAGES * N_OPS; n += 7) {
		test_switch("1f1b", n);
		test_switch("zb", n);
	}
	return tap_done();
}
