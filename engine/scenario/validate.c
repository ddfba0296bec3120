/* validate.c - ranges and references of a scenario; its faults are checked in validate_faults.c. */
#include <errno.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/scenario/scenario.h"

/* Times of ops and links; the products that the engine forms of them must fit 64 bits, which is
 * checked as a whole in check_length(). */
static const int64_t time_max_ns = FAULT_DELAY_MAX_NS;
static const int64_t bytes_max = INT64_C(1) << 50;
static const int64_t rate_max = INT64_C(1) << 60;

/* Adds sentences and remembers that it could not. */
struct checker {
	const struct scenario *scenario;
	struct scenario_mistakes *mistakes;
	size_t n_before;
	int rc;
};

struct range {
	const char *name;
	int64_t value;
	int64_t low;
	int64_t high;
};

static void check_ranges(struct checker *c, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n && c->rc == 0; i++) {
		const struct range *r = &ranges[i];

		if (r->value < r->low || r->value > r->high)
			c->rc = scenario_mistake_add(c->mistakes, 0,
			                             "%s is %lld; it must be %lld to %lld", r->name,
			                             (long long)r->value, (long long)r->low,
			                             (long long)r->high);
	}
}

static void check_topology(struct checker *c)
{
	const struct topology *t = &c->scenario->topology;
	const struct range ranges[] = {
		{"stages", t->n_stages, 1, TOPOLOGY_STAGES_MAX},
		{"hosts", t->n_hosts, 1, t->n_stages > 0 ? t->n_stages : TOPOLOGY_STAGES_MAX},
		{"replicas", t->n_replicas, 1, TOPOLOGY_REPLICAS_MAX},
		{"rails", t->n_rails, 1, TOPOLOGY_RAILS_MAX},
		{"link.delay in ns", t->link_delay_ns, 0, time_max_ns},
		{"link.rate in bit/s", t->link_rate_bits_per_s, 0, rate_max},
	};

	check_ranges(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

static void check_run(struct checker *c)
{
	const struct scenario *s = c->scenario;
	const struct range ranges[] = {
		{"microbatches", s->n_microbatches, 1, SCENARIO_MICROBATCHES_MAX},
		{"stages times microbatches", (int64_t)s->topology.n_stages * s->n_microbatches, 0,
	         SCENARIO_MESSAGES_MAX},
		{"activation_limit", s->activation_limit, 0, SCENARIO_MICROBATCHES_MAX},
		{"iterations", s->n_iterations, 1, SCENARIO_ITERATIONS_MAX},
		{"warmup", s->n_warmup, 0, s->n_iterations > 0 ? s->n_iterations - 1 : 0},
		{"repeats", s->n_repeats, 1, SCENARIO_REPEATS_MAX},
		{"delegate.queues", s->n_queues, 1, SCENARIO_QUEUES_MAX},
		{"delegate.cost in ns", s->delegate_cost_ns, 0, time_max_ns},
		{"window in bytes", s->window_bytes, 1, bytes_max},
		{"schedules", (int64_t)s->n_schedules, 1, SCENARIO_SCHEDULES_MAX},
		{"checkpoint_every", s->recovery.checkpoint_every, 0, SCENARIO_ITERATIONS_MAX},
		{"restart in ns", s->recovery.restart_ns, 0, time_max_ns},
		{"failover in ns", s->recovery.failover_ns, 0, time_max_ns},
		{"rdma_timeout", s->rdma.timeout, 1, RDMA_TIMEOUT_MOST},
		{"rdma_retries", s->rdma.n_retries, 0, RDMA_RETRIES_MOST},
		{"threshold in ns", s->detection.threshold_ns, 0, time_max_ns},
		{"confirm", s->detection.confirm_iterations, 1, SCENARIO_ITERATIONS_MAX},
		{"clear", s->detection.clear_iterations, 1, SCENARIO_ITERATIONS_MAX},
	};

	check_ranges(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

static void check_schedules(struct checker *c)
{
	const struct scenario *s = c->scenario;

	for (size_t i = 0; i < s->n_schedules && c->rc == 0; i++)
		for (size_t j = 0; j < i && c->rc == 0; j++)
			if (strcmp(s->schedules[i], s->schedules[j]) == 0)
				c->rc = scenario_mistake_add(c->mistakes, 0,
				                             "schedule \"%s\" is named twice",
				                             s->schedules[i]);
}

static void check_profile_stage(struct checker *c, int stage)
{
	const struct profile_stage *p = &c->scenario->profile.stages[stage];
	const struct range ranges[] = {
		{"forward", p->forward_ns, 1, time_max_ns},
		{"backward", p->backward_input_ns, 1, time_max_ns},
		{"weight", p->backward_weight_ns, 0, time_max_ns},
		{"activation", p->activation_bytes, 0, bytes_max},
		{"memory", p->memory_bytes, 0, bytes_max},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && c->rc == 0; i++) {
		const struct range *r = &ranges[i];

		if (r->value < r->low || r->value > r->high)
			c->rc = scenario_mistake_add(
				c->mistakes, 0,
				"%s of stage %d is %lld %s; it must be %lld to %lld", r->name,
				stage, (long long)r->value, i < 3 ? "ns" : "bytes",
				(long long)r->low, (long long)r->high);
	}
}

static void check_profile(struct checker *c)
{
	const struct profile *p = &c->scenario->profile;
	const struct range ranges[] = {
		{"message in bytes", p->message_bytes, 0, bytes_max},
		{"samples_per_microbatch", p->samples_per_microbatch, 1, SCENARIO_MICROBATCHES_MAX},
	};

	if (p->n_stages != c->scenario->topology.n_stages) {
		c->rc = scenario_mistake_add(
			c->mistakes, 0,
			"profile \"%s\" has times for %d stages, the pipeline has %d",
			p->name ? p->name : "", p->n_stages, c->scenario->topology.n_stages);
		return;
	}
	for (int stage = 0; stage < p->n_stages && c->rc == 0; stage++)
		check_profile_stage(c, stage);
	check_ranges(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

/* The worst that one fault can do to an iteration. */
static double worst_delay_ns(const struct scenario *s)
{
	double bits = (double)scenario_message_bytes(s) * 8, worst = 0;

	for (size_t i = 0; i < s->n_faults; i++) {
		const struct fault *f = &s->faults[i];
		double delay = 0;

		if (f->kind == FAULT_DELAY)
			delay = (double)f->delay_ns + 6 * (double)f->jitter_ns;
		else if (f->kind == FAULT_RATE)
			delay = bits * NS_PER_S / (double)f->rate_bits_per_s;
		if (delay > worst)
			worst = delay;
	}
	return worst;
}

static double worst_slowdown(const struct scenario *s)
{
	double worst = 1;

	for (size_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].kind == FAULT_SLOW_STAGE && s->faults[i].slowdown > worst)
			worst = s->faults[i].slowdown;
	return worst;
}

/* Everything one after the other is an upper bound of the run; it must fit 62 bits of nanoseconds,
 * so that no sum in the engine needs a check of its own. */
static void check_length(struct checker *c)
{
	const struct scenario *s = c->scenario;
	const double limit_ns = 4.6e18;
	double n_bytes = (double)scenario_message_bytes(s);
	double healthy = (double)topology_message_ns(&s->topology, scenario_message_bytes(s));
	/* On the stream plane a message waits one round trip for every further window. */
	double n_trips = 1 + 2 * n_bytes / (double)s->window_bytes;
	double message_ns =
		n_trips * (healthy + worst_delay_ns(s)) + 2 * (double)s->delegate_cost_ns;
	double n_attempts = 1, iteration_ns = 0;

	for (int i = 0; i < s->profile.n_stages; i++) {
		const struct profile_stage *p = &s->profile.stages[i];

		iteration_ns +=
			worst_slowdown(s) * ((double)p->forward_ns + (double)p->backward_input_ns +
		                             (double)p->backward_weight_ns);
	}
	iteration_ns += 2 * message_ns * (s->topology.n_stages - 1);
	iteration_ns *= s->n_microbatches;
	for (size_t i = 0; i < s->n_faults; i++)
		n_attempts += s->faults[i].kind == FAULT_DOWN;
	if (iteration_ns * s->topology.n_stages * s->topology.n_replicas > limit_ns ||
	    n_attempts * (iteration_ns * s->n_iterations + (double)s->recovery.restart_ns) >
	            limit_ns)
		c->rc = scenario_mistake_add(
			c->mistakes, 0,
			"the run could take longer than can be counted in "
			"nanoseconds; lower iterations, microbatches or delays");
}

int scenario_validate(const struct scenario *scenario, struct scenario_mistakes *mistakes)
{
	struct checker c = {scenario, mistakes, mistakes->n_sentences, 0};

	check_topology(&c);
	if (c.rc == 0 && mistakes->n_sentences > c.n_before)
		return -EINVAL;
	if (c.rc == 0)
		check_run(&c);
	if (c.rc == 0)
		check_schedules(&c);
	if (c.rc == 0)
		check_profile(&c);
	if (c.rc == 0) {
		int rc = scenario_validate_faults(scenario, mistakes);

		c.rc = rc == -ENOMEM ? rc : 0;
	}
	if (c.rc == 0 && mistakes->n_sentences == c.n_before)
		check_length(&c);
	if (c.rc)
		return c.rc;
	return mistakes->n_sentences > c.n_before ? -EINVAL : 0;
}
