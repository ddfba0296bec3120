/* replay_verbs.c - stages that exchange their tensors over RDMA end every iteration with the losses
 * that they have over sockets, also when a RNIC dies. Devices are those that ADAPTRA_TEST_RDMA
 * names, for two rails. */
#include <string.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_HOSTS = 2, N_ITERATIONS = 3, PATIENCE_MS = 120000 };

static void init(struct live_case *c, const char *transport)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, N_HOSTS, 1);
	c->scenario.topology.n_rails = 2;
	c->scenario.n_iterations = N_ITERATIONS;
	c->scenario.recovery.restart_ns = NS_PER_S;
	c->transport = transport;
	c->rdma_devices = case_verbs()->devices;
	/* A virtual machine computes slowly, and has one core for all workers. */
	c->patience_ms = PATIENCE_MS;
}

/* On the stream plane a job restarts, delegates send again over the other rail. */
static void test_losses(const double *losses, const char *schedule, bool has_fault)
{
	static const struct fault down = {.kind = FAULT_DOWN,
	                                  .from_stage = 1,
	                                  .to_stage = 1,
	                                  .start = {.kind = MOMENT_ITERATION, .value = 1},
	                                  .end = {.kind = MOMENT_ITERATION, .value = 2}};
	struct live_case c;

	init(&c, "verbs");
	if (has_fault)
		(void)scenario_fixture_fault(&c.scenario, down);
	tap_is_int(live_case_run(&c, schedule), 0, "%s runs over verbs%s: %s", schedule,
	           has_fault ? ", a RNIC dies" : "", c.err.text);
	live_case_has_losses(&c, losses, "%s has the losses that it has over tcp%s", schedule,
	                     has_fault ? ", also when a RNIC dies" : "");
	live_case_fini(&c);
}

int main(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];
	struct live_case c;

	if (!case_verbs()->devices)
		return tap_skip_all("ADAPTRA_TEST_RDMA names no RDMA devices");
	init(&c, "tcp");
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs over tcp: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(losses));
	live_case_fini(&c);
	test_losses(losses, "1f1b", false);
	test_losses(losses, "adaptra", true);
	return tap_done();
}
