/* sim_link_rails.c - tests that a link has the rails that both its ends have: a stage that went
 * over to its spare takes the links to its neighbours along, and nothing else. */
#include <errno.h>

#include "engine/base/units.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 8, N_ITERATIONS = 8 };

static void fill(struct scenario *scenario, int n_rails)
{
	scenario_fixture(scenario, N_STAGES, N_MICROBATCHES, 10 * NS_PER_MS);
	scenario->n_iterations = N_ITERATIONS;
	scenario->topology.n_rails = n_rails;
	scenario->topology.link_delay_ns = NS_PER_MS;
	scenario->recovery = (struct recovery){
		.checkpoint_every = 2, .restart_ns = NS_PER_S, .failover_ns = 40 * NS_PER_MS};
}

static void add_down(struct scenario *scenario, int stage, int rail, int iteration,
                     bool is_permanent)
{
	(void)scenario_fixture_fault(scenario, (struct fault){.kind = FAULT_DOWN,
	                                                      .start = {.value = iteration},
	                                                      .end = {.kind = MOMENT_NEVER},
	                                                      .from_stage = stage,
	                                                      .to_stage = stage,
	                                                      .rail = rail,
	                                                      .is_permanent = is_permanent});
}

static void run(struct capture *capture, struct scenario *scenario)
{
	tap_ok(scenario_fixture_is_valid(scenario), "the scenario is valid");
	tap_is_int(capture_run(capture, scenario, "zb-cpu"), 0, "it ends well: %s",
	           capture->err.text);
	capture_check(capture, scenario);
}

static int count_failovers(const struct capture *capture)
{
	const struct captured_decision *first;

	return capture_count(capture, DECISION_FAILOVER, &first);
}

/* Of the messages between two stages in an iteration, how many went over rail? */
static int count_on_rail(const struct capture *capture, size_t i, int link, int rail)
{
	int n = 0;

	for (int mb = 0; mb < N_MICROBATCHES; mb++) {
		n += capture_op(capture, i, link, OP_F, mb)->message_rail == rail;
		n += capture_op(capture, i, link + 1, OP_B, mb)->message_rail == rail;
	}
	return n;
}

/* Stage 2 loses rail 0: its links go over to rail 1, that between stages 0 and 1 does not. */
static void test_links_move(void)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario, 2);
	add_down(&scenario, 2, 0, 1, false);
	run(&capture, &scenario);
	for (int link = 0; link < N_STAGES - 1; link++)
		tap_is_int(count_on_rail(&capture, 2, link, link == 0 ? 0 : 1), 2 * N_MICROBATCHES,
		           "all messages of link %d-%d are on rail %d", link, link + 1, link != 0);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Afterwards stage 1 loses a rail. On rail 0 only its link to stage 0 is left. On rail 1 is its
 * link to stage 2, which has no other one: each stage has a rail, and they do not meet. */
static void test_neighbour_dies(int n_rails, int rail, int n_restarts, int n_failovers)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario, n_rails);
	add_down(&scenario, 2, 0, 1, false);
	add_down(&scenario, 1, rail, 3, false);
	run(&capture, &scenario);
	tap_is_int(capture.totals.n_restarts, n_restarts,
	           "%d rails, rail %d of stage 1 dies: %d "
	           "restarts",
	           n_rails, rail, n_restarts);
	tap_is_int(count_failovers(&capture), n_failovers, "%d fail-overs", n_failovers);
	capture_fini(&capture);
	scenario_fini(&scenario);
}

/* Only the link that was on the dead rail waits for the fail-over. */
static void test_others_do_not_wait(void)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario, 2);
	add_down(&scenario, 2, 0, 1, false);
	add_down(&scenario, 1, 0, 3, false);
	run(&capture, &scenario);
	tap_is_int(count_on_rail(&capture, 3, 1, 1), 2 * N_MICROBATCHES,
	           "link 1-2 was on rail 1 all the time");
	for (int mb = 0; mb < N_MICROBATCHES; mb++)
		tap_is_int(capture_op(&capture, 3, 1, OP_F, mb)->message_n_resends, 0,
		           "nothing of it is sent again (F%d)", mb);
	tap_is_int(count_on_rail(&capture, 4, 0, 1), 2 * N_MICROBATCHES,
	           "link 0-1 has gone over to it");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

static void test_none_in_common(void)
{
	struct scenario scenario;
	struct capture capture;

	fill(&scenario, 2);
	add_down(&scenario, 2, 0, 1, true);
	add_down(&scenario, 1, 1, 3, true);
	tap_is_int(capture_run(&capture, &scenario, "zb-cpu"), -ENETDOWN,
	           "without a rail in common the run ends");
	tap_contains(capture.err.text, "no rail is left between stages 1 and 2", "and says where");
	capture_fini(&capture);
	scenario_fini(&scenario);
}

int main(void)
{
	test_links_move();
	test_neighbour_dies(2, 0, 0, 2);
	test_neighbour_dies(2, 1, 1, 1);
	test_neighbour_dies(3, 1, 0, 2);
	test_others_do_not_wait();
	test_none_in_common();
	return tap_done();
}
