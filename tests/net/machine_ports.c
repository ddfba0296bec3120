/* machine_ports.c - interfaces that a run did not make are touched only when they are named. */
#include "injectors/machine_ports.h"

#include <net/route.h>
#include <sys/ioctl.h>

#include "tests/folder.h"
#include "tests/net/namespace_fixture.h"

enum { N_STAGES = 2, N_RAILS = 2 };

static const struct topology topology = {
	.n_stages = N_STAGES, .n_hosts = 1, .n_replicas = 1, .n_rails = N_RAILS};

static const struct fault down = {.kind = FAULT_DOWN, .from_stage = 1, .to_stage = 1, .rail = 0};
static const struct fault slow = {
	.kind = FAULT_RATE, .from_stage = 0, .to_stage = 1, .rate_bits_per_s = 1000000};

struct bench {
	struct netlink *machine; /* this test's namespace stands for the machine */
	struct journal *journal;
	struct egress *egress;
	struct injector_config config;
};

static bool bench_begin(struct bench *bench, const char *folder, struct err *err)
{
	struct interface_pair pair = {.name = "eth8", .peer_name = "eth9", .mtu_bytes = 1500};
	struct interface found;
	int rc;

	*bench = (struct bench){0};
	pair.peer_namespace_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	rc = netlink_open(NAMESPACE_OWN, &bench->machine, err);
	rc = rc ? rc : interface_add_pair(bench->machine, &pair, err);
	close(pair.peer_namespace_fd);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = interface_find(bench->machine, i ? "eth9" : "eth8", &found, err);
		rc = rc ? rc : interface_set_up(bench->machine, found.index, true, err);
	}
	rc = rc ? rc : journal_open(folder, &bench->journal, err);
	rc = rc ? rc : egress_open(bench->journal, &bench->egress, err);
	bench->config = (struct injector_config){.topology = &topology,
	                                         .message_bytes = 1000,
	                                         .journal = bench->journal,
	                                         .egress = bench->egress,
	                                         .locate = machine_locate};
	return rc == 0;
}

static void bench_end(struct bench *bench)
{
	struct err err = {0};

	fixture_succeeds(egress_close(bench->egress, &err), &err, "what was put there is removed");
	journal_close(bench->journal);
	netlink_close(bench->machine);
}

static bool is_up(const struct bench *bench, const char *name)
{
	struct interface found;
	struct err err = {0};

	return interface_find(bench->machine, name, &found, &err) == 0 && found.is_up;
}

/* That this run put on the interface. */
static int count_qdiscs(const struct bench *bench)
{
	struct qdisc_place place = {.parent = QDISC_AT_ROOT, .handle = 0xadab0000};
	struct interface found;
	struct qdisc qdisc;

	if (interface_find(bench->machine, "eth8", &found, NULL))
		return -1;
	place.interface_index = found.index;
	return qdisc_read(bench->machine, &place, &qdisc, NULL) == 0;
}

static struct injector *open_injector(const struct bench *bench, const char *name)
{
	const struct injector_ops *ops = NULL;
	struct injector *injector = NULL;
	struct err err = {0};

	if (injector_find(name, &ops, &err) || ops->open(&bench->config, &injector, &err))
		tap_note("%s", err.text);
	return injector;
}

static void test_names(void)
{
	static const struct {
		const char *names[2];
		int n, want;
		const char *text;
	} cases[] = {
		{{"eth88"},
	         1,
	         -ENODEV,
	         "no interface 'eth88' on this machine; did you mean 'eth8'?"},
		{{"wlan0"}, 1, -ENODEV, "there are lo, "},
		{{"eth8", "eth8"}, 2, -EINVAL, "interface 'eth8' is named twice"},
		{{"lo"}, 1, -EPERM, "the loopback interface"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine_ports *ports = NULL;
		struct err err = {0};

		tap_is_int(machine_ports_open(cases[i].names, cases[i].n, &ports, &err),
		           cases[i].want, "%s is refused", cases[i].names[cases[i].n - 1]);
		tap_contains(err.text, cases[i].text, "with a sentence");
		tap_ok(!ports, "and nothing is opened");
	}
	machine_ports_close(NULL);
}

/* The named one goes down and comes up; the other rail's fault finds nothing to take down. */
static void test_down(const struct bench *bench)
{
	struct injector *link = open_injector(bench, "link");
	struct fault other = down;
	struct err err = {0};

	if (!tap_ok(link != NULL, "link opens on the machine"))
		return;
	other.rail = 1;
	fixture_succeeds(injector_apply(link, &down, &err), &err,
	                 "a named interface is taken down");
	tap_ok(!is_up(bench, "eth8") && is_up(bench, "eth9"), "it alone");
	tap_is_int(injector_check(link, &other, &err), -ENOTSUP, "a rail without one is refused");
	tap_contains(err.text,
	             "rail 1 of stage 1 has no interface; name one with --allow-interface",
	             "with a sentence");
	tap_is_int(injector_apply(link, &other, &err), -ENOTSUP, "and nothing is done");
	fixture_succeeds(injector_clear(link, &down, &err), &err, "it comes up again");
	tap_ok(is_up(bench, "eth8"), "and is up");
	(void)injector_apply(link, &down, &err);
	fixture_succeeds(injector_close(link, &err), &err, "so it does when the run ends");
	tap_ok(is_up(bench, "eth8"), "whatever happened before");
}

/* Stages of a machine have one RNIC a rail together: it is up again when none is to be down. */
static void test_shared(const struct bench *bench)
{
	struct injector *link = open_injector(bench, "link");
	struct fault other = down;
	struct err err = {0};

	other.from_stage = other.to_stage = 0;
	if (!tap_ok(link != NULL, "link opens once more"))
		return;
	fixture_succeeds(injector_apply(link, &down, &err), &err,
	                 "the RNIC of one stage goes down");
	fixture_succeeds(injector_apply(link, &other, &err), &err, "and that of another, the same");
	fixture_succeeds(injector_apply(link, &other, &err), &err, "which may be said twice");
	fixture_succeeds(injector_clear(link, &down, &err), &err, "the first is to be up");
	fixture_succeeds(injector_clear(link, &down, &err), &err, "which may be said twice, too");
	tap_ok(!is_up(bench, "eth8"), "but the other is not");
	fixture_succeeds(injector_clear(link, &other, &err), &err, "until it is");
	tap_ok(is_up(bench, "eth8"), "then the interface is up");
	(void)injector_apply(link, &down, &err);
	(void)injector_apply(link, &other, &err);
	fixture_succeeds(injector_close(link, &err), &err, "at the end of a run both are let go");
	tap_ok(is_up(bench, "eth8"), "and it is up");
}

/* request: SIOCADDRT or SIOCDELRT, of a default route over the interface. */
static int change_route(unsigned long request, const char *name)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rtentry route = {.rt_flags = RTF_UP, .rt_dev = (char *)(size_t)name};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	memcpy(&route.rt_dst, &any, sizeof(any));
	memcpy(&route.rt_genmask, &any, sizeof(any));
	rc = ioctl(fd, request, &route);
	close(fd);
	return rc;
}

static void check_refused(const char *name, int want, const char *text)
{
	struct machine_ports *ports = NULL;
	struct err err = {0};

	tap_is_int(machine_ports_open(&name, 1, &ports, &err), want, "%s is refused", name);
	tap_contains(err.text, text, "with a sentence");
	tap_ok(!ports, "and left alone");
	machine_ports_close(ports);
}

/* The way out of the machine, as far as this namespace has one. */
static void test_default_route(const struct bench *bench)
{
	static const char over[] = "the default route, by which this machine is reached, is over";
	static const char *const names[] = {"eth9"};
	struct machine_ports *ports = NULL;
	struct err err = {0};

	fixture_succeeds(machine_ports_open(names, 1, &ports, &err), &err, "an interface is named");
	machine_ports_close(ports);
	if (!tap_is_int(change_route(SIOCADDRT, "eth9"), 0, "it gets the default route"))
		return;
	check_refused("eth9", -EPERM, over);
	check_refused("eth8", -EPERM, over); /* the other end of its wire */
	tap_ok(is_up(bench, "eth8") && is_up(bench, "eth9"), "both stay up");
	tap_is_int(change_route(SIOCDELRT, "eth9"), 0, "the route goes");
}

/* "ens9", and whatever else it is called beside its name. */
static struct nl_msg *other_name_message(int index, const char *name)
{
	struct ifinfomsg head = {.ifi_family = AF_UNSPEC, .ifi_index = index};
	struct nl_msg *message = nlmsg_alloc_simple(RTM_NEWLINKPROP, NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *list;

	(void)nlmsg_append(message, &head, sizeof(head), NLMSG_ALIGNTO);
	list = nla_nest_start(message, IFLA_PROP_LIST | NLA_F_NESTED);
	(void)nla_put_string(message, IFLA_ALT_IFNAME, name);
	(void)nla_nest_end(message, list);
	return message;
}

static void test_other_name(const struct bench *bench)
{
	static const char *const both[] = {"eth9", "ens9"};
	struct machine_ports *ports = NULL;
	struct interface found;
	struct err err = {0};

	(void)interface_find(bench->machine, "eth9", &found, &err);
	if (netlink_request(bench->machine, other_name_message(found.index, "ens9"), NULL, &err)) {
		tap_skip("this kernel's interfaces have one name: %s", err.text);
		return;
	}
	tap_is_int(machine_ports_open(both, 2, &ports, &err), -EINVAL,
	           "one interface by two names is named twice");
	(void)change_route(SIOCADDRT, "eth9");
	check_refused("ens9", -EPERM, "is over interface 'eth9'");
	(void)change_route(SIOCDELRT, "eth9");
}

/* A machine whose address is a bridge's is reached by the ports of that. */
static void test_port_of_way_out(const struct bench *bench)
{
	struct interface_pair pair = {.name = "port0", .peer_name = "far0", .mtu_bytes = 1500};
	struct interface bridge, port;
	struct err err = {0};

	(void)interface_add_bridge(bench->machine, "br0", &err);
	(void)interface_find(bench->machine, "br0", &bridge, &err);
	(void)interface_set_up(bench->machine, bridge.index, true, &err);
	pair.bridge_index = bridge.index;
	pair.peer_namespace_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	fixture_succeeds(interface_add_pair(bench->machine, &pair, &err), &err,
	                 "a bridge has a port");
	close(pair.peer_namespace_fd);
	(void)interface_find(bench->machine, "port0", &port, &err);
	check_refused("port0", -ENOTSUP, "interface 'port0' is down already");
	(void)interface_set_up(bench->machine, port.index, true, &err);
	(void)change_route(SIOCADDRT, "br0");
	check_refused("port0", -EPERM, "is over interface 'port0'");
	(void)interface_delete(bench->machine, port.index, &err);
	(void)interface_delete(bench->machine, bridge.index, &err);
}

/* Somebody else took it down after the run began. */
static void test_down_already(const struct bench *bench)
{
	struct injector *link = open_injector(bench, "link");
	struct interface found;
	struct err err = {0};

	(void)interface_find(bench->machine, "eth8", &found, &err);
	(void)interface_set_up(bench->machine, found.index, false, &err);
	tap_is_int(injector_apply(link, &down, &err), -EBUSY, "one that is down cannot go down");
	tap_contains(err.text, "'eth8' is down already, and not by this run", "and said so");
	fixture_succeeds(injector_close(link, &err), &err, "the run ends");
	tap_ok(!is_up(bench, "eth8"), "and does not take up what it did not take down");
	(void)interface_set_up(bench->machine, found.index, true, &err);
}

/* Where a link has one rail, all that leaves its interface meets the fault. */
static void test_rate(struct bench *bench)
{
	const struct topology one_rail = {
		.n_stages = N_STAGES, .n_hosts = 1, .n_replicas = 1, .n_rails = 1};
	struct injector *rate = open_injector(bench, "rate"), *narrow, *relay;
	struct err err = {0};

	if (!rate) {
		tap_skip("rate does not open here");
		return;
	}
	tap_is_int(injector_check(rate, &slow, &err), -ENOTSUP,
	           "of a link with two rails both have to be named");
	bench->config.topology = &one_rail;
	narrow = open_injector(bench, "rate");
	relay = open_injector(bench, "relay");
	fixture_succeeds(injector_apply(narrow, &slow, &err), &err, "that of one rail is slowed");
	tap_is_int(count_qdiscs(bench), 1, "at its root");
	if (relay) {
		tap_is_int(injector_check(relay, &slow, &err), -ENOTSUP,
		           "relay makes interfaces, so it needs a lab");
		tap_contains(err.text, "--lab netns", "and says so");
	}
	(void)injector_close(relay, &err);
	fixture_succeeds(injector_close(narrow, &err), &err, "and let go");
	(void)injector_close(rate, &err);
	bench->config.topology = &topology;
}

/* Lines about queueing disciplines in all journals there are. */
static int count_lines(const char *folder)
{
	char command[512];
	int n = -1;
	FILE *pipe;

	snprintf(command, sizeof(command), "cat %s/*.journal | grep -c qdisc", folder);
	pipe = popen(command, "re");
	if (pipe && fscanf(pipe, "%d", &n) != 1)
		n = -1;
	if (pipe)
		pclose(pipe);
	return n;
}

/* Two runs on one interface: the second one is refused, and does not even write it down, for
 * whoever undid that would take it from the first. */
static void test_two_runs(const struct bench *bench, struct machine_ports *ports)
{
	const struct injector_target target = {.to_stage = 1};
	const struct qdisc_settings settings = {
		.kind = QDISC_TBF,
		.tbf = {.rate_bits_per_s = 8000000, .burst_bytes = 10000, .limit_bytes = 100000}};
	struct egress *first, *second;
	struct egress_port port;
	struct err err = {0};
	int n_before;

	if (qdisc_probe(QDISC_TBF, NULL)) {
		tap_skip("there is no tbf");
		return;
	}
	(void)egress_open(bench->journal, &first, &err);
	(void)egress_open(bench->journal, &second, &err);
	(void)machine_locate(ports, &target, &port, &err);
	fixture_succeeds(egress_put(first, bench, &port, &settings, &err), &err, "one run acts");
	n_before = count_lines(folder_open());
	tap_ok(n_before > 0, "and has written it down");
	tap_is_int(egress_put(second, bench, &port, &settings, &err), -EEXIST,
	           "another one is refused");
	tap_contains(err.text, "another run's queueing discipline is on 'eth8'", "with a sentence");
	tap_is_int(count_lines(folder_open()), n_before, "and writes nothing down");
	fixture_succeeds(egress_close(second, &err), &err, "it closes");
	tap_is_int(count_qdiscs(bench), 1, "and leaves what is not its own");
	fixture_succeeds(egress_close(first, &err), &err, "which goes with its owner");
	tap_is_int(count_qdiscs(bench), 0, "at last");
}

/* The place is found, but nobody has allowed it. */
static int locate_unnamed(void *context, const struct injector_target *target,
                          struct egress_port *out, struct err *err)
{
	int rc = machine_locate(context, target, out, err);

	out->is_allowed = false;
	return rc;
}

static void test_unnamed(struct bench *bench)
{
	struct injector *link;
	struct err err = {0};

	bench->config.locate = locate_unnamed;
	link = open_injector(bench, "link");
	tap_is_int(injector_apply(link, &down, &err), -EPERM,
	           "an interface that is neither the run's nor named is refused");
	tap_contains(err.text,
	             "interface 'eth8' is not one that this run made; name it with "
	             "--allow-interface",
	             "with a sentence that says what to do");
	tap_ok(is_up(bench, "eth8"), "and stays up");
	fixture_succeeds(injector_close(link, &err), &err, "there is nothing to undo");
	tap_ok(is_up(bench, "eth8"), "nor is anything done");
	bench->config.locate = machine_locate;
}

int main(void)
{
	static const char *const names[] = {"eth8"};
	struct machine_ports *ports = NULL;
	struct namespace_fixture fixture;
	struct bench bench;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	if (!bench_begin(&bench, folder_open(), &err))
		return tap_skip_all("no place to try: %s", err.text);
	test_names();
	if (fixture_succeeds(machine_ports_open(names, 1, &ports, &err), &err,
	                     "an interface is named")) {
		bench.config.locate_context = ports;
		test_down(&bench);
		test_shared(&bench);
		test_down_already(&bench);
		test_default_route(&bench);
		test_other_name(&bench);
		test_port_of_way_out(&bench);
		test_two_runs(&bench, ports);
		test_rate(&bench);
		test_unnamed(&bench);
	}
	bench_end(&bench);
	machine_ports_close(ports);
	tap_ok(rmdir(folder_open()) == 0, "no journal is left");
	return fixture_done(&fixture);
}
