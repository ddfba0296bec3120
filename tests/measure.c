/* measure.c - measures short things for the benchmarks and prints what came out beside its target.
 */
#include "tests/measure.h"

#include <stdio.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"

enum { N_ROUNDS = 7, ROUND_NS = 20 * NS_PER_MS, CHAIN_STEPS = 2000000 };

static int64_t time_calls(void (*call)(void *), void *context, int64_t n_calls)
{
	int64_t start_ns = clock_monotonic_ns();

	for (int64_t i = 0; i < n_calls; i++)
		call(context);
	return clock_monotonic_ns() - start_ns;
}

int64_t measure_ns(void (*call)(void *context), void *context)
{
	int64_t rounds_ns[N_ROUNDS], once_ns, n_calls;

	call(context); /* so that memory and caches are warm */
	once_ns = time_calls(call, context, 1);
	n_calls = once_ns < ROUND_NS ? ROUND_NS / (once_ns > 0 ? once_ns : 1) : 1;
	for (int i = 0; i < N_ROUNDS; i++)
		rounds_ns[i] = time_calls(call, context, n_calls) / n_calls;
	return stats_quantile_ns(rounds_ns, N_ROUNDS, 0.5);
}

/* Each step needs the one before it. */
static void run_chain(void *context)
{
	uint64_t *value = context;

	for (uint64_t i = 0; i < CHAIN_STEPS; i++)
		*value = rng_mix(*value, i);
}

static double step_ns(void)
{
	static double found_ns;
	uint64_t value = 1;

	if (found_ns == 0)
		found_ns = (double)measure_ns(run_chain, &value) / CHAIN_STEPS;
	return found_ns;
}

void measure_header(void)
{
	printf("%-58s %-18s %-18s %s\n", "", "target", "measured", "in steps");
	printf("%-58s %-18s %-18s %.2f ns\n", "one step of the calibrating chain", "", "",
	       step_ns());
}

void measure_row(const char *what, const char *target, int64_t call_ns, const char *measured)
{
	printf("%-58s %-18s %-18s %.0f\n", what, target, measured, (double)call_ns / step_ns());
	fflush(stdout);
}

const char *measure_text(const char *format, double value)
{
	static char text[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, value);
#pragma GCC diagnostic pop
	return text;
}
