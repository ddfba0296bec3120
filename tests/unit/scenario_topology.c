/* scenario_topology.c - where stages sit, what a healthy message takes, what fits into memory. */
#include "engine/scenario/plane.h"
#include "engine/scenario/profile.h"
#include "engine/scenario/topology.h"
#include "tests/tap.h"

static void check_hosts(int n_stages, int n_hosts)
{
	const struct topology t = {.n_stages = n_stages, .n_hosts = n_hosts};
	int n_wrong = 0, n_seen = 0, previous = n_stages;

	for (int host = 0; host < n_hosts; host++) {
		int first = topology_first_stage(&t, host), n = topology_stages_on_host(&t, host);

		n_wrong += first != n_seen || n < 1 || n > previous;
		for (int stage = first; stage < first + n; stage++)
			n_wrong += topology_host_of_stage(&t, stage) != host;
		n_seen += n;
		previous = n;
	}
	tap_is_int(n_wrong + (n_seen != n_stages), 0,
	           "%d stages lie on %d hosts in runs, larger ones first", n_stages, n_hosts);
}

static void check_messages(void)
{
	struct topology t = {.link_delay_ns = 5000};

	tap_is_int(topology_message_ns(&t, 1 << 30), 5000,
	           "without a rate a message takes the delay whatever its size");
	t.link_rate_bits_per_s = 8000000000;
	tap_is_int(topology_message_ns(&t, 1000), 6000,
	           "1000 bytes at 1 byte a ns take 1000 ns more");
	t.link_rate_bits_per_s = 3;
	tap_is_int(topology_message_ns(&t, 1), 5000 + INT64_C(2666666667),
	           "a part of a nanosecond is rounded up");
	tap_is_int(topology_message_ns(&t, INT64_MAX), INT64_MAX,
	           "what cannot be counted saturates");
}

static void check_memory(void)
{
	struct profile_stage stages[] = {
		{1, 1, 1, 100, 799},
		{1, 1, 1, 100, 50},
		{1, 1, 1, 0, 50},
		{1, 1, 1, 100, 0},
	};
	const struct profile profile = {.n_stages = 4, .stages = stages};

	tap_is_int(profile_activation_limit(&profile, 0), 7,
	           "what fits into memory is rounded down");
	tap_is_int(profile_activation_limit(&profile, 1), 1, "one activation always fits");
	tap_is_int(profile_activation_limit(&profile, 2), 0, "unknown activations give no limit");
	tap_is_int(profile_activation_limit(&profile, 3), 0, "unknown memory gives no limit");
}

static void check_copy(void)
{
	struct profile_stage stages[] = {{1, 2, 3, 4, 5}};
	const struct profile profile = {
		.name = (char[]){"a"}, .n_stages = 1, .stages = stages, .message_bytes = 9};
	struct profile copy = {0};
	struct err err = {0};

	tap_is_int(profile_copy(&profile, &copy, &err), 0, "a profile can be copied");
	tap_is_str(copy.name, "a", "a copy has the name");
	tap_ok(!copy.source && copy.stages != stages, "a copy owns what it has and has no more");
	tap_is_int(copy.stages[0].memory_bytes, 5, "a copy has the stages");
	profile_fini(&copy);
	tap_ok(!copy.stages, "a finished profile is empty");
}

static void check_planes(void)
{
	const struct plane_rules batched = plane_batched(), unbatched = plane_unbatched();
	const struct plane_rules delegate = plane_delegate();

	tap_ok(batched.is_batched && !batched.is_channel_shared && batched.has_one_issue_queue &&
	               batched.host_waits,
	       "batched: directions apart, one issue queue, the host waits");
	tap_ok(!unbatched.is_batched && unbatched.is_channel_shared &&
	               unbatched.order == CHANNEL_PLAN_ORDER && unbatched.has_one_issue_queue &&
	               unbatched.host_waits,
	       "unbatched: one channel in plan order, one issue queue, the host waits");
	tap_is_str(plane_kind_name(delegate.kind), "delegate",
	           "the delegate preset is of that kind");
	tap_is_int(delegate.n_queues, 6, "delegates have six queues a direction");
	tap_is_int(unbatched.window_bytes, 4 << 20, "the window is 4 MiB");
}

int main(void)
{
	check_hosts(8, 2);
	check_hosts(7, 3);
	check_hosts(5, 5);
	check_hosts(1, 1);
	check_messages();
	check_memory();
	check_copy();
	check_planes();
	return tap_done();
}
