/* jitter_table.h - the distributions of jitter in the form that the kernel's netem draws from. */
#ifndef INJECTORS_JITTER_TABLE_H
#define INJECTORS_JITTER_TABLE_H

#include <stdint.h>

#include "engine/scenario/fault.h"

/* netem takes at most 16384 entries, and adds table[random] / JITTER_TABLE_SIGMA × jitter. */
enum { JITTER_TABLE_ENTRIES = 4096, JITTER_TABLE_SIGMA = 8192 };

/* table_out has JITTER_TABLE_ENTRIES values in ascending order: the quantiles of what rng.h draws
 * from, so that the kernel's jitter is that of the simulator (uniform: from −1 to 1 times the
 * jitter). An entry has 16 bits, so what is beyond 4 sigma is cut there: 0.8 % of pareto, which
 * leaves it a deviation of 0.74 sigma, 0.8 % of paretonormal (0.77 sigma), nothing of the others.
 */
void jitter_table_fill(enum distribution distribution, int16_t *table_out);

#endif
