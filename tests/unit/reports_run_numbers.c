/* reports_run_numbers.c - the numbers of one run, against a run small enough to count by hand. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "reports/comparison_internal.h"
#include "tests/tap.h"

enum { MS_NS = 1000000, ROWS_MOST = 32 };

static struct stored_run run_of(int n_iterations, int n_warmup)
{
	return (struct stored_run){
		.run = 7,
		.n_stages = 2,
		.n_replicas = 2,
		.samples_per_iteration = 10,
		.n_iterations = n_iterations,
		.n_warmup = n_warmup,
	};
}

/* Half of the stages' time is compute, a quarter each waits and is blocked. */
static struct record_iteration row_of(int attempt, int iteration, int64_t start_ms, int64_t ms,
                                      bool is_complete)
{
	int64_t all_ns = ms * MS_NS * 4;

	return (struct record_iteration){
		.attempt = attempt,
		.iteration = iteration,
		.is_complete = is_complete,
		.plane = attempt ? PLANE_DELEGATE : PLANE_STREAM,
		.start_ns = start_ms * MS_NS,
		.duration_ns = ms * MS_NS,
		.compute_ns = all_ns / 2,
		.wait_ns = all_ns / 4,
		.blocked_ns = all_ns / 4,
		.loss = NAN,
	};
}

/* Six iterations, checkpoint after two, iteration 4 fails half-way, a restart of 500 ms, then 2 to
 * 5 again. */
static size_t restarted_run(struct record_iteration *rows)
{
	size_t n = 0;
	int64_t now = 1000;

	for (int i = 0; i < 4; i++, now += 100)
		rows[n++] = row_of(0, i, now, 100, true);
	rows[n++] = row_of(0, 4, now, 50, false);
	now += 50 + 500;
	for (int i = 2; i < 6; i++, now += 120)
		rows[n++] = row_of(1, i, now, 120 + i, true);
	return n;
}

static void test_restart(void)
{
	struct stored_run run = run_of(6, 1);
	struct record_iteration rows[ROWS_MOST];
	struct run_numbers numbers;
	struct err err = {0};

	if (!tap_is_int(run_numbers_init(&numbers, &run, rows, restarted_run(rows), &err), 0,
	                "a run with a restart has numbers"))
		return;
	tap_is_int(numbers.n_complete, 6, "all six iterations count once");
	tap_is_int(numbers.n_restarts, 1, "there was one restart");
	tap_ok(numbers.n_restart_iterations == 1 && numbers.restart_iterations[0] == 4,
	       "the restart is put where the failure struck");
	/* 4 x 100 + 50 + 500 + 3 x 120 to the start of the last, + 125 */
	tap_is_number(numbers.total_s, 1.435, 1e-12,
	              "the total has the restart and the repeats in it");
	tap_is_number(numbers.repeated_s, 0.750, 1e-12,
	              "lost are two whole iterations, half of one and the restart");
	/* after warm-up: 100, 122, 123, 124, 125 */
	tap_is_number(numbers.p50_ms, 123, 1e-9, "p50 is over last attempts after warm-up");
	tap_is_number(numbers.p95_ms, 124.8, 1e-9, "p95 is R's type 7");
	tap_is_number(numbers.mean_ms, 118.8, 1e-9, "so is the mean");
	tap_is_number(numbers.compute_ms + numbers.wait_ms + numbers.blocked_ms, numbers.mean_ms,
	              1e-9, "compute, wait and blocked add up to the mean");
	tap_is_number(numbers.compute_ms, 59.4, 1e-9, "compute is a mean over stages and replicas");
	tap_is_number(numbers.bubble_ratio, 0.5, 1e-12, "bubble is all that is not compute");
	tap_is_number(numbers.blocked_ratio, 0.25, 1e-12, "blocked is its part of all stage time");
	tap_is_number(numbers.samples_per_s, 60 / 1.435, 1e-9, "repeated samples count once");
	tap_is_number(numbers.iteration_ms[3], 123, 1e-9,
	              "an iteration's time is its last attempt's");
	tap_ok(numbers.has_stream && numbers.has_delegate, "both planes were seen");
	tap_is_str(numbers.loss_digest, "", "without losses there is no digest");
	run_numbers_fini(&numbers);
}

/* Killed in the second attempt: what the restart threw away is not there, though an earlier attempt
 * had it. */
static void test_interrupted(void)
{
	struct stored_run run = run_of(6, 0);
	struct record_iteration rows[ROWS_MOST];
	struct run_numbers numbers;
	struct err err = {0};

	if (!tap_is_int(run_numbers_init(&numbers, &run, rows, restarted_run(rows) - 3, &err), 0,
	                "a run that ended early has numbers"))
		return;
	tap_is_int(numbers.n_complete, 3, "iterations lost by the restart do not count");
	tap_ok(isnan(numbers.iteration_ms[3]), "a lost iteration is missing");
	run_numbers_fini(&numbers);
	tap_is_int(run_numbers_init(&numbers, &run, rows, 0, &err), 0,
	           "a run without iterations has numbers");
	tap_ok(numbers.n_complete == 0 && isnan(numbers.total_s) && isnan(numbers.p50_ms),
	       "which are no numbers");
	run_numbers_fini(&numbers);
}

static void test_digest(void)
{
	struct stored_run run = run_of(2, 0);
	struct record_iteration rows[2] = {row_of(0, 0, 0, 10, true), row_of(0, 1, 10, 10, true)};
	struct run_numbers a, b;
	struct err err = {0};

	rows[0].loss = 1.5;
	rows[1].loss = 1.25;
	if (run_numbers_init(&a, &run, rows, 2, &err))
		return;
	rows[1].loss = nextafter(1.25, 2);
	if (run_numbers_init(&b, &run, rows, 2, &err))
		return;
	tap_is_int((int64_t)strlen(a.loss_digest), 16, "losses have a digest of 16 digits");
	tap_ok(strcmp(a.loss_digest, b.loss_digest) != 0, "one bit of one loss changes it");
	run_numbers_fini(&a);
	run_numbers_fini(&b);
}

static void test_hostile(void)
{
	struct stored_run run = run_of(3, INT_MAX);
	struct record_iteration rows[4] = {row_of(0, -1, 0, 10, true),
	                                   row_of(9, INT_MAX, 10, 10, true),
	                                   row_of(3, 1, 20, 10, true), row_of(3, 1, 20, 10, true)};
	struct run_numbers numbers;
	struct err err = {0};

	rows[3].start_ns = INT64_MAX;
	rows[3].duration_ns = INT64_MAX;
	tap_is_int(run_numbers_init(&numbers, &run, rows, 4, &err), 0,
	           "rows out of range do no harm");
	tap_is_int(numbers.n_complete, 1, "and do not count");
	run_numbers_fini(&numbers);
	run.n_stages = 0;
	tap_is_int(run_numbers_init(&numbers, &run, rows, 4, &err), -EINVAL,
	           "a run without stages is refused");
	run = run_of(INT_MAX, 0);
	tap_is_int(run_numbers_init(&numbers, &run, rows, 4, &err), -EINVAL,
	           "a run of more iterations than there can be is refused");
}

int main(void)
{
	test_restart();
	test_interrupted();
	test_digest();
	test_hostile();
	return tap_done();
}
