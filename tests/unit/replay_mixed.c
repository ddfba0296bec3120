/* replay_mixed.c - a run whose rails are carried by transports of their own has the losses of one
 * over a single transport, also when the RNIC of one rail dies and delegates go over to the other.
 */
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_ITERATIONS = 4 };

static void init(struct live_case *c, const char *transport, int n_hosts)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, n_hosts, 1);
	c->scenario.topology.n_rails = 2;
	c->scenario.n_iterations = N_ITERATIONS;
	c->scenario.recovery.restart_ns = NS_PER_S;
	c->transport = transport;
}

static void check(const double *losses, const char *transport, int n_hosts, const char *schedule)
{
	static const struct fault down = {.kind = FAULT_DOWN,
	                                  .from_stage = 1,
	                                  .to_stage = 1,
	                                  .start = {.kind = MOMENT_ITERATION, .value = 1},
	                                  .end = {.kind = MOMENT_ITERATION, .value = 2}};
	struct live_case c;

	init(&c, transport, n_hosts);
	(void)scenario_fixture_fault(&c.scenario, down);
	tap_is_int(live_case_run(&c, schedule), 0, "%s runs over %s: %s", schedule, transport,
	           c.err.text);
	live_case_has_losses(&c, losses, "%s over %s: the losses are those of tcp", schedule,
	                     transport);
	live_case_fini(&c);
}

int main(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];
	struct live_case c;

	init(&c, "tcp", 2);
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs over tcp: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(losses));
	live_case_fini(&c);
	check(losses, "tcp,tcp", 2, "1f1b");
	check(losses, "tcp,tcp", 2, "zb-cpu");
	check(losses, "loopback,tcp", 1, "zb-cpu");
	check(losses, "tcp,loopback", 1, "zb-cpu");
	return tap_done();
}
