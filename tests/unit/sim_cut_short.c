/* sim_cut_short.c - tests what the record says of an iteration in which the job died, when somebody
 * else ran it: not all of its times are known, and the death may not have been noticed. */
#include <errno.h>

#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

/* The first iteration is complete, so that no moment of the second is the run's first. */
enum { WHOLE_MS = 50, DIED_MS = 25, N_OPS = 2 * OP_KINDS };

/* S = 2, N = 1: F, B and W of stage 0, then of stage 1. */
enum { F0, B0, W0, F1, B1, W1 };

/* Hands out times that the test wrote, in the second iteration; then the job has died. */
struct fake {
	struct executor base;
	struct sim_op_times times[N_OPS];
};

static struct sim_op_times op_of(int64_t start_ms, int64_t arrive_ms)
{
	int64_t end_ms = start_ms + 10;

	return (struct sim_op_times){
		.start_ns = start_ms * NS_PER_MS,
		.end_ns = end_ms * NS_PER_MS,
		.ready_ns = start_ms * NS_PER_MS,
		.transfer_start_ns = arrive_ms < 0 ? -1 : end_ms * NS_PER_MS,
		.transfer_end_ns = arrive_ms < 0 ? -1 : end_ms * NS_PER_MS,
		.arrive_ns = arrive_ms < 0 ? -1 : arrive_ms * NS_PER_MS,
	};
}

/* All ops take 10 ms and links nothing. */
static void fill_whole(struct executor_result *out)
{
	out->times[F0] = op_of(0, 10);
	out->times[F1] = op_of(10, -1);
	out->times[B1] = op_of(20, 30);
	out->times[W1] = op_of(30, -1);
	out->times[B0] = op_of(30, -1);
	out->times[W0] = op_of(40, -1);
	out->makespan_ns = WHOLE_MS * NS_PER_MS;
}

static int fake_run(struct executor *executor, const struct executor_job *job,
                    struct executor_result *out, struct err *err)
{
	const struct fake *fake = (const struct fake *)executor;

	(void)err;
	if (job->iteration == 0) {
		fill_whole(out);
		return 0;
	}
	for (int i = 0; i < N_OPS; i++)
		out->times[i] = fake->times[i];
	for (size_t i = 0; i < job->n_outages; i++)
		out->has_fired[i] = true;
	out->died_ns = DIED_MS * NS_PER_MS;
	return 0;
}

static int fake_restart(struct executor *executor, int attempt, int iteration, int64_t cost_ns,
                        struct err *err)
{
	(void)executor, (void)attempt, (void)iteration, (void)cost_ns;
	return err_set(err, -EIO, "there is no rail left to start again on");
}

static const struct executor_ops fake_ops = {.run = fake_run, .restart = fake_restart};

/* F of stage 0 ran for 10 ms and handed its message out; nothing else is known. */
static struct fake fake_of_one_op(void)
{
	struct fake fake = {.base = {.ops = &fake_ops}};

	for (int i = 0; i < N_OPS; i++)
		fake.times[i] = (struct sim_op_times){.start_ns = INT64_MAX,
		                                      .end_ns = INT64_MAX,
		                                      .ready_ns = INT64_MAX,
		                                      .transfer_start_ns = -1,
		                                      .transfer_end_ns = -1,
		                                      .arrive_ns = -1};
	fake.times[F0] = op_of(0, 10);
	fake.times[F0].transfer_end_ns = fake.times[F0].arrive_ns = -1;
	fake.times[W0].ready_ns = fake.times[B1].ready_ns = fake.times[W1].ready_ns = 0;
	return fake;
}

/* The RNIC of stage 1, its only one, dies for good; messages 0->1 are slow. */
static void run(struct capture *capture, struct fake *fake)
{
	struct sim_request request = {.executor = &fake->base};
	struct scenario scenario;

	scenario_fixture(&scenario, 2, 1, 10 * NS_PER_MS);
	scenario.topology.n_rails = 1;
	(void)scenario_fixture_delay(&scenario, 0, 1, DELAY_LATENCY, 2 * NS_PER_MS);
	scenario_fixture_iterations(&scenario, 1, 1, 9);
	(void)scenario_fixture_fault(&scenario,
	                             (struct fault){.kind = FAULT_DOWN,
	                                            .start = {.kind = MOMENT_ITERATION, .value = 1},
	                                            .end = {.kind = MOMENT_NEVER, .value = 0},
	                                            .from_stage = 1,
	                                            .to_stage = 1,
	                                            .is_permanent = true});
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	tap_is_int(capture_request(capture, request, &scenario, "zb"), -ENETDOWN, "the job dies");
	tap_is_int((int64_t)capture->n_iterations, 2, "in its second iteration");
	capture_check(capture, &scenario);
	scenario_fini(&scenario);
}

static void check_shares(const struct capture *capture, int64_t compute_ms, int64_t wait_ms,
                         int64_t blocked_ms)
{
	const struct record_iteration *row = &capture->iterations[1];

	tap_is_int(row->compute_ns, compute_ms * NS_PER_MS, "so long ops ran");
	tap_is_int(row->wait_ns, wait_ms * NS_PER_MS, "so long they waited");
	tap_is_int(row->blocked_ns, blocked_ms * NS_PER_MS, "so long they were blocked");
}

static void check_message(const struct capture *capture, int64_t request_ms, int64_t start_ms,
                          int64_t end_ms, int64_t arrive_ms)
{
	const struct record_op *op = capture_op(capture, 1, 0, OP_F, 0);
	const int64_t found[] = {op->message_request_ns, op->message_start_ns, op->message_end_ns,
	                         op->message_arrive_ns};
	const int64_t wanted_ms[] = {request_ms, start_ms, end_ms, arrive_ms};
	static const char *const names[] = {"asked for", "started", "left", "arrived"};

	for (int i = 0; i < 4; i++)
		tap_is_int(found[i], wanted_ms[i] < 0 ? -1 : (WHOLE_MS + wanted_ms[i]) * NS_PER_MS,
		           "the message %s then, or nobody knows", names[i]);
}

static void check_fault(const struct capture *capture, int64_t measured_ms)
{
	tap_is_int(capture->faults[0].n_messages, 1, "the delay hit a message");
	tap_is_int(capture->faults[0].measured_ns, measured_ms < 0 ? -1 : measured_ms * NS_PER_MS,
	           "what that took is as long as is known");
}

/* It never arrived: nobody could run but F of stage 0. */
static void test_under_way(void)
{
	struct fake fake = fake_of_one_op();
	struct capture capture;

	run(&capture, &fake);
	check_shares(&capture, 10, 15 + 25, 0);
	check_message(&capture, 10, 10, -1, -1);
	check_fault(&capture, -1);
	tap_is_int((int64_t)capture.n_ops, N_OPS + 1, "one op is recorded");
	tap_is_int(capture.totals.n_ops, N_OPS + 1, "and counted");
	capture_fini(&capture);
}

/* It arrived, but its sender was never rid of it; stage 1 is in B when the job dies. */
static void test_arrived(void)
{
	struct fake fake = fake_of_one_op();
	struct capture capture;
	const struct record_op *cut;

	fake.times[F0].arrive_ns = 12 * NS_PER_MS;
	fake.times[F1] = op_of(12, -1);
	fake.times[B1].start_ns = 22 * NS_PER_MS;
	run(&capture, &fake);
	check_shares(&capture, 10 + 10 + 3, 15 + 12, 0);
	check_message(&capture, 10, 10, -1, 12);
	check_fault(&capture, 2);
	cut = capture_op(&capture, 1, 1, OP_B, 0);
	if (tap_ok(cut, "the op that was cut short is recorded")) {
		tap_is_int(cut->end_ns - cut->start_ns, 3 * NS_PER_MS, "as long as it ran");
		tap_is_int(cut->message_request_ns, -1, "its message was never asked for");
	}
	capture_fini(&capture);
}

/* The input was there, and stage 1's queue did not take the op. */
static void test_blocked(void)
{
	struct fake fake = fake_of_one_op();
	struct capture capture;

	fake.times[F0].transfer_end_ns = 24 * NS_PER_MS;
	fake.times[F0].arrive_ns = 12 * NS_PER_MS;
	fake.times[F1].ready_ns = 12 * NS_PER_MS;
	run(&capture, &fake);
	check_shares(&capture, 10, 15 + 12, 13);
	check_message(&capture, 10, 10, 24, 12);
	capture_fini(&capture);
}

/* What was seen after the failure did not happen. */
static void test_seen_later(void)
{
	struct fake fake = fake_of_one_op();
	struct capture capture;

	fake.times[F0].transfer_end_ns = 26 * NS_PER_MS;
	fake.times[F0].arrive_ns = 27 * NS_PER_MS;
	fake.times[F1].ready_ns = fake.times[F1].start_ns = 27 * NS_PER_MS;
	run(&capture, &fake);
	check_shares(&capture, 10, 15 + 25, 0);
	check_message(&capture, 10, 10, -1, -1);
	check_fault(&capture, -1);
	capture_fini(&capture);
}

/* Runs every iteration to its end and notices no outage that falls into it. */
struct blind {
	struct executor base;
	int n_restarts;
};

static int blind_run(struct executor *executor, const struct executor_job *job,
                     struct executor_result *out, struct err *err)
{
	(void)executor, (void)err;
	fill_whole(out);
	for (size_t i = 0; i < job->n_outages; i++)
		out->has_fired[i] = job->outages[i].at_ns < out->makespan_ns;
	return 0;
}

static int blind_restart(struct executor *executor, int attempt, int iteration, int64_t cost_ns,
                         struct err *err)
{
	(void)attempt, (void)iteration, (void)cost_ns, (void)err;
	((struct blind *)executor)->n_restarts++;
	return 0;
}

static const struct executor_ops blind_ops = {.run = blind_run, .restart = blind_restart};

/* Both rails of stage 1 die in one iteration, after all that had to be sent; sim says what that is.
 */
static void test_unnoticed(void)
{
	struct blind blind = {.base = {.ops = &blind_ops}};
	struct sim_request request = {.executor = &blind.base};
	struct capture live, sim;
	struct scenario scenario;

	scenario_fixture(&scenario, 2, 1, 10 * NS_PER_MS);
	for (int rail = 0; rail < 2; rail++)
		(void)scenario_fixture_fault(
			&scenario, (struct fault){.kind = FAULT_DOWN,
		                                  .start = {.kind = MOMENT_TIME,
		                                            .value = (90 + 2 * rail) * NS_PER_MS},
		                                  .end = {.kind = MOMENT_NEVER, .value = 0},
		                                  .from_stage = 1,
		                                  .to_stage = 1,
		                                  .rail = rail});
	scenario.topology.n_rails = 2;
	tap_ok(scenario_fixture_is_valid(&scenario), "the scenario is valid");
	tap_is_int(capture_run(&sim, &scenario, "zb-cpu"), 0, "sim runs it: %s", sim.err.text);
	tap_is_int(capture_request(&live, request, &scenario, "zb-cpu"), 0, "so does it live: %s",
	           live.err.text);
	tap_is_int(live.totals.n_restarts, 1, "the job starts again");
	tap_is_int(sim.totals.n_restarts, 1, "as in sim");
	tap_is_int(blind.n_restarts, 1, "and who runs it is told");
	tap_is_int((int64_t)live.n_iterations, (int64_t)sim.n_iterations, "as many iterations");
	tap_is_int(live.iterations[1].duration_ns, sim.iterations[1].duration_ns,
	           "the one in which it died ends there");
	tap_is_int(live.totals.total_ns, sim.totals.total_ns, "all takes as long");
	capture_check(&live, &scenario);
	capture_fini(&live);
	capture_fini(&sim);
	scenario_fini(&scenario);
}

int main(void)
{
	test_under_way();
	test_arrived();
	test_blocked();
	test_seen_later();
	test_unnoticed();
	return tap_done();
}
