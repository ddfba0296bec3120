/* replay_messages.c - tests what the record of a live run says of the way that messages went. */
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum {
	N_STAGES = 3,
	N_MICROBATCHES = 6,
	N_QUEUES = 3,
	VICTIM = 1, /* both its neighbours have no other one, so every message meets it */
	LINK_MS = 40,
	FAILOVER_MS = 30,
	RUNS_MAX = 10,
};

/* What was counted over the messages of one iteration. */
struct count {
	int n_messages, n_without_way, n_of_channels, n_of_queues, n_on_rail[2], n_resends;
};

static void count_op(const struct record_op *op, struct count *out)
{
	bool has_rail = op->message_rail >= 0 && op->message_rail < 2;

	if (op->message_request_ns < 0) {
		out->n_without_way += op->message_rail != -1 || op->message_queue != -1;
		return;
	}
	out->n_messages++;
	out->n_without_way += !has_rail;
	if (has_rail)
		out->n_on_rail[op->message_rail]++;
	out->n_of_channels += op->message_queue == -1;
	out->n_of_queues += op->message_queue >= 0 && op->message_queue < N_QUEUES;
	out->n_resends += op->message_n_resends;
}

static struct count count_of(const struct capture *capture, size_t iteration)
{
	size_t end = iteration + 1 < capture->n_iterations ? capture->first_op[iteration + 1]
	                                                   : capture->n_ops;
	struct count count = {0};

	for (size_t i = capture->first_op[iteration]; i < end; i++)
		count_op(&capture->ops[i], &count);
	return count;
}

static void init(struct live_case *c)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, 1, 1);
	live_case_pace(c, 4);
	c->scenario.n_iterations = 3;
	c->scenario.n_queues = N_QUEUES;
	c->scenario.topology.n_rails = 2;
	c->scenario.topology.link_delay_ns = (int64_t)LINK_MS * NS_PER_MS;
	c->scenario.recovery.failover_ns = (int64_t)FAILOVER_MS * NS_PER_MS;
	/* No detector: on a busy machine it may see a slow link, and be right. */
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	c->payload_bytes = 65536;
}

static void test_planes(void)
{
	static const char *const schedules[] = {"1f1b", "zb", "zb-cpu"};
	const int n_messages = 2 * (N_STAGES - 1) * N_MICROBATCHES;

	for (size_t i = 0; i < 3; i++) {
		bool has_queues = strcmp(schedules[i], "zb-cpu") == 0;
		struct live_case c;
		struct count count = {0};

		init(&c);
		tap_is_int(live_case_run(&c, schedules[i]), 0, "%s runs: %s", schedules[i],
		           c.err.text);
		if (c.capture.n_iterations == 3)
			count = count_of(&c.capture, 2);
		tap_is_int(count.n_messages, n_messages, "every message is in the record");
		tap_is_int(count.n_without_way, 0, "with its way, and nothing else has one");
		tap_is_int(count.n_on_rail[0], n_messages, "over the first rail");
		tap_is_int(has_queues ? count.n_of_queues : count.n_of_channels, n_messages,
		           has_queues ? "through a delegate's queue" : "through its channel");
		tap_is_int(count.n_resends, 0, "and once");
		if (c.capture.n_iterations == 3)
			tap_is_int(c.capture.iterations[2].message_bytes, c.payload_bytes,
			           "their size is there");
		live_case_fini(&c);
	}
}

/* When the op begins, so in that iteration whatever the machine is busy with. */
static void die(struct live_case *c)
{
	const struct moment start = {.kind = MOMENT_OP,
	                             .value = 1,
	                             .stage = VICTIM,
	                             .op = OP_F,
	                             .microbatch = N_MICROBATCHES / 2};

	scenario_fixture_fault(&c->scenario, (struct fault){.kind = FAULT_DOWN,
	                                                    .start = start,
	                                                    .end = {.kind = MOMENT_NEVER},
	                                                    .from_stage = VICTIM,
	                                                    .to_stage = VICTIM});
}

/* Messages are under way then, nearly always: a machine that stood still has let them arrive. */
static void run_dying(struct live_case *c, const char *schedule)
{
	int n_resends = 0;

	for (int i = 0; i < RUNS_MAX && n_resends == 0; i++) {
		tap_is_int(live_case_run(c, schedule), 0, "live, too: %s", c->err.text);
		if (c->capture.n_iterations == 3)
			n_resends = count_of(&c->capture, 1).n_resends;
	}
}

static void test_fail_over(const char *schedule)
{
	struct capture sim;
	struct live_case c;

	init(&c);
	die(&c);
	tap_is_int(live_case_simulate(&c, schedule, &sim), 0,
	           "%s, and an RNIC dies: it is simulated", schedule);
	run_dying(&c, schedule);
	if (c.capture.n_iterations == 3 && sim.n_iterations == 3) {
		struct count before = count_of(&c.capture, 0), during = count_of(&c.capture, 1);
		struct count after = count_of(&c.capture, 2), wanted = count_of(&sim, 1);

		tap_is_int(before.n_on_rail[1], 0, "before, nothing goes over the spare rail");
		tap_ok(during.n_on_rail[0] > 0 && during.n_on_rail[1] > 0,
		       "in the iteration in which it dies both are used (%d and %d)",
		       during.n_on_rail[0], during.n_on_rail[1]);
		tap_ok(wanted.n_resends > 0 && during.n_resends > 0,
		       "some messages leave twice (%d, in virtual time %d)", during.n_resends,
		       wanted.n_resends);
		tap_is_int(after.n_on_rail[0], 0, "afterwards all go over the spare rail");
		tap_is_int(after.n_of_queues, after.n_messages, "through delegates");
		tap_is_int(after.n_resends, 0, "and once");
		tap_is_int(count_of(&sim, 2).n_on_rail[1], after.n_messages, "as in virtual time");
	}
	capture_fini(&sim);
	live_case_fini(&c);
}

int main(void)
{
	test_planes();
	test_fail_over("zb-cpu");
	test_fail_over("adaptra");
	return tap_done();
}
