/* netns.c - a site of network namespaces: one for each host of each replica, a wire a rail.
 *
 * What is made is written into a journal first, and goes in the reverse order: faults, queueing
 * disciplines, namespaces, journal. A run that is killed leaves nothing but the journal, for the
 * namespaces live by the processes in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/site_internal.h"
#include "injectors/lab_ports.h"

/* A rate is kept by whole packets, two of which pass at once, so a message has to be many; but
 * every packet costs time, so one that is large gets packets as large as networks have. */
enum { MTU_LEAST = 1500, MTU_MOST = 9000, PACKETS_PER_MESSAGE = 64 };
enum { CARRIER_S = 1 };

struct netns {
	struct site base;
	struct site_faults faults;
	struct lab *lab;
	struct lab_ports ports;
};

static const struct topology *topology_of(const struct netns *netns)
{
	return &netns->faults.config.scenario->topology;
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

static int open_lab(struct netns *netns, struct err *err)
{
	const struct topology *topology = topology_of(netns);
	const struct lab_config lab = {.n_hosts = topology->n_hosts * topology->n_replicas,
	                               .n_rails = topology->n_rails,
	                               .mtu_bytes = mtu_bytes(netns->faults.config.message_bytes)};
	int rc = lab_open(&lab, netns->faults.journal, &netns->lab, err);

	netns->ports = (struct lab_ports){.lab = netns->lab, .topology = topology};
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
	rc = site_faults_begin(config, &netns->faults, err);
	rc = rc ? rc : open_lab(netns, err);
	rc = rc ? rc
	        : site_faults_open(&netns->faults, lab_locate, &netns->ports, &netns->base, err);
	if (rc) {
		/* What went wrong first is told. */
		(void)netns_close(&netns->base, NULL);
		return rc;
	}
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

static bool netns_is_up(const struct site *site, int replica, int stage, int rail)
{
	char name[INTERFACE_NAME_BYTES];

	(void)site;
	(void)replica;
	(void)stage;
	return site_interface_is_up(lab_rail_name(rail, name));
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
	for (int replica = 0; rc == 0 && replica < topology_of(netns)->n_replicas; replica++) {
		int number = host_of(netns, replica, host);

		do
			rc = interface_find(lab_netlink(netns->lab, number), name, &rail, err);
		while (rc == 0 && !rail.has_carrier && clock_monotonic_ns() < end_ns);
		rc = rc ? rc : lab_restore_rail(netns->lab, number, fault->rail, err);
	}
	return rc;
}

static int netns_set(struct site *site, size_t fault, bool is_on, struct err *err)
{
	struct netns *netns = (struct netns *)site;
	const struct fault *real = &netns->faults.injectors.faults[fault];
	int rc = site_faults_set(&netns->faults, fault, is_on, err);

	return rc || is_on || real->kind != FAULT_DOWN ? rc : await_carrier(netns, real, err);
}

static int netns_count(struct site *site, size_t fault, struct site_counts *out, struct err *err)
{
	return site_faults_count(&((struct netns *)site)->faults, fault, out, err);
}

static int netns_report(struct site *site, struct site_report *out, struct err *err)
{
	return site_faults_report(&((struct netns *)site)->faults, out, err);
}

static int netns_close(struct site *site, struct err *err)
{
	struct netns *netns = (struct netns *)site;
	struct err own = {0};
	int first = site_keep_first(0, site_faults_close(&netns->faults, &own), &own, err);

	first = site_keep_first(first, lab_close(netns->lab, &own), &own, err);
	site_faults_end(&netns->faults);
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
