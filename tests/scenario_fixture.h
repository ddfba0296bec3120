/* scenario_fixture.h - valid scenarios in memory, for the tests of what runs them. */
#ifndef TESTS_SCENARIO_FIXTURE_H
#define TESTS_SCENARIO_FIXTURE_H

#include "engine/scenario/scenario.h"

/* Every op takes op_ns, links take nothing, 10 iterations without warm-up, no faults, one schedule,
 * "1f1b"; everything else is scenario_init()'s. Ends the program when memory runs out.
 * scenario_fini() frees it. */
void scenario_fixture(struct scenario *out, int n_stages, int n_microbatches, int64_t op_ns);

/* Times of a model on the GPUs where they were measured: the rows of profiles_median.csv in the
 * copy of the ground truth. false: they cannot be read. */
bool scenario_fixture_profile(struct scenario *scenario, const char *model);

/* Append a fault; it is an event of its own. The pointer is valid until the next one. */
struct fault *scenario_fixture_fault(struct scenario *scenario, struct fault fault);

/* Messages from_stage -> to_stage take delay_ns longer in iterations first … last. */
struct fault *scenario_fixture_delay(struct scenario *scenario, int from_stage, int to_stage,
                                     enum delay_model model, int64_t delay_ns);

/* The same on both directions of a link. */
void scenario_fixture_slow_link(struct scenario *scenario, int link, enum delay_model model,
                                int64_t delay_ns);

/* Set first and last iteration of the newest n_faults faults. */
void scenario_fixture_iterations(struct scenario *scenario, int n_faults, int first, int last);

/* Set start and end in nanoseconds of the newest n_faults faults; end_ns < 0: never. */
void scenario_fixture_times(struct scenario *scenario, int n_faults, int64_t start_ns,
                            int64_t end_ns);

/* Is it valid? If not, the first mistake is shown. */
bool scenario_fixture_is_valid(const struct scenario *scenario);

#endif
