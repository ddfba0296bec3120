/* machine.c - a site that is this machine, with interfaces of its own that the user allows a run to
 * take down.
 *
 * Rail r of every stage is the r-th interface that was named: messages travel from its address to
 * its address, over tcp inside the machine, over RDMA through the port. So an RNIC that goes down
 * is the interface that does, for all stages at once. What is between two addresses of one machine
 * passes no queueing discipline on tcp, and none of an RNIC that is hardware: delays, losses and
 * rates are the workers' unless the user names an injector, over RDMA. */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/site_internal.h"
#include "injectors/machine_ports.h"

/* Ports that have to agree on a speed take seconds for that. */
enum { CARRIER_S = 8, LOOK_MS = 1, ADDRESS_BYTES = 16 };

struct rail {
	char interface[INTERFACE_NAME_BYTES];
	char address[ADDRESS_BYTES]; /* IPv4; "": it has none */
};

struct machine {
	struct site base;
	struct site_faults faults;
	struct machine_ports *ports;
	struct rail rails[TRANSPORT_RAILS_MAX]; /* those that were named */
	int n_rails;
};

static const struct topology *topology_of(const struct machine *machine)
{
	return &machine->faults.config.scenario->topology;
}

/* Its first address; one that has none is reached by what the transport prefers. */
static void find_address(struct rail *rail)
{
	struct ifreq request = {0};
	const struct sockaddr_in *address = (const struct sockaddr_in *)(void *)&request.ifr_addr;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t bits;

	memcpy(request.ifr_name, rail->interface, sizeof(request.ifr_name));
	if (ioctl(fd, SIOCGIFADDR, &request) == 0) {
		bits = ntohl(address->sin_addr.s_addr);
		snprintf(rail->address, sizeof(rail->address), "%u.%u.%u.%u", bits >> 24,
		         bits >> 16 & 0xff, bits >> 8 & 0xff, bits & 0xff);
	}
	close(fd);
}

/* "NAME[,NAME…]", rail by rail. */
static int read_names(struct machine *machine, const char *list, struct err *err)
{
	int n_most = topology_of(machine)->n_rails;

	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		int n = (int)strcspn(list, ",");

		if (n == 0 || n >= INTERFACE_NAME_BYTES)
			return err_set(err, -EINVAL,
			               "--allow-interface wants NAME[,NAME…], of interfaces");
		if (machine->n_rails == n_most)
			return err_set(err, -EINVAL,
			               "--allow-interface names more than %d interface%s, and "
			               "stages have %d rail%s",
			               n_most, n_most == 1 ? "" : "s", n_most,
			               n_most == 1 ? "" : "s");
		snprintf(machine->rails[machine->n_rails++].interface, INTERFACE_NAME_BYTES, "%.*s",
		         n, list);
	}
	return 0;
}

static int open_ports(struct machine *machine, struct err *err)
{
	const char *names[TRANSPORT_RAILS_MAX];
	int rc;

	for (int i = 0; i < machine->n_rails; i++)
		names[i] = machine->rails[i].interface;
	rc = machine_ports_open(names, machine->n_rails, &machine->ports, err);
	for (int i = 0; rc == 0 && i < machine->n_rails; i++)
		find_address(&machine->rails[i]);
	return rc;
}

static int locate(void *context, const struct injector_target *target, struct egress_port *out,
                  struct err *err)
{
	struct machine *machine = context;
	const struct site_config *config = &machine->faults.config;

	if (target->from_stage != target->to_stage &&
	    (strcmp(config->transport, "tcp") == 0 || strcmp(config->injector, "auto") == 0))
		return err_set(err, -ENOTSUP,
		               "what one stage of this machine sends to another leaves through "
		               "no queue of an interface; the workers can hold it (shaped), or "
		               "use --lab netns");
	return machine_locate(machine->ports, target, out, err);
}

static int machine_close(struct site *site, struct err *err)
{
	struct machine *machine = (struct machine *)site;
	int rc = site_faults_close(&machine->faults, err);

	site_faults_end(&machine->faults);
	machine_ports_close(machine->ports);
	free(machine);
	return rc;
}

static int machine_open(const struct site_config *config, struct site **out, struct err *err)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	int rc;

	if (!machine)
		return err_set(err, -ENOMEM, "no memory for interfaces");
	machine->base.ops = &machine_ops;
	rc = site_faults_begin(config, &machine->faults, err);
	rc = rc ? rc : read_names(machine, config->interfaces, err);
	rc = rc ? rc : open_ports(machine, err);
	rc = rc ? rc : site_faults_open(&machine->faults, locate, machine, &machine->base, err);
	if (rc) {
		(void)machine_close(&machine->base, NULL);
		return rc;
	}
	*out = &machine->base;
	return 0;
}

static int machine_enter(struct site *site, int replica, int host, struct err *err)
{
	(void)site;
	(void)replica;
	(void)host;
	(void)err;
	return 0;
}

static char *machine_address(const struct site *site, int replica, int stage, int rail,
                             char text[TRANSPORT_ADDRESS_BYTES])
{
	const struct machine *machine = (const struct machine *)site;
	const char *address = rail < machine->n_rails ? machine->rails[rail].address : "";

	(void)replica;
	(void)stage;
	snprintf(text, TRANSPORT_ADDRESS_BYTES, "%s%s", address, *address ? ":0" : "");
	return text;
}

static bool machine_is_up(const struct site *site, int replica, int stage, int rail)
{
	const struct machine *machine = (const struct machine *)site;

	(void)replica;
	(void)stage;
	return rail >= machine->n_rails || site_interface_is_up(machine->rails[rail].interface);
}

/* Until it carries again no connection over it can be made; one that does not is not waited for
 * for ever. */
static int await_carrier(const struct machine *machine, const struct fault *fault, struct err *err)
{
	const struct injector_target target = {
		.from_stage = fault->from_stage, .to_stage = fault->to_stage, .rail = fault->rail};
	int64_t end_ns = clock_monotonic_ns() + CARRIER_S * (int64_t)NS_PER_S;
	struct egress_port port;
	struct interface found = {0};
	int rc = machine_locate(machine->ports, &target, &port, err);

	for (;;) {
		rc = rc ? rc : egress_find_interface(&port, &found, err);
		/* Down still: for another stage's RNIC. */
		if (rc || found.has_carrier || !found.is_up || clock_monotonic_ns() > end_ns)
			return rc;
		clock_sleep_ns(LOOK_MS * NS_PER_MS);
	}
}

static int machine_set(struct site *site, size_t fault, bool is_on, struct err *err)
{
	struct machine *machine = (struct machine *)site;
	const struct fault *real = &machine->faults.injectors.faults[fault];
	int rc = site_faults_set(&machine->faults, fault, is_on, err);

	return rc || is_on || real->kind != FAULT_DOWN ? rc : await_carrier(machine, real, err);
}

static int machine_count(struct site *site, size_t fault, struct site_counts *out, struct err *err)
{
	return site_faults_count(&((struct machine *)site)->faults, fault, out, err);
}

static int machine_report(struct site *site, struct site_report *out, struct err *err)
{
	return site_faults_report(&((struct machine *)site)->faults, out, err);
}

const struct site_ops machine_ops = {
	.name = "machine",
	.open = machine_open,
	.enter = machine_enter,
	.address = machine_address,
	.is_up = machine_is_up,
	.set = machine_set,
	.count = machine_count,
	.report = machine_report,
	.close = machine_close,
};
