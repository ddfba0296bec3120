/* sim_limits.c - tests that a run can be interrupted, and that it needs no more memory for being
 * longer. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "tests/child.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

/* A leak of the smallest piece of memory an iteration is ten times that. */
enum { SLACK_BYTES = 32 << 10 };

/* A sink that sends a signal at an iteration and counts what comes after. */
struct signalling {
	struct record_sink base;
	int at_iteration;
	int n_iterations;
	int n_faults;
	size_t most_bytes; /* on the heap, at the end of an iteration */
	int64_t duration_ns;
};

static int take_iteration(struct record_sink *sink, const struct record_iteration *row,
                          struct err *err)
{
	struct signalling *signalling = (struct signalling *)sink;
	struct mallinfo2 heap = mallinfo2();

	(void)err;
	if (row->iteration == signalling->at_iteration)
		raise(SIGINT);
	if (heap.uordblks + heap.hblkhd > signalling->most_bytes)
		signalling->most_bytes = heap.uordblks + heap.hblkhd;
	signalling->n_iterations++;
	signalling->duration_ns += row->duration_ns;
	return 0;
}

static int take_fault(struct record_sink *sink, const struct record_fault *row, struct err *err)
{
	(void)row;
	(void)err;
	((struct signalling *)sink)->n_faults++;
	return 0;
}

static int take_decision(struct record_sink *sink, const struct record_decision *row,
                         struct err *err)
{
	(void)sink;
	(void)row;
	(void)err;
	return 0;
}

static const struct record_sink_ops signalling_ops = {
	.iteration = take_iteration,
	.fault = take_fault,
	.decision = take_decision,
};

static int run(struct signalling *signalling, const struct scenario *scenario,
               struct sim_totals *totals, struct err *err)
{
	struct sim_request request = {.scenario = scenario,
	                              .schedule = schedule_find("adaptra", err)};

	signalling->base = (struct record_sink){.ops = &signalling_ops, .wants_ops = true};
	return sim_run(&request, &signalling->base, totals, err);
}

/* In a child, since the flag cannot be taken back; its exit status says what was wrong. */
static int status_of_interrupted_run(void)
{
	struct signalling signalling = {.at_iteration = 6};
	struct sim_totals totals = {0};
	struct scenario scenario;
	struct err err = {0};
	int rc, status = 0;

	interrupt_install();
	scenario_fixture(&scenario, 4, 8, NS_PER_MS);
	scenario.n_iterations = 1000000;
	scenario_fixture_slow_link(&scenario, 1, DELAY_LATENCY, NS_PER_MS / 2);
	scenario_fixture_iterations(&scenario, 2, 2, 900000);
	rc = run(&signalling, &scenario, &totals, &err);
	if (rc != -EINTR)
		status = 1;
	else if (signalling.n_iterations != 7)
		status = 2;
	else if (!strstr(err.text, "interrupted at iteration 7 of 1000000"))
		status = 3;
	else if (totals.total_ns != signalling.duration_ns)
		status = 4;
	else if (signalling.n_faults != 2)
		status = 5;
	scenario_fini(&scenario);
	return status;
}

static void test_interrupt(void)
{
	pid_t child = child_start();

	if (child == 0)
		_exit(status_of_interrupted_run());
	tap_is_int(child_wait(child), 0,
	           "an interrupted run comes back with -EINTR, all iterations before, their sum, "
	           "and the faults in force");
}

static void fill_long(struct scenario *scenario, int n_iterations)
{
	scenario_fixture(scenario, 4, 4, NS_PER_MS);
	scenario->n_iterations = n_iterations;
	/* Link 1-2 is slow in every other run of 20 iterations, so that there is always something
	 * to decide and to report. */
	for (int first = 10; first + 10 < 100; first += 40) {
		scenario_fixture_slow_link(scenario, 1, DELAY_OCCUPANCY, 9 * NS_PER_MS);
		scenario_fixture_iterations(scenario, 2, first, first + 19);
	}
	/* Asked for message by message, to the end. */
	scenario_fixture_slow_link(scenario, 2, DELAY_LATENCY, NS_PER_MS);
	scenario_fixture_times(scenario, 2, NS_PER_S, -1);
}

static size_t bytes_of_run(int n_iterations)
{
	struct signalling signalling = {.at_iteration = -1};
	struct sim_totals totals;
	struct scenario scenario;
	struct err err = {0};

	fill_long(&scenario, n_iterations);
	tap_is_int(run(&signalling, &scenario, &totals, &err), 0, "%d iterations are run",
	           n_iterations);
	tap_is_int(signalling.n_iterations, n_iterations, "all of them");
	scenario_fini(&scenario);
	return signalling.most_bytes;
}

static void test_memory(void)
{
	size_t few = bytes_of_run(100), many = bytes_of_run(10000);

	tap_ok(few > 10000, "100 iterations need memory (%zu bytes)", few);
	/* What the C library keeps aside for the next allocation counts as well. */
	tap_ok(many < few + SLACK_BYTES, "10,000 iterations need no more (%zu bytes)", many);
}

int main(void)
{
	test_interrupt();
	if (IS_SANITIZED)
		tap_skip("a sanitizer's allocator does not say what is in use");
	else
		test_memory();
	return tap_done();
}
