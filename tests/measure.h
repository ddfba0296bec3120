/* measure.h - measures short things for the benchmarks and prints what came out beside its target.
 *
 * A target that is missed is shown, not failed: the machine decides. Beside each time stands how
 * many steps of a fixed chain of integer work fit into it, which varies less between machines. */
#ifndef TESTS_MEASURE_H
#define TESTS_MEASURE_H

#include <stdint.h>

/* Median time of one call, over several rounds of as many calls as take about 20 ms. */
int64_t measure_ns(void (*call)(void *context), void *context);

/* Header, then rows. target "" where there is none. */
void measure_header(void);
void measure_row(const char *what, const char *target, int64_t call_ns, const char *measured);

/* Printed formats into a buffer of its own: "12.3 million/s". Valid until the next call. */
const char *measure_text(const char *format, double value);

#endif
