/* samples_internal.h - what was measured of one thing in one iteration, and where its middle is. */
#ifndef ENGINE_MONITOR_SAMPLES_INTERNAL_H
#define ENGINE_MONITOR_SAMPLES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is empty. samples_fini() frees it. */
struct samples {
	int64_t *values; /* as they came; behind them is room to sort as many */
	size_t n;
	size_t capacity;
};

/* The middle of an iteration's samples. variance: of log(median), from the spread around it. */
struct middle {
	int64_t median_ns;
	double variance;
};

void samples_fini(struct samples *samples);

/* Never fails: beyond 4,096, or out of memory, a sample is left out, which is no loss that a caller
 * could mend. Less than 0 counts as 0. */
void samples_add(struct samples *samples, int64_t value_ns);

/* Empties samples and keeps their memory. false: there were none. */
bool samples_take(struct samples *samples, struct middle *out);

/* The scale on which levels are compared; 0 ns have a place on it. */
double level_of_ns(double duration_ns);
int64_t level_to_ns(double level);

#endif
