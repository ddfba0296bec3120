/* injectors_registry.c - the injectors there are, and the one that changes nothing. */
#include <errno.h>
#include <string.h>

#include "injectors/injector.h"
#include "tests/tap.h"

static const struct topology topology = {
	.n_stages = 4, .n_hosts = 4, .n_replicas = 2, .n_rails = 2};

static void check_table(const struct injector_ops *ops)
{
	const struct injector_ops *found = NULL;
	struct err err = {0};

	tap_ok(ops->open && ops->check && ops->apply && ops->clear && ops->count && ops->close,
	       "%s: its table is whole", ops->name);
	tap_is_int(injector_find(ops->name, &found, &err), 0, "%s: it is found by its name",
	           ops->name);
	tap_ok(found == ops, "and is itself");
}

static void test_find(void)
{
	static const char *const names[] = {"netem", "relay", "rate", "link", "dry_run"};
	const struct injector_ops *found = NULL;
	struct err err = {0};

	for (const struct injector_ops *const *ops = injector_list(); *ops; ops++)
		check_table(*ops);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int rc = injector_find(names[i], &found, &err);

		tap_ok(rc == 0 || rc == -ENOTSUP, "%s is known to every build", names[i]);
		if (rc)
			tap_contains(err.text, "libnl-3-dev", "and what brings it");
	}
	tap_is_int(injector_find("nettem", &found, &err), -ENOENT, "another name is not");
	tap_contains(err.text, "did you mean 'netem'", "and the nearest is named");
	tap_is_int(injector_find("x", &found, &err), -ENOENT, "nor is this");
	tap_contains(err.text, "netem, relay, rate, link, dry_run", "and all are named");
}

static void test_dry_run(void)
{
	const struct fault faults[] = {
		{.kind = FAULT_DELAY,
	         .from_stage = 2,
	         .to_stage = 3,
	         .delay_ns = 30000000,
	         .jitter_ns = 5000000,
	         .distribution = DISTRIBUTION_NORMAL},
		{.kind = FAULT_DELAY, .model = DELAY_OCCUPANCY, .from_stage = 1, .delay_ns = 1000},
		{.kind = FAULT_RATE, .from_stage = 1, .to_stage = 2, .rate_bits_per_s = 1000000000},
		{.kind = FAULT_SLOW_STAGE, .from_stage = 3, .to_stage = 3, .slowdown = 1.5},
		{.kind = FAULT_DOWN, .from_stage = 3, .to_stage = 3, .rail = 1},
		{.kind = FAULT_LOSS,
	         .from_stage = 1,
	         .to_stage = 2,
	         .loss_ratio = 0.001,
	         .loss_correlation_ratio = 0.25},
		{.kind = FAULT_DELAY,
	         .from_stage = 2,
	         .to_stage = 3,
	         .delay_ns = 30000000,
	         .jitter_ns = 5000000,
	         .allows_reordering = true},
	};
	struct injector_counts counts = {.dropped_packets = 99};
	const struct injector_ops *ops = NULL;
	struct strbuf timeline = {0};
	const struct injector_config config = {.topology = &topology, .timeline = &timeline};
	struct injector *injector;
	struct err err = {0};

	(void)injector_find("dry_run", &ops, &err);
	tap_is_int(ops->open(&config, &injector, &err), 0, "dry_run opens");
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		tap_is_int(injector_check(injector, &faults[i], &err), 0, "it takes every fault");
		(void)injector_apply(injector, &faults[i], &err);
	}
	(void)injector_clear(injector, &faults[4], &err);
	tap_is_str(strbuf_text(&timeline),
	           "apply: 30 ms more (latency) with jitter 5 ms (normal) on 2->3\n"
	           "apply: 1 us more (occupancy) on 1->0\n"
	           "apply: at most 1 Gbit/s on 1->2\n"
	           "apply: stage 3 slower, times 1.5\n"
	           "apply: rail 1 of stage 3 down\n"
	           "apply: 0.1 % of packets lost with correlation 25 % on 1->2\n"
	           "apply: 30 ms more (latency) with jitter 5 ms (uniform), packets may overtake, "
	           "on 2->3\n"
	           "clear: rail 1 of stage 3 down\n",
	           "and tells what would be done");
	tap_is_int(injector_count(injector, NULL, &counts, &err), 0, "it counts");
	tap_is_int(counts.dropped_packets, 0, "nothing");
	tap_is_int(injector_close(injector, &err), 0, "it closes");
	tap_is_int(injector_close(NULL, &err), 0, "so does none");
	strbuf_fini(&timeline);
}

int main(void)
{
	test_find();
	test_dry_run();
	return tap_done();
}
