/* histogram.c - quantiles of any number of durations in little memory. */
#include "engine/base/histogram.h"

#include <math.h>

enum {
	FIRST_BIT = 10, /* the first doubling begins at 1,024 ns */
	VALUE_BITS = 63,
	SLOT_BITS = 6, /* that tell slots of one doubling apart */
};

/* The slot's first value; that of the slot behind the last one is its end. */
static int64_t slot_start_ns(int slot)
{
	int doubling = (slot - 1) / HISTOGRAM_SLOTS_PER_DOUBLING;
	int64_t within = (slot - 1) % HISTOGRAM_SLOTS_PER_DOUBLING;

	if (slot == 0)
		return 0;
	return (HISTOGRAM_SLOTS_PER_DOUBLING + within) << (FIRST_BIT + doubling - SLOT_BITS);
}

static int slot_of(int64_t value_ns)
{
	int bit, slot;

	if (value_ns < INT64_C(1) << FIRST_BIT)
		return 0;
	bit = VALUE_BITS - __builtin_clzll((unsigned long long)value_ns);
	slot = 1 + (bit - FIRST_BIT) * HISTOGRAM_SLOTS_PER_DOUBLING +
	       (int)(value_ns >> (bit - SLOT_BITS)) % HISTOGRAM_SLOTS_PER_DOUBLING;
	return slot < HISTOGRAM_SLOTS ? slot : HISTOGRAM_SLOTS - 1;
}

void histogram_add(struct histogram *histogram, int64_t value_ns)
{
	histogram->slots[slot_of(value_ns)]++;
	histogram->n++;
}

int64_t histogram_quantile_ns(const struct histogram *histogram, double ratio)
{
	int64_t wanted = (int64_t)ceil(ratio * (double)histogram->n), n = 0;
	int slot = 0;

	if (histogram->n == 0)
		return -1;
	for (; slot < HISTOGRAM_SLOTS - 1; slot++) {
		n += histogram->slots[slot];
		if (n >= wanted && n > 0)
			break;
	}
	return (slot_start_ns(slot) + slot_start_ns(slot + 1)) / 2;
}
