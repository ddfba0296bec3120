/* replay_sizes.c - tests pipelines and messages of many sizes: they run, or are refused before any
 * process starts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { MIB = 1 << 20 };

struct size {
	int n_stages, n_microbatches, n_hosts;
	int64_t payload_bytes;
	const char *schedule;
};

static const struct size sizes[] = {
	{1, 1, 1, 1, "1f1b"},          {1, 3, 1, 8192, "zb"},        {2, 1, 2, 64 * MIB, "zb"},
	{2, 1, 1, 64 * MIB, "zb-cpu"}, {2, 2, 2, 64 * MIB, "1f1b"},  {2, 6, 2, MIB, "gpipe"},
	{3, 9, 3, 100000, "adaptra"},  {4, 1, 2, 1, "zb"},           {4, 12, 4, 65537, "zb-cpu"},
	{5, 7, 2, 4 * MIB, "zb-cpu"},  {7, 2, 7, 5 * MIB, "zb"},     {8, 24, 2, 65536, "zb"},
	{9, 5, 3, 300000, "1f1b"},     {13, 4, 13, 1, "adaptra"},    {16, 1, 16, 1, "gpipe"},
	{16, 48, 2, 8192, "zb"},       {16, 16, 16, 8192, "zb-cpu"},
};

static void test_sizes(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct size *size = &sizes[i];
		struct live_case c;

		live_case_init(&c, size->n_stages, size->n_microbatches, size->n_hosts, 1);
		c.payload_bytes = size->payload_bytes;
		c.scenario.n_iterations = 2;
		c.scenario.recovery.checkpoint_every = 0;
		tap_is_int(live_case_run(&c, size->schedule), 0,
		           "%s, S = %d, N = %d, %d workers, %lld bytes a message: %s",
		           size->schedule, size->n_stages, size->n_microbatches, size->n_hosts,
		           (long long)size->payload_bytes, c.err.text);
		tap_ok(c.rc || (c.capture.n_iterations == 2 && isfinite(c.losses[1])),
		       "both iterations have ended");
		live_case_fini(&c);
	}
}

static void check_refused(struct live_case *c, const char *word)
{
	tap_is_int(live_case_run(c, "zb"), -EINVAL, "it is refused: %s", c->err.text);
	tap_contains(c->err.text, word, "because of the %s", word);
	tap_is_int(c->n_started, 0, "before any process starts");
	live_case_fini(c);
}

static void test_refusals(void)
{
	struct live_case c;

	live_case_init(&c, 16, 48, 2, 1);
	c.payload_bytes = 64 * MIB;
	check_refused(&c, "memory");

	live_case_init(&c, 2, 65536, 2, 1);
	c.payload_bytes = 1 * MIB;
	check_refused(&c, "memory");

	live_case_init(&c, 4, 4, 2, 1);
	c.scenario.n_queues = 65;
	check_refused(&c, "queues");

	live_case_init(&c, 2, 2, 2, 4096);
	check_refused(&c, "worker processes");
}

/* The model computes for more than a tenth of an op: the speed that is named instead will do. */
static void test_speeds(void)
{
	static const int64_t ops_ns[] = {10 * NS_PER_MS, 200 * NS_PER_US, 1};

	for (size_t i = 0; i < sizeof(ops_ns) / sizeof(ops_ns[0]); i++) {
		const char *named;
		struct live_case c;
		double speed;

		live_case_init(&c, 2, 1, 1, 1);
		for (int stage = 0; stage < 2; stage++)
			c.scenario.profile.stages[stage] = (struct profile_stage){
				.forward_ns = ops_ns[i],
				.backward_input_ns = ops_ns[i],
				.backward_weight_ns = ops_ns[i],
			};
		c.device = "paced";
		tap_is_int(live_case_run(&c, "zb"), -EINVAL, "ops of %lld ns at speed 1000: %s",
		           (long long)ops_ns[i], c.err.text);
		named = strstr(c.err.text, "use --speed ");
		speed = named ? strtod(named + strlen("use --speed "), NULL) : NAN;
		if (ops_ns[i] == 1) {
			tap_contains(c.err.text, "no speed is low enough", "none is named");
		} else {
			tap_ok(speed >= LIVE_SPEED_LEAST && speed < 1000, "%g is a speed", speed);
			/* Less, for it is measured again. */
			c.speed = speed / 3;
			tap_is_int(live_case_run(&c, "zb"), 0, "with which it runs: %s",
			           c.err.text);
		}
		live_case_fini(&c);
	}
}

/* A low limit on descriptors that may be raised is raised; one that may not is said. */
static void test_descriptors(void)
{
	struct rlimit kept, low;
	struct live_case c;

	if (getrlimit(RLIMIT_NOFILE, &kept)) {
		tap_skip("no limit on descriptors can be read");
		return;
	}
	low = (struct rlimit){64, kept.rlim_max};
	(void)setrlimit(RLIMIT_NOFILE, &low);
	live_case_init(&c, 8, 8, 1, 1);
	c.scenario.n_queues = 8;
	tap_is_int(live_case_run(&c, "zb"), 0, "64 descriptors are too few, and it takes more: %s",
	           c.err.text);
	live_case_fini(&c);

	low.rlim_max = 128;
	if (setrlimit(RLIMIT_NOFILE, &low)) {
		tap_skip("the limit on descriptors cannot be lowered");
		return;
	}
	live_case_init(&c, 8, 8, 1, 1);
	c.scenario.n_queues = 8;
	check_refused(&c, "descriptors");
}

int main(void)
{
	test_sizes();
	test_refusals();
	test_speeds();
	test_descriptors();
	return tap_done();
}
