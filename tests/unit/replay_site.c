/* replay_site.c - what the live engine does with a site: workers enter it and listen where it says,
 * and its faults are applied and cleared when the scenario wants that, and met there only. */
#include "engine/replay/site.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_HOSTS = 2, N_RAILS = 2, N_MICROBATCHES = 4, N_FAULTS_MAX = 8, N_TRIES = 5 };

/* What the workers tell the test, which they share. */
struct seen {
	int n_entered[N_HOSTS];
	int n_asked;                     /* addresses */
	bool is_down[N_STAGES][N_RAILS]; /* the other way round: what the test tells them */
};

/* A site on this machine: other addresses of the loopback interface, and a list of what it was
 * told.
 */
struct fake {
	struct site base;
	struct seen *seen;
	const struct scenario *scenario; /* set where faults take RNICs down */
	bool is_taken[N_FAULTS_MAX];
	bool is_on[N_FAULTS_MAX];
	int n_applied[N_FAULTS_MAX], n_cleared[N_FAULTS_MAX];
	int n_looks[N_FAULTS_MAX]; /* at its packets */
	int refuses;               /* the fault that cannot be applied; −1: none */
	int keeps_out;             /* the host that nobody may enter; −1: none */
	int64_t work_ns;           /* that a change takes */
};

static int fake_open(const struct site_config *config, struct site **out, struct err *err)
{
	(void)config;
	(void)out;
	return err_set(err, -ENOTSUP, "a fake is made by its test");
}

static int fake_enter(struct site *site, int replica, int host, struct err *err)
{
	struct fake *fake = (struct fake *)site;

	(void)replica;
	if (host == fake->keeps_out)
		return err_set(err, -EPERM, "host %d is not to be entered", host);
	__atomic_add_fetch(&fake->seen->n_entered[host], 1, __ATOMIC_RELAXED);
	return 0;
}

static char *fake_address(const struct site *site, int replica, int stage, int rail,
                          char text[TRANSPORT_ADDRESS_BYTES])
{
	const struct fake *fake = (const struct fake *)site;

	__atomic_add_fetch(&fake->seen->n_asked, 1, __ATOMIC_RELAXED);
	snprintf(text, TRANSPORT_ADDRESS_BYTES, "127.%d.%d.%d:0", replica + 1, stage + 1, rail + 1);
	return text;
}

static bool fake_is_up(const struct site *site, int replica, int stage, int rail)
{
	const struct fake *fake = (const struct fake *)site;

	(void)replica;
	return !__atomic_load_n(&fake->seen->is_down[stage][rail], __ATOMIC_RELAXED);
}

static int fake_set(struct site *site, size_t fault, bool is_on, struct err *err)
{
	struct fake *fake = (struct fake *)site;
	const struct fault *what = fake->scenario ? &fake->scenario->faults[fault] : NULL;

	if (is_on && (int)fault == fake->refuses)
		return err_set(err, -EBUSY, "no");
	if (fake->work_ns > 0)
		clock_sleep_ns(fake->work_ns);
	if (what && what->kind == FAULT_DOWN)
		__atomic_store_n(&fake->seen->is_down[what->from_stage][what->rail], is_on,
		                 __ATOMIC_RELAXED);
	fake->is_on[fault] = is_on;
	(is_on ? fake->n_applied : fake->n_cleared)[fault]++;
	return 0;
}

/* Every look finds 100 packets more, of which 10 were lost and 80 held for 1 ms. */
static int fake_count(struct site *site, size_t fault, struct site_counts *out, struct err *err)
{
	struct fake *fake = (struct fake *)site;

	(void)err;
	fake->n_looks[fault]++;
	*out = (struct site_counts){.sent_packets = 100 * fake->n_looks[fault],
	                            .lost_packets = 10 * fake->n_looks[fault],
	                            .delayed_packets = 80 * fake->n_looks[fault],
	                            .delay_sum_ns = 80 * NS_PER_MS * fake->n_looks[fault]};
	return 0;
}

static int fake_report(struct site *site, struct site_report *out, struct err *err)
{
	(void)site;
	(void)err;
	*out = (struct site_report){0};
	return 0;
}

static int fake_close(struct site *site, struct err *err)
{
	struct fake *fake = (struct fake *)site;

	(void)err;
	(void)munmap(fake->seen, sizeof(*fake->seen));
	free(fake);
	return 0;
}

static const struct site_ops fake_ops = {
	.name = "fake",
	.open = fake_open,
	.enter = fake_enter,
	.address = fake_address,
	.is_up = fake_is_up,
	.set = fake_set,
	.count = fake_count,
	.report = fake_report,
	.close = fake_close,
};

static struct fake *fake_new(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	if (!fake)
		abort();
	fake->seen = mmap(NULL, sizeof(*fake->seen), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fake->base =
		(struct site){.ops = &fake_ops, .is_taken = fake->is_taken, .injector = "fake"};
	fake->refuses = fake->keeps_out = -1;
	return fake;
}

static void init(struct live_case *c, struct fake **fake_out)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, N_HOSTS, 1);
	live_case_pace(c, 2);
	c->scenario.n_iterations = 5;
	c->scenario.topology.n_rails = N_RAILS;
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	*fake_out = fake_new();
	c->site = &(*fake_out)->base;
}

static void fini(struct live_case *c, struct fake *fake)
{
	(void)site_close(&fake->base, NULL);
	live_case_fini(c);
}

static struct fault *add_delay(struct live_case *c, int from_stage, struct moment start,
                               struct moment end)
{
	return scenario_fixture_fault(&c->scenario, (struct fault){.kind = FAULT_DELAY,
	                                                           .start = start,
	                                                           .end = end,
	                                                           .from_stage = from_stage,
	                                                           .to_stage = from_stage + 1,
	                                                           .model = DELAY_OCCUPANCY,
	                                                           .delay_ns = 30 * NS_PER_MS});
}

static struct moment iteration(int i)
{
	return (struct moment){.kind = MOMENT_ITERATION, .value = i};
}

static struct moment time_ms(int64_t ms)
{
	return (struct moment){.kind = MOMENT_TIME, .value = ms * NS_PER_MS};
}

static struct moment op_of(int i, int stage, enum op_kind op, int microbatch)
{
	return (struct moment){
		.kind = MOMENT_OP, .value = i, .stage = stage, .op = op, .microbatch = microbatch};
}

static void test_places(void)
{
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	tap_is_int(live_case_run(&c, "1f1b"), 0, "a run on a site: %s", c.err.text);
	tap_is_int(fake->seen->n_entered[0], 1, "one worker goes to the first host");
	tap_is_int(fake->seen->n_entered[1], 1, "one to the second");
	tap_is_int(fake->seen->n_asked, N_STAGES * N_RAILS, "they ask for every stage and rail");
	fini(&c, fake);

	init(&c, &fake);
	fake->keeps_out = 1;
	tap_is_int(live_case_run(&c, "1f1b"), -EPERM, "a host that cannot be entered ends the run");
	tap_is_str(c.err.text, "host 1 is not to be entered", "which says why");
	fini(&c, fake);
}

/* The shortest time that a message from stage took in iteration i, since anything may disturb one.
 */
static double transfer_ms(const struct live_case *c, size_t i, int stage)
{
	double best_ms = INFINITY;

	for (int mb = 0; mb < N_MICROBATCHES; mb++)
		best_ms =
			fmin(best_ms, live_case_transfer_ms(&c->capture, i, stage, stage + 1, mb));
	return best_ms;
}

/* What passed: two iterations' packets, as the site says; of the workers' fault nobody saw any. */
static void check_traffic(const struct live_case *c)
{
	const struct record_traffic *site = c->capture.faults[0].traffic;
	const struct record_traffic *workers = c->capture.faults[1].traffic;
	int64_t n_bytes = 2 * N_MICROBATCHES * c->facts.payload_bytes;

	if (!tap_ok(site && workers, "what passed is measured"))
		return;
	tap_is_int(site->n_packets, 200, "packets of the iterations in which it was in force");
	tap_is_int(site->n_lost, 20, "and what was lost of them");
	tap_is_int(site->packet_delay_ns, (int64_t)((double)NS_PER_MS * c->speed),
	           "how long they were held, in profile time");
	tap_is_int(workers->n_packets, -1, "of others nobody knows packets");
	tap_is_int(workers->packet_delay_ns, -1, "nor their delay");
	tap_ok(site->n_resent >= 0 && workers->n_resent >= 0, "TCP says what it sent again");
	tap_is_int(site->payload_bytes, n_bytes, "messages of two iterations");
	tap_ok(workers->extra_p50_ns >= 29 * (int64_t)NS_PER_MS &&
	               workers->extra_p50_ns <= workers->extra_p95_ns,
	       "half of those that were held took %.1f ms more, 95 of 100 %.1f",
	       (double)workers->extra_p50_ns / NS_PER_MS,
	       (double)workers->extra_p95_ns / NS_PER_MS);
	tap_ok(workers->busy_ns >= 2 * N_MICROBATCHES * 30 * (int64_t)NS_PER_MS,
	       "one after the other they had the link for %.1f ms",
	       (double)workers->busy_ns / NS_PER_MS);
	tap_ok(site->busy_ns > 0 && site->busy_ns < workers->busy_ns, "the others for less");
}

/* The fault of stage 0 is the site's, the one of stage 2 the workers'. */
static void test_iterations(void)
{
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	add_delay(&c, 0, iteration(1), iteration(3));
	add_delay(&c, 2, iteration(1), iteration(3));
	fake->is_taken[0] = true;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "faults by iteration: %s", c.err.text);
	tap_is_int(fake->n_applied[0], 1, "the site applies its own once");
	tap_is_int(fake->n_cleared[0], 1, "and clears it once");
	tap_is_int(fake->n_applied[1], 0, "another one is not for it");
	tap_ok(transfer_ms(&c, 2, 2) >= 30, "the workers hold messages for theirs");
	tap_ok(transfer_ms(&c, 2, 0) < 25, "and not for the site's: %.1f ms",
	       transfer_ms(&c, 2, 0));
	tap_is_int(c.facts.n_applied, 0, "nothing was late: the clock stood still");
	if (tap_is_int((int64_t)c.capture.n_faults, 2, "both are in the record")) {
		const struct record_fault *row = &c.capture.faults[0];

		tap_is_int(row->applied_ns, c.capture.iterations[1].start_ns,
		           "in force when its iteration began");
		tap_is_int(row->cleared_ns, c.capture.iterations[3].start_ns,
		           "no more when its end did");
		check_traffic(&c);
	}
	fini(&c, fake);
}

/* Run until start and end of its fault were noticed inside their iterations, which a machine that
 * stalls may keep the coordinator from. */
static void run_inside(struct live_case *c, struct fake *fake, const char *name)
{
	for (int i = 0; i < N_TRIES; i++) {
		fake->n_applied[0] = fake->n_cleared[0] = 0;
		if (live_case_run(c, "1f1b") || c->facts.n_applied == 2)
			break;
		tap_note("%s: the machine stood still; once more", name);
	}
	tap_is_int(c->rc, 0, "a fault %s: %s", name, c->err.text);
}

/* The row of a fault that the site applied inside an iteration, where the machine let it; asked is
 * when it was wanted. */
static void check_row(const struct live_case *c, int64_t asked_ns, const char *name)
{
	const struct record_fault *row = &c->capture.faults[0];

	if (!tap_is_int((int64_t)c->capture.n_faults, 1, "%s: it is in the record", name))
		return;
	tap_is_int(row->asked_ns, asked_ns, "%s: asked for at its moment", name);
	tap_ok(row->applied_ns >= row->asked_ns && row->applied_ns <= row->cleared_ns,
	       "%s: applied after that, before it ended", name);
	tap_is_int(c->facts.n_applied, 2, "%s: start and end were inside iterations", name);
	tap_note("%s: late by %.3f ms in the mean, %.3f at most", name,
	         (double)c->facts.apply_late_ns_sum / 2 / NS_PER_MS,
	         (double)c->facts.apply_late_ns_max / NS_PER_MS);
}

static void test_times(void)
{
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	add_delay(&c, 0, time_ms(150), time_ms(350));
	fake->is_taken[0] = true;
	fake->work_ns = NS_PER_MS;
	run_inside(&c, fake, "by time");
	tap_is_int(fake->n_applied[0], 2, "it is rehearsed, and applied");
	tap_is_int(fake->n_cleared[0], 2, "and cleared as often");
	check_row(&c, 150 * NS_PER_MS, "by time");
	tap_ok(c.facts.apply_late_ns_max >= NS_PER_MS, "the work that it takes counts as late");
	fini(&c, fake);
}

static void test_ops(void)
{
	const struct moment start = op_of(2, 1, OP_F, 1), end = op_of(2, 1, OP_B, 2);
	const struct record_op *op;
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	add_delay(&c, 1, start, end);
	fake->is_taken[0] = true;
	run_inside(&c, fake, "at ops");
	op = capture_op(&c.capture, 2, 1, OP_F, 1);
	check_row(&c, op ? op->start_ns : -1, "at ops");
	fini(&c, fake);
}

/* After a restart what is to be in force still is, and what is not is cleared. */
static void test_restart(void)
{
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	c.scenario.recovery = (struct recovery){
		.checkpoint_every = 1, .restart_ns = 50 * NS_PER_MS, .failover_ns = 10 * NS_PER_MS};
	add_delay(&c, 0, iteration(1), iteration(4));
	(void)scenario_fixture_fault(&c.scenario, (struct fault){.kind = FAULT_DOWN,
	                                                         .start = iteration(2),
	                                                         .end = {.kind = MOMENT_NEVER},
	                                                         .from_stage = 1,
	                                                         .to_stage = 1});
	fake->is_taken[0] = true;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "a restart while a fault is in force: %s",
	           c.err.text);
	tap_is_int(c.capture.totals.n_restarts, 1, "there was one");
	tap_is_int(fake->seen->n_entered[1], 2, "workers that start again enter again");
	tap_is_int(fake->n_applied[0], 1, "the fault stays in force");
	tap_ok(!fake->is_on[0], "until its end");
	fini(&c, fake);
}

static void test_refusal(void)
{
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	add_delay(&c, 0, iteration(1), iteration(3));
	fake->is_taken[0] = true;
	fake->refuses = 0;
	tap_is_int(live_case_run(&c, "1f1b"), -EBUSY,
	           "a fault that cannot be applied ends the run");
	tap_is_str(c.err.text, "fault 0 could not be applied: no", "with a reason");
	fini(&c, fake);
}

/* The RNIC of stage 1 goes down at an op and is back after a while, by the site: nobody is told
 * when. */
static void add_outage(struct live_case *c, struct fake *fake, int64_t length_ms)
{
	(void)scenario_fixture_fault(&c->scenario, (struct fault){.kind = FAULT_DOWN,
	                                                          .start = op_of(2, 1, OP_F, 1),
	                                                          .end = time_ms(length_ms),
	                                                          .from_stage = 1,
	                                                          .to_stage = 1});
	c->scenario.recovery = (struct recovery){.checkpoint_every = 1,
	                                         .restart_ns = 100 * NS_PER_MS,
	                                         .failover_ns = 50 * NS_PER_MS};
	c->scenario.n_iterations = 6;
	fake->is_taken[0] = true;
	fake->scenario = &c->scenario;
}

static void make_reference(double *losses)
{
	struct live_case c;

	live_case_init(&c, N_STAGES, N_MICROBATCHES, 1, 1);
	c.scenario.n_iterations = 6;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(c.losses));
	live_case_fini(&c);
}

/* Run until a worker saw the RNIC go, which one that the machine keeps from it does not. */
static void run_noticed(struct live_case *c, struct fake *fake, const char *schedule)
{
	for (int i = 0; i < N_TRIES; i++) {
		fake->n_applied[0] = fake->n_cleared[0] = 0;
		if (live_case_run(c, schedule) ||
		    (c->capture.n_faults == 1 && c->capture.faults[0].detected_ns > 0))
			break;
		tap_note("%s: nobody saw the RNIC go; once more", schedule);
	}
}

static void check_outage(const char *schedule, int64_t length_ms, int n_restarts,
                         const double *losses)
{
	const struct record_fault *row;
	struct live_case c;
	struct fake *fake;

	init(&c, &fake);
	add_outage(&c, fake, length_ms);
	run_noticed(&c, fake, schedule);
	tap_is_int(c.rc, 0, "%s, RNIC down for %lld ms: %s", schedule, (long long)length_ms,
	           c.err.text);
	live_case_has_losses(&c, losses, "losses are equal");
	tap_is_int(c.capture.totals.n_restarts, n_restarts, "restarts");
	tap_is_int(fake->n_applied[0], 1, "the site takes it down once");
	tap_ok(!fake->is_on[0], "and brings it back");
	if (tap_is_int((int64_t)c.capture.n_faults, 1, "it is in the record")) {
		row = &c.capture.faults[0];
		tap_ok(row->applied_ns >= row->asked_ns, "applied when its op had started");
		tap_ok(row->detected_ns >= row->applied_ns, "noticed after that");
		tap_ok(row->recovered_ns >= row->detected_ns, "and overcome after that");
		tap_note("noticed %.3f ms after, overcome %.1f ms after",
		         (double)(row->detected_ns - row->applied_ns) / NS_PER_MS,
		         (double)(row->recovered_ns - row->applied_ns) / NS_PER_MS);
	}
	tap_is_int(c.facts.n_outages, 1, "and among the facts");
	fini(&c, fake);
}

/* One that is over before anybody gives up, and one that is not. */
static void test_outages(void)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];

	make_reference(losses);
	check_outage("1f1b", 300, 1, losses);
	check_outage("zb-cpu", 300, 0, losses);
	check_outage("zb-cpu", 20, 0, losses);
}

int main(void)
{
	test_places();
	test_iterations();
	test_times();
	test_ops();
	test_restart();
	test_refusal();
	test_outages();
	return tap_done();
}
