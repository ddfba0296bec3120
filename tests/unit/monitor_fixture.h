/* monitor_fixture.h - a pipeline of eight stages as the detector meets it, with the noise of
 * DESIGN.md section 7: ops vary by 5 %, transfers are log-normal with sigma 20 %, and one in 100 of
 * them takes five times as long. */
#ifndef TESTS_UNIT_MONITOR_FIXTURE_H
#define TESTS_UNIT_MONITOR_FIXTURE_H

#include <math.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/monitor/monitor.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum {
	FIXTURE_STAGES = 8,
	FIXTURE_LINKS = FIXTURE_STAGES - 1,
	FIXTURE_MICROBATCHES = 24,
	FIXTURE_SEEDS = 20,
	FIXTURE_CLEAR = 2, /* scenario_init()'s, as is confirming by one iteration */
};

struct pipeline {
	struct monitor *monitor;
	uint64_t seed;
	int iteration; /* the next one */
	int64_t op_ns[OP_KINDS][FIXTURE_STAGES];
	int64_t healthy_ns[FIXTURE_LINKS];
	int64_t threshold_ns;
	/* What is wrong; all 0: nothing. Delays are in both directions. */
	int64_t delay_ns[FIXTURE_LINKS];
	double slowdown[FIXTURE_STAGES];
	/* The last edge. */
	struct monitor_link links[FIXTURE_LINKS];
	struct monitor_stage stages[FIXTURE_STAGES];
	bool has_link_news, has_stage_news;
};

static inline double fixture_transfer(uint64_t key)
{
	double factor = exp(0.2 * rng_normal(rng_mix(key, 1)));

	return rng_uniform(rng_mix(key, 2)) < 0.01 ? 5 * factor : factor;
}

static inline double fixture_op(uint64_t key)
{
	return 1 + 0.05 * rng_normal(rng_mix(key, 3));
}

/* Op times of the 14B model; the threshold that sim takes for it, a tenth of mean F + B. false and
 * a failed check when there are none. monitor_free() its monitor. */
static inline bool pipeline_init(struct pipeline *pipeline, uint64_t seed, int64_t healthy_ns)
{
	struct monitor_settings settings = {.n_stages = FIXTURE_STAGES,
	                                    .confirm_iterations = 1,
	                                    .clear_iterations = FIXTURE_CLEAR};
	struct scenario scenario;
	struct err err = {0};
	bool is_read;

	*pipeline = (struct pipeline){.seed = seed};
	scenario_fixture(&scenario, FIXTURE_STAGES, FIXTURE_MICROBATCHES, NS_PER_MS);
	is_read = scenario_fixture_profile(&scenario, "14B");
	for (int s = 0; is_read && s < FIXTURE_STAGES; s++) {
		const struct profile_stage *stage = &scenario.profile.stages[s];

		pipeline->op_ns[OP_F][s] = stage->forward_ns;
		pipeline->op_ns[OP_B][s] = stage->backward_input_ns;
		pipeline->op_ns[OP_W][s] = stage->backward_weight_ns;
		pipeline->threshold_ns += (stage->forward_ns + stage->backward_input_ns) / 80;
	}
	scenario_fini(&scenario);
	for (int link = 0; link < FIXTURE_LINKS; link++)
		pipeline->healthy_ns[link] = healthy_ns;
	settings.healthy_ns = pipeline->healthy_ns;
	settings.threshold_ns = pipeline->threshold_ns;
	return tap_ok(is_read && monitor_new(&settings, &pipeline->monitor, &err) == 0,
	              "seed %d: a detector is made: %s", (int)seed, err.text);
}

static inline void pipeline_feed_ops(struct pipeline *pipeline, uint64_t key)
{
	for (int stage = 0; stage < FIXTURE_STAGES; stage++)
		for (int i = 0; i < OP_KINDS * FIXTURE_MICROBATCHES; i++) {
			double op_ns = (double)pipeline->op_ns[i % OP_KINDS][stage];

			if (pipeline->slowdown[stage] > 0)
				op_ns *= pipeline->slowdown[stage];
			op_ns *= fixture_op(rng_mix(key, (uint64_t)(1000 * (stage + 20) + i)));
			monitor_add_op(pipeline->monitor, stage, (enum op_kind)(i % OP_KINDS),
			               (int64_t)op_ns);
		}
}

/* One iteration, and its edge. */
static inline void pipeline_iterate(struct pipeline *pipeline)
{
	uint64_t key = rng_mix(pipeline->seed, (uint64_t)pipeline->iteration);

	for (int link = 0; link < FIXTURE_LINKS; link++)
		for (int i = 0; i < 2 * FIXTURE_MICROBATCHES; i++) {
			double mean_ns =
				(double)(pipeline->healthy_ns[link] + pipeline->delay_ns[link]);
			uint64_t of = rng_mix(key, (uint64_t)(1000 * link + i));

			monitor_add_transfer(pipeline->monitor, link + i % 2, link + 1 - i % 2,
			                     (int64_t)(mean_ns * fixture_transfer(of)));
		}
	pipeline_feed_ops(pipeline, key);
	pipeline->has_link_news =
		monitor_edge(pipeline->monitor, pipeline->iteration++, pipeline->links);
	pipeline->has_stage_news = monitor_stages(pipeline->monitor, pipeline->stages);
}

/* The only one that is slow; −1: none is, −2: several are. */
static inline int pipeline_slow_link(const struct pipeline *pipeline)
{
	int found = -1;

	for (int link = 0; link < FIXTURE_LINKS; link++)
		if (pipeline->links[link].is_slow)
			found = found == -1 ? link : -2;
	return found;
}

static inline int pipeline_slow_stage(const struct pipeline *pipeline)
{
	int found = -1;

	for (int stage = 0; stage < FIXTURE_STAGES; stage++)
		if (pipeline->stages[stage].is_slow)
			found = found == -1 ? stage : -2;
	return found;
}

#endif
