/* replay_losses.c - tests that the loss of every iteration is the same bits, whoever moves the
 * tensors, in which order ops run, and whatever goes wrong; and that a broken order is seen. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/schedule/schedule.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 6 };

static const char *const names[] = {"1f1b",    "gpipe",       "zb",  "zb-cpu",
                                    "adaptra", "adaptra-cpu", "hold"};

/* What all other runs have to give: one worker, no fault, 1F1B over loopback. */
static bool make_reference(double *losses, int n_replicas)
{
	struct live_case c;
	bool is_learning = true;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, n_replicas);
	c.transport = "loopback";
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference for D = %d runs: %s", n_replicas,
	           c.err.text);
	memcpy(losses, c.losses, sizeof(c.losses));
	for (int i = 0; i < c.scenario.n_iterations; i++)
		is_learning &= isfinite(losses[i]) && (i == 0 || losses[i] != losses[i - 1]);
	tap_ok(is_learning, "its losses are numbers that change (%.17g, %.17g)", losses[0],
	       losses[1]);
	live_case_fini(&c);
	return is_learning;
}

static void test_schedules(const double *losses, int n_replicas, int n_hosts)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct live_case c;

		live_case_init(&c, N_STAGES, N_MICROBATCHES, n_hosts, n_replicas);
		(void)live_case_run(&c, names[i]);
		live_case_has_losses(&c, losses, "%s, %d workers, D = %d", names[i], n_hosts,
		                     n_replicas);
		tap_is_int(c.facts.n_workers, (int64_t)n_hosts * n_replicas,
		           "these are so many processes");
		live_case_fini(&c);
	}
}

static void choose_plane(struct scenario *scenario, const char *schedule, enum plane_kind plane)
{
	scenario->planes = malloc(sizeof(*scenario->planes));
	if (!scenario->planes)
		exit(1);
	scenario->planes[0] = (struct plane_choice){strdup(schedule), plane};
	scenario->n_planes = 1;
}

static void test_planes(const double *losses)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (enum plane_kind plane = PLANE_STREAM; plane <= PLANE_DELEGATE; plane++) {
			struct live_case c;

			live_case_init(&c, N_STAGES, N_MICROBATCHES, 2, 1);
			choose_plane(&c.scenario, names[i], plane);
			(void)live_case_run(&c, names[i]);
			live_case_has_losses(&c, losses, "%s that starts on the %s plane", names[i],
			                     plane_kind_name(plane));
			tap_ok(c.capture.n_iterations > 0 && c.capture.iterations[0].plane == plane,
			       "it does start there");
			live_case_fini(&c);
		}
}

static void add_delay(struct scenario *scenario, enum delay_model model)
{
	scenario_fixture_slow_link(scenario, 1, model, 8 * NS_PER_MS);
	scenario_fixture_iterations(scenario, 2, 1, 2);
}

static void add_jitter(struct scenario *scenario)
{
	struct fault *fault = scenario_fixture_delay(scenario, 2, 3, DELAY_LATENCY, 10 * NS_PER_MS);

	fault->jitter_ns = 8 * NS_PER_MS;
	fault->distribution = DISTRIBUTION_PARETO;
}

static void add_rate(struct scenario *scenario)
{
	(void)scenario_fixture_fault(scenario,
	                             (struct fault){.kind = FAULT_RATE,
	                                            .end = {.kind = MOMENT_NEVER, .value = 0},
	                                            .to_stage = 1,
	                                            .rate_bits_per_s = 10000000});
}

static void add_slow_stage(struct scenario *scenario)
{
	(void)scenario_fixture_fault(scenario,
	                             (struct fault){.kind = FAULT_SLOW_STAGE,
	                                            .end = {.kind = MOMENT_NEVER, .value = 0},
	                                            .from_stage = 2,
	                                            .to_stage = 2,
	                                            .slowdown = 3});
}

static void add_fault(struct scenario *scenario, int which)
{
	switch (which) {
	case 0:
	case 1:
	case 2:
		add_delay(scenario, (enum delay_model)which);
		break;
	case 3:
		add_jitter(scenario);
		break;
	case 4:
		add_rate(scenario);
		break;
	default:
		add_slow_stage(scenario);
	}
}

/* Paced, so that a slow stage is one. */
static void test_faults(const double *losses)
{
	static const char *const faults[] = {"a path that is slow",
	                                     "a link that is slow",
	                                     "a sender that is held",
	                                     "jitter",
	                                     "a rate",
	                                     "a slow stage"};
	static const char *const schedules[] = {"1f1b", "zb", "adaptra"};

	for (int which = 0; which < 6; which++)
		for (int i = 0; i < 3; i++) {
			struct live_case c;

			live_case_init(&c, N_STAGES, N_MICROBATCHES, 2, 1);
			c.speed = 20;
			if (which == 5)
				live_case_pace(&c, 8);
			c.scenario.profile.message_bytes = 4096;
			add_fault(&c.scenario, which);
			tap_ok(scenario_fixture_is_valid(&c.scenario), "the scenario is valid");
			(void)live_case_run(&c, schedules[i]);
			live_case_has_losses(&c, losses, "%s under %s", schedules[i],
			                     faults[which]);
			live_case_fini(&c);
		}
}

static void test_payloads(const double *losses)
{
	static const int64_t payloads[] = {1, 8193, 1 << 20};

	for (int i = 0; i < 3; i++) {
		struct live_case c;

		live_case_init(&c, N_STAGES, N_MICROBATCHES, 2, 1);
		c.payload_bytes = payloads[i];
		(void)live_case_run(&c, "zb");
		live_case_has_losses(&c, losses, "messages of %lld bytes", (long long)payloads[i]);
		tap_is_int(c.facts.payload_bytes, payloads[i] < 4096 ? 4096 : payloads[i],
		           "are as large as that, or as the tensor");
		live_case_fini(&c);
	}
}

/* The plan of 1f1b with two ops of a stage exchanged. */
static int run_swapped(struct live_case *c, int stage, int i, int k)
{
	struct plan_times times = {.n_stages = N_STAGES};
	int64_t op_ns[N_STAGES] = {1000, 1000, 1000, 1000}, link_ns[N_STAGES] = {0};
	const struct schedule_ops *schedule;
	struct schedule_request request = {.n_microbatches = N_MICROBATCHES};
	struct plan plan;
	struct plan_op kept;
	int rc;

	for (int kind = 0; kind < OP_KINDS; kind++)
		times.op_ns[kind] = op_ns;
	times.link_ns = link_ns;
	request.times = times;
	schedule = schedule_find("zb", &c->err);
	if (!schedule || schedule_make(schedule, &request, &plan, &c->err))
		return -1;
	kept = plan_stage(&plan, stage)[i];
	plan_stage(&plan, stage)[i] = plan_stage(&plan, stage)[k];
	plan_stage(&plan, stage)[k] = kept;
	c->order = &plan;
	rc = live_case_run(c, "csv:broken");
	c->order = NULL;
	plan_fini(&plan);
	return rc;
}

/* Two microbatches change places: on all stages the tensors of one would be taken for the other's
 * if nobody looked. */
static void test_broken_order(void)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 2, 1);
	tap_ok(run_swapped(&c, 0, 0, 1) < 0, "F1 before F0 is not run");
	tap_contains(c.err.text, "F1 on stage 0 is out of order: F0 comes next",
	             "and the reason names both");
	live_case_fini(&c);
}

/* A transport that takes two activations of stage 1 for each other. */
struct swapper {
	struct transport base;
	struct transport *inner;
};

static struct transport *inner_of(struct transport *transport)
{
	return ((struct swapper *)transport)->inner;
}

static int swapper_connect(struct transport *transport, const struct transport_address *addresses,
                           int64_t timeout_ns, struct err *err)
{
	return transport_connect(inner_of(transport), addresses, timeout_ns, err);
}

static int swapper_send(struct transport *transport, const struct message *message,
                        const void *payload, struct err *err)
{
	return transport_send(inner_of(transport), message, payload, err);
}

static int swapper_poll(struct transport *transport, struct transport_event *events, size_t n,
                        size_t *n_out, struct err *err)
{
	int rc = transport_poll(inner_of(transport), events, n, n_out, err);

	for (size_t i = 0; rc == 0 && i < *n_out; i++) {
		struct message *message = &events[i].message;

		if (events[i].kind == TRANSPORT_RECEIVED && message->kind == OP_F &&
		    message->from_stage == 1 && message->microbatch < 2)
			message->microbatch = 1 - message->microbatch;
	}
	return rc;
}

static void swapper_release(struct transport *transport, void *payload)
{
	transport_release(inner_of(transport), payload);
}

static int swapper_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                            struct err *err)
{
	return transport_set_rail(inner_of(transport), stage, rail, is_up, err);
}

static void swapper_close(struct transport *transport)
{
	transport_close(inner_of(transport));
	free(transport);
}

static int swapper_open(const struct transport_config *config,
                        struct transport_address *addresses_out, struct transport **out,
                        struct err *err);

static const struct transport_ops swapper_ops = {
	.name = "swapper",
	.open = swapper_open,
	.connect = swapper_connect,
	.send = swapper_send,
	.poll = swapper_poll,
	.release = swapper_release,
	.set_rail = swapper_set_rail,
	.close = swapper_close,
};

static int swapper_open(const struct transport_config *config,
                        struct transport_address *addresses_out, struct transport **out,
                        struct err *err)
{
	struct swapper *swapper = calloc(1, sizeof(*swapper));
	const struct transport_ops *ops;
	int rc = swapper ? transport_find("loopback", &ops, err) : -ENOMEM;

	rc = rc ? rc : ops->open(config, addresses_out, &swapper->inner, err);
	if (rc) {
		free(swapper);
		return rc;
	}
	swapper->base.ops = &swapper_ops;
	*out = &swapper->base;
	return 0;
}

/* On delegates nothing but the loss can tell; a channel knows which message comes next. */
static void test_swapped_messages(const double *losses)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, 1);
	c.transport_ops = &swapper_ops;
	tap_is_int(live_case_run(&c, "zb-cpu"), 0, "a run with two messages swapped ends: %s",
	           c.err.text);
	tap_ok(memcmp(c.losses, losses, sizeof(double)) != 0,
	       "its first loss is not the others' (%.17g, %.17g)", c.losses[0], losses[0]);
	tap_ok(live_case_run(&c, "zb") < 0, "on the stream plane it does not end");
	tap_contains(c.err.text, "stage 2: F0 came over its channel out of the plan's order",
	             "since the channel's order is broken");
	live_case_fini(&c);
}

int main(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX], of_two[LIVE_CASE_ITERATIONS_MAX];

	if (make_reference(losses, 1)) {
		test_schedules(losses, 1, 1);
		test_schedules(losses, 1, 2);
		test_schedules(losses, 1, N_STAGES);
		test_planes(losses);
		test_faults(losses);
		test_payloads(losses);
		test_swapped_messages(losses);
	}
	if (make_reference(of_two, 2)) {
		test_schedules(of_two, 2, 1);
		test_schedules(of_two, 2, 2);
		tap_ok(memcmp(losses, of_two, sizeof(double)) != 0,
		       "twice as many samples have another loss");
	}
	test_broken_order();
	return tap_done();
}
