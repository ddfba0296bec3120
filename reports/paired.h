/* paired.h - one thing over another, from interleaved repeats of both. */
#ifndef REPORTS_PAIRED_H
#define REPORTS_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer pairs than these give intervals so wide that they say little: Student's t is 12.7 for two
 * pairs, 4.3 for three, 2.8 for five. */
enum { PAIRED_FEW = 5 };

/* NaN: there is none. */
struct paired {
	double ratio;       /* exp of the mean of the pairs' log ratios */
	double low, high;   /* 95 %: Student's t over the log ratios; none for a single pair */
	double least, most; /* of the pairs' ratios: their spread */
	int pairs;
};

/* From the ratio of each pair, both of which are one number a run: iterations of one run are no
 * independent samples, see paired.c. A pair that has no ratio leaves no number but pairs.
 * Overwrites ratios. */
struct paired paired_of(double *ratios, size_t n);

/* Has it an interval from fewer than PAIRED_FEW pairs? Pairs that are all equal are no few: there
 * is nothing random about them. */
bool paired_is_wide(const struct paired *paired);

/* By how much the two may differ all the same: the interval's end that is farther from 1, as a
 * ratio above 0; NaN without an interval. */
double paired_width_ratio(const struct paired *paired);

#endif
