/* netns.c - a site of network namespaces: one for each host of each replica, a wire a rail.
 *
 * What is made is written into a journal first, and goes in the reverse order: faults, queueing
 * disciplines, namespaces, journal. A run that is killed leaves nothing but the journal, for the
 * namespaces live by the processes in them. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/netns_internal.h"
#include "injectors/lab_ports.h"
#include "injectors/relay.h"

/* A rate is kept by whole packets, two of which pass at once, so a message has to be many; but
 * every packet costs time, so one that is large gets packets as large as networks have. */
enum { MTU_LEAST = 1500, MTU_MOST = 9000, PACKETS_PER_MESSAGE = 64 };
enum { CARRIER_S = 1, MESSAGE_EXTRA_BYTES = 104 /* header and digest of transport tcp */ };

struct netns {
	struct site base;
	struct site_config config;
	struct journal *journal;
	struct lab *lab;
	struct lab_ports ports;
	struct egress *egress;
	struct netns_injectors injectors;
	bool *is_taken;
};

static const struct topology *topology_of(const struct netns *netns)
{
	return &netns->config.scenario->topology;
}

static int host_of(const struct netns *netns, int replica, int host)
{
	return replica * topology_of(netns)->n_hosts + host;
}

static int mtu_bytes(int64_t message_bytes)
{
	int64_t wanted = message_bytes / PACKETS_PER_MESSAGE;

	return wanted < MTU_LEAST ? MTU_LEAST : wanted > MTU_MOST ? MTU_MOST : (int)wanted;
}

static int open_journal(struct netns *netns, struct err *err)
{
	char *folder;
	int rc = journal_default_folder(&folder, err);

	if (rc)
		return rc;
	rc = journal_open(folder, &netns->journal, err);
	free(folder);
	return rc;
}

static int open_lab(struct netns *netns, struct err *err)
{
	const struct topology *topology = topology_of(netns);
	const struct lab_config lab = {.n_hosts = topology->n_hosts * topology->n_replicas,
	                               .n_rails = topology->n_rails,
	                               .mtu_bytes = mtu_bytes(netns->config.message_bytes)};
	int rc = open_journal(netns, err);

	rc = rc ? rc : lab_open(&lab, netns->journal, &netns->lab, err);
	rc = rc ? rc : egress_open(netns->journal, &netns->egress, err);
	netns->ports = (struct lab_ports){.lab = netns->lab, .topology = topology};
	return rc;
}

static int open_injectors(struct netns *netns, struct err *err)
{
	const struct injector_config config = {
		.topology = topology_of(netns),
		.faults = netns->config.scenario->faults,
		.n_faults = netns->config.scenario->n_faults,
		.message_bytes = netns->config.message_bytes + MESSAGE_EXTRA_BYTES,
		.journal = netns->journal,
		.egress = netns->egress,
		.timeline = netns->config.timeline,
		.locate = lab_locate,
		.locate_context = &netns->ports,
	};
	size_t n = netns->config.scenario->n_faults;
	int rc;

	netns->is_taken = array_new(n, sizeof(*netns->is_taken));
	if (!netns->is_taken)
		return err_set(err, -ENOMEM, "no memory for the faults of a lab");
	rc = netns_injectors_open(&netns->config, &config, &netns->injectors, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		netns->is_taken[i] = netns->injectors.of_fault[i] >= 0;
	return rc;
}

static int netns_close(struct site *site, struct err *err);

static int netns_open(const struct site_config *config, struct site **out, struct err *err)
{
	struct netns *netns = calloc(1, sizeof(*netns));
	int rc;

	if (!netns)
		return err_set(err, -ENOMEM, "no memory for a lab");
	netns->base.ops = &netns_ops;
	netns->config = *config;
	rc = open_lab(netns, err);
	rc = rc ? rc : open_injectors(netns, err);
	if (rc) {
		/* What went wrong first is told. */
		(void)netns_close(&netns->base, NULL);
		return rc;
	}
	netns->base.is_taken = netns->is_taken;
	netns_injectors_describe(config, &netns->injectors, &netns->base);
	*out = &netns->base;
	return 0;
}

static int netns_enter(struct site *site, int replica, int host, struct err *err)
{
	struct netns *netns = (struct netns *)site;

	return lab_enter(netns->lab, host_of(netns, replica, host), err);
}

static char *netns_address(const struct site *site, int replica, int stage, int rail,
                           char text[TRANSPORT_ADDRESS_BYTES])
{
	const struct netns *netns = (const struct netns *)site;
	int host = topology_host_of_stage(topology_of(netns), stage);
	char address[LAB_ADDRESS_BYTES];

	snprintf(text, TRANSPORT_ADDRESS_BYTES, "%s:0",
	         lab_address_text(host_of(netns, replica, host), rail, address));
	return text;
}

static struct injector *injector_of(const struct netns *netns, size_t fault)
{
	return netns->injectors.items[netns->injectors.of_fault[fault]].injector;
}

/* The first caller in a worker makes the socket, which the kernel asks for; it goes with the
 * worker.
 */
static bool netns_is_up(const struct site *site, int replica, int stage, int rail)
{
	static int fd = -1;
	struct ifreq request = {0};

	(void)site;
	(void)replica;
	(void)stage;
	if (fd < 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	lab_rail_name(rail, request.ifr_name);
	/* One that cannot be asked has not been seen to be down. */
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		return true;
	return (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
}

/* One that is up carries a moment later, when the bridge has noticed; a connection whose first
 * packet is lost to that is a second late. */
static int await_carrier(struct netns *netns, const struct fault *fault, struct err *err)
{
	int host = topology_host_of_stage(topology_of(netns), fault->from_stage), rc = 0;
	int64_t end_ns = clock_monotonic_ns() + CARRIER_S * (int64_t)NS_PER_S;
	char name[INTERFACE_NAME_BYTES];
	struct interface rail = {0};

	lab_rail_name(fault->rail, name);
	for (int replica = 0; rc == 0 && replica < topology_of(netns)->n_replicas; replica++)
		do
			rc = interface_find(lab_netlink(netns->lab, host_of(netns, replica, host)),
			                    name, &rail, err);
		while (rc == 0 && !rail.has_carrier && clock_monotonic_ns() < end_ns);
	return rc;
}

static int netns_set(struct site *site, size_t fault, bool is_on, struct err *err)
{
	struct netns *netns = (struct netns *)site;
	const struct fault *real = &netns->injectors.faults[fault];

	int rc = is_on ? injector_apply(injector_of(netns, fault), real, err)
	               : injector_clear(injector_of(netns, fault), real, err);

	return rc || is_on || real->kind != FAULT_DOWN ? rc : await_carrier(netns, real, err);
}

static int add_counts(const struct injector *injector, struct site_report *report, struct err *err)
{
	struct injector_counts counts;
	struct delay_accuracy accuracy;
	int rc = injector_count(injector, NULL, &counts, err);

	if (rc)
		return rc;
	report->sent_packets += counts.sent_packets;
	report->lost_packets += counts.lost_packets;
	report->dropped_packets += counts.dropped_packets;
	/* The others are the kernel's, and do not say. */
	if (relay_accuracy(injector, &accuracy, NULL))
		return 0;
	report->delayed_packets = accuracy.n_packets;
	report->late_mean_ns = accuracy.mean_ns;
	report->late_p99_ns = accuracy.p99_ns;
	report->late_max_ns = accuracy.max_ns;
	return 0;
}

static int netns_report(struct site *site, struct site_report *out, struct err *err)
{
	const struct netns *netns = (const struct netns *)site;
	struct site_report report = {0};
	int rc = 0;

	for (int i = 0; rc == 0 && i < netns->injectors.n_items; i++)
		if (netns->injectors.items[i].injector)
			rc = add_counts(netns->injectors.items[i].injector, &report, err);
	if (rc == 0)
		*out = report;
	return rc;
}

/* A way's faults are all of one injector. */
static int netns_count(struct site *site, size_t fault, struct site_counts *out, struct err *err)
{
	const struct netns *netns = (const struct netns *)site;
	struct injector_counts counts;
	int rc = injector_count(injector_of(netns, fault), &netns->injectors.faults[fault], &counts,
	                        err);

	if (rc == 0)
		*out = (struct site_counts){.sent_packets = counts.sent_packets,
		                            .lost_packets = counts.lost_packets,
		                            .delayed_packets = counts.delayed_packets,
		                            .delay_sum_ns = counts.delay_sum_ns};
	return rc;
}

/* The first error of several steps is told; all are taken. */
static int keep_first(int first, int rc, const struct err *own, struct err *err)
{
	if (first || rc == 0)
		return first;
	return err_set(err, rc, "%s", own->text);
}

static int netns_close(struct site *site, struct err *err)
{
	struct netns *netns = (struct netns *)site;
	struct err own = {0};
	int first;

	first = keep_first(0, netns_injectors_close(&netns->injectors, &own), &own, err);
	first = keep_first(first, egress_close(netns->egress, &own), &own, err);
	first = keep_first(first, lab_close(netns->lab, &own), &own, err);
	if (netns->journal)
		journal_close(netns->journal);
	free(netns->is_taken);
	free(netns);
	return first;
}

const struct site_ops netns_ops = {
	.name = "netns",
	.open = netns_open,
	.enter = netns_enter,
	.address = netns_address,
	.is_up = netns_is_up,
	.set = netns_set,
	.count = netns_count,
	.report = netns_report,
	.close = netns_close,
};
