/* monitor_change_point.c - tests the change-point detector against sequences whose changes are
 * known: false alarms, delay, the beginning and the level that are believed.
 *
 * Home is 0 and an observation's standard deviation 0.05: what the median of 24 messages has that
 * vary by 20 %. */
#include <math.h>

#include "engine/base/rng.h"
#include "engine/monitor/change_point.h"
#include "tests/tap.h"

enum { N_SEEDS = 20, N_QUIET = 1000, N_BEFORE = 60 };

static const double SD = 0.05;

static void detector_init(struct change_point *detector)
{
	const struct change_point_settings settings = {.hazard = 1.0 / 250,
	                                               .away_hazard = 1.0 / 50,
	                                               .first_sd = 0.02,
	                                               .home_sd = 0.02,
	                                               .spread_sd = 5};

	change_point_init(detector, &settings);
}

static double noise(uint64_t seed, int iteration)
{
	return rng_normal(rng_mix(seed, (uint64_t)iteration));
}

/* Iterations first … last - 1 at level, with noise of that many times what is said. */
static void observe(struct change_point *detector, uint64_t seed, int first, int last, double level,
                    double times)
{
	for (int i = first; i < last; i++)
		change_point_add(detector, i, level + times * SD * noise(seed, i), SD * SD);
}

/* Iterations of quiet ones in which another level than home is believed. */
static int count_false(double times, int n_first_left_out)
{
	struct change_point detector;
	int n = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		detector_init(&detector);
		for (int i = 0; i < N_QUIET; i++) {
			observe(&detector, seed, i, i + 1, 0, times);
			n += i >= n_first_left_out && !change_point_best(&detector)->is_home;
		}
	}
	return n;
}

static void test_quiet(void)
{
	int n_noisy = count_false(2, 50);

	tap_is_int(count_false(1, 0), 0, "no change is seen in %d quiet iterations of %d seeds",
	           N_QUIET, N_SEEDS);
	tap_ok(n_noisy <= N_SEEDS * N_QUIET / 200,
	       "with twice the noise that is said, once that is learnt, in 1 of 200 at most (%d of "
	       "%d)",
	       n_noisy, N_SEEDS * N_QUIET);
}

/* What one seed tells of a change to level at N_BEFORE. */
struct found {
	int n_needed;    /* iterations until another level than home is believed */
	int start_error; /* of the beginning that is believed ten iterations later */
	double level_error;
};

static struct found change_to(double level, uint64_t seed)
{
	struct found found = {0};
	struct change_point detector;
	int i = N_BEFORE;

	detector_init(&detector);
	observe(&detector, seed, 0, N_BEFORE, 0, 1);
	do
		observe(&detector, seed, i, i + 1, level, 1);
	while (change_point_best(&detector)->is_home && ++i < N_BEFORE + 10);
	found.n_needed = i + 1 - N_BEFORE;
	observe(&detector, seed, i + 1, N_BEFORE + 10, level, 1);
	found.start_error = change_point_best(&detector)->start - N_BEFORE;
	found.level_error = change_point_best(&detector)->level - level;
	return found;
}

/* n_in_time: changes of 20 that are seen within n_allowed iterations, at least. */
static void test_change(double sds, int n_allowed, int n_in_time)
{
	int n_seen = 0, n_exact = 0;
	double squares = 0, worst = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct found found = change_to(sds * SD, seed);

		n_seen += found.n_needed <= n_allowed;
		n_exact += found.start_error == 0;
		squares += found.level_error * found.level_error;
		worst = tap_worst(worst, fabs(found.level_error));
	}
	tap_ok(n_seen >= n_in_time,
	       "a change by %.0f standard deviations is seen within %d: %d of %d", sds, n_allowed,
	       n_seen, N_SEEDS);
	tap_ok(n_exact >= n_in_time, "its beginning is exact in %d of %d", n_exact, N_SEEDS);
	/* The mean of ten observations errs by a tenth's root of one. */
	tap_ok(sqrt(squares / N_SEEDS) < 1.5 * SD / sqrt(10),
	       "after ten, its level errs by %.3f, the worst by %.3f", sqrt(squares / N_SEEDS),
	       worst);
}

static void test_without_noise(void)
{
	struct change_point detector;

	detector_init(&detector);
	tap_is_number(change_point_best(&detector)->level, 0, 0, "the first level is home");
	observe(&detector, 1, 0, 5, 0, 0);
	observe(&detector, 1, 5, 6, 2.5, 0);
	tap_ok(!change_point_best(&detector)->is_home, "one observation tells of a large change");
	tap_is_int(change_point_best(&detector)->start, 5, "it began there");
	tap_is_number(change_point_best(&detector)->level, 2.5, 0, "and its level is exact");
	tap_ok(change_point_above(&detector, 2) > 0.999, "it is surely above less");
	tap_ok(change_point_above(&detector, 3) < 0.001, "and surely not above more");
	tap_is_number(change_point_above(&detector, 2.5), 0.5, 0.01, "and evenly around itself");
	observe(&detector, 1, 6, 7, 0, 0);
	tap_ok(change_point_best(&detector)->is_home, "one tells of the way home");
	tap_is_int(change_point_best(&detector)->start, 7 - 1, "and when it began");
}

/* How far a level has jumped says nothing about noise. */
static void test_after_a_jump(void)
{
	struct change_point detector;

	detector_init(&detector);
	observe(&detector, 1, 0, 5, 0, 0);
	observe(&detector, 1, 5, 6, 9, 0);
	observe(&detector, 1, 6, 7, 9 + 10 * SD, 0);
	tap_is_int(change_point_best(&detector)->start, 6,
	           "right after a large jump a small one counts");
}

static void test_return(void)
{
	int n_late = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct change_point detector;
		int i = N_BEFORE + 20;

		detector_init(&detector);
		observe(&detector, seed, 0, N_BEFORE, 0, 1);
		observe(&detector, seed, N_BEFORE, i, 10 * SD, 1);
		observe(&detector, seed, i, i + 2, 0, 1);
		n_late += !change_point_best(&detector)->is_home;
	}
	tap_is_int(n_late, 0, "two observations tell of the way home from 10 standard deviations");
}

static void test_stray(void)
{
	int n_slow = 0, n_after = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct change_point detector;

		detector_init(&detector);
		observe(&detector, seed, 0, N_BEFORE, 0, 1);
		change_point_add(&detector, N_BEFORE, 4 * SD, SD * SD);
		n_slow += !change_point_best(&detector)->is_home;
		observe(&detector, seed, N_BEFORE + 1, N_BEFORE + 3, 0, 1);
		n_after += !change_point_best(&detector)->is_home;
	}
	tap_is_int(n_slow, 0, "one stray observation 4 standard deviations off is no change");
	tap_is_int(n_after, 0, "nor are those after it");
}

static bool is_sound(const struct change_point *detector)
{
	double sum = 0;

	for (int i = 0; i < detector->n_runs; i++) {
		const struct change_point_run *run = &detector->runs[i];

		sum += run->probability;
		if (!isfinite(run->level) || !isfinite(run->mean) || !(run->scale > 0) ||
		    !(run->precision > 0))
			return false;
	}
	return detector->n_runs > 0 && detector->n_runs <= CHANGE_POINT_RUNS &&
	       fabs(sum - 1) < 1e-9;
}

/* Levels and variances of any size, in any order: the window stays bounded and the belief sound. */
static void test_wild(void)
{
	static const double values[] = {0, 44, -44, 1e-9, 0.1, 20}, sds[] = {2e-4, 1, 0.05, 30};
	struct change_point detector, again;
	int n_unsound = 0, most = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		detector_init(&detector);
		detector_init(&again);
		for (int i = 0; i < N_QUIET; i++) {
			uint64_t draw = rng_mix(seed, (uint64_t)i);
			double sd = sds[draw / 8 % 4], value = values[draw / 64 % 6];

			value += sd * noise(seed + N_SEEDS, i);
			change_point_add(&detector, i, value, sd * sd);
			change_point_add(&again, i, value, sd * sd);
			n_unsound += !is_sound(&detector) || change_point_above(&detector, 1) !=
			                                             change_point_above(&again, 1);
			most = detector.n_runs > most ? detector.n_runs : most;
		}
	}
	tap_is_int(n_unsound, 0, "whatever is observed, the belief is sound, and the same twice");
	tap_note("at most %d runs were kept", most);
}

int main(void)
{
	test_quiet();
	test_without_noise();
	test_change(3, 10, 15);
	test_change(5, 3, 18);
	test_change(8, 1, 20);
	test_change(12, 1, 20);
	test_after_a_jump();
	test_return();
	test_stray();
	test_wild();
	return tap_done();
}
