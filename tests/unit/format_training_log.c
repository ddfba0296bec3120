/* format_training_log.c - iteration times and timers of training logs, run by run. */
#include "engine/format/training_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/stats.h"
#include "engine/base/units.h"
#include "tests/tap.h"

static int read_text(const char *text, struct observed *out, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes("x.log", text, strlen(text), &input, err);

	observed_init(out, 0);
	if (rc == 0)
		rc = training_log_read(input, 0, out, err);
	input_close(input);
	return rc;
}

/* The median over iterations 12 to 15 of a run: what summary.csv calls steady. */
static double steady_ms(const struct observed *observed, int source)
{
	double values[8];
	size_t n = 0;

	for (size_t i = 0; i < observed->n_iterations; i++) {
		const struct observed_iteration *iteration = &observed->iterations[i];

		if (iteration->source == source && iteration->iteration >= 12 && n < 8)
			values[n++] = (double)iteration->mean_ns / NS_PER_MS;
	}
	return stats_median(values, n);
}

static void check_published(void)
{
	const char *root = getenv("ADAPTRA_SOURCE");
	struct input *input = NULL;
	struct observed observed;
	struct err err = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/data/training_log/two_runs.log", root ? root : ".");
	observed_init(&observed, 0);
	tap_is_int(input_open(path, &input, &err), 0, "the published log is there");
	tap_is_int(training_log_read(input, 0, &observed, &err), 0, "and read");
	input_close(input);
	tap_is_int((int64_t)observed.n_sources, 2, "it holds two runs");
	tap_is_int(observed.sources[1].segment, 1, "which are told apart");
	tap_is_int((int64_t)observed.n_iterations, 30, "of 15 iterations each");
	tap_is_number(steady_ms(&observed, 0), 1628.3, 1e-6,
	              "the first has the published steady median");
	tap_is_number(steady_ms(&observed, 1), 1698.25, 1e-6, "and the second has its own");
	tap_ok(observed.iterations[0].was_skipped, "a skipped optimizer step is known");
	tap_is_int(observed.iterations[0].n_iterations, 1, "a line is of one iteration");
	tap_ok(!observed.is_intrusive, "without timers nothing was slowed down");
	observed_fini(&observed);
}

static const char interval_log[] =
	"12:  [2026-01-31 08:00:05] iteration       20/    1000 | consumed samples:          288 "
	"| elapsed time per iteration (ms): 752.8 | throughput per GPU (TFLOP/s/GPU): 151.2 | "
	"learning rate: 1.0E-04 | lm loss: 2.1E+00 |\n"
	"12: (min, max) time across ranks (ms):\n"
	"    forward-compute ................................: (203.11, 218.40)\n"
	"    some-other-timer ...............................: (1.00, 2.00)\n"
	"12: saving a checkpoint\n"
	" iteration       30/    1000 | elapsed time per iteration (ms): 7.0E+02 |\n"
	"max time across ranks (ms):\n"
	"    backward-compute ...............................: 418.40\n"
	"times across ranks (ms):\n"
	"  forward-compute:\n"
	"     rank  0: 203.11\n"
	"     rank  1: 218.40\n"
	"  unknown-timer:\n"
	"     rank  0: 3\n"
	" iteration       31/    1000 | elapsed time per iteration (ms): 701 |\n"
	"time (ms) | forward-compute: 53.79 | forward-recv: 38.38 | what: 3\n"
	" | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk: 9.5W/3 |\n";

static const struct observed_timer *timer_at(const struct observed *observed, size_t i)
{
	static const struct observed_timer none = {.name = "none"};

	return i < observed->n_timers ? &observed->timers[i] : &none;
}

static void check_timers(void)
{
	struct observed observed;
	struct err err = {0};
	const struct observed_timer *timer;

	tap_is_int(read_text(interval_log, &observed, &err), 0,
	           "a log with prefixes and timers is read");
	tap_is_int((int64_t)observed.n_iterations, 3, "with its iterations");
	tap_ok(observed.iterations[0].mean_ns == 752800000 &&
	               observed.iterations[0].n_iterations == 10 &&
	               observed.iterations[1].n_iterations == 10 &&
	               observed.iterations[2].n_iterations == 1,
	       "each with how many it is the mean of");
	tap_is_int((int64_t)observed.n_timers, 8, "and its timers");
	timer = timer_at(&observed, 0);
	tap_ok(strcmp(timer->name, "forward-compute") == 0 && timer->rank == -1 &&
	               timer->low_ns == 203110000 && timer->high_ns == 218400000 &&
	               timer->iteration == 20,
	       "a range over ranks belongs to the iteration above it");
	timer = timer_at(&observed, 1);
	tap_ok(strcmp(timer->name, "backward-compute") == 0 && timer->low_ns == -1 &&
	               timer->high_ns == 418400000 && timer->iteration == 30,
	       "so does a largest time");
	timer = timer_at(&observed, 3);
	tap_ok(strcmp(timer->name, "forward-compute") == 0 && timer->rank == 1 &&
	               timer->high_ns == 218400000,
	       "and a rank's own");
	timer = timer_at(&observed, 5);
	tap_ok(strcmp(timer->name, "forward-recv") == 0 && timer->high_ns == 38380000,
	       "the older form is known");
	timer = timer_at(&observed, 7);
	tap_ok(strcmp(timer->name, "largest round trip") == 0 && timer->rank == 0 &&
	               timer->high_ns == INT64_C(3468200000),
	       "as are stragglers");
	tap_ok(observed.is_intrusive, "timers slow down what they measure, and that is marked");
	tap_is_int((int64_t)observed_n_skipped(&observed), 5, "the rest is counted");
	observed_fini(&observed);
}

/* A rank's own timers, with the number of microbatches, are ops. */
static void check_ops(void)
{
	static const char text[] = " iteration 3/ 9 | elapsed time per iteration (ms): 5 |\n"
				   "times across ranks (ms):\n"
				   "  forward-compute:\n     rank  0: 40.0\n     rank  1: 44.4\n"
				   "  backward-compute:\n     rank  1: 80.8\n"
				   "  optimizer:\n     rank  0: 3\n";
	struct input *input = NULL;
	struct observed observed;
	struct err err = {0};

	observed_init(&observed, 0);
	input_open_bytes("x", text, strlen(text), &input, &err);
	tap_is_int(training_log_read(input, 4, &observed, &err), 0, "ranks' timers are read");
	input_close(input);
	tap_is_int((int64_t)observed.n_read[OBSERVED_FORWARD], 8, "as an op a microbatch");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD], 4,
	           "backward-compute is the whole backward");
	tap_is_int((int64_t)observed.n_ops, 12, "and other timers are no ops");
	tap_ok(observed.ops[4].stage == 1 && observed.ops[4].iteration == 3 &&
	               observed.ops[7].microbatch == 3 &&
	               observed.ops[7].end_ns - observed.ops[7].start_ns == 11100000,
	       "each is a part of the rank's time");
	observed_fini(&observed);
}

static void check_refused(void)
{
#define ITERATION " iteration 3/ 10 | elapsed time per iteration "
	static const char *const cases[][2] = {
		{"", "x.log: no line such as"},
		{"hello\n", "x.log: no line such as"},
		{ITERATION "(s): 0.75 |\n",
	         "line 1: elapsed time per iteration; wanted it in (ms)"},
		{ITERATION "(ms): -5 |\n", "elapsed time per iteration is negative"},
		{ITERATION "(ms): nan |\n", "elapsed time per iteration is 'nan'"},
		{ITERATION "(ms): inf |\n", "wanted a number of ms"},
		{ITERATION "(ms): 5 | elapsed time per iteration (ms): 6 |\n", "two elapsed times"},
		{"\n iteration 3/ 10 elapsed time per iteration (ms): 5\n", "line 2: an iteration "
	                                                                    "line without"},
		{ITERATION "(ms): 5 |\nmax time across ranks (s):\n", "line 2: timers; wanted"},
		{ITERATION "(ms): 5 |\nmax time across ranks (ms):\n  optimizer ..: x\n",
	         "optimizer"},
		{ITERATION
	         "(ms): 5 |\n(min, max) time across ranks (ms):\n  optimizer ..: (3, 2)\n",
	         "optimizer is (larger, smaller)"},
		{ITERATION "(ms): 5 |\n(min, max) time across ranks (ms):\n  optimizer ..: 3\n",
	         "optimizer; wanted (smallest, largest)"},
		{ITERATION "(ms): 5 |\n| MnRtt/Rnk: 3.5s/8 |\n", "wanted 3453.08ms/8"},
		{ITERATION "(ms): 5 |\ntime (ms) | optimizer: -1\n", "optimizer is negative"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct observed observed;
		struct err err = {0};

		tap_is_int(read_text(cases[i][0], &observed, &err), -EINVAL, "case %zu is refused",
		           i);
		tap_contains(err.text, cases[i][1], "because: %s", cases[i][1]);
		observed_fini(&observed);
	}
}

int main(void)
{
	check_published();
	check_timers();
	check_ops();
	check_refused();
	return tap_done();
}
