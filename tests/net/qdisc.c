/* qdisc.c - queueing disciplines in the kernel: tbf here, netem where the kernel has it. */
#include "injectors/qdisc.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "injectors/interface.h"
#include "tests/net/namespace_fixture.h"

enum { HANDLE = 0xadab0000, DATAGRAM_BYTES = 1000, N_DATAGRAMS = 200 };

/* left is here, with an address and a neighbour that takes what comes. */
struct wire {
	struct netlink *near, *far;
	int far_fd;
	struct qdisc_place place;
};

static bool wire_begin(struct wire *wire)
{
	struct interface_pair pair = {.name = "left", .peer_name = "right", .mtu_bytes = 1500};
	struct interface left, right;
	struct err err = {0};

	*wire = (struct wire){.far_fd = -1};
	if (namespace_make(1, &wire->far_fd, &err) ||
	    netlink_open(NAMESPACE_OWN, &wire->near, &err) ||
	    netlink_open(wire->far_fd, &wire->far, &err))
		return tap_ok(false, "there is a namespace for the other end: %s", err.text);
	pair.peer_namespace_fd = wire->far_fd;
	if (interface_add_pair(wire->near, &pair, &err) ||
	    interface_find(wire->near, "left", &left, &err) ||
	    interface_find(wire->far, "right", &right, &err) ||
	    interface_set_quiet(wire->near, left.index, &err) ||
	    interface_set_quiet(wire->far, right.index, &err) ||
	    interface_set_up(wire->near, left.index, true, &err) ||
	    interface_set_up(wire->far, right.index, true, &err) ||
	    interface_add_address(wire->near, left.index, 0x0a000001, 24, &err) ||
	    interface_add_address(wire->far, right.index, 0x0a000002, 24, &err))
		return tap_ok(false, "there is a wire: %s", err.text);
	wire->place = (struct qdisc_place){
		.interface_index = left.index, .parent = QDISC_AT_ROOT, .handle = HANDLE};
	return true;
}

static void wire_end(struct wire *wire)
{
	netlink_close(wire->near);
	netlink_close(wire->far);
	close(wire->far_fd);
}

/* Send datagrams at once to the other end, where nobody listens. */
static void send_datagrams(int n)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	char bytes[DATAGRAM_BYTES] = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int room = 4 << 20;

	to.sin_addr.s_addr = htonl(0x0a000002);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	for (int i = 0; i < n; i++)
		(void)!sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

/* Send at once and wait until nothing waits any more; the time it took. */
static int64_t pass_datagrams(struct wire *wire, struct qdisc *out)
{
	int64_t start_ns = clock_monotonic_ns(), end_ns = start_ns + 10 * (int64_t)NS_PER_S;
	struct err err = {0};

	send_datagrams(N_DATAGRAMS);
	while (qdisc_read(wire->near, &wire->place, out, &err) == 0 && out->waiting_packets > 0 &&
	       clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS);
	return clock_monotonic_ns() - start_ns;
}

static void test_tbf(struct wire *wire)
{
	struct qdisc_settings settings = {
		.kind = QDISC_TBF,
		.tbf = {.rate_bits_per_s = 80000000, .burst_bytes = 10000, .limit_bytes = 1000000}};
	struct qdisc found;
	struct err err = {0};
	int64_t fast_ns, slow_ns;

	tap_is_int(qdisc_change(wire->near, &wire->place, &settings, &err), -ENOENT,
	           "what is not there is not changed");
	fixture_succeeds(qdisc_add(wire->near, &wire->place, &settings, &err), &err, "tbf is made");
	tap_is_int(qdisc_add(wire->near, &wire->place, &settings, &err), -EEXIST, "once");
	tap_is_int(qdisc_read(wire->near, &wire->place, &found, &err), 0, "and read back");
	tap_is_str(found.kind, "tbf", "its kind");
	tap_is_int(found.settings.tbf.rate_bits_per_s, 80000000, "its rate");
	tap_is_int(found.settings.tbf.limit_bytes, 1000000, "its limit");
	tap_is_int(found.sent_packets, 0, "nothing was sent yet");
	/* The machine may be busy elsewhere, so the best of some counts. */
	fast_ns = pass_datagrams(wire, &found);
	for (int i = 0; i < 5; i++) {
		int64_t took_ns = pass_datagrams(wire, &found);

		if (took_ns < fast_ns)
			fast_ns = took_ns;
	}
	tap_ok(found.sent_packets >= N_DATAGRAMS, "what was sent is counted");
	tap_is_int(found.dropped_packets, 0, "and nothing dropped");
	settings.tbf.rate_bits_per_s /= 4;
	fixture_succeeds(qdisc_change(wire->near, &wire->place, &settings, &err), &err,
	                 "it is changed");
	slow_ns = pass_datagrams(wire, &found);
	tap_ok(slow_ns > 75 * NS_PER_MS && slow_ns > 2 * fast_ns,
	       "a quarter of the rate takes longer");
	tap_note("%d datagrams: %.1f ms at 80 Mbit/s, %.1f ms at 20 Mbit/s", N_DATAGRAMS,
	         (double)fast_ns / NS_PER_MS, (double)slow_ns / NS_PER_MS);
	/* Slow enough that nothing much leaves while they are sent. */
	settings.tbf.rate_bits_per_s = 800000;
	settings.tbf.limit_bytes = 20000;
	tap_is_int(qdisc_change(wire->near, &wire->place, &settings, &err), 0, "a small limit");
	(void)pass_datagrams(wire, &found);
	tap_ok(found.dropped_packets > N_DATAGRAMS / 2, "drops what does not fit, and counts it");
}

/* Another handle, another kind: somebody else's, whatever is asked. */
static void test_ownership(struct wire *wire)
{
	struct qdisc_place other = wire->place;
	struct qdisc_settings settings = {
		.kind = QDISC_TBF,
		.tbf = {.rate_bits_per_s = 80000000, .burst_bytes = 10000, .limit_bytes = 1000000}};
	struct qdisc found;
	struct err err = {0};

	other.handle = 0x00010000;
	tap_is_int(qdisc_add(wire->near, &other, &settings, &err), -EEXIST,
	           "nothing is put over somebody else's");
	tap_is_int(qdisc_change(wire->near, &other, &settings, &err), -EEXIST,
	           "which is not changed either");
	tap_is_int(qdisc_delete(wire->near, &other, QDISC_TBF, &err), 0, "nor removed");
	tap_is_int(qdisc_delete(wire->near, &wire->place, QDISC_NETEM, &err), 0,
	           "nor one of another kind");
	tap_is_int(qdisc_read(wire->near, &wire->place, &found, &err), 0, "it is still there");
	for (int i = 0; i < 2; i++)
		tap_is_int(qdisc_delete(wire->near, &wire->place, QDISC_TBF, &err), 0,
		           "its owner removes it, once or again");
	tap_is_int(qdisc_read(wire->near, &wire->place, &found, &err), -ENOENT, "then it is gone");
	other.interface_index = 999;
	tap_is_int(qdisc_delete(wire->near, &other, QDISC_TBF, &err), 0,
	           "one of an interface that is gone is gone");
	tap_is_int(qdisc_add(wire->near, &other, &settings, &err), -ENODEV,
	           "but none can be put there");
	tap_contains(err.text, "interface 999", "and it is named");
}

static void test_mistakes(struct wire *wire)
{
	struct qdisc_settings settings = {.kind = QDISC_TBF, .tbf = {.limit_bytes = 1000}};
	struct qdisc_place child = wire->place;
	struct err err = {0};

	tap_is_int(qdisc_add(wire->near, &wire->place, &settings, &err), -EINVAL,
	           "the kernel refuses a rate of 0: %s", err.text);
	settings.tbf = (struct tbf){
		.rate_bits_per_s = 80000000, .burst_bytes = 10000, .limit_bytes = 1000000};
	child.parent = 0x00770001;
	tap_is_int(qdisc_add(wire->near, &child, &settings, &err), -ENOENT,
	           "a class that is not there is not an unknown kind");
}

/* The kernel keeps a burst as the time it takes, and has no room for one of eleven days. */
static void test_compared(struct wire *wire)
{
	struct qdisc_settings settings = {
		.kind = QDISC_TBF,
		.tbf = {.rate_bits_per_s = 8000, .burst_bytes = 1000000000, .limit_bytes = 1000}};
	struct qdisc found;
	struct err err = {0};

	tap_is_int(qdisc_add(wire->near, &wire->place, &settings, &err), -EBADMSG,
	           "what the kernel took otherwise is noticed");
	tap_contains(err.text, "another burst for tbf", "and named");
	tap_is_int(qdisc_read(wire->near, &wire->place, &found, &err), -ENOENT,
	           "and does not stay");
	settings.tbf.burst_bytes = 10000;
	fixture_succeeds(qdisc_add(wire->near, &wire->place, &settings, &err), &err,
	                 "with a burst that fits it does");
	settings.tbf.burst_bytes = 1000000000;
	tap_is_int(qdisc_change(wire->near, &wire->place, &settings, &err), -EBADMSG,
	           "a change is compared, too");
	(void)qdisc_delete(wire->near, &wire->place, QDISC_TBF, &err);
}

static void check_netem_settings(const struct netem *found)
{
	tap_is_int(found->delay_ns, 30 * NS_PER_MS, "netem: its delay in nanoseconds");
	tap_is_int(found->jitter_ns, NS_PER_MS, "its jitter");
	tap_is_int(found->rate_bits_per_s, 100000000000, "its rate, above 32 bits");
	tap_is_int(found->limit_packets, 5000, "its limit");
}

/* In force: what was sent waits as long as it was told. */
static void check_netem_delay(struct wire *wire)
{
	struct qdisc found;
	int64_t took_ns = pass_datagrams(wire, &found);

	tap_ok(took_ns > 25 * NS_PER_MS && took_ns < 300 * NS_PER_MS,
	       "datagrams leave after about 30 ms");
	tap_is_int(found.dropped_packets, 0, "nothing was dropped");
	tap_note("%d datagrams left after %.1f ms", N_DATAGRAMS, (double)took_ns / NS_PER_MS);
}

/* Every distribution is taken, and a change leaves nothing of what was before. */
static void check_netem_changes(struct wire *wire)
{
	struct qdisc_settings settings = {.kind = QDISC_NETEM,
	                                  .netem = {.delay_ns = 5, .limit_packets = 100000}};
	struct err err = {0};

	for (enum distribution d = DISTRIBUTION_UNIFORM; d <= DISTRIBUTION_PARETONORMAL; d++) {
		settings.netem.jitter_ns = NS_PER_MS;
		settings.netem.distribution = d;
		tap_is_int(qdisc_change(wire->near, &wire->place, &settings, &err), 0,
		           "jitter %s is taken: %s", distribution_name(d), err.text);
	}
	settings.netem = (struct netem){.burst_enter_ratio = 0.01,
	                                .burst_leave_ratio = 0.5,
	                                .limit_packets = 10,
	                                .delay_ns = INT64_C(300) * NS_PER_S};
	fixture_succeeds(qdisc_change(wire->near, &wire->place, &settings, &err), &err,
	                 "bursts of loss and a delay beyond 32 bits of ticks");
	settings.netem = (struct netem){.loss_ratio = 1, .limit_packets = 10};
	fixture_succeeds(qdisc_change(wire->near, &wire->place, &settings, &err), &err,
	                 "all that was set goes with a change");
}

/* Another handle, another kind: somebody else's. */
static void check_netem_ownership(struct wire *wire, const struct qdisc_settings *settings)
{
	struct qdisc_settings other_settings = *settings;
	struct qdisc_place other = wire->place;
	struct qdisc found = {0};
	struct err err = {0};

	other.handle = 0x00010000;
	other_settings.netem.delay_ns = 1;
	tap_is_int(qdisc_add(wire->near, &other, &other_settings, &err), -EEXIST,
	           "nothing is put over somebody else's netem");
	tap_is_int(qdisc_change(wire->near, &other, &other_settings, &err), -EEXIST,
	           "which is not changed");
	(void)qdisc_delete(wire->near, &other, QDISC_NETEM, &err);
	(void)qdisc_delete(wire->near, &wire->place, QDISC_TBF, &err);
	fixture_succeeds(qdisc_read(wire->near, &wire->place, &found, &err), &err, "nor removed");
	check_netem_settings(&found.settings.netem);
}

static void test_netem(struct wire *wire)
{
	struct qdisc_settings settings = {.kind = QDISC_NETEM,
	                                  .netem = {.delay_ns = 30 * NS_PER_MS,
	                                            .jitter_ns = NS_PER_MS,
	                                            .distribution = DISTRIBUTION_NORMAL,
	                                            .rate_bits_per_s = 100000000000,
	                                            .limit_packets = 5000}};
	struct qdisc found;
	struct err err = {0};
	int rc = qdisc_probe(QDISC_NETEM, &err);

	if (rc == -ENOTSUP) {
		tap_contains(err.text, "netem is not in this kernel", "what is missing is named");
		tap_is_int(qdisc_add(wire->near, &wire->place, &settings, &err), -ENOTSUP,
		           "netem cannot be made without");
		tap_skip("this kernel lacks netem");
		return;
	}
	fixture_succeeds(rc, &err, "netem is in this kernel");
	fixture_succeeds(qdisc_add(wire->near, &wire->place, &settings, &err), &err, "and made");
	(void)qdisc_read(wire->near, &wire->place, &found, &err);
	check_netem_settings(&found.settings.netem);
	check_netem_ownership(wire, &settings);
	check_netem_delay(wire);
	check_netem_changes(wire);
	send_datagrams(N_DATAGRAMS);
	(void)qdisc_read(wire->near, &wire->place, &found, &err);
	tap_ok(found.dropped_packets >= N_DATAGRAMS, "a loss of 1 loses all, and is counted");
	tap_is_int(qdisc_delete(wire->near, &wire->place, QDISC_NETEM, &err), 0, "it is removed");
}

int main(void)
{
	struct namespace_fixture fixture;
	struct wire wire;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	fixture_succeeds(qdisc_probe(QDISC_TBF, &err), &err, "tbf is in this kernel");
	if (wire_begin(&wire)) {
		test_tbf(&wire);
		test_ownership(&wire);
		test_mistakes(&wire);
		test_compared(&wire);
		test_netem(&wire);
	}
	wire_end(&wire);
	return fixture_done(&fixture);
}
