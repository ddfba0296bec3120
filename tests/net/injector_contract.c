/* injector_contract.c - what every injector does, to packets between the hosts of a lab. */
#include "injectors/injector.h"

#include <limits.h>
#include <math.h>

#include "injectors/lab_ports.h"
#include "tests/folder.h"
#include "tests/net/traffic_fixture.h"

/* A stream takes 380 ms at the slow rate, and the tenth of that without, on a slow machine. */
enum {
	N_STAGES = 3,
	N_RAILS = 2,
	N_PINGS = 15,
	STREAM_BYTES = 50000,
	SLOW_BITS_PER_S = 1000000,
	N_ECHOES = 200,    /* fit every socket's buffer */
	WELL_PING_MS = 15, /* at most, without a fault */
	WELL_STREAM_MS = 250,
	N_TRIES = 8, /* anything may disturb one */
	NOBODY = 65534
};

static const char *folder;

static const struct topology topology = {
	.n_stages = N_STAGES, .n_hosts = N_STAGES, .n_replicas = 1, .n_rails = N_RAILS};

/* One of each, between stages 1 and 2. */
static const struct fault faults[] = {
	{.kind = FAULT_DELAY,
         .from_stage = 1,
         .to_stage = 2,
         .model = DELAY_LATENCY,
         .delay_ns = 30 * NS_PER_MS},
	{.kind = FAULT_DELAY,
         .from_stage = 1,
         .to_stage = 2,
         .model = DELAY_RATE,
         .delay_ns = 400 * NS_PER_MS},
	{.kind = FAULT_RATE, .from_stage = 1, .to_stage = 2, .rate_bits_per_s = SLOW_BITS_PER_S},
	{.kind = FAULT_DOWN, .from_stage = 1, .to_stage = 1, .rail = 0},
	{.kind = FAULT_DELAY,
         .from_stage = 1,
         .to_stage = 2,
         .model = DELAY_OCCUPANCY,
         .delay_ns = 30 * NS_PER_MS},
	{.kind = FAULT_SLOW_STAGE, .from_stage = 1, .to_stage = 1, .slowdown = 2},
	{.kind = FAULT_LOSS, .from_stage = 1, .to_stage = 2, .loss_ratio = 0.4},
};
enum { N_FAULTS = sizeof(faults) / sizeof(faults[0]) };

struct bench {
	struct journal *journal;
	struct lab *lab;
	struct lab_ports ports;
	struct egress *egress;
	struct strbuf timeline;
	struct injector_config config;
	pid_t servers[N_STAGES];
};

static bool bench_begin(struct bench *bench)
{
	const struct lab_config lab = {.n_hosts = N_STAGES, .n_rails = N_RAILS, .mtu_bytes = 1500};
	struct err err = {0};

	*bench = (struct bench){0};
	if (journal_open(folder, &bench->journal, &err) ||
	    lab_open(&lab, bench->journal, &bench->lab, &err) ||
	    egress_open(bench->journal, &bench->egress, &err))
		return tap_ok(false, "there is a lab: %s", err.text);
	bench->ports = (struct lab_ports){.lab = bench->lab, .topology = &topology};
	bench->config = (struct injector_config){
		.topology = &topology,
		.message_bytes = STREAM_BYTES,
		.journal = bench->journal,
		.egress = bench->egress,
		.timeline = &bench->timeline,
		.locate = lab_locate,
		.locate_context = &bench->ports,
	};
	traffic_start_all(bench->lab, bench->servers, N_STAGES);
	return true;
}

static int n_pending(const struct bench *bench, enum change_kind kind)
{
	struct change change;
	int n = 0;

	for (int i = INT_MAX; (i = journal_pending_before(bench->journal, i, &change));)
		n += change.kind == kind;
	return n;
}

static void bench_end(struct bench *bench)
{
	struct err err = {0};

	traffic_stop_all(bench->servers, N_STAGES);
	fixture_succeeds(egress_close(bench->egress, &err), &err, "queueing disciplines go");
	tap_is_int(n_pending(bench, CHANGE_QDISC), 0, "and none is pending in the journal");
	fixture_succeeds(lab_close(bench->lab, &err), &err, "the lab goes");
	journal_close(bench->journal);
	strbuf_fini(&bench->timeline);
}

static double stream_ms(const struct bench *bench, int from, int to, int rail)
{
	return (double)traffic_stream_ns(bench->lab, from, to, rail, STREAM_BYTES) / NS_PER_MS;
}

/* The best of some. −1: it does not get there. */
static double best_stream_ms(const struct bench *bench, int from, int to, int rail)
{
	double best_ms = -1;

	for (int i = 0; i < N_TRIES && (best_ms < 0 || best_ms > WELL_STREAM_MS); i++) {
		double took_ms = stream_ms(bench, from, to, rail);

		if (took_ms >= 0 && (best_ms < 0 || took_ms < best_ms))
			best_ms = took_ms;
	}
	return best_ms;
}

static double ping_ms(const struct bench *bench, int from, int to, int rail)
{
	int64_t took_ns = traffic_ping_ns(bench->lab, from, to, rail, N_PINGS);

	return took_ns < 0 ? -1 : (double)took_ns / NS_PER_MS;
}

/* The share of datagrams that do not come back, up to half again on either side. */
static bool is_lost(const struct bench *bench, double ratio, int rail)
{
	int64_t n_lost = N_ECHOES - traffic_n_echoes(bench->lab, 1, 2, rail, N_ECHOES);

	tap_note("lost: %lld of %d", (long long)n_lost, N_ECHOES);
	return (double)n_lost > 0.5 * ratio * N_ECHOES && (double)n_lost < 1.5 * ratio * N_ECHOES;
}

/* The best of some, or the first one that is good enough. −1: one did not come back. */
static double best_ping_ms(const struct bench *bench, int from, int to, int rail, double enough_ms)
{
	double best_ms = ping_ms(bench, from, to, rail);

	for (int i = 1; i < N_TRIES && best_ms > enough_ms; i++)
		best_ms = fmin(best_ms, ping_ms(bench, from, to, rail));
	return best_ms;
}

/* Does what passes from stage 1 on rail meet the fault? share: of its delay, or its slowness. */
static bool is_met(const struct bench *bench, const struct fault *fault, double share, int rail)
{
	double took_ms;

	if (fault->kind == FAULT_DOWN)
		return ping_ms(bench, 1, 2, rail) < 0;
	if (fault->kind == FAULT_LOSS)
		return is_lost(bench, fault->loss_ratio * share, rail);
	if (fault->kind == FAULT_DELAY && fault->model == DELAY_LATENCY) {
		took_ms = best_ping_ms(bench, 1, 2, rail, 30 * share + WELL_PING_MS);
		tap_note("ping: %.2f ms", took_ms);
		return took_ms >= 29.5 * share && took_ms <= 30 * share + WELL_PING_MS;
	}
	took_ms = stream_ms(bench, 1, 2, rail);
	tap_note("stream: %.1f ms", took_ms);
	return took_ms > 350 * share;
}

static bool is_well(const struct bench *bench, int from, int to, int rail)
{
	double took_ms = best_ping_ms(bench, from, to, rail, WELL_PING_MS);

	if (took_ms < 0 || took_ms > WELL_PING_MS)
		return false;
	took_ms = best_stream_ms(bench, from, to, rail);
	return took_ms >= 0 && took_ms <= WELL_STREAM_MS;
}

static void check_in_force(const struct bench *bench, const struct fault *fault)
{
	tap_ok(is_met(bench, fault, 1, 0), "it is in force");
	if (fault->kind == FAULT_DOWN) {
		tap_ok(is_well(bench, 1, 2, 1), "on its rail only");
		tap_is_int(n_pending(bench, CHANGE_DOWN), 1, "and in the journal");
		return;
	}
	tap_ok(is_met(bench, fault, 1, 1), "on every rail");
	tap_ok(n_pending(bench, CHANGE_QDISC) > 0, "and in the journal");
	tap_ok(is_well(bench, 1, 0, 0), "what goes to another stage does not meet it");
	/* A path meets its own way back, and losses meet the acknowledgements. */
	if (fault->kind == FAULT_RATE || fault->model == DELAY_RATE)
		tap_ok(best_stream_ms(bench, 2, 1, 0) <= WELL_STREAM_MS,
		       "nor does the other direction");
}

/* Half as bad on the same target: the first one is changed, not joined. */
static void check_change(const struct bench *bench, struct injector *injector,
                         const struct fault *fault)
{
	struct fault half = *fault;
	struct err err = {0};

	if (fault->kind == FAULT_DOWN)
		return;
	half.delay_ns /= 2;
	half.rate_bits_per_s *= 2;
	half.loss_ratio /= 2;
	fixture_succeeds(injector_apply(injector, &half, &err), &err,
	                 "another one takes its place");
	tap_ok(is_met(bench, fault, 0.5, 0), "and is in force instead");
}

/* All went the fault's way, and none the way back. */
static void check_ways(const struct injector *injector, const struct fault *fault,
                       const struct injector_counts *all)
{
	struct injector_counts there = {0}, back = {.sent_packets = -1};
	struct fault reverse = *fault;
	struct err err = {0};

	tap_ok(all->sent_packets > N_PINGS, "and many were sent");
	fixture_succeeds(injector_count(injector, fault, &there, &err), &err,
	                 "it counts what goes one way");
	tap_is_int(there.sent_packets, all->sent_packets, "which were all of them");
	reverse.from_stage = fault->to_stage;
	reverse.to_stage = fault->from_stage;
	(void)injector_count(injector, &reverse, &back, &err);
	tap_is_int(back.sent_packets, 0, "and none went back");
}

static void check_real(const struct bench *bench, struct injector *injector,
                       const struct fault *fault)
{
	struct injector_counts counts = {0};
	struct err err = {0};

	fixture_succeeds(injector_clear(injector, fault, &err), &err,
	                 "what is not in force is cleared");
	for (int i = 0; i < 2; i++)
		fixture_succeeds(injector_apply(injector, fault, &err), &err,
		                 "it is applied, once or again");
	check_in_force(bench, fault);
	check_change(bench, injector, fault);
	for (int i = 0; i < 2; i++)
		fixture_succeeds(injector_clear(injector, fault, &err), &err,
		                 "it is cleared, once or again");
	tap_ok(is_well(bench, 1, 2, 0) && is_well(bench, 1, 2, 1), "and gone");
	tap_is_int(n_pending(bench, CHANGE_DOWN), 0, "no interface is down");
	fixture_succeeds(injector_count(injector, NULL, &counts, &err), &err, "it counts");
	if (fault->kind == FAULT_LOSS)
		tap_ok(counts.lost_packets > N_ECHOES / 10, "what was lost");
	tap_is_int(counts.dropped_packets, 0, "no packet was dropped");
	if (fault->kind != FAULT_DOWN)
		check_ways(injector, fault, &counts);
	(void)injector_apply(injector, fault, &err);
}

static bool is_real(const struct injector_ops *ops)
{
	return strcmp(ops->name, "dry_run") != 0;
}

static void check_faults(const struct bench *bench, const struct injector_ops *ops)
{
	struct injector *injector;
	struct err err = {0};
	int rc;

	for (int i = 0; i < N_FAULTS; i++) {
		if (!fixture_succeeds(ops->open(&bench->config, &injector, &err), &err, ops->name))
			return;
		rc = injector_check(injector, &faults[i], &err);
		tap_note("%s: %s (%s)", ops->name, fault_kind_name(faults[i].kind),
		         delay_model_name(faults[i].model));
		if (rc == 0 && is_real(ops))
			check_real(bench, injector, &faults[i]);
		if (rc) {
			tap_is_int(rc, -ENOTSUP, "what it cannot do is refused");
			tap_contains(err.text, " do", "with a sentence that says who can");
			tap_is_int(injector_apply(injector, &faults[i], &err), -ENOTSUP,
			           "and not done");
		}
		fixture_succeeds(injector_close(injector, &err), &err, "it closes");
		tap_ok(is_well(bench, 1, 2, 0), "and clears what was in force");
	}
}

/* An interface that is taken away takes its faults along. */
static void check_gone(const struct injector_ops *ops)
{
	struct interface rail;
	struct injector *injector;
	struct bench bench;
	struct err err = {0};

	if (!bench_begin(&bench))
		return;
	if (ops->open(&bench.config, &injector, &err) == 0) {
		for (int i = 0; i < N_FAULTS; i++)
			if (injector_check(injector, &faults[i], &err) == 0)
				(void)injector_apply(injector, &faults[i], &err);
		(void)interface_find(lab_netlink(bench.lab, 1), "rail0", &rail, &err);
		(void)interface_delete(lab_netlink(bench.lab, 1), rail.index, &err);
		for (int i = 0; i < N_FAULTS; i++)
			if (injector_check(injector, &faults[i], &err) == 0)
				fixture_succeeds(injector_clear(injector, &faults[i], &err), &err,
				                 "a fault whose interface is gone is cleared");
		fixture_succeeds(injector_close(injector, &err), &err, "and it closes");
	}
	bench_end(&bench);
}

/* Faults of different kinds on one direction are all in force, and end one by one. */
static void test_together(const struct bench *bench, const char *name)
{
	const struct fault *loss = &faults[N_FAULTS - 1];
	const struct injector_ops *ops = NULL;
	struct injector *injector;
	struct err err = {0};

	(void)injector_find(name, &ops, &err);
	if (ops->open(&bench->config, &injector, &err)) {
		tap_skip("%s", err.text);
		return;
	}
	(void)injector_apply(injector, &faults[0], &err);
	fixture_succeeds(injector_apply(injector, &faults[2], &err), &err, "a rate beside a delay");
	fixture_succeeds(injector_apply(injector, loss, &err), &err, "and a loss beside both");
	tap_ok(is_met(bench, loss, 1, 0), "the loss is in force");
	fixture_succeeds(injector_clear(injector, loss, &err), &err, "and ends");
	tap_ok(is_met(bench, &faults[0], 1, 0), "the delay is in force");
	tap_ok(is_met(bench, &faults[2], 1, 0), "and the rate as well");
	fixture_succeeds(injector_clear(injector, &faults[0], &err), &err, "the delay ends");
	tap_ok(!is_met(bench, &faults[0], 1, 0) && is_met(bench, &faults[2], 1, 0),
	       "and the rate remains");
	fixture_succeeds(injector_close(injector, &err), &err, "it closes");
}

/* netem alone keeps packets in order where it has a rate, and says so before anything is done. */
static void test_order(const struct bench *bench, const char *name, int want)
{
	const struct fault asked[] = {
		{.kind = FAULT_DELAY,
	         .from_stage = 1,
	         .to_stage = 2,
	         .delay_ns = 30 * NS_PER_MS,
	         .jitter_ns = NS_PER_MS,
	         .allows_reordering = true},
		faults[2],
		faults[N_FAULTS - 1],
		{.kind = FAULT_RATE, .from_stage = 2, .to_stage = 1, .rate_bits_per_s = 1000000},
	};
	struct injector_config config = bench->config;
	const struct injector_ops *ops = NULL;
	struct injector *injector;
	struct err err = {0};

	config.faults = asked;
	config.n_faults = 4;
	(void)injector_find(name, &ops, &err);
	if (ops->open(&config, &injector, &err)) {
		tap_skip("%s", err.text);
		return;
	}
	for (int i = 0; i < 3; i++)
		tap_is_int(injector_check(injector, &asked[i], &err), want,
		           "%s, what meets packets that overtake beside a rate", name);
	tap_is_int(injector_check(injector, &asked[3], &err), 0, "another direction is another");
	(void)injector_close(injector, &err);
}

/* Two injectors may not act on one direction. */
static void test_conflict(const struct bench *bench)
{
	struct injector *first, *second;
	const struct injector_ops *ops = NULL;
	struct err err = {0};

	(void)injector_find("rate", &ops, &err);
	(void)ops->open(&bench->config, &first, &err);
	(void)ops->open(&bench->config, &second, &err);
	fixture_succeeds(injector_apply(first, &faults[2], &err), &err, "one injector acts");
	tap_is_int(injector_apply(second, &faults[2], &err), -EBUSY, "the other one may not");
	fixture_succeeds(injector_clear(first, &faults[2], &err), &err, "until the first is done");
	fixture_succeeds(injector_apply(second, &faults[2], &err), &err, "then it may");
	(void)injector_close(first, &err);
	(void)injector_close(second, &err);
}

static void test_shared_hosts(const struct bench *bench)
{
	const struct topology shared = {.n_stages = 4, .n_hosts = 2, .n_replicas = 1, .n_rails = 1};
	const struct injector_target inside = {.from_stage = 0, .to_stage = 1},
				     between = {.from_stage = 1, .to_stage = 2},
				     rnic = {.from_stage = 1, .to_stage = 1},
				     beyond = {.from_stage = 3, .to_stage = 4};
	struct lab_ports ports = {.lab = bench->lab, .topology = &shared};
	struct egress_port port;
	struct err err = {0};

	tap_is_int(lab_locate(&ports, &inside, &port, &err), -ENOTSUP,
	           "what stays inside a host has no port");
	tap_contains(err.text, "stages 0 and 1 share host 0", "and said so");
	fixture_succeeds(lab_locate(&ports, &between, &port, &err), &err, "what leaves it has one");
	tap_is_int(port.destination, lab_address(1, 0), "towards the other host");
	tap_is_int(lab_locate(&ports, &rnic, &port, &err), -ENOTSUP,
	           "an RNIC that is not a stage's alone has none");
	tap_is_int(lab_locate(&ports, &beyond, &port, &err), -EINVAL, "nor has a stage too many");
}

/* A process that has changed its user may not look at itself, unless it says so. */
static bool become_nobody(void)
{
	return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

/* As a user without rights, in a lab of its own: every injector acts, or says why it cannot. */
static int act_as_nobody(void)
{
	char own[] = "/tmp/adaptra-nobody-XXXXXX";
	struct bench bench = {0};
	struct injector *injector;
	int n_acting = 0;

	if (!become_nobody() || !mkdtemp(own))
		return 1;
	folder = own;
	if (!bench_begin(&bench))
		return 2;
	for (const struct injector_ops *const *ops = injector_list(); *ops; ops++) {
		struct err err = {0};
		int rc = (*ops)->open(&bench.config, &injector, &err);

		if (rc && (rc != -ENOTSUP && rc != -EPERM))
			return 3;
		if (rc)
			continue;
		for (int i = 0; i < N_FAULTS; i++)
			if (injector_check(injector, &faults[i], &err) == 0) {
				if (injector_apply(injector, &faults[i], &err) ||
				    injector_clear(injector, &faults[i], &err))
					return 4;
				n_acting++;
			}
		if (injector_close(injector, &err))
			return 5;
	}
	bench_end(&bench);
	return rmdir(own) || n_acting < 3 ? 6 : 0;
}

/* The checks of the child are not this process's, so they go nowhere. */
static void test_nobody(void)
{
	int status = -1, fd;
	struct err err = {0};
	pid_t pid;

	if (geteuid() != 0) {
		tap_skip("this test runs as another user already");
		return;
	}
	pid = fork();
	if (pid == 0) {
		(void)!freopen("/dev/null", "w", stdout);
		if (!become_nobody() || namespace_make(1, &fd, &err) == -EPERM)
			_exit(77);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 77) {
		tap_skip("this kernel allows no user namespaces");
		return;
	}
	pid = fork();
	if (pid == 0) {
		(void)!freopen("/dev/null", "w", stdout);
		_exit(act_as_nobody());
	}
	waitpid(pid, &status, 0);
	tap_is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
	           "a user without rights has injectors in a lab of its own");
}

int main(void)
{
	struct namespace_fixture fixture;
	struct bench bench;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	folder = folder_open();
	for (const struct injector_ops *const *ops = injector_list(); *ops; ops++) {
		struct injector *injector;

		if (!bench_begin(&bench))
			break;
		if ((*ops)->open(&bench.config, &injector, &err)) {
			tap_skip("%s: %s", (*ops)->name, err.text);
		} else {
			(void)injector_close(injector, &err);
			check_faults(&bench, *ops);
		}
		bench_end(&bench);
		check_gone(*ops);
	}
	if (bench_begin(&bench)) {
		test_together(&bench, "netem");
		test_together(&bench, "relay");
		test_order(&bench, "netem", -ENOTSUP);
		test_order(&bench, "relay", 0);
		test_conflict(&bench);
		test_shared_hosts(&bench);
	}
	bench_end(&bench);
	test_nobody();
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
