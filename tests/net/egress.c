/* egress.c - each destination of an interface has a queueing discipline of its own. */
#include "injectors/egress.h"

#include <math.h>

#include "tests/folder.h"
#include "tests/net/traffic_fixture.h"

/* A stream takes 380 ms at the slow rate and the tenth of that without, on a slow machine as well.
 */
enum {
	N_HOSTS = 4,
	FOREIGN_HOST = 3,
	N_PINGS = 20,
	STREAM_BYTES = 50000,
	SLOW = 1000000,
	VERY_SLOW = 200000,
	FAST_MS = 250, /* at most, without a rate */
	N_TRIES = 8,   /* anything may disturb one */
};

static const char *folder;
static const char first_owner, second_owner;

struct bench {
	struct journal *journal;
	struct lab *lab;
	struct egress *egress;
	pid_t servers[N_HOSTS];
};

/* The interface of host's rail 0, and packets for another host; everybody's: −1. */
static struct egress_port port_to(const struct bench *bench, int host, int to)
{
	struct egress_port port = {.netlink = lab_netlink(bench->lab, host),
	                           .where = *lab_namespace(bench->lab, host),
	                           .destination = to < 0 ? 0 : lab_address(to, 0),
	                           .is_allowed = true};

	lab_rail_name(0, port.interface);
	return port;
}

static struct qdisc_settings tbf_of(int64_t rate_bits_per_s)
{
	return (struct qdisc_settings){
		.kind = QDISC_TBF,
		.tbf = {.rate_bits_per_s = rate_bits_per_s,
	                .burst_bytes = tbf_burst_bytes(rate_bits_per_s, 1514),
	                .limit_bytes = 4000000},
	};
}

static bool bench_begin(struct bench *bench)
{
	const struct lab_config config = {.n_hosts = N_HOSTS, .n_rails = 1, .mtu_bytes = 1500};
	struct err err = {0};

	*bench = (struct bench){0};
	if (journal_open(folder, &bench->journal, &err) ||
	    lab_open(&config, bench->journal, &bench->lab, &err) ||
	    egress_open(bench->journal, &bench->egress, &err))
		return tap_ok(false, "there is a lab: %s", err.text);
	traffic_start_all(bench->lab, bench->servers, N_HOSTS);
	return true;
}

static void bench_end(struct bench *bench)
{
	struct err err = {0};

	traffic_stop_all(bench->servers, N_HOSTS);
	fixture_succeeds(egress_close(bench->egress, &err), &err, "all of it is removed");
	(void)lab_close(bench->lab, &err);
	journal_close(bench->journal);
}

static double stream_ms(const struct bench *bench, int from, int to)
{
	return (double)traffic_stream_ns(bench->lab, from, to, 0, STREAM_BYTES) / NS_PER_MS;
}

/* What the rate asks for cannot be undercut. */
static bool is_slow(const struct bench *bench, int from, int to)
{
	double took_ms = stream_ms(bench, from, to);

	tap_note("%.1f ms from %d to %d at 1 Mbit/s", took_ms, from, to);
	return took_ms > 350;
}

/* The best of some counts. */
static bool is_fast(const struct bench *bench, int from, int to)
{
	double best_ms = 1000;

	for (int i = 0; i < N_TRIES && best_ms > FAST_MS; i++) {
		double took_ms = stream_ms(bench, from, to);

		if (took_ms >= 0 && took_ms < best_ms)
			best_ms = took_ms;
	}
	tap_note("%.1f ms from %d to %d", best_ms, from, to);
	return best_ms <= FAST_MS;
}

static void test_rate(const struct bench *bench)
{
	const struct egress_port port = port_to(bench, 0, 1), other = port_to(bench, 0, 2);
	const struct qdisc_settings slow = tbf_of(SLOW);
	struct egress_counts counts;
	struct err err = {0};

	for (int i = 0; i < 2; i++)
		fixture_succeeds(egress_put(bench->egress, &first_owner, &port, &slow, &err), &err,
		                 "a rate for one destination, once or again");
	tap_ok(is_slow(bench, 0, 1), "slows a stream there down");
	tap_ok(is_fast(bench, 0, 2), "but none to another host");
	tap_ok(is_fast(bench, 1, 0), "nor one that comes back");
	fixture_succeeds(egress_count(bench->egress, &first_owner, NULL, &counts, &err), &err,
	                 "packets are counted");
	tap_ok(counts.sent_packets > 30 && counts.sent_packets < 300, "those of the slow stream");
	tap_is_int(counts.dropped_packets, 0, "none of which was dropped");
	fixture_succeeds(egress_count(bench->egress, &first_owner, &other, &counts, &err), &err,
	                 "so are those for another destination");
	tap_is_int(counts.sent_packets, 0, "of which there were none");
}

static void test_owners(const struct bench *bench)
{
	struct egress_port port = port_to(bench, 0, 1), all = port_to(bench, 0, -1);
	const struct qdisc_settings slow = tbf_of(SLOW);
	struct egress_counts counts;
	struct err err = {0};

	tap_is_int(egress_put(bench->egress, &second_owner, &port, &slow, &err), -EBUSY,
	           "another owner is refused");
	tap_is_int(egress_put(bench->egress, &second_owner, &all, &slow, &err), -EBUSY,
	           "and so is what would be over all destinations");
	fixture_succeeds(egress_release(bench->egress, &second_owner, &port, &err), &err,
	                 "what an owner does not have it may release");
	tap_ok(is_slow(bench, 0, 1), "without effect");
	for (int i = 0; i < 2; i++)
		fixture_succeeds(egress_release(bench->egress, &first_owner, &port, &err), &err,
		                 "the owner releases it, once or again");
	tap_ok(is_fast(bench, 0, 1), "then packets pass at once");
	fixture_succeeds(egress_put(bench->egress, &second_owner, &port, &slow, &err), &err,
	                 "and another owner may come");
	(void)egress_count(bench->egress, &second_owner, NULL, &counts, &err);
	/* The last word of a stream before may come late. */
	tap_ok(counts.sent_packets < 5, "who starts to count anew");
	fixture_succeeds(egress_release(bench->egress, &second_owner, &port, &err), &err,
	                 "it goes");
}

/* What waits when a fault ends arrives all the same, in its time. */
static void test_release_drops_nothing(const struct bench *bench)
{
	const struct egress_port port = port_to(bench, 0, 2);
	const struct qdisc_settings slow = tbf_of(VERY_SLOW);
	struct egress_counts counts;
	struct err err = {0};
	int status = -1;
	pid_t pid;

	(void)egress_put(bench->egress, &first_owner, &port, &slow, &err);
	pid = fork();
	if (pid == 0) {
		double took_ms = stream_ms(bench, 0, 2);

		_exit(took_ms > 50 && took_ms < 1000 ? 0 : 1);
	}
	clock_sleep_ns(100 * NS_PER_MS);
	(void)egress_release(bench->egress, &first_owner, &port, &err);
	waitpid(pid, &status, 0);
	tap_is_int(WEXITSTATUS(status), 0, "a stream of 2 s is done soon after its fault ends");
	(void)egress_count(bench->egress, &first_owner, NULL, &counts, &err);
	tap_is_int(counts.dropped_packets + counts.waiting_packets, 0, "and lost no packet");
}

static void test_everything(const struct bench *bench)
{
	const struct egress_port all = port_to(bench, 1, -1), one = port_to(bench, 1, 0);
	const struct qdisc_settings slow = tbf_of(SLOW);
	struct err err = {0};

	fixture_succeeds(egress_put(bench->egress, &first_owner, &all, &slow, &err), &err,
	                 "a rate for all that leaves");
	tap_ok(is_slow(bench, 1, 0) && is_slow(bench, 1, 2), "slows every stream down");
	tap_is_int(egress_put(bench->egress, &first_owner, &one, &slow, &err), -EBUSY,
	           "and leaves no place for one destination");
}

static void test_refusals(const struct bench *bench)
{
	struct egress_port port = port_to(bench, 2, 0);
	const struct qdisc_settings wrong = {.kind = QDISC_TBF}, right = tbf_of(SLOW);
	struct err err = {0};

	port.is_allowed = false;
	tap_is_int(egress_put(bench->egress, &first_owner, &port, &right, &err), -EPERM,
	           "an interface that the run did not make is left alone");
	tap_contains(err.text, "--allow-interface", "unless it is named");
	port.is_allowed = true;
	snprintf(port.interface, sizeof(port.interface), "rail9");
	tap_is_int(egress_put(bench->egress, &first_owner, &port, &right, &err), -ENODEV,
	           "one that is not there is refused");
	port = port_to(bench, 2, 0);
	tap_is_int(egress_put(bench->egress, &first_owner, &port, &wrong, &err), -EINVAL,
	           "what the kernel refuses is told");
	tap_ok(is_fast(bench, 2, 0), "and changes nothing");
	fixture_succeeds(egress_put(bench->egress, &first_owner, &port, &right, &err), &err,
	                 "it works with what is right");
	tap_ok(is_slow(bench, 2, 0), "as it should");
}

/* What somebody else has put on an interface is neither used nor changed. */
static void test_foreign(const struct bench *bench)
{
	const struct egress_port port = port_to(bench, FOREIGN_HOST, 0);
	struct netlink *netlink = lab_netlink(bench->lab, FOREIGN_HOST);
	struct qdisc_place place = {.parent = QDISC_AT_ROOT, .handle = 0x00010000};
	const struct qdisc_settings delay = {.kind = QDISC_NETEM,
	                                     .netem = {.delay_ns = NS_PER_MS,
	                                               .limit_packets = 1234}},
				    slow = tbf_of(SLOW);
	const struct qdisc_settings *foreign = qdisc_probe(QDISC_NETEM, NULL) ? &slow : &delay;
	struct interface rail;
	struct qdisc found = {0};
	struct err err = {0};

	(void)interface_find(netlink, port.interface, &rail, &err);
	place.interface_index = rail.index;
	fixture_succeeds(qdisc_add(netlink, &place, foreign, &err), &err, "somebody has a qdisc");
	tap_is_int(egress_put(bench->egress, &first_owner, &port, &slow, &err), -EEXIST,
	           "nothing is put in its place");
	fixture_succeeds(qdisc_read(netlink, &place, &found, &err), &err, "it is still there");
	tap_is_str(found.kind, qdisc_kind_name(foreign->kind), "as what it was");
	tap_is_int(found.settings.netem.limit_packets,
	           foreign == &delay ? delay.netem.limit_packets : 0, "and as it was");
	(void)qdisc_delete(netlink, &place, foreign->kind, &err);
	fixture_succeeds(egress_put(bench->egress, &first_owner, &port, &slow, &err), &err,
	                 "once it is gone there is room");
	(void)egress_release(bench->egress, &first_owner, &port, &err);
}

/* The best round trip of some, or the first one that is no longer than that; −1: one was lost. */
static double ping_ms(const struct bench *bench, int from, int to, double enough_ms)
{
	double best_ms = INFINITY;

	for (int i = 0; i < N_TRIES && best_ms > enough_ms; i++) {
		int64_t took_ns = traffic_ping_ns(bench->lab, from, to, 0, N_PINGS);

		best_ms = took_ns < 0 ? -1 : fmin(best_ms, (double)took_ns / NS_PER_MS);
	}
	return best_ms;
}

/* 30 ms one way, and only that way: the round trip grows once. */
static void test_delay(const struct bench *bench)
{
	const struct egress_port port = port_to(bench, 2, 1);
	const struct qdisc_settings delay = {.kind = QDISC_NETEM,
	                                     .netem = {.delay_ns = 30 * NS_PER_MS,
	                                               .limit_packets = 400000}};
	const struct qdisc_settings slow = tbf_of(SLOW);
	struct err err = {0};
	double there_ms, back_ms, other_ms;

	if (qdisc_probe(QDISC_NETEM, &err) == -ENOTSUP) {
		tap_skip("this kernel lacks netem");
		return;
	}
	fixture_succeeds(egress_put(bench->egress, &first_owner, &port, &delay, &err), &err,
	                 "30 ms for one destination");
	there_ms = ping_ms(bench, 2, 1, 45);
	back_ms = ping_ms(bench, 1, 2, 45);
	other_ms = ping_ms(bench, 2, 0, 15);
	tap_ok(there_ms > 29 && there_ms <= 45, "a round trip takes 30 ms more");
	tap_ok(back_ms > 29 && back_ms <= 45, "from either side");
	tap_ok(other_ms >= 0 && other_ms <= 15, "that of another link does not");
	tap_note("%.2f and %.2f ms, and %.2f on the other link", there_ms, back_ms, other_ms);
	fixture_succeeds(egress_release(bench->egress, &first_owner, &port, &err), &err, "it ends");
	there_ms = ping_ms(bench, 2, 1, 15);
	tap_ok(there_ms >= 0 && there_ms <= 15, "and so does the delay");
	fixture_succeeds(egress_put(bench->egress, &second_owner, &port, &slow, &err), &err,
	                 "a rate may come where a delay was");
	tap_ok(is_slow(bench, 2, 1), "and is in force");
	tap_is_int(egress_put(bench->egress, &second_owner, &port, &delay, &err), -EBUSY,
	           "a delay has to wait until that is released");
}

int main(void)
{
	struct namespace_fixture fixture;
	struct bench bench;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	folder = folder_open();
	if (bench_begin(&bench)) {
		test_rate(&bench);
		test_owners(&bench);
		test_release_drops_nothing(&bench);
		test_everything(&bench);
		test_foreign(&bench);
		test_refusals(&bench);
		test_delay(&bench);
	}
	bench_end(&bench);
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
