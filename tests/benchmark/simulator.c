/* simulator.c - how many ops a second the simulator times on one core, without recording any. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "engine/sim/sim.h"
#include "tests/measure.h"
#include "tests/net_case.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"

enum { N_STAGES = 8, N_MICROBATCHES = 24 };

/* One iteration, ready to be timed. */
struct iteration {
	struct net_case c;
	struct sim_net *net;
};

static void iterate(void *context)
{
	struct iteration *iteration = context;

	sim_net_run(iteration->net, &iteration->c.world, NULL, &iteration->c.outcome);
}

/* Nanoseconds an op; link 6-7 holds a message for 30 ops' time. */
static double measure_iteration(const char *schedule, const struct plane_rules *rules,
                                int n_microbatches, int64_t *call_ns_out)
{
	struct iteration iteration;
	struct err err = {0};

	if (!net_case_init(&iteration.c, schedule, N_STAGES, n_microbatches, 10 * NS_PER_MS))
		exit(1);
	for (int back = 0; back < SIM_DIRECTIONS; back++)
		iteration.c.messages[sim_direction(6, back)].hold_ns = 30 * NS_PER_MS;
	if (sim_net_new(&iteration.c.plan, rules, &iteration.net, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	*call_ns_out = measure_ns(iterate, &iteration);
	sim_net_free(iteration.net);
	net_case_fini(&iteration.c);
	return (double)*call_ns_out / (N_STAGES * OP_KINDS * n_microbatches);
}

static void show_plane(const char *schedule, const char *name, struct plane_rules rules,
                       const char *target)
{
	int64_t call_ns;
	double op_ns = measure_iteration(schedule, &rules, N_MICROBATCHES, &call_ns);

	measure_row(name, target, call_ns, measure_text("%.1f million/s", 1000 / op_ns));
}

static void show_linearity(void)
{
	struct plane_rules rules = plane_unbatched();
	int64_t few_ns, many_ns;
	double few = measure_iteration("zb", &rules, N_MICROBATCHES, &few_ns);
	double many = measure_iteration("zb", &rules, 4 * N_MICROBATCHES, &many_ns);

	measure_row("ops/s with N = 24 over ops/s with N = 96", "about 1", many_ns,
	            measure_text("%.2f", many / few));
}

static void run_scenario(void *context)
{
	struct sim_request *request = context;
	struct record_sink sink = record_null_sink();
	struct sim_totals totals;
	struct err err = {0};

	if (sim_run(request, &sink, &totals, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

/* 1,200 iterations, every sixth event a slow link: what a trace costs without a database. */
static void show_run(const char *schedule)
{
	struct sim_request request = {0};
	struct scenario scenario;
	struct err err = {0};
	char name[80];
	int64_t call_ns;
	double n_ops = 1200.0 * N_STAGES * OP_KINDS * N_MICROBATCHES;

	scenario_fixture(&scenario, N_STAGES, N_MICROBATCHES, 10 * NS_PER_MS);
	scenario.n_iterations = 1200;
	for (int first = 50; first < 1200; first += 200) {
		scenario_fixture_slow_link(&scenario, first / 200, DELAY_OCCUPANCY, 30 * NS_PER_MS);
		scenario_fixture_iterations(&scenario, 2, first, first + 99);
	}
	request.scenario = &scenario;
	request.schedule = schedule_find(schedule, &err);
	call_ns = measure_ns(run_scenario, &request);
	snprintf(name, sizeof(name), "sim_run, 1,200 iterations, %s, nothing kept", schedule);
	measure_row(name, "", call_ns,
	            measure_text("%.1f million/s", n_ops / (double)call_ns * 1e3));
	scenario_fini(&scenario);
}

int main(void)
{
	struct plane_rules requested = plane_unbatched();

	requested.order = CHANNEL_REQUEST_ORDER;
	measure_header();
	show_plane("zb", "ops of zb, stream plane", plane_unbatched(), "20 million/s");
	show_plane("1f1b", "ops of 1F1B, stream plane, batched", plane_batched(), "20 million/s");
	show_plane("zb-cpu", "ops of zb-cpu, delegate plane", plane_delegate(), "20 million/s");
	show_plane("zb", "ops of zb, channel in request order (study)", requested, "");
	show_linearity();
	show_run("1f1b");
	show_run("zb");
	show_run("adaptra");
	return 0;
}
