/* jitter_table.c - the distributions of jitter in the form that the kernel's netem draws from. */
#include "injectors/jitter_table.h"

#include <math.h>
#include <stdint.h>

#include "engine/base/rng.h"

enum {
	ENTRY_BITS = 12, /* of an index: JITTER_TABLE_ENTRIES is a power of two */
	PART_BITS = 10,  /* of the parts that a mixture is made of */
	PARTS = 1 << PART_BITS,
	VALUES = UINT16_MAX + 1,
};
_Static_assert(JITTER_TABLE_ENTRIES == 1 << ENTRY_BITS, "an index has ENTRY_BITS");

/* The draw in the middle of the i-th of 2^n_bits equal parts of all draws. */
static uint64_t middle_of(int i, int n_bits)
{
	return (2 * (uint64_t)i + 1) << (63 - n_bits);
}

static int16_t entry(double sigmas)
{
	double value = round(sigmas * JITTER_TABLE_SIGMA);

	return (int16_t)fmax(INT16_MIN, fmin(INT16_MAX, value));
}

static void fill_uniform(int16_t *table)
{
	for (int i = 0; i < JITTER_TABLE_ENTRIES; i++)
		table[i] = entry((2.0 * i + 1) / JITTER_TABLE_ENTRIES - 1);
}

static void fill_normal(int16_t *table)
{
	for (int i = 0; i < JITTER_TABLE_ENTRIES; i++)
		table[i] = entry(rng_normal(middle_of(i, ENTRY_BITS)));
}

/* rng_pareto() falls as its draw grows. */
static void fill_pareto(int16_t *table)
{
	for (int i = 0; i < JITTER_TABLE_ENTRIES; i++)
		table[JITTER_TABLE_ENTRIES - 1 - i] = entry(rng_pareto(middle_of(i, ENTRY_BITS)));
}

/* The quantiles of a sum are not the sum of quantiles: count every sum of two parts, then read the
 * quantiles off the counts. */
static void fill_paretonormal(int16_t *table)
{
	static const double scale = 0.7905694150420949; /* sqrt(0.25² + 0.75²) */
	uint32_t counts[VALUES] = {0};
	double normal[PARTS], pareto[PARTS];
	uint32_t n_seen = 0;
	int n = 0;

	for (int i = 0; i < PARTS; i++) {
		normal[i] = 0.25 * rng_normal(middle_of(i, PART_BITS)) / scale;
		pareto[i] = 0.75 * rng_pareto(middle_of(i, PART_BITS)) / scale;
	}
	for (int i = 0; i < PARTS; i++)
		for (int j = 0; j < PARTS; j++)
			counts[entry(normal[i] + pareto[j]) - INT16_MIN]++;
	for (int value = 0; value < VALUES; value++)
		for (n_seen += counts[value]; n < JITTER_TABLE_ENTRIES; n++) {
			/* The middle of the n-th of equal parts of all sums. */
			uint32_t middle = (2 * (uint32_t)n + 1) << (2 * PART_BITS - ENTRY_BITS - 1);

			if (middle >= n_seen)
				break;
			table[n] = (int16_t)(value + INT16_MIN);
		}
}

void jitter_table_fill(enum distribution distribution, int16_t *table_out)
{
	switch (distribution) {
	case DISTRIBUTION_UNIFORM:
		fill_uniform(table_out);
		break;
	case DISTRIBUTION_NORMAL:
		fill_normal(table_out);
		break;
	case DISTRIBUTION_PARETO:
		fill_pareto(table_out);
		break;
	case DISTRIBUTION_PARETONORMAL:
		fill_paretonormal(table_out);
		break;
	}
}
