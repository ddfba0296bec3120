/* replay_verbs_links.c - live runs over RDMA in which an RNIC goes down by its link: the stage that
 * has it sees its own link down, its neighbours that of their peer. Delegates go over to the other
 * rail, a job on the stream plane starts again, and every loss is what it is over sockets.
 *
 * Runs where tests/vm/rxe.sh has made three pairs of devices: rail 0 of link l is pair l, rail 1 is
 * pair 2 on both, or sockets.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum { N_STAGES = 3, N_MICROBATCHES = 3, N_RAILS = 2, STAGE_DOWN = 1, PATIENCE_MS = 120000 };
enum { FAILOVER_MS = 400, RESTART_MS = 500, N_ITERATIONS_MOST = 8, N_TRIES = 4 };

static const char devices[] = "rx{side}{link},rx{side}2";
static const char first_devices[] = "rx{side}{link}";

/* The machine itself, whose links it takes down. */
struct links {
	struct site base;
	bool is_taken[1];
	bool is_blind; /* nobody is told by is_up(), so the transport has to */
};

static int links_open(const struct site_config *config, struct site **out, struct err *err)
{
	(void)config;
	(void)out;
	return err_set(err, -ENOTSUP, "it is made by its test");
}

static int links_enter(struct site *site, int replica, int host, struct err *err)
{
	(void)site;
	(void)replica;
	(void)host;
	(void)err;
	return 0;
}

static char *links_address(const struct site *site, int replica, int stage, int rail,
                           char text[TRANSPORT_ADDRESS_BYTES])
{
	(void)site;
	(void)replica;
	(void)stage;
	(void)rail;
	return strcpy(text, "127.0.0.1:0");
}

/* One system call each: starting a program takes a guest long. */
static int ask_flags(int what, const char *name, struct ifreq *request)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	(void)snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
	rc = ioctl(fd, (unsigned long)what, request);
	(void)close(fd);
	return rc;
}

static bool is_interface_up(const char *name)
{
	struct ifreq request = {0};

	return ask_flags(SIOCGIFFLAGS, name, &request) == 0 && (request.ifr_flags & IFF_UP);
}

static int set_interface(const char *name, bool is_up)
{
	struct ifreq request = {0};

	if (ask_flags(SIOCGIFFLAGS, name, &request))
		return -1;
	request.ifr_flags =
		(short)(is_up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
	return ask_flags(SIOCSIFFLAGS, name, &request);
}

static bool links_is_up(const struct site *site, int replica, int stage, int rail)
{
	const struct links *links = (const struct links *)site;

	(void)replica;
	return links->is_blind || stage != STAGE_DOWN || rail != 0 ||
	       (is_interface_up("vb0") && is_interface_up("va1"));
}

/* Routes go with their interface. */
static int links_set(struct site *site, size_t fault, bool is_on, struct err *err)
{
	static const char routes[] = "bash -c '. tests/vm/rxe.sh && { rxe_route_lines 0; "
				     "rxe_route_lines 1; } | ip -batch -'";

	(void)site;
	(void)fault;
	if (set_interface("vb0", !is_on) || set_interface("va1", !is_on) ||
	    (!is_on && system(routes) != 0))
		return err_set(err, -EIO, "a link could not be changed");
	return 0;
}

static int links_report(struct site *site, struct site_report *out, struct err *err)
{
	(void)site;
	(void)err;
	*out = (struct site_report){0};
	return 0;
}

static int links_close(struct site *site, struct err *err)
{
	return is_interface_up("vb0") && is_interface_up("va1") ? 0
	                                                        : links_set(site, 0, false, err);
}

static const struct site_ops links_ops = {
	.name = "links",
	.open = links_open,
	.enter = links_enter,
	.address = links_address,
	.is_up = links_is_up,
	.set = links_set,
	.report = links_report,
	.close = links_close,
};

static void init(struct live_case *c, int n_iterations)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, N_STAGES, 1);
	c->speed = 1;
	c->scenario.topology.n_rails = N_RAILS;
	c->scenario.n_iterations = n_iterations;
	c->scenario.recovery = (struct recovery){.checkpoint_every = 1,
	                                         .restart_ns = RESTART_MS * NS_PER_MS,
	                                         .failover_ns = FAILOVER_MS * NS_PER_MS};
	/* A virtual machine computes slowly, and has one core for all workers. */
	c->patience_ms = PATIENCE_MS;
}

static void check_fault(const struct live_case *c, const char *name, int64_t least_ns)
{
	const struct record_fault *row = &c->capture.faults[0];

	if (!tap_is_int((int64_t)c->capture.n_faults, 1, "%s: the record has the fault", name))
		return;
	tap_note("%s: noticed after %.0f ms, overcome after %.0f ms", name,
	         (double)(row->detected_ns - row->applied_ns) / NS_PER_MS,
	         (double)(row->recovered_ns - row->applied_ns) / NS_PER_MS);
	tap_ok(row->applied_ns >= 0 && row->detected_ns >= row->applied_ns &&
	               row->recovered_ns >= row->detected_ns,
	       "%s: it was noticed, and then overcome", name);
	tap_ok(row->recovered_ns - row->applied_ns >= least_ns,
	       "%s: not before the rail was back, or a fail-over", name);
}

/* What is wanted of a run in which the RNIC is down for so long. */
struct outage {
	const char *schedule;
	const char *transport;
	int lasts_ms;
	int n_iterations;
	bool is_blind;
};

/* A machine that is busy may have ended the iteration before it takes the links down. */
static void run_until_noticed(struct live_case *c, const char *schedule, const char *name)
{
	for (int i = 0; i < N_TRIES; i++) {
		if (i > 0)
			tap_note("%s: the links went down too late; once more", name);
		(void)live_case_run(c, schedule);
		if (c->rc || (c->capture.n_faults > 0 && c->capture.faults[0].detected_ns >= 0))
			return;
	}
}

static void test_outage(const struct outage *outage, const double *losses)
{
	const struct fault down = {
		.kind = FAULT_DOWN,
		.from_stage = STAGE_DOWN,
		.to_stage = STAGE_DOWN,
		.start = {.kind = MOMENT_OP, .value = 1, .stage = STAGE_DOWN, .op = OP_F},
		.end = {.kind = MOMENT_TIME, .value = outage->lasts_ms * (int64_t)NS_PER_MS}};
	struct links links = {.base = {.ops = &links_ops, .is_taken = links.is_taken},
	                      .is_taken = {true},
	                      .is_blind = outage->is_blind};
	bool is_stream = strcmp(outage->schedule, "1f1b") == 0;
	bool is_short = outage->lasts_ms < FAILOVER_MS;
	const struct captured_decision *first;
	struct live_case c;
	char name[128];

	(void)snprintf(name, sizeof(name), "%s over %s, down for %d ms%s", outage->schedule,
	               outage->transport, outage->lasts_ms,
	               outage->is_blind ? ", told by devices alone" : "");
	init(&c, outage->n_iterations);
	c.transport = outage->transport;
	c.rdma_devices = strcmp(outage->transport, "verbs") == 0 ? devices : first_devices;
	c.site = &links.base;
	(void)scenario_fixture_fault(&c.scenario, down);
	run_until_noticed(&c, outage->schedule, name);
	tap_is_int(c.rc, 0, "%s: it runs: %s", name, c.err.text);
	live_case_has_losses(&c, losses, "%s: it has the losses that it has over tcp", name);
	if (c.rc == 0) {
		tap_is_int(c.capture.totals.n_restarts, is_stream, "%s: restarts", name);
		tap_is_int(capture_count(&c.capture, DECISION_FAILOVER, &first),
		           !is_stream && !is_short, "%s: rails given up", name);
		/* A job may die at the end of its iteration before the kernel is done. */
		check_fault(&c, name,
		            (is_stream  ? 0
		             : is_short ? outage->lasts_ms
		                        : FAILOVER_MS) *
		                    (int64_t)NS_PER_MS);
	}
	live_case_fini(&c);
	/* A run may be over before its outage is. */
	tap_is_int(links_close(&links.base, &c.err), 0, "%s: the links are up again", name);
}

int main(void)
{
	static const struct outage outages[] = {
		{"zb-cpu", "verbs", 100, 3, false},
		{"zb-cpu", "verbs", 1000, 4, true},
		{"zb-cpu", "verbs,tcp", 5000, N_ITERATIONS_MOST, false},
		{"1f1b", "verbs", 1000, 3, false},
	};
	double losses[LIVE_CASE_ITERATIONS_MAX];
	struct live_case c;

	if (access("/sys/class/infiniband/rxb2", F_OK))
		return tap_skip_all("there are no three pairs of devices of tests/vm/rxe.sh");
	init(&c, N_ITERATIONS_MOST);
	tap_is_int(live_case_run(&c, "1f1b"), 0, "the reference runs over tcp: %s", c.err.text);
	memcpy(losses, c.losses, sizeof(losses));
	live_case_fini(&c);
	for (size_t i = 0; i < sizeof(outages) / sizeof(outages[0]); i++)
		test_outage(&outages[i], losses);
	return tap_done();
}
