/* reports_change_points.c - levels of made-up histories: what changed is found, chance is not.
 *
 * Histories are gone through as they grow, night after night, as nightly does; an alarm is a
 * regression at the end that a fresh run confirms. */
#include "reports/change_points.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "engine/base/rng.h"
#include "tests/tap.h"

enum { HISTORIES = 200, NIGHTS = 60, NIGHTS_MOST = 400, LEAST_HISTORY = 6 };

static const double USUAL = 100;

/* Storage for one search. */
struct history {
	double values[NIGHTS_MOST];
	bool is_outlier[NIGHTS_MOST];
	struct change changes[NIGHTS_MOST];
	uint64_t state;
};

static double draw(struct history *history, double level, double noise)
{
	history->state = rng_mix(history->state, 1);
	return level * exp(noise * rng_normal(history->state));
}

static int search(struct history *history, size_t n)
{
	const struct change_settings settings = change_settings_of(NAN);

	return change_points_find(history->values, n, &settings, history->is_outlier,
	                          history->changes);
}

/* Does the last level of n nights raise an alarm, when a fresh run takes that long? */
static bool has_alarm(struct history *history, size_t n, double fresh)
{
	const struct change_settings settings = change_settings_of(NAN);
	int n_changes = search(history, n);
	const struct change *last = &history->changes[n_changes > 0 ? n_changes - 1 : 0];

	return n_changes > 0 && change_is_regression(last) &&
	       change_is_confirmed(last, fresh, &settings);
}

static void test_quiet(void)
{
	static struct history history;
	int n_alarms = 0;

	for (uint64_t seed = 0; seed < HISTORIES; seed++) {
		bool is_false = false;

		history.state = rng_mix(seed, 5);
		for (size_t n = 1; n <= NIGHTS; n++) {
			history.values[n - 1] = draw(&history, USUAL, 0.01);
			is_false |= n >= LEAST_HISTORY &&
			            has_alarm(&history, n, draw(&history, USUAL, 0.01));
		}
		n_alarms += is_false;
	}
	tap_note("%d of %d quiet histories raise an alarm in one of %d nights", n_alarms, HISTORIES,
	         NIGHTS);
	tap_ok(n_alarms * 100 <= HISTORIES, "histories without a change raise no alarm");
}

/* Nights from a step to its alarm; 0: more than most. */
static size_t nights_to_alarm(struct history *history, double level, size_t most)
{
	for (size_t i = 0; i < NIGHTS / 2; i++)
		history->values[i] = draw(history, USUAL, 0.01);
	for (size_t waited = 1; waited <= most; waited++) {
		size_t n = NIGHTS / 2 + waited;

		history->values[n - 1] = draw(history, level, 0.01);
		if (has_alarm(history, n, draw(history, level, 0.01)))
			return waited;
	}
	return 0;
}

static void test_step(void)
{
	static struct history history;
	int n_late = 0;

	for (uint64_t seed = 0; seed < HISTORIES; seed++) {
		history.state = rng_mix(seed, 9);
		n_late += nights_to_alarm(&history, 1.05 * USUAL, 4) == 0;
	}
	tap_is_int(n_late, 0, "a step of 5 %% is found within four nights at 1 %% noise");
}

/* A single bad night, the last of n or with quiet ones behind it. */
static bool bad_night_is_told(struct history *history, size_t n, double noise, double ratio)
{
	bool is_told = false;

	for (size_t i = 0; i < n; i++)
		history->values[i] = draw(history, USUAL, noise);
	history->values[n - 4] *= ratio;
	for (size_t end = n - 3; end <= n; end++)
		is_told |= has_alarm(history, end, draw(history, USUAL, noise));
	return is_told || (ratio > 1.15 && !history->is_outlier[n - 4]);
}

static void test_bad_night(void)
{
	static const double noises[] = {0, 0.002, 0.01, 0.02}, ratios[] = {1.03, 1.1, 1.3, 4, 0.5};
	static const size_t lengths[] = {10, 40, 400};
	static struct history history;
	int n_told = 0;

	for (int i = 0; i < 4 * 5 * 3; i++) {
		history.state = rng_mix((uint64_t)i, 3);
		n_told += bad_night_is_told(&history, lengths[i / 20], noises[i % 4],
		                            ratios[i / 4 % 5]);
	}
	tap_is_int(n_told, 0, "one bad night raises nothing, and is an outlier");
}

static void fill(struct history *history, size_t first, size_t end, double level)
{
	history->state = rng_mix(first, 11);
	for (size_t i = first; i < end; i++)
		history->values[i] = draw(history, level, 0.005);
}

static void test_levels(void)
{
	static struct history history;
	const struct change *changes = history.changes;

	fill(&history, 0, 20, 100);
	fill(&history, 20, 26, 110);
	fill(&history, 26, 60, 100);
	history.values[40] = NAN;
	history.values[50] = 160;
	tap_is_int(search(&history, 60), 2, "a level that comes and goes is two changes");
	tap_is_int((int64_t)changes[0].night, 20, "the first where it comes");
	tap_is_int((int64_t)changes[1].night, 26, "the second where it goes");
	tap_is_number(changes[0].before, 100, 0.5, "from one level");
	tap_is_number(changes[0].after, 110, 0.5, "to the other");
	tap_ok(change_is_regression(&changes[0]) && !change_is_regression(&changes[1]),
	       "more is worse, less is better");
	tap_ok(changes[0].p < 0.001 && changes[1].p < 0.001, "neither is by chance");
	tap_ok(history.is_outlier[50], "a spike is set aside");
	tap_ok(!history.is_outlier[40] && !history.is_outlier[20] && !history.is_outlier[59],
	       "a missing night and the start of a level are none");
}

/* The mean of its last three nights is 10 % more, and that is no chance. */
static void test_last_night(void)
{
	static struct history history;

	for (size_t i = 0; i < NIGHTS_MOST; i++)
		history.values[i] = i + 1 < NIGHTS_MOST ? USUAL : 1.3 * USUAL;
	tap_is_int(search(&history, NIGHTS_MOST), 0,
	           "one bad night behind a year of quiet ones is no level");
}

static void test_edges(void)
{
	static struct history history = {.values = {NAN, -1, 0, INFINITY}};
	const struct change_settings wide = change_settings_of(0.2);
	const struct change step = {.before = 100, .after = 110};

	tap_is_int(search(&history, 0), 0, "no night has no change");
	tap_is_int(search(&history, 4), 0, "nor have nights without a number");
	for (size_t i = 0; i < 12; i++)
		history.values[i] = i < 9 ? 100 : 103;
	tap_is_int(search(&history, 12), 1, "without noise three nights make a level");
	tap_is_int((int64_t)history.changes[0].night, 9, "that starts with the first of them");
	tap_is_int(search(&history, 11), 0, "two do not");
	for (size_t i = 9; i < 12; i++)
		history.values[i] = 101.9;
	tap_is_int(search(&history, 12), 0, "less than 2 %% is no change");
	for (size_t i = 9; i < 12; i++)
		history.values[i] = 110;
	tap_is_int(change_points_find(history.values, 12, &wide, history.is_outlier,
	                              history.changes),
	           0, "nor is less than the width of the control");
	tap_ok(change_is_confirmed(&step, 106, &wide) == false, "nor would one confirm it");
	tap_ok(change_is_confirmed(&step, 106, &(struct change_settings){0.001, 3, 0.02}),
	       "a fresh run nearer the new level confirms it");
	tap_ok(!change_is_confirmed(&step, 104, &(struct change_settings){0.001, 3, 0.02}),
	       "one nearer the old level does not");
	tap_ok(!change_is_confirmed(&step, NAN, &(struct change_settings){0.001, 3, 0.02}),
	       "nor does one that did not end");
}

int main(void)
{
	test_levels();
	test_edges();
	test_last_night();
	test_bad_night();
	test_step();
	test_quiet();
	return tap_done();
}
