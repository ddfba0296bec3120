/* change_points.c - where the level of a metric changed, night after night.
 *
 * The t test stands in for the permutation test of the original: that has to draw, and a report
 * must say the same twice. Choosing the best of many splits makes chance look good, so the t has
 * to be as improbable among all splits that were tried as p says. */
#include "reports/change_points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/stats.h"
#include "reports/interval.h"

static const double P = 0.001, LEAST_RATIO = 0.02;
enum { LEAST_NIGHTS = 3 };

/* How many standard deviations a spike is from both its neighbours. */
static const double SPIKE_SD = 4;

/* Of normally distributed values, the median distance from the median over the deviation. */
static const double MEDIAN_DISTANCE = 0.6745;

struct change_settings change_settings_of(double control_width_ratio)
{
	/* fmax() takes the other where one is no number. */
	return (struct change_settings){P, LEAST_NIGHTS, fmax(LEAST_RATIO, control_width_ratio)};
}

/* The nights that count, by their numbers, and the changes found among them. */
struct search {
	const struct change_settings *settings;
	double *values; /* logs, so that a change is a difference */
	size_t *nights;
	size_t n;
	bool *is_start; /* a level starts here */
	double *scratch;
};

/* Mean, sum of squares around it, and median. */
struct level {
	size_t n;
	double mean, squares, median;
};

static struct level level_of(const struct search *search, size_t first, size_t end)
{
	struct level level = {end - first, stats_mean(&search->values[first], end - first), 0, 0};

	for (size_t i = first; i < end; i++) {
		double gap = search->values[i] - level.mean;

		level.squares += gap * gap;
		search->scratch[i - first] = search->values[i];
	}
	level.median = stats_median(search->scratch, level.n);
	return level;
}

/* Two-sided p of a difference of means, by the pooled variance. */
static double p_of(const struct level *a, const struct level *b)
{
	double freedom = (double)(a->n + b->n) - 2, gap = fabs(a->mean - b->mean);
	double variance = (a->squares + b->squares) / freedom;
	double error = sqrt(variance * (1 / (double)a->n + 1 / (double)b->n));

	/* In virtual time nights are equal to the last bit, rounding apart. */
	if (error <= 1e-12)
		return gap > 1e-9 ? 0 : 1;
	return 2 * interval_t_tail(gap / error, freedom);
}

/* What is added up over pairs of nights on the left, on the right, and across. */
struct distances {
	double left, right, across;
};

/* Move a night from the right of the split to the left. */
static void move_split(const double *values, size_t n, size_t at, struct distances *sums)
{
	double to_left = 0, to_right = 0;

	for (size_t i = 0; i < at; i++)
		to_left += fabs(values[i] - values[at]);
	for (size_t i = at + 1; i < n; i++)
		to_right += fabs(values[i] - values[at]);
	sums->left += to_left;
	sums->right -= to_right;
	sums->across += to_right - to_left;
}

/* The energy distance between both sides, weighed by their sizes. */
static double divergence(const struct distances *sums, double n_left, double n_right)
{
	double across = 2 * sums->across / (n_left * n_right);
	double left = 2 * sums->left / (n_left * (n_left - 1));
	double right = 2 * sums->right / (n_right * (n_right - 1));

	return n_left * n_right / (n_left + n_right) * (across - left - right);
}

/* The best place to split n nights, 0: there are too few. */
static size_t best_split(const double *values, size_t n, size_t least)
{
	struct distances sums = {0};
	double most = -INFINITY;
	size_t best = 0;

	if (n < 2 * least)
		return 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			sums.right += fabs(values[i] - values[j]);
	for (size_t at = 1; at + least <= n; at++) {
		double found;

		move_split(values, n, at - 1, &sums);
		if (at < least)
			continue;
		found = divergence(&sums, (double)at, (double)(n - at));
		if (found > most) {
			most = found;
			best = at;
		}
	}
	return best;
}

/* Split as far as nights allow; what is no change is taken back afterwards. A level that comes and
 * goes leaves both sides of its first split much alike, so to stop there would miss it. */
static void split(struct search *search, size_t first, size_t end)
{
	size_t at = best_split(&search->values[first], end - first, search->settings->least_nights);

	if (at == 0)
		return;
	search->is_start[first + at] = true;
	split(search, first, first + at);
	split(search, first + at, end);
}

/* Where the level that starts at first ends. */
static size_t end_of(const struct search *search, size_t first)
{
	size_t end = first + 1;

	while (end < search->n && !search->is_start[end])
		end++;
	return end;
}

/* Two levels side by side. */
struct step {
	size_t first, middle, end;
	struct level before, after;
	double p;
};

static struct step step_at(const struct search *search, size_t first, size_t middle)
{
	struct step step = {.first = first, .middle = middle, .end = end_of(search, middle)};

	step.before = level_of(search, first, middle);
	step.after = level_of(search, middle, step.end);
	step.p = p_of(&step.before, &step.after);
	return step;
}

/* How many places the split between them was chosen from. */
static double n_choices(const struct search *search, const struct step *step)
{
	return (double)(step->end - step->first - 2 * search->settings->least_nights + 1);
}

/* The medians have to differ, too: among many quiet nights a single bad one moves the mean of the
 * last three far enough for t, which takes its spread for that of all. */
static bool is_change(const struct search *search, const struct step *step)
{
	double gap = fmin(fabs(step->after.mean - step->before.mean),
	                  fabs(step->after.median - step->before.median));

	return gap >= log1p(search->settings->least_ratio) &&
	       step->p * n_choices(search, step) < search->settings->p;
}

/* The start of a level that is least of all another one than that before it; 0: all are. */
static size_t weakest_start(const struct search *search)
{
	size_t weakest = 0;
	double most = -1;

	for (size_t first = 0, middle; (middle = end_of(search, first)) < search->n;
	     first = middle) {
		struct step step = step_at(search, first, middle);

		if (is_change(search, &step) || step.p <= most)
			continue;
		most = step.p;
		weakest = middle;
	}
	return weakest;
}

/* A spike is far from the nights on both of its sides, in the same direction. The last night may be
 * the first of a new level: nobody knows yet. */
static bool is_spike(const struct search *search, size_t at, double noise)
{
	double least = fmax(SPIKE_SD * noise, log1p(search->settings->least_ratio));
	double here = search->values[at], after, before;

	if (at + 1 >= search->n || search->n < 3)
		return false;
	after = here - search->values[at + 1];
	before = here - search->values[at > 0 ? at - 1 : 2];
	return fmin(fabs(before), fabs(after)) > least && before * after > 0;
}

/* Standard deviation of the noise, from how far neighbours are apart: levels and spikes do not
 * count for much in a median. */
static double noise_of(const struct search *search)
{
	for (size_t i = 1; i < search->n; i++)
		search->scratch[i - 1] = fabs(search->values[i] - search->values[i - 1]);
	return search->n > 1
	               ? stats_median(search->scratch, search->n - 1) / MEDIAN_DISTANCE / sqrt(2)
	               : 0;
}

static void set_spikes_aside(struct search *search, double noise, bool *is_outlier)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++)
		is_outlier[search->nights[i]] = is_spike(search, i, noise);
	for (size_t i = 0; i < search->n; i++) {
		if (is_outlier[search->nights[i]])
			continue;
		search->values[n] = search->values[i];
		search->nights[n++] = search->nights[i];
	}
	search->n = n;
}

static int report(const struct search *search, struct change *out)
{
	int n = 0;

	for (size_t first = 0, middle;
	     first < search->n && (middle = end_of(search, first)) < search->n; first = middle) {
		struct step step = step_at(search, first, middle);

		out[n++] = (struct change){search->nights[middle], exp(step.before.mean),
		                           exp(step.after.mean), step.p};
	}
	return n;
}

static int find(struct search *search, bool *is_outlier, struct change *out)
{
	size_t weakest;

	set_spikes_aside(search, noise_of(search), is_outlier);
	if (search->n == 0)
		return 0;
	split(search, 0, search->n);
	while ((weakest = weakest_start(search)) > 0)
		search->is_start[weakest] = false;
	return report(search, out);
}

int change_points_find(const double *values, size_t n, const struct change_settings *settings,
                       bool *is_outlier, struct change *out)
{
	struct search search = {.settings = settings};
	int rc = -ENOMEM;

	search.values = array_new(n, sizeof(*search.values));
	search.scratch = array_new(n, sizeof(*search.scratch));
	search.nights = array_new(n, sizeof(*search.nights));
	search.is_start = array_new(n + 1, sizeof(*search.is_start));
	for (size_t i = 0; search.values && search.nights && i < n; i++) {
		is_outlier[i] = false;
		if (!(values[i] > 0) || !isfinite(values[i]))
			continue;
		search.values[search.n] = log(values[i]);
		search.nights[search.n++] = i;
	}
	if (search.scratch && search.values && search.nights && search.is_start)
		rc = find(&search, is_outlier, out);
	free(search.scratch);
	free(search.values);
	free(search.nights);
	free(search.is_start);
	return rc;
}

bool change_is_regression(const struct change *change)
{
	return change->after > change->before;
}

bool change_is_confirmed(const struct change *change, double fresh,
                         const struct change_settings *settings)
{
	double step = log(change->after / change->before), seen = log(fresh / change->before);

	return seen / step > 0.5 && fabs(seen) >= log1p(settings->least_ratio);
}
