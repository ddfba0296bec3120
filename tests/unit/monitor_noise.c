/* monitor_noise.c - tests the detector under noise: nothing slow is missed, nothing healthy blamed.
 *
 * DESIGN.md section 7: transfers log-normal with sigma 20 %, 1 % of them five times as long, 20
 * seeds. Eight stages and 24 microbatches of the 14B model, whose mean F + B is 19.3 ms; the
 * threshold is a tenth of that. */
#include <math.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/monitor/monitor.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum { N_STAGES = 8, N_MESSAGES = 24, N_SEEDS = 20, N_QUIET = 1000 };

static const double SIGMA = 0.2, OUTLIER_RATIO = 0.01, OUTLIER_FACTOR = 5;

static int64_t noisy_ns(uint64_t seed, uint64_t key, double transfer_ns)
{
	double factor = exp(SIGMA * rng_normal(rng_mix(seed, 2 * key)));

	if (rng_uniform(rng_mix(seed, 2 * key + 1)) < OUTLIER_RATIO)
		factor *= OUTLIER_FACTOR;
	return (int64_t)(transfer_ns * factor);
}

/* One iteration; link slow_link (−1: none) takes slow_ns more. */
static bool iterate(struct monitor *monitor, uint64_t seed, int iteration, int64_t healthy_ns,
                    int slow_link, int64_t slow_ns)
{
	struct monitor_link links[N_STAGES];
	uint64_t of_iteration = rng_mix(seed, (uint64_t)iteration);

	for (int link = 0; link < N_STAGES - 1; link++)
		for (int i = 0; i < 2 * N_MESSAGES; i++) {
			int64_t mean_ns = healthy_ns + (link == slow_link ? slow_ns : 0);
			int from = i % 2 == 0 ? link : link + 1;
			uint64_t key = (uint64_t)(link * 2 * N_MESSAGES + i);

			monitor_add_transfer(monitor, from, 2 * link + 1 - from,
			                     noisy_ns(of_iteration, key, (double)mean_ns));
		}
	return monitor_edge(monitor, iteration, links);
}

/* Confirmed by one iteration, cleared by two: scenario_init()'s. */
static struct monitor *make_monitor(int64_t healthy_ns, int64_t threshold_ns)
{
	int64_t healthy[N_STAGES];
	struct monitor_settings settings = {.n_stages = N_STAGES,
	                                    .healthy_ns = healthy,
	                                    .threshold_ns = threshold_ns,
	                                    .confirm_iterations = 1,
	                                    .clear_iterations = 2};
	struct monitor *monitor = NULL;
	struct err err = {0};

	for (int i = 0; i < N_STAGES; i++)
		healthy[i] = healthy_ns;
	if (monitor_new(&settings, &monitor, &err))
		tap_ok(false, "a detector is made: %s", err.text);
	return monitor;
}

static void test_links(int64_t healthy_ns, int64_t threshold_ns)
{
	int n_false = 0, n_late = 0, worst = 0;
	char healthy[UNITS_TEXT_BYTES];

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		struct monitor *monitor = make_monitor(healthy_ns, threshold_ns);
		int n_needed = 1;

		if (!monitor)
			return;
		for (int i = 0; i < N_QUIET; i++)
			n_false += iterate(monitor, seed, i, healthy_ns, -1, 0);
		while (n_needed < 10 && !iterate(monitor, seed, N_QUIET + n_needed, healthy_ns,
		                                 (int)(seed % 7), threshold_ns * 3 / 2))
			n_needed++;
		n_late += n_needed > 2;
		worst = n_needed > worst ? n_needed : worst;
		monitor_free(monitor);
	}
	units_format_duration(healthy_ns, healthy);
	tap_is_int(n_false, 0, "healthy links of %s: no alarm in %d quiet iterations of %d seeds",
	           healthy, N_QUIET, N_SEEDS);
	tap_is_int(n_late, 0,
	           "healthy links of %s: 1.5 times the threshold is found within 2 iterations "
	           "(worst %d)",
	           healthy, worst);
}

/* What sim uses where the scenario names no threshold. */
static int64_t tenth_of_14b_ns(void)
{
	struct scenario scenario;
	int64_t sum_ns = 0;

	scenario_fixture(&scenario, N_STAGES, N_MESSAGES, NS_PER_MS);
	if (scenario_fixture_profile(&scenario, "14B"))
		for (int stage = 0; stage < N_STAGES; stage++)
			sum_ns += scenario.profile.stages[stage].forward_ns +
			          scenario.profile.stages[stage].backward_input_ns;
	scenario_fini(&scenario);
	return sum_ns / N_STAGES / 10;
}

int main(void)
{
	int64_t threshold_ns = tenth_of_14b_ns();

	if (tap_ok(threshold_ns > NS_PER_MS && threshold_ns < 3 * NS_PER_MS,
	           "a tenth of the 14B model's F and B is %lld us",
	           (long long)threshold_ns / NS_PER_US)) {
		test_links(5 * NS_PER_US, threshold_ns);
		test_links(2 * NS_PER_MS, threshold_ns);
	}
	return tap_done();
}
