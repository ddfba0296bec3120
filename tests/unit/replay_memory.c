/* replay_memory.c - tests that a run is refused for the memory that it has too little of: the
 * machine's, or that of a GPU, of which each has to hold the stages that share it. */
#include <errno.h>

#include "tests/live_case.h"
#include "tests/tap.h"

enum { N = 24, N_QUEUES = 3 };

static const int64_t payload_bytes = (int64_t)1 << 40;

static void init(struct live_case *c, const struct device_about *about)
{
	live_case_init(c, 2, N, 1, 1);
	c->scenario.n_queues = N_QUEUES;
	c->payload_bytes = payload_bytes;
	c->about = about;
}

static void check(struct live_case *c, const char *needed, const char *name)
{
	tap_is_int(live_case_run(c, "zb"), -EINVAL, "%s: it is refused", name);
	tap_contains(c->err.text, needed, "which says what it lacks: %s", c->err.text);
	tap_is_int(c->n_started, 0, "before any process starts");
	live_case_fini(c);
}

/* The outputs, the same staged, and those of a neighbour that have come: 24 + 24 + 8, twice. */
static void test_host_alone(void)
{
	struct live_case c;

	init(&c, NULL);
	check(&c, "need 112 TiB of the memory of this machine", "all of it is the machine's");
	init(&c, &(struct device_about){.n_units = 0});
	check(&c, "need 112 TiB of the memory of this machine", "it says nothing of a GPU");
}

/* Two buffers a queue, on their way out and as they come: 6 + 6, twice. */
static void test_host_beside_gpus(void)
{
	const struct device_about roomy = {.n_units = 1, .memory_bytes = INT64_MAX};
	struct live_case c;

	init(&c, &roomy);
	check(&c, "need 24 TiB of the memory of this machine", "GPUs have the outputs");
	init(&c, &roomy);
	c.scenario.topology.n_replicas = 3;
	check(&c, "need 72 TiB of the memory of this machine", "of all replicas");
}

static void test_gpus(void)
{
	const struct device_about one = {.n_units = 1, .memory_bytes = (int64_t)10 << 30};
	const struct device_about three = {.n_units = 3, .memory_bytes = (int64_t)10 << 30};
	static const struct exchange_ops exchange = {.name = "none"};
	struct live_case c;

	init(&c, &one);
	check(&c, "need 48 TiB of the memory of a GPU, and 8 GiB of it may be taken",
	      "one has the outputs of both stages");
	init(&c, &three);
	check(&c, "need 24 TiB of the memory of a GPU", "each has one of its own");
	init(&c, &three);
	c.scenario.topology.n_replicas = 3;
	check(&c, "need 48 TiB of the memory of a GPU", "six stages are two a GPU");
	init(&c, &three);
	c.exchange = &exchange;
	check(&c, "need 48 TiB of the memory of a GPU", "exchanges bring the padding along");
}

int main(void)
{
	test_host_alone();
	test_host_beside_gpus();
	test_gpus();
	return tap_done();
}
