/* live_machine.c - live runs on interfaces that the user has named: an RNIC that dies takes its
 * interface down, and nothing else of the machine. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "engine/replay/site.h"
#include "injectors/interface.h"
#include "injectors/undo.h"
#include "tests/child.h"
#include "tests/folder.h"
#include "tests/live_case.h"
#include "tests/net/namespace_fixture.h"

enum { N_STAGES = 4, N_MICROBATCHES = 4, N_HOSTS = 2, N_RAILS = 2, N_TRIES = 5, LOOPBACK = 1 };

static char journals[PATH_MAX];
static struct netlink *machine; /* this test's namespace stands for it */

/* A wire with an address at this end, as a port has one. */
static int add_port(const char *name, const char *peer, uint32_t address, struct err *err)
{
	struct interface_pair pair = {.name = name, .peer_name = peer, .mtu_bytes = 1500};
	struct interface end;
	int rc;

	pair.peer_namespace_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	rc = interface_add_pair(machine, &pair, err);
	close(pair.peer_namespace_fd);
	rc = rc ? rc : interface_find(machine, peer, &end, err);
	rc = rc ? rc : interface_set_up(machine, end.index, true, err);
	rc = rc ? rc : interface_find(machine, name, &end, err);
	rc = rc ? rc : interface_set_up(machine, end.index, true, err);
	return rc ? rc : interface_add_address(machine, end.index, address, 24, err);
}

static bool make_machine(struct err *err)
{
	int rc = netlink_open(NAMESPACE_OWN, &machine, err);

	rc = rc ? rc : interface_set_up(machine, LOOPBACK, true, err);
	rc = rc ? rc : add_port("eth8", "wire8", UINT32_C(0x0a4e0001), err);
	rc = rc ? rc : add_port("eth9", "wire9", UINT32_C(0x0a4f0001), err);
	return rc == 0;
}

static bool is_up(const char *name)
{
	struct interface found;

	return interface_find(machine, name, &found, NULL) == 0 && found.is_up;
}

static int open_site(const struct scenario *scenario, const char *interfaces, const char *injector,
                     struct site **out, struct err *err)
{
	const struct site_config config = {.scenario = scenario,
	                                   .speed = 2,
	                                   .message_bytes = 4096,
	                                   .injector = injector,
	                                   .transport = "tcp",
	                                   .interfaces = interfaces};
	const struct site_ops *ops;
	int rc = site_find("machine", &ops, err);

	return rc ? rc : ops->open(&config, out, err);
}

static void init(struct live_case *c)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, N_HOSTS, 1);
	live_case_pace(c, 2);
	c->scenario.n_iterations = 6;
	c->scenario.topology.n_rails = N_RAILS;
	c->scenario.detection.threshold_ns = 100 * (int64_t)NS_PER_S;
	c->scenario.recovery = (struct recovery){.checkpoint_every = 1,
	                                         .restart_ns = 100 * NS_PER_MS,
	                                         .failover_ns = 50 * NS_PER_MS};
}

static void add_down(struct live_case *c, int stage, struct moment end)
{
	const struct moment start = {
		.kind = MOMENT_OP, .value = 2, .stage = stage, .op = OP_F, .microbatch = 1};

	(void)scenario_fixture_fault(&c->scenario, (struct fault){.kind = FAULT_DOWN,
	                                                          .start = start,
	                                                          .end = end,
	                                                          .from_stage = stage,
	                                                          .to_stage = stage});
}

static void check_after(void)
{
	tap_ok(is_up("eth8") && is_up("eth9"), "all interfaces are up again");
	tap_ok(rmdir(journals) == 0 || errno == ENOENT, "and no journal is left");
}

/* RNICs of stages die inside an iteration, which a worker sees of its interface. */
static void check_run(const char *schedule, const int *stages, int n_stages, struct moment end)
{
	struct live_case c;
	double healthy[LIVE_CASE_ITERATIONS_MAX];
	bool is_noticed = false;

	init(&c);
	tap_is_int(live_case_run(&c, schedule), 0, "%s: a healthy run: %s", schedule, c.err.text);
	memcpy(healthy, c.losses, sizeof(healthy));
	for (int i = 0; i < n_stages; i++)
		add_down(&c, stages[i], end);
	/* A machine that stands still may see it go and come back at once. */
	for (int i = 0; i < N_TRIES && !is_noticed; i++) {
		if (!fixture_succeeds(open_site(&c.scenario, "eth8,eth9", "auto", &c.site, &c.err),
		                      &c.err, "interfaces are named"))
			break;
		tap_contains(c.site->description, "RNICs by link", "who takes them down is named");
		tap_is_int(live_case_run(&c, schedule), 0, "%s: a run: %s", schedule, c.err.text);
		fixture_succeeds(site_close(c.site, &c.err), &c.err, "they are given back");
		is_noticed = c.capture.n_faults > 0 && c.capture.faults[0].detected_ns > 0;
	}
	tap_ok(is_noticed, "%s: a worker saw its interface go down", schedule);
	live_case_has_losses(&c, healthy, "%s: losses are those of the healthy run", schedule);
	check_after();
	c.site = NULL;
	live_case_fini(&c);
}

/* What passes no interface is for the workers to hold, and nobody else can. */
static void test_delays(void)
{
	struct site *site = NULL;
	struct live_case c;
	struct err err = {0};

	init(&c);
	(void)scenario_fixture_fault(&c.scenario, (struct fault){.kind = FAULT_DELAY,
	                                                         .end = {.kind = MOMENT_NEVER},
	                                                         .from_stage = 0,
	                                                         .to_stage = 1,
	                                                         .delay_ns = 30 * NS_PER_MS});
	if (fixture_succeeds(open_site(&c.scenario, "eth8", "auto", &site, &err), &err,
	                     "a delay on such a machine")) {
		tap_ok(!site_takes(site, 0), "is the workers'");
		tap_contains(site->description, "(what one stage of this machine sends",
		             "for a reason");
	}
	(void)site_close(site, NULL);
	site = NULL;
	tap_is_int(open_site(&c.scenario, "eth8", "netem", &site, &err), -ENOTSUP,
	           "another one who is named is refused");
	tap_is_int(open_site(&c.scenario, "eth8,eth9,wire8", "auto", &site, &err), -EINVAL,
	           "so are more interfaces than rails");
	tap_contains(err.text, "names more than 2 interfaces", "with a sentence");
	tap_is_int(open_site(&c.scenario, "eth8,,", "auto", &site, &err), -EINVAL, "and no name");
	tap_ok(!site, "nothing is open then");
	check_after();
	live_case_fini(&c);
}

/* Who wants to know what would be done does not want it done. */
static void test_on_paper(void)
{
	struct site *site = NULL;
	struct live_case c;
	struct err err = {0};

	init(&c);
	add_down(&c, 1, (struct moment){.kind = MOMENT_NEVER});
	if (fixture_succeeds(open_site(&c.scenario, "eth8", "dry_run", &site, &err), &err,
	                     "an outage on paper")) {
		tap_contains(site->description, "RNICs by dry_run", "is said to be one");
		fixture_succeeds(site->ops->set(site, 0, true, &err), &err, "begins");
		tap_ok(is_up("eth8"), "and leaves the interface alone");
	}
	(void)site_close(site, NULL);
	check_after();
	live_case_fini(&c);
}

/* A run that is killed leaves the interface down, and a journal that says so. */
static void test_killed(void)
{
	struct undo_summary summary = {0};
	struct live_case c;
	struct err err = {0};
	pid_t pid;

	init(&c);
	add_down(&c, 1, (struct moment){.kind = MOMENT_NEVER});
	pid = child_start();
	if (pid == 0) {
		struct site *site = NULL;

		if (open_site(&c.scenario, "eth8", "auto", &site, &err) == 0 &&
		    site->ops->set(site, 0, true, &err) == 0)
			(void)raise(SIGKILL);
		_exit(1);
	}
	tap_is_int(child_wait(pid), -SIGKILL, "a run is killed");
	tap_ok(!is_up("eth8") && is_up("eth9"), "which leaves it down, and no other");
	fixture_succeeds(undo_folder(journals, &summary, &err), &err, "that is undone");
	tap_is_int(summary.n_interfaces_up, 1, "one interface is up again");
	check_after();
	live_case_fini(&c);
}

int main(void)
{
	static const int one[] = {1}, two[] = {1, 2};
	const struct moment never = {.kind = MOMENT_NEVER};
	const struct moment soon = {.kind = MOMENT_TIME, .value = 150 * NS_PER_MS};
	struct namespace_fixture fixture;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	if (!make_machine(&err))
		return tap_skip_all("no machine to try: %s", err.text);
	(void)setenv("XDG_RUNTIME_DIR", folder_open(), 1);
	(void)snprintf(journals, sizeof(journals), "%s/adaptra-bench", folder_open());
	check_run("adaptra", one, 1, never);
	check_run("1f1b", one, 1, never);
	check_run("zb-cpu", two, 2, soon);
	test_delays();
	test_on_paper();
	test_killed();
	netlink_close(machine);
	return fixture_done(&fixture);
}
