/* format_chrome_trace.c - a record becomes a Chrome trace: slices, arrows, counters, and what is
 * refused. The whole of a file is held to the format in tests/cli/trace.t. */
#include "tests/unit/chrome_fixture.h"

static void test_message(void)
{
	const struct record_op op =
		sends(op_of(0, OP_F, 5, 1 * MS, 2 * MS + 1), 3 * MS, 5 * MS, 6 * MS);
	const struct record_iteration iteration = iteration_of(&op, 1);
	struct chrome_trace_run run = two_stages();
	struct sink sink;
	const char *text;

	run.message_bytes = 4096;
	text = draw(&run, &iteration, &sink);
	tap_contains(text,
	             "{\"ph\":\"X\",\"name\":\"0F5\",\"cat\":\"compute\",\"pid\":0,\"tid\":0,"
	             "\"ts\":1000.000,\"dur\":1000.001,\"args\":{\"iteration\":3,\"attempt\":0,"
	             "\"mb\":5,\"measured_by\":\"host\"}}",
	             "an op is a slice, to the nanosecond");
	tap_contains(text,
	             "{\"ph\":\"X\",\"name\":\"0SEND_F5\",\"cat\":\"comm\",\"pid\":0,\"tid\":1,"
	             "\"ts\":3000.000,\"dur\":2000.000,\"args\":{\"iteration\":3,\"attempt\":0,"
	             "\"mb\":5,\"bytes\":4096,\"peer\":1,\"wait_us\":999.999}}",
	             "its message is sent in the next lane, after a wait");
	tap_contains(text,
	             "\"name\":\"1RECV_F5\",\"cat\":\"comm\",\"pid\":1,\"tid\":2,\"ts\":3000.000,"
	             "\"dur\":3000.000",
	             "and is received by the next stage");
	tap_contains(text,
	             "{\"ph\":\"s\",\"name\":\"activation\",\"cat\":\"message\",\"pid\":0,"
	             "\"tid\":1,\"ts\":4000.000,\"id\":1}",
	             "an arrow leaves inside the send");
	tap_contains(text,
	             "{\"ph\":\"f\",\"name\":\"activation\",\"cat\":\"message\",\"pid\":1,"
	             "\"tid\":2,\"ts\":5999.999,\"id\":1,\"bp\":\"e\"}",
	             "and arrives before the end of the receive");
	strbuf_fini(&sink.text);
}

/* One that left twice, as the record of a live run has it; the plane changed meanwhile. */
static void test_way(void)
{
	struct record_op op = sends(op_of(0, OP_F, 5, MS, 2 * MS), 3 * MS, 5 * MS, 6 * MS);
	const struct record_iteration iteration = iteration_of(&op, 1);
	const struct chrome_trace_run run = two_stages();
	struct sink sink;
	const char *text;

	op.message_rail = 1;
	op.message_queue = 2;
	op.message_n_resends = 1;
	text = draw(&run, &iteration, &sink);
	tap_contains(text,
	             "\"name\":\"0SEND_F5\",\"cat\":\"comm\",\"pid\":0,\"tid\":3,\"ts\":3000.000,"
	             "\"dur\":2000.000,\"args\":{\"iteration\":3,\"attempt\":0,\"mb\":5,\"peer\":1,"
	             "\"rail\":1,\"queue\":2,\"resends\":1,",
	             "a delegate's message is in its lane, with rail, queue and resends");
	tap_contains(text, "\"peer\":0,\"rail\":1,\"queue\":2,\"resends\":1}}",
	             "and where it is received");
	strbuf_fini(&sink.text);
	op.message_queue = -1;
	op.message_n_resends = 0;
	text = draw(&run, &iteration, &sink);
	tap_contains(text, "\"tid\":1,\"ts\":3000.000", "one of a channel is in the senders' lane");
	tap_ok(!strstr(text, "queue") && !strstr(text, "resends"),
	       "and says nothing of what it has not");
	strbuf_fini(&sink.text);
}

static void test_names(void)
{
	const struct record_op ops[] = {
		sends(op_of(1, OP_B, 0, 0, MS), MS, 2 * MS, 3 * MS),
		sends(op_of(3, OP_W, 1, 0, MS), MS, 2 * MS, 3 * MS),
	};
	const struct record_iteration iteration = iteration_of(ops, 2);
	struct chrome_trace_run run = {.n_stages = 4, .n_replicas = 2, .n_hosts = 2};
	struct sink sink;
	const char *text = draw(&run, &iteration, &sink);

	tap_contains(text, "\"name\":\"1I0\"", "B is called I, as PyTorch does");
	tap_contains(text, "\"name\":\"0RECV_B0\"", "a gradient goes to the stage before");
	tap_contains(text, "\"name\":\"3W1\"", "W is W");
	tap_contains(text, "\"name\":\"3SEND_B1\"", "and may send the gradient");
	tap_contains(text, "\"name\":\"gradient\"", "its arrow says so");
	tap_contains(text, "{\"name\":\"stage 3 (rank 3, host1, replica 0)\"}",
	             "a process is named by stage, rank, host and replica");
	tap_ok(!strstr(text, "rank 4"), "a replica without ops is not there");
	strbuf_fini(&sink.text);
}

/* A message whose sender's and receiver's clocks differ, and one that took no time. */
static void test_clocks(void)
{
	const struct record_op ops[] = {
		sends(op_of(0, OP_F, 0, 4, MS), 10 * MS, 20 * MS, 8 * MS),
		sends(op_of(0, OP_F, 1, MS, 2 * MS), 30 * MS, 30 * MS, 30 * MS),
		sends(op_of(0, OP_F, 2, -5, 4), 40 * MS, 39 * MS, 41 * MS),
	};
	const struct record_iteration iteration = iteration_of(ops, 3);
	const struct chrome_trace_run run = two_stages();
	struct sink sink;
	const char *text = draw(&run, &iteration, &sink);

	tap_contains(text, "\"ts\":15000.001,\"id\":1,\"bp\":\"e\"",
	             "an arrival before the sending is drawn just after its arrow's start");
	tap_contains(text, "\"recorded_arrival_us\":8000.000",
	             "what was recorded stands beside it");
	tap_contains(text,
	             "\"name\":\"0SEND_F1\",\"cat\":\"comm\",\"pid\":0,\"tid\":1,"
	             "\"ts\":30000.000,\"dur\":0.001",
	             "a message that took no time is a nanosecond long");
	tap_contains(text, "\"ts\":30000.001,\"id\":2,\"bp\":\"e\"", "and has its arrow");
	tap_contains(text,
	             "\"name\":\"0F2\",\"cat\":\"compute\",\"pid\":0,\"tid\":0,\"ts\":0.000,"
	             "\"dur\":0.004",
	             "what began before the run is drawn from 0 on");
	tap_ok(!strstr(text, ":-"), "nothing is negative");
	strbuf_fini(&sink.text);
}

static void test_unfinished(void)
{
	const struct record_op ops[] = {
		sends(op_of(0, OP_F, 0, 0, MS), 10 * MS, -1, -1),
		sends(op_of(0, OP_F, 1, MS, 2 * MS), -1, -1, -1),
	};
	struct record_iteration iteration = iteration_of(ops, 2);
	const struct chrome_trace_run run = two_stages();
	struct sink sink;
	const char *text;

	iteration.is_complete = false;
	text = draw(&run, &iteration, &sink);
	tap_contains(text, "\"ts\":10000.000,\"dur\":90000.000",
	             "a send that a failure cut off ends "
	             "with its iteration");
	tap_contains(text, "\"is_unfinished\":true", "and says so");
	tap_ok(!strstr(text, "RECV") && !strstr(text, "\"ph\":\"s\""), "it arrives nowhere");
	tap_ok(!strstr(text, "SEND_F1"), "a message that never began is not drawn");
	tap_contains(text, "\"pid\":0,\"ts\":100000.000,\"args\":{\"mb\":0}",
	             "what a broken iteration held is gone at its end");
	strbuf_fini(&sink.text);
}

static void test_counters(void)
{
	const struct record_op ops[] = {
		op_of(1, OP_F, 0, 0, MS),          op_of(1, OP_B, 0, MS, 2 * MS),
		op_of(1, OP_F, 1, 2 * MS, 3 * MS), op_of(1, OP_W, 0, 3 * MS, 4 * MS),
		op_of(1, OP_B, 1, 4 * MS, 5 * MS), op_of(1, OP_W, 1, 5 * MS, 6 * MS),
	};
	const struct record_iteration iteration = iteration_of(ops, 6);
	const int64_t sizes[] = {0, 100};
	struct chrome_trace_run run = two_stages();
	struct sink sink;
	const char *text;

	run.activation_bytes = sizes;
	text = draw(&run, &iteration, &sink);
	tap_contains(text, "\"name\":\"in_flight_mb\",\"pid\":1,\"ts\":0.000,\"args\":{\"mb\":1}",
	             "a forward puts a microbatch in flight");
	tap_contains(text,
	             "\"name\":\"activation_bytes\",\"pid\":1,\"ts\":2000.000,"
	             "\"args\":{\"bytes\":200}",
	             "its activation stays after the backward");
	tap_contains(text,
	             "\"name\":\"activation_bytes\",\"pid\":1,\"ts\":4000.000,"
	             "\"args\":{\"bytes\":100}",
	             "until its W has ended");
	tap_is_int(count(text, "in_flight_mb"), 2, "only changes are written");
	tap_is_int(count(text, "activation_bytes"), 4, "of either");
	strbuf_fini(&sink.text);
	run.activation_bytes = NULL;
	text = draw(&run, &iteration, &sink);
	tap_is_int(count(text, "activation_bytes"), 0, "bytes that are not known are not made up");
	strbuf_fini(&sink.text);
}

static void test_edges(void)
{
	const struct chrome_trace_fault fault = {MS, 2 * MS, 0, 1, "0-1: \"slow\"", 7};
	const struct chrome_trace_fault later = {3 * MS, 5 * MS, 1, 1, "stage 1", 0};
	const struct chrome_trace_fault over = {4 * MS, 6 * MS, 1, 1, "again", 0};
	const struct chrome_trace_fault stray = {0, MS, 1, 2, "stray", 0};
	const struct record_decision decision = {.kind = DECISION_REPLAN,
	                                         .at_ns = 4 * MS,
	                                         .link = -1,
	                                         .warmups = "2 1",
	                                         .clamped = "",
	                                         .reason = "because"};
	const struct chrome_trace_run run = two_stages();
	struct sink sink;
	struct chrome_trace *trace = begin(&run, &sink);
	struct err err = {0};
	const char *text;

	tap_ok(!chrome_trace_fault(trace, &fault, &err) &&
	               !chrome_trace_fault(trace, &later, &err) &&
	               !chrome_trace_fault(trace, &over, &err) &&
	               !chrome_trace_decision(trace, &decision, &err),
	       "faults and decisions are drawn %s", err.text);
	tap_is_int(chrome_trace_fault(trace, &stray, &err), -EINVAL,
	           "a fault of a stage that is not there is refused");
	tap_contains(err.text, "stages 1 and 2", "with its stages");
	text = end(trace, &sink);
	tap_is_int(count(text, "\"ph\":\"X\",\"name\":\"0-1: \\\"slow\\\"\""), 2,
	           "a fault is on both its stages");
	tap_contains(text, "\"name\":\"again\",\"cat\":\"fault\",\"pid\":1,\"tid\":9",
	             "faults that overlap are in different lanes");
	tap_contains(text, "{\"name\":\"faults 2\"}", "which have names");
	tap_is_int(count(text, "\"ph\":\"i\""), 4, "each fault and decision is an instant");
	tap_contains(text,
	             "\"name\":\"replan\",\"cat\":\"decision\",\"pid\":0,\"tid\":4,"
	             "\"ts\":4000.000,\"s\":\"g\"",
	             "a decision across all stages");
	strbuf_fini(&sink.text);
}

static void test_refusals(void)
{
	const struct record_op far = op_of(2, OP_F, 0, 0, MS);
	const struct record_op copy = {.replica = 1};
	const struct record_op out = sends(op_of(1, OP_F, 0, 0, MS), MS, MS, MS);
	const struct record_op back = sends(op_of(0, OP_B, 0, 0, MS), MS, MS, MS);
	const struct record_op *wrong[] = {&far, &copy, &out, &back};
	static const char *const want[] = {"stage 2", "replica 1", "to stage 2", "to stage -1"};
	struct chrome_trace_run run = two_stages();
	struct sink sink;
	struct chrome_trace *trace = begin(&run, &sink);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct record_iteration iteration = iteration_of(wrong[i], 1);
		struct err err = {0};

		tap_is_int(chrome_trace_iteration(trace, &iteration, true, &err), -EINVAL,
		           "an op that cannot be is refused");
		tap_contains(err.text, want[i], "with what is wrong");
	}
	chrome_trace_free(trace);
	strbuf_fini(&sink.text);
	for (int i = 0; i < 4; i++) {
		struct err err = {0};

		run = two_stages();
		*(i % 2 ? &run.n_replicas : &run.n_stages) = i < 2 ? 0 : 1000000;
		trace = NULL;
		tap_is_int(chrome_trace_new(&run, (struct chrome_trace_target){take, &sink}, &trace,
		                            &err),
		           -EINVAL, "a pipeline that cannot be is refused");
		tap_ok(!trace, "and nothing is made");
	}
}

static void test_arrows_off(void)
{
	const struct record_op op = sends(op_of(0, OP_F, 0, 0, MS), MS, 2 * MS, 3 * MS);
	const struct record_iteration iteration = iteration_of(&op, 1);
	const struct chrome_trace_note notes[] = {{"schedule", "zb"}};
	struct chrome_trace_run run = two_stages();
	struct sink sink;
	struct chrome_trace *trace;
	struct err err = {0};
	const char *text;

	run.notes = notes;
	run.n_notes = 1;
	trace = begin(&run, &sink);
	tap_ok(!chrome_trace_iteration(trace, &iteration, false, &err), "it is drawn %s", err.text);
	text = end(trace, &sink);
	tap_ok(strstr(text, "1RECV_F0") && !strstr(text, "\"ph\":\"s\"") &&
	               !strstr(text, "\"ph\":\"f\""),
	       "without arrows messages are slices alone");
	tap_ok(strstr(text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n") == text,
	       "the file is an object");
	tap_contains(text, "],\"otherData\":{\"schedule\":\"zb\"}}\n", "with notes at its end");
	strbuf_fini(&sink.text);
}

int main(void)
{
	test_message();
	test_way();
	test_names();
	test_clocks();
	test_unfinished();
	test_counters();
	test_edges();
	test_refusals();
	test_arrows_off();
	return tap_done();
}
