/* change_point.c - Bayesian online change-point detection with a level called home. */
#include "engine/monitor/change_point.h"

#include <math.h>
#include <stddef.h>

/* A new run believes the variances it is told as if it had seen twelve observations that fit them.
 * Forty at most are remembered, so that the noise may change as well. */
static const double FIRST_SHAPE = 6, MOST_SHAPE = 20;

/* Less probable runs are given up. While all is quiet, a change at every one of the last iterations
 * is about a tenth as probable as this; ten times less would keep the window full of them. */
static const double LEAST_PROBABILITY = 1e-4;

static struct change_point_run new_run(const struct change_point_settings *settings, bool is_home,
                                       double sd)
{
	return (struct change_point_run){.is_home = is_home,
	                                 .level = settings->home,
	                                 .mean = settings->home,
	                                 .precision = 1 / (sd * sd),
	                                 .shape = FIRST_SHAPE,
	                                 .scale = FIRST_SHAPE};
}

void change_point_init(struct change_point *detector, const struct change_point_settings *settings)
{
	*detector = (struct change_point){.settings = *settings, .n_runs = 1};
	detector->runs[0] = new_run(settings, true, settings->first_sd);
	detector->runs[0].probability = 1;
}

/* Density of the run's Student t at value, times the square root of 2 pi, which all have in common.
 * The ratio of gamma functions in its norm is by Stirling's series; with 12 degrees of freedom and
 * more it is exact to 1e-6. */
static double predict(const struct change_point_run *run, double value, double variance)
{
	double freedom = 2 * run->shape, distance = value - run->mean;
	double spread = run->scale / run->shape * (variance + 1 / run->precision);
	double norm = -1 / (4 * freedom) + 1 / (24 * freedom * freedom * freedom);
	double tail = (freedom + 1) / 2 * log1p(distance * distance / (spread * freedom));

	return exp(norm - tail) / sqrt(spread);
}

/* squared: an observation's distance in standard deviations, squared. What is learnt beyond the
 * first belief fades; the first belief stays, so that noise never seems to vanish. */
static void learn_noise(struct change_point_run *run, double squared)
{
	run->shape += 0.5;
	run->scale += squared / 2;
	if (run->shape > MOST_SHAPE) {
		run->scale = FIRST_SHAPE + (run->scale - FIRST_SHAPE) * MOST_SHAPE / run->shape;
		run->shape = MOST_SHAPE;
	}
}

static void learn(struct change_point_run *run, double value, double variance)
{
	double distance = value - run->mean, weight = 1 / variance;

	/* How far the first one is from where it might have been says nothing about noise. */
	if (run->weight > 0)
		learn_noise(run, distance * distance / (variance + 1 / run->precision));
	run->precision += weight;
	run->mean += distance * weight / run->precision;
	run->weight += weight;
	run->level += (value - run->level) * weight / run->weight;
}

/* Where a run may be put that is that probable; NULL: all kept are more probable. */
static struct change_point_run *place_for(struct change_point *detector, double probability)
{
	struct change_point_run *least = &detector->runs[0];

	if (detector->n_runs < CHANGE_POINT_RUNS)
		return &detector->runs[detector->n_runs++];
	for (int i = 1; i < detector->n_runs; i++)
		if (detector->runs[i].probability < least->probability)
			least = &detector->runs[i];
	return least->probability < probability ? least : NULL;
}

struct observation {
	int iteration;
	double value, variance;
};

/* A run may begin with this observation. */
static void branch(struct change_point *detector, const struct observation *seen, bool is_home,
                   double prior)
{
	const struct change_point_settings *settings = &detector->settings;
	struct change_point_run run =
		new_run(settings, is_home, is_home ? settings->home_sd : settings->spread_sd);
	struct change_point_run *place;

	run.start = seen->iteration;
	run.probability = prior * predict(&run, seen->value, seen->variance);
	place = place_for(detector, run.probability);
	if (place) {
		learn(&run, seen->value, seen->variance);
		*place = run;
	}
}

/* Make the probabilities' sum 1, without what is improbable. */
static void prune(struct change_point *detector)
{
	double sum = 0, kept = 0;
	int n = 0;

	for (int i = 0; i < detector->n_runs; i++)
		sum += detector->runs[i].probability;
	for (int i = 0; i < detector->n_runs; i++)
		if (detector->runs[i].probability >= LEAST_PROBABILITY * sum) {
			kept += detector->runs[i].probability;
			detector->runs[n++] = detector->runs[i];
		}
	detector->n_runs = n;
	for (int i = 0; i < n; i++)
		detector->runs[i].probability /= kept;
}

void change_point_add(struct change_point *detector, int iteration, double value, double variance)
{
	struct observation seen = {iteration, value, variance};
	const struct change_point_settings *settings = &detector->settings;
	double leaves = 0, moves = 0;

	if (!detector->has_begun)
		detector->runs[0].start = iteration;
	detector->has_begun = true;
	for (int i = 0; i < detector->n_runs; i++) {
		struct change_point_run *run = &detector->runs[i];
		double hazard = run->is_home ? settings->hazard : settings->away_hazard;

		*(run->is_home ? &leaves : &moves) += hazard * run->probability;
		run->probability *= (1 - hazard) * predict(run, value, variance);
		learn(run, value, variance);
	}
	branch(detector, &seen, false, leaves + moves / 2);
	if (moves > LEAST_PROBABILITY)
		branch(detector, &seen, true, moves / 2);
	prune(detector);
}

const struct change_point_run *change_point_best(const struct change_point *detector)
{
	const struct change_point_run *best = &detector->runs[0];

	for (int i = 1; i < detector->n_runs; i++)
		if (detector->runs[i].probability > best->probability)
			best = &detector->runs[i];
	return best;
}

/* Probability that the run's level is above that. Wallace's transformation makes a normal deviate
 * of a Student t (Biometrika 46, 1959), exact to about 0.1 % from 12 degrees of freedom on. */
static double run_above(const struct change_point_run *run, double level)
{
	double freedom = 2 * run->shape, distance = run->mean - level;
	double variance = run->scale / run->shape / run->precision;
	double deviate = (8 * freedom + 1) / (8 * freedom + 3) *
	                 sqrt(freedom * log1p(distance * distance / (variance * freedom)));

	return erfc(-copysign(deviate, distance) / sqrt(2)) / 2;
}

double change_point_above(const struct change_point *detector, double level)
{
	double above = 0;

	for (int i = 0; i < detector->n_runs; i++)
		above += detector->runs[i].probability * run_above(&detector->runs[i], level);
	return above;
}
