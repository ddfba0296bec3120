/* histogram.h - quantiles of any number of durations in little memory, each to one per cent. */
#ifndef ENGINE_BASE_HISTOGRAM_H
#define ENGINE_BASE_HISTOGRAM_H

#include <stdint.h>

/* A first slot below a microsecond, then so many for each doubling, up to two hours. */
enum { HISTOGRAM_SLOTS_PER_DOUBLING = 64, HISTOGRAM_DOUBLINGS = 33 };
enum { HISTOGRAM_SLOTS = 1 + HISTOGRAM_SLOTS_PER_DOUBLING * HISTOGRAM_DOUBLINGS };

/* Start zeroed. */
struct histogram {
	int64_t n;
	uint32_t slots[HISTOGRAM_SLOTS];
};

/* A negative one counts as 0. */
void histogram_add(struct histogram *histogram, int64_t value_ns);

/* That ratio of them does not pass: the middle of its slot. -1: there are none. */
int64_t histogram_quantile_ns(const struct histogram *histogram, double ratio);

#endif
