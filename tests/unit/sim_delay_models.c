/* sim_delay_models.c - tests what a slow link means: latency, rate and occupancy on both planes.
 *
 * The table of DESIGN.md section 2: N messages back to back over one link. Ops take 1 us and the
 * delay is 30 ms, so every wanted time is the table's plus the few microseconds in which the
 * messages are made, counted exactly. */
#include "engine/base/units.h"
#include "tests/delay_table.h"
#include "tests/net_case.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

static const int64_t OP_NS = 1000, DELAY_NS = 30 * NS_PER_MS;

/* A stream plane on which nothing but the channel holds anybody. */
static struct plane_rules bare_stream(void)
{
	struct plane_rules rules = plane_unbatched();

	rules.has_one_issue_queue = false;
	return rules;
}

static void test_table_in_net(const struct delay_row *row)
{
	struct plane_rules rules = row->plane == PLANE_STREAM ? bare_stream() : plane_delegate();
	struct net_case c;

	if (!net_case_init(&c, "gpipe", 2, row->n_messages, OP_NS))
		return;
	c.messages[sim_direction(0, false)] = delay_message(row->model, DELAY_NS);
	if (net_case_run(&c, &rules))
		tap_is_int(net_case_op(&c, 0, OP_F, row->n_messages - 1)->arrive_ns,
		           delay_row_ns(row, OP_NS, DELAY_NS),
		           "net, %s, %s plane: %d messages arrive when the table says",
		           delay_model_name(row->model), plane_kind_name(row->plane),
		           row->n_messages);
	net_case_fini(&c);
}

/* A run takes the rules of its first plane from the request, so gpipe, which sends all forwards
 * back to back, can be had over delegates. */
static void test_table_in_run(const struct delay_row *row)
{
	struct plane_rules rules = row->plane == PLANE_STREAM ? bare_stream() : plane_delegate();
	struct sim_request request = {.rules = &rules};
	struct scenario scenario;
	struct capture capture;

	scenario_fixture(&scenario, 2, row->n_messages, OP_NS);
	(void)scenario_fixture_delay(&scenario, 0, 1, row->model, DELAY_NS);
	scenario_fixture_iterations(&scenario, 1, 3, 3);
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	if (tap_is_int(capture_request(&capture, request, &scenario, "gpipe"), 0, "it runs")) {
		const struct record_op *op = capture_op(&capture, 3, 0, OP_F, row->n_messages - 1);

		tap_is_int(op->message_arrive_ns - capture.iterations[3].start_ns,
		           delay_row_ns(row, OP_NS, DELAY_NS),
		           "run, %s, %s plane: %d messages arrive when the table says",
		           delay_model_name(row->model), plane_kind_name(row->plane),
		           row->n_messages);
		tap_is_int(capture.iterations[4].duration_ns, capture.iterations[2].duration_ns,
		           "the iteration after the fault is like the one before it");
	}
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_table(void)
{
	struct delay_row row;

	for (int i = 0; delay_row_at(i, &row); i++) {
		test_table_in_net(&row);
		test_table_in_run(&row);
	}
}

/* Transfer time, from entering the channel to the arrival, of an op's message. */
static int64_t transfer_ns(const struct net_case *c, int stage, enum op_kind kind, int microbatch)
{
	const struct sim_op_times *times = net_case_op(c, stage, kind, microbatch);

	return times->arrive_ns - times->transfer_start_ns;
}

static void test_links_are_independent(enum delay_model model, enum plane_kind plane)
{
	struct plane_rules rules = plane == PLANE_STREAM ? plane_unbatched() : plane_delegate();
	int n_slow = 0, n_wrong = 0;
	struct net_case c;

	/* Ops are longer than the delay, so no message waits for another. */
	if (!net_case_init(&c, "1f1b", 4, 4, 2 * DELAY_NS))
		return;
	c.plan.merges_backward = false;
	c.messages[sim_direction(1, true)] = delay_message(model, DELAY_NS);
	if (net_case_run(&c, &rules))
		for (int stage = 0; stage < 4; stage++)
			for (int mb = 0; mb < 4; mb++) {
				bool is_slow = stage == 2;

				n_wrong += stage < 3 && transfer_ns(&c, stage, OP_F, mb) != 0;
				n_slow += is_slow && transfer_ns(&c, stage, OP_B, mb) == DELAY_NS;
				n_wrong += stage > 0 && !is_slow &&
				           transfer_ns(&c, stage, OP_B, mb) != 0;
			}
	tap_ok(n_slow == 4 && n_wrong == 0,
	       "%s, %s plane: a one-way fault on 2->1 delays its 4 messages (%d) and no other (%d)",
	       delay_model_name(model), plane_kind_name(plane), n_slow, n_wrong);
	net_case_fini(&c);
}

/* Ops of 1 ms, messages of bytes over 30 ms there and 10 ms back; wanted: when each of the first
 * four messages left its sender, since it entered the channel. */
static void test_window(int64_t bytes, int64_t window_bytes, const int64_t *wanted)
{
	struct plane_rules rules = bare_stream();
	struct net_case c;

	rules.window_bytes = window_bytes;
	if (!net_case_init(&c, "gpipe", 2, 4, NS_PER_MS))
		return;
	c.world.message_bytes = bytes;
	c.messages[sim_direction(0, false)] =
		(struct shape){.latency_ns = 30 * NS_PER_MS, .return_ns = 10 * NS_PER_MS};
	if (net_case_run(&c, &rules))
		for (int mb = 0; mb < 4; mb++) {
			const struct sim_op_times *times = net_case_op(&c, 0, OP_F, mb);

			tap_is_int(times->transfer_end_ns, wanted[mb] * NS_PER_MS,
			           "%lld bytes in a window of %lld: message %d leaves its sender",
			           (long long)bytes, (long long)window_bytes, mb);
		}
	net_case_fini(&c);
}

static void test_windows(void)
{
	/* Each message enters when it was made, after 1, 2, 3 and 4 ms, or when the channel is
	 * free; an acknowledgement comes 40 ms after a message entered. */
	static const int64_t unheld[] = {1, 2, 3, 4};
	static const int64_t one_round_trip[] = {41, 81, 121, 161};
	static const int64_t two_round_trips[] = {81, 161, 241, 321};
	static const int64_t one_in_flight[] = {1, 41, 81, 121};
	static const int64_t two_in_flight[] = {1, 2, 41, 42};
	static const int64_t three_in_flight[] = {1, 2, 3, 41};

	test_window(0, 1000, unheld);
	test_window(250, 1000, unheld);
	test_window(300, 1000, three_in_flight);
	test_window(333, 1000, three_in_flight);
	test_window(500, 1000, two_in_flight);
	test_window(1000, 1000, one_in_flight);
	test_window(1001, 1000, one_round_trip);
	test_window(2000, 1000, one_round_trip);
	test_window(2001, 1000, two_round_trips);
}

/* A window of very many small messages: the first acknowledgement, 40 ms after the first message
 * entered, lets the one go that does not fit. */
static void test_long_window(int n_in_window)
{
	struct plane_rules rules = bare_stream();
	struct net_case c;

	rules.window_bytes = n_in_window;
	if (!net_case_init(&c, "gpipe", 2, n_in_window + 10, OP_NS))
		return;
	c.world.message_bytes = 1;
	c.messages[sim_direction(0, false)] =
		(struct shape){.latency_ns = 30 * NS_PER_MS, .return_ns = 10 * NS_PER_MS};
	if (net_case_run(&c, &rules)) {
		tap_is_int(net_case_op(&c, 0, OP_F, n_in_window - 1)->transfer_end_ns,
		           n_in_window * OP_NS, "message %d fits the window", n_in_window - 1);
		tap_is_int(net_case_op(&c, 0, OP_F, n_in_window)->transfer_end_ns,
		           OP_NS + 40 * NS_PER_MS, "message %d waits for room", n_in_window);
	}
	net_case_fini(&c);
}

/* Two windows of 8 ms of transmission each: waiting for the acknowledgement delays the second. */
static void test_window_and_rate(int64_t return_ms, int64_t end_ms, int64_t arrive_ms)
{
	struct plane_rules rules = bare_stream();
	struct net_case c;

	rules.window_bytes = 1000;
	if (!net_case_init(&c, "gpipe", 2, 1, NS_PER_MS))
		return;
	c.world.message_bytes = 2000;
	c.messages[sim_direction(0, false)] = (struct shape){.transmit_ns = 16 * NS_PER_MS,
	                                                     .latency_ns = NS_PER_MS,
	                                                     .return_ns = return_ms * NS_PER_MS};
	if (net_case_run(&c, &rules)) {
		const struct sim_op_times *times = net_case_op(&c, 0, OP_F, 0);

		tap_is_int(times->transfer_end_ns, end_ms * NS_PER_MS,
		           "round trip %lld ms: the second window is taken",
		           (long long)return_ms + 1);
		tap_is_int(times->arrive_ns, arrive_ms * NS_PER_MS,
		           "round trip %lld ms: the last byte arrives", (long long)return_ms + 1);
	}
	net_case_fini(&c);
}

/* A rate and a delay on 0->1, named in either order; from their start, with jitter, or by time. */
struct pair {
	enum delay_model model;
	int64_t jitter_ns;
	bool is_by_time;
	bool is_rate_first;
};

static void add_pair(struct scenario *scenario, const struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct fault *fault;

		if ((i == 0) == pair->is_rate_first) {
			/* 1,000 bytes in 4 ms. */
			fault = scenario_fixture_fault(scenario,
			                               (struct fault){.kind = FAULT_RATE,
			                                              .to_stage = 1,
			                                              .rate_bits_per_s = 2000000});
		} else {
			fault = scenario_fixture_delay(scenario, 0, 1, pair->model, 5 * NS_PER_MS);
			fault->jitter_ns = pair->jitter_ns;
			fault->distribution = DISTRIBUTION_UNIFORM;
		}
		scenario_fixture_iterations(scenario, 1, 3, 5);
		/* The rate stays by iteration: what is asked for meets what is folded in. */
		if (pair->is_by_time && fault->kind == FAULT_DELAY)
			scenario_fixture_times(scenario, 1, 200 * NS_PER_MS, 400 * NS_PER_MS);
	}
}

/* The link itself takes 1 ms a message. */
static bool run_pair(struct capture *capture, const struct pair *pair)
{
	struct scenario scenario;
	bool has_run;

	scenario_fixture(&scenario, 2, 4, 10 * NS_PER_MS);
	scenario.profile.message_bytes = 1000;
	scenario.topology.link_rate_bits_per_s = 8000000;
	add_pair(&scenario, pair);
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	has_run = capture_run(capture, &scenario, "zb") == 0;
	scenario_fini(&scenario);
	return tap_ok(has_run, "a link with a rate and a delay runs");
}

static bool is_same_op(const struct record_op *a, const struct record_op *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
	       a->message_start_ns == b->message_start_ns &&
	       a->message_end_ns == b->message_end_ns &&
	       a->message_arrive_ns == b->message_arrive_ns;
}

static void test_order_of_faults(struct pair pair)
{
	struct capture delay_first, rate_first;
	size_t n_different = 0;

	pair.is_rate_first = false;
	if (!run_pair(&delay_first, &pair))
		return;
	pair.is_rate_first = true;
	if (run_pair(&rate_first, &pair) &&
	    tap_is_int((int64_t)rate_first.n_ops, (int64_t)delay_first.n_ops, "both whole")) {
		const struct record_op *op = capture_op(&rate_first, 4, 0, OP_F, 0);

		for (size_t i = 0; i < rate_first.n_ops; i++)
			n_different += !is_same_op(&rate_first.ops[i], &delay_first.ops[i]);
		tap_is_int((int64_t)n_different, 0,
		           "%s, jitter %lld ns%s: it does not matter which is named first",
		           delay_model_name(pair.model), (long long)pair.jitter_ns,
		           pair.is_by_time ? ", by time" : "");
		if (pair.jitter_ns == 0 && !pair.is_by_time)
			tap_is_int(op->message_arrive_ns - op->message_start_ns, 9 * NS_PER_MS,
			           "the delay comes on top of what the rate allows");
	}
	capture_fini(&delay_first);
	capture_fini(&rate_first);
}

static void test_orders_of_faults(void)
{
	for (enum delay_model model = DELAY_LATENCY; model <= DELAY_OCCUPANCY; model++) {
		test_order_of_faults((struct pair){.model = model});
		test_order_of_faults((struct pair){.model = model, .jitter_ns = NS_PER_MS});
		test_order_of_faults((struct pair){.model = model, .is_by_time = true});
	}
}

int main(void)
{
	test_orders_of_faults();
	test_table();
	for (int model = DELAY_LATENCY; model <= DELAY_OCCUPANCY; model++) {
		test_links_are_independent((enum delay_model)model, PLANE_STREAM);
		test_links_are_independent((enum delay_model)model, PLANE_DELEGATE);
	}
	test_windows();
	test_long_window(1000);
	test_long_window(2000);
	test_window_and_rate(1, 9, 18);
	test_window_and_rate(19, 21, 30);
	return tap_done();
}
