/* reports_coverage.c - an interval that promises 95 % holds the truth 95 times of 100.
 *
 * Machines are made up whose noise is like that of real ones: every run has luck of its own, an
 * iteration is like the one before it, and the machine drifts, steadily or by chance, while the
 * repeats of three schedules go on. The first is truly faster than the third; does the interval
 * hold by how much?
 *
 * Why a run is one number: its iterations, pooled with those of all runs, look like hundreds of
 * independent samples and are none. What an interval made of them holds is counted too: it promises
 * the truth in 95 % of comparisons and has it in 16 to 75 %. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/rng.h"
#include "engine/base/stats.h"
#include "reports/interval.h"
#include "reports/paired.h"
#include "tests/tap.h"

enum { SCHEDULES = 3, ITERATIONS = 50, REPEATS_MOST = 12, COMPARISONS = 2000 };

static const double TRUE_RATIO = 1.15, RUN_SD = 0.01, ITERATION_SD = 0.02;

/* How a comparison is made, and the noise of log times of the machine on which it is. */
struct machine {
	const char *name;
	int n_repeats;
	double likeness; /* correlation of an iteration with the one before it */
	double trend;    /* drift from one run to the next */
	double walk_sd;  /* of what is added to it by chance */
};

static const struct machine machines[] = {
	{"five repeats on a steady machine", 5, 0.8, 0, 0},
	{"six repeats on one that drifts", 6, 0.8, 0.002, 0.002},
	{"ten repeats whose iterations are much alike", 10, 0.95, 0.001, 0.002},
	{"twelve repeats on one that wanders", 12, 0.9, 0, 0.004},
};

enum { N_MACHINES = sizeof(machines) / sizeof(machines[0]) };

struct run {
	double ms[ITERATIONS];
};

struct made {
	struct run runs[SCHEDULES][REPEATS_MOST];
};

static double draw(uint64_t *state)
{
	*state = rng_mix(*state, 1);
	return rng_normal(*state);
}

static void make_run(const struct machine *machine, double level, uint64_t *state, struct run *out)
{
	double fresh = sqrt(1 - machine->likeness * machine->likeness), noise = draw(state);

	level += RUN_SD * draw(state);
	for (int i = 0; i < ITERATIONS; i++) {
		out->ms[i] = exp(level + machine->trend * i / ITERATIONS + ITERATION_SD * noise);
		noise = machine->likeness * noise + fresh * draw(state);
	}
}

/* The schedule whose turn it is: forwards and backwards, or in blocks of all its repeats. */
static int schedule_at(const struct machine *machine, int place, bool is_interleaved)
{
	int among = place % SCHEDULES;

	if (!is_interleaved)
		return place / machine->n_repeats;
	return place / SCHEDULES % 2 ? SCHEDULES - 1 - among : among;
}

static void make(const struct machine *machine, uint64_t seed, bool is_interleaved,
                 struct made *out)
{
	int n_made[SCHEDULES] = {0};
	double drift = 0;

	for (int place = 0; place < SCHEDULES * machine->n_repeats; place++) {
		int schedule = schedule_at(machine, place, is_interleaved);

		make_run(machine, drift + schedule * log(TRUE_RATIO) / (SCHEDULES - 1), &seed,
		         &out->runs[schedule][n_made[schedule]++]);
		drift += machine->trend + machine->walk_sd * draw(&seed);
	}
}

static bool holds_truth(double low, double high)
{
	return low <= TRUE_RATIO && TRUE_RATIO <= high;
}

static bool paired_holds(const struct machine *machine, struct made *made)
{
	double ratios[REPEATS_MOST];
	struct paired paired;

	for (int r = 0; r < machine->n_repeats; r++)
		ratios[r] = stats_median(made->runs[SCHEDULES - 1][r].ms, ITERATIONS) /
		            stats_median(made->runs[0][r].ms, ITERATIONS);
	paired = paired_of(ratios, (size_t)machine->n_repeats);
	return holds_truth(paired.low, paired.high);
}

/* Every iteration of the one schedule over that of the other with the same number. */
static bool pooled_holds(const struct machine *machine, struct made *made)
{
	static double ratios[REPEATS_MOST * ITERATIONS];
	struct interval interval;
	size_t n = 0;

	for (int r = 0; r < machine->n_repeats; r++)
		for (int i = 0; i < ITERATIONS; i++)
			ratios[n++] = made->runs[SCHEDULES - 1][r].ms[i] / made->runs[0][r].ms[i];
	interval = interval_of_ratio(ratios, n, 0.95);
	return holds_truth(interval.low, interval.high);
}

/* Percent of the comparisons whose interval holds the truth. */
static double coverage(const struct machine *machine, bool is_interleaved,
                       bool (*holds)(const struct machine *machine, struct made *made))
{
	static struct made made;
	int n = 0;

	for (uint64_t seed = 1; seed <= COMPARISONS; seed++) {
		make(machine, rng_mix(seed, 7), is_interleaved, &made);
		n += holds(machine, &made);
	}
	return 100.0 * n / COMPARISONS;
}

int main(void)
{
	/* The drift of a run is as large as the luck of one: this is what the order is for. */
	static const struct machine steep = {"", 6, 0.8, 0.01, 0};

	for (size_t i = 0; i < N_MACHINES; i++) {
		double paired = coverage(&machines[i], true, paired_holds);
		double pooled = coverage(&machines[i], true, pooled_holds);

		tap_note("%s: %.2f %% paired, %.2f %% pooled", machines[i].name, paired, pooled);
		/* Half a percent is the standard error of 2,000 comparisons. */
		tap_ok(paired >= 92 && paired <= 98, "%s: 95 %% are 92 to 98", machines[i].name);
		tap_ok(pooled >= 16 && pooled <= 75, "%s: pooled iterations are not",
		       machines[i].name);
	}
	tap_ok(coverage(&steep, true, paired_holds) >= 95,
	       "a steep drift widens the interval of interleaved repeats");
	tap_ok(coverage(&steep, false, paired_holds) < 1,
	       "and takes the truth away where they are not interleaved");
	return tap_done();
}
