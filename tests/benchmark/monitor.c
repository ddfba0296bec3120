/* monitor.c - what the detector costs at an iteration's edge: eight stages, 48 messages a link, 72
 * ops a stage, with the noise of DESIGN.md section 7. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/monitor/monitor.h"
#include "tests/measure.h"

enum { N_STAGES = 8, N_LINKS = N_STAGES - 1, N_MESSAGES = 48, N_OPS = 72, N_ITERATIONS = 64 };

/* Iterations that are fed again and again. */
struct fed {
	struct monitor *monitor;
	int iteration;
	bool has_ops;
	int64_t transfer_ns[N_ITERATIONS][N_LINKS][N_MESSAGES];
	int64_t op_ns[N_ITERATIONS][N_STAGES][N_OPS];
};

static void iterate(void *context)
{
	struct fed *fed = context;
	struct monitor_link links[N_LINKS];
	struct monitor_stage stages[N_STAGES];
	int at = fed->iteration % N_ITERATIONS;

	for (int link = 0; link < N_LINKS; link++)
		for (int i = 0; i < N_MESSAGES; i++)
			monitor_add_transfer(fed->monitor, link + i % 2, link + 1 - i % 2,
			                     fed->transfer_ns[at][link][i]);
	for (int stage = 0; fed->has_ops && stage < N_STAGES; stage++)
		for (int i = 0; i < N_OPS; i++)
			monitor_add_op(fed->monitor, stage, (enum op_kind)(i % OP_KINDS),
			               fed->op_ns[at][stage][i]);
	monitor_edge(fed->monitor, fed->iteration++, links);
	monitor_stages(fed->monitor, stages);
}

/* sigma: of transfers; ops have a quarter of it. */
static void fill(struct fed *fed, double sigma)
{
	for (int at = 0; at < N_ITERATIONS; at++)
		for (int i = 0; i < N_STAGES * N_OPS; i++) {
			uint64_t key = rng_mix((uint64_t)at, (uint64_t)i);
			double noise = sigma * rng_normal(key);

			fed->op_ns[at][i / N_OPS][i % N_OPS] = (int64_t)(1e7 * (1 + noise / 4));
			if (i < N_LINKS * N_MESSAGES)
				fed->transfer_ns[at][i / N_MESSAGES][i % N_MESSAGES] =
					(int64_t)(2e6 * exp(noise));
		}
}

static void show(const char *name, double sigma, bool has_ops, const char *target)
{
	int64_t healthy_ns[N_LINKS], call_ns;
	const struct monitor_settings settings = {.n_stages = N_STAGES,
	                                          .healthy_ns = healthy_ns,
	                                          .threshold_ns = 2 * NS_PER_MS,
	                                          .confirm_iterations = 1,
	                                          .clear_iterations = 2};
	struct fed *fed = calloc(1, sizeof(*fed));
	struct err err = {0};

	for (int link = 0; link < N_LINKS; link++)
		healthy_ns[link] = 2 * NS_PER_MS;
	if (!fed || monitor_new(&settings, &fed->monitor, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	fed->has_ops = has_ops;
	fill(fed, sigma);
	call_ns = measure_ns(iterate, fed);
	measure_row(name, target, call_ns, measure_text("%.1f us", (double)call_ns / NS_PER_US));
	monitor_free(fed->monitor);
	free(fed);
}

int main(void)
{
	measure_header();
	show("detector, links", 0.2, false, "20 us");
	show("detector, links and stages", 0.2, true, "20 us");
	show("detector, both without noise", 0, true, "");
	return 0;
}
