/* run_numbers.c - the numbers of one run, from its iterations.
 *
 * A restart goes back to an iteration: from there on, what earlier attempts did is lost, whether or
 * not the new attempt got as far. What is left are the iterations that count, each in its last
 * attempt. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/rng.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"

static const double MS = NS_PER_MS, S = NS_PER_S;

static int check_run(const struct stored_run *run, struct err *err)
{
	if (run->n_stages < 1 || run->n_replicas < 1)
		return err_set(err, -EINVAL,
		               "run %" PRId64 " has %d stages and %d replicas; "
		               "the database is damaged",
		               run->run, run->n_stages, run->n_replicas);
	if (run->n_iterations < 0 || run->n_iterations > SCENARIO_ITERATIONS_MAX)
		return err_set(err, -EINVAL,
		               "run %" PRId64 " asks for %d iterations, 0 to %d are possible; "
		               "the database is damaged",
		               run->run, run->n_iterations, SCENARIO_ITERATIONS_MAX);
	return 0;
}

static double end_ns(const struct record_iteration *row)
{
	return (double)row->start_ns + (double)row->duration_ns;
}

/* Index of the row that counts for each iteration, SIZE_MAX where there is none. */
static void find_last_rows(const struct record_iteration *rows, size_t n_rows, size_t *last, int n)
{
	int n_reached = 0;

	for (int i = 0; i < n; i++)
		last[i] = SIZE_MAX;
	for (size_t i = 0; i < n_rows; i++) {
		int iteration = rows[i].iteration;

		if (iteration < 0 || iteration >= n)
			continue;
		if (i > 0 && rows[i].attempt != rows[i - 1].attempt)
			while (n_reached > iteration)
				last[--n_reached] = SIZE_MAX;
		last[iteration] = rows[i].is_complete ? i : SIZE_MAX;
		n_reached = iteration + 1 > n_reached ? iteration + 1 : n_reached;
	}
}

/* The failure that ended an attempt struck in its incomplete iteration, or at the edge after its
 * last. */
static int failed_iteration(const struct record_iteration *row)
{
	if (row->is_complete && row->iteration < SCENARIO_ITERATIONS_MAX)
		return row->iteration + 1;
	return row->iteration;
}

static int find_restarts(struct run_numbers *numbers, const struct record_iteration *rows,
                         size_t n_rows)
{
	size_t n = 0;

	for (size_t i = 1; i < n_rows; i++)
		n += rows[i].attempt != rows[i - 1].attempt;
	numbers->restart_iterations = array_new(n, sizeof(int));
	if (!numbers->restart_iterations)
		return -ENOMEM;
	for (size_t i = 1; i < n_rows; i++)
		if (rows[i].attempt != rows[i - 1].attempt)
			numbers->restart_iterations[numbers->n_restart_iterations++] =
				failed_iteration(&rows[i - 1]);
	numbers->n_restarts = (int)numbers->n_restart_iterations;
	return 0;
}

/* Time that did not count: rows that are not an iteration's last, and the gaps in which restarts
 * happened. */
static double lost_ns(const struct record_iteration *rows, size_t n_rows, const size_t *last, int n)
{
	double lost = 0;

	for (size_t i = 0; i < n_rows; i++) {
		int iteration = rows[i].iteration;

		if (iteration < 0 || iteration >= n || last[iteration] != i)
			lost += (double)rows[i].duration_ns;
		if (i > 0 && rows[i].attempt != rows[i - 1].attempt)
			lost += (double)rows[i].start_ns - end_ns(&rows[i - 1]);
	}
	return lost;
}

static double total_ns(const struct record_iteration *rows, size_t n_rows)
{
	double first = INFINITY, end = -INFINITY;

	for (size_t i = 0; i < n_rows; i++) {
		first = fmin(first, (double)rows[i].start_ns);
		end = fmax(end, end_ns(&rows[i]));
	}
	return n_rows ? end - first : NAN;
}

/* Quantiles and shares over the iterations after warm-up that count. */
static int add_shares(struct run_numbers *numbers, const struct stored_run *run,
                      const struct record_iteration *rows, const size_t *last)
{
	double *ms = array_new((size_t)run->n_iterations, sizeof(*ms));
	double compute = 0, wait = 0, blocked = 0, per, all;
	size_t n = 0;

	if (!ms)
		return -ENOMEM;
	for (int i = run->n_warmup > 0 ? run->n_warmup : 0; i < run->n_iterations; i++) {
		if (last[i] == SIZE_MAX)
			continue;
		ms[n++] = (double)rows[last[i]].duration_ns / MS;
		compute += (double)rows[last[i]].compute_ns;
		wait += (double)rows[last[i]].wait_ns;
		blocked += (double)rows[last[i]].blocked_ns;
	}
	per = (double)run->n_stages * run->n_replicas * (double)n * MS;
	all = compute + wait + blocked;
	numbers->mean_ms = n ? stats_mean(ms, n) : NAN;
	numbers->p50_ms = n ? stats_quantile(ms, n, 0.5) : NAN;
	numbers->p95_ms = n ? stats_quantile(ms, n, 0.95) : NAN;
	numbers->compute_ms = n ? compute / per : NAN;
	numbers->wait_ms = n ? wait / per : NAN;
	numbers->blocked_ms = n ? blocked / per : NAN;
	numbers->bubble_ratio = all > 0 ? (wait + blocked) / all : NAN;
	numbers->blocked_ratio = all > 0 ? blocked / all : NAN;
	free(ms);
	return 0;
}

static bool is_same_loss(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* The losses that count, and their digest. */
static void add_losses(struct run_numbers *numbers, const struct stored_run *run,
                       const struct record_iteration *rows, const size_t *last)
{
	uint64_t digest = 0;
	bool has_loss = false;

	for (int i = 0; i < run->n_iterations; i++) {
		double loss = last[i] == SIZE_MAX ? NAN : rows[last[i]].loss;
		uint64_t bits;

		numbers->loss[i] = loss;
		if (last[i] != SIZE_MAX && isnan(loss) && numbers->missing_loss < 0)
			numbers->missing_loss = i;
		if (isnan(loss))
			continue;
		has_loss = true;
		memcpy(&bits, &loss, sizeof(bits));
		digest = rng_mix(rng_mix(digest, (uint64_t)i), bits);
	}
	if (has_loss)
		snprintf(numbers->loss_digest, sizeof(numbers->loss_digest), "%016" PRIx64, digest);
}

/* An iteration that is repeated has to give the loss that it gave before. */
static void find_conflict(struct run_numbers *numbers, const struct stored_run *run,
                          const struct record_iteration *rows, size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++) {
		int iteration = rows[i].iteration;

		if (iteration < 0 || iteration >= run->n_iterations || !rows[i].is_complete ||
		    isnan(rows[i].loss) || isnan(numbers->loss[iteration]) ||
		    is_same_loss(rows[i].loss, numbers->loss[iteration]))
			continue;
		if (numbers->conflicting_loss < 0 || iteration < numbers->conflicting_loss)
			numbers->conflicting_loss = iteration;
	}
}

static void add_iterations(struct run_numbers *numbers, const struct stored_run *run,
                           const struct record_iteration *rows, const size_t *last)
{
	for (int i = 0; i < run->n_iterations; i++) {
		numbers->iteration_ms[i] = NAN;
		if (last[i] == SIZE_MAX)
			continue;
		numbers->iteration_ms[i] = (double)rows[last[i]].duration_ns / MS;
		numbers->n_complete++;
	}
}

static int compute(struct run_numbers *numbers, const struct stored_run *run,
                   const struct record_iteration *rows, size_t n_rows, size_t *last)
{
	int rc;

	find_last_rows(rows, n_rows, last, run->n_iterations);
	add_iterations(numbers, run, rows, last);
	add_losses(numbers, run, rows, last);
	find_conflict(numbers, run, rows, n_rows);
	for (size_t i = 0; i < n_rows; i++) {
		numbers->has_stream |= rows[i].plane == PLANE_STREAM;
		numbers->has_delegate |= rows[i].plane == PLANE_DELEGATE;
	}
	numbers->total_s = total_ns(rows, n_rows) / S;
	numbers->repeated_s = lost_ns(rows, n_rows, last, run->n_iterations) / S;
	numbers->samples_per_s =
		(double)numbers->n_complete * run->samples_per_iteration / numbers->total_s;
	rc = find_restarts(numbers, rows, n_rows);
	return rc ? rc : add_shares(numbers, run, rows, last);
}

int run_numbers_init(struct run_numbers *numbers, const struct stored_run *run,
                     const struct record_iteration *rows, size_t n_rows, struct err *err)
{
	size_t *last;
	int rc = check_run(run, err);

	if (rc)
		return rc;
	*numbers = (struct run_numbers){.missing_loss = -1, .conflicting_loss = -1};
	last = array_new((size_t)run->n_iterations, sizeof(*last));
	numbers->iteration_ms = array_new((size_t)run->n_iterations, sizeof(double));
	numbers->loss = array_new((size_t)run->n_iterations, sizeof(double));
	rc = last && numbers->iteration_ms && numbers->loss
	             ? compute(numbers, run, rows, n_rows, last)
	             : -ENOMEM;
	free(last);
	if (rc) {
		run_numbers_fini(numbers);
		return err_set(err, rc, "out of memory");
	}
	return 0;
}

void run_numbers_fini(struct run_numbers *numbers)
{
	free(numbers->iteration_ms);
	free(numbers->loss);
	free(numbers->restart_iterations);
	*numbers = (struct run_numbers){0};
}
