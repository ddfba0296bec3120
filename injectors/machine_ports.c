/* machine_ports.c - interfaces of the machine itself, for faults that the user allows there. */
#include "injectors/machine_ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/nearest.h"

/* Of interfaces on top of each other; the ends of a wire each are on the other's. */
enum { STACK_MAX = 4 };

struct machine_ports {
	struct netlink *netlink;
	struct namespace_id where;
	struct interface *rails; /* as they were when they were named */
	int n_rails;
};

/* -ENODEV, with the name that may have been meant. */
static int refuse_unknown(struct netlink *netlink, const char *name, struct err *err)
{
	struct interface *there = NULL;
	const char **names = NULL, *nearest = NULL;
	struct strbuf all = {0};
	size_t n = 0;

	if (interface_list(netlink, &there, &n, NULL) == 0)
		names = array_new(n, sizeof(*names));
	for (size_t i = 0; names && i < n; i++) {
		names[i] = there[i].name;
		strbuf_addf(&all, "%s%s", i > 0 ? ", " : "", there[i].name);
	}
	if (names)
		nearest = nearest_name(name, names, n);
	(void)err_set(err, -ENODEV, "no interface '%.64s' on this machine; %s%s%s", name,
	              nearest ? "did you mean '" : "there are ",
	              nearest ? nearest : strbuf_text(&all), nearest ? "'?" : "");
	strbuf_fini(&all);
	free(names);
	free(there);
	return -ENODEV;
}

/* Does a line of the file, which lists routes, say that the interface has one to everywhere? */
static bool has_default_route(const char *path, const char *name,
                              bool (*is_default)(const char *line, const char *name))
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool has_one = false;

	while (file && !has_one && fgets(line, sizeof(line), file))
		has_one = is_default(line, name);
	if (file)
		(void)fclose(file);
	return has_one;
}

/* Interface, destination, gateway, flags, three numbers, mask. */
static bool is_default_4(const char *line, const char *name)
{
	char found[INTERFACE_NAME_BYTES];
	unsigned destination, mask;

	return sscanf(line, "%15s %x %*x %*x %*d %*d %*d %x", found, &destination, &mask) == 3 &&
	       destination == 0 && mask == 0 && strcmp(found, name) == 0;
}

/* Destination and its length, then seven columns, and the interface last. */
static bool is_default_6(const char *line, const char *name)
{
	char found[INTERFACE_NAME_BYTES];
	unsigned bits, flags;
	const unsigned flag_reject = 0x200;

	return sscanf(line, "%*32s %x %*32s %*x %*32s %*x %*x %*x %x %15s", &bits, &flags, found) ==
	               3 &&
	       bits == 0 && !(flags & flag_reject) && strcmp(found, name) == 0;
}

/* What leaves by the default route may also pass an interface that a VLAN or the like with that
 * route is on top of, or that is a port of a bridge or bond with it. */
static bool is_way_out(const struct interface *all, size_t n, const struct interface *rail,
                       int n_above)
{
	if (has_default_route("/proc/net/route", rail->name, is_default_4) ||
	    has_default_route("/proc/net/ipv6_route", rail->name, is_default_6))
		return true;
	for (size_t i = 0; i < n && n_above > 0; i++)
		if ((all[i].lower_index == rail->index || all[i].index == rail->bridge_index) &&
		    is_way_out(all, n, &all[i], n_above - 1))
			return true;
	return false;
}

static int refuse_way_out(struct netlink *netlink, const struct interface *rail, struct err *err)
{
	struct interface *all;
	size_t n;
	int rc = interface_list(netlink, &all, &n, err);

	if (rc)
		return rc;
	if (is_way_out(all, n, rail, STACK_MAX))
		rc = err_set(
			err, -EPERM,
			"the default route, by which this machine is reached, is over interface "
			"'%s'; name another one",
			rail->name);
	free(all);
	return rc;
}

/* By the name that the kernel calls it, for it may have others. */
static int check_rail(struct netlink *netlink, const struct interface *rail, struct err *err)
{
	if (strcmp(rail->name, "lo") == 0)
		return err_set(
			err, -EPERM,
			"the loopback interface carries all that the machine says to itself; "
			"name another one");
	if (!rail->is_up)
		return err_set(err, -ENOTSUP,
		               "interface '%s' is down already, so no RNIC can die on it; take it "
		               "up, or name another one",
		               rail->name);
	return refuse_way_out(netlink, rail, err);
}

static int add_rail(struct machine_ports *ports, const char *name, struct err *err)
{
	struct interface *rail = &ports->rails[ports->n_rails];
	int rc = interface_find(ports->netlink, name, rail, err);

	if (rc == -ENODEV)
		return refuse_unknown(ports->netlink, name, err);
	for (int i = 0; i < ports->n_rails && !rc; i++)
		if (ports->rails[i].index == rail->index)
			rc = err_set(err, -EINVAL, "interface '%s' is named twice", rail->name);
	rc = rc ? rc : check_rail(ports->netlink, rail, err);
	if (!rc)
		ports->n_rails++;
	return rc;
}

int machine_ports_open(const char *const *names, int n_names, struct machine_ports **out,
                       struct err *err)
{
	struct machine_ports *ports = calloc(1, sizeof(*ports));
	int rc = 0;

	if (ports)
		ports->rails = array_new((size_t)n_names, sizeof(*ports->rails));
	if (!ports || !ports->rails) {
		free(ports);
		return err_set(err, -ENOMEM, "out of memory for interfaces");
	}
	rc = netlink_open(NAMESPACE_OWN, &ports->netlink, err);
	if (!rc)
		rc = namespace_identify(NAMESPACE_OWN, &ports->where, err);
	for (int i = 0; i < n_names && !rc; i++)
		rc = add_rail(ports, names[i], err);
	if (rc)
		machine_ports_close(ports);
	else
		*out = ports;
	return rc;
}

void machine_ports_close(struct machine_ports *ports)
{
	if (!ports)
		return;
	netlink_close(ports->netlink);
	free(ports->rails);
	free(ports);
}

int machine_locate(void *context, const struct injector_target *target, struct egress_port *out,
                   struct err *err)
{
	const struct machine_ports *ports = context;
	const struct interface *rail;

	if (target->rail < 0 || target->rail >= ports->n_rails)
		return err_set(err, -ENOTSUP,
		               "rail %d of stage %d has no interface; name one with "
		               "--allow-interface, the first is rail 0",
		               target->rail, target->from_stage);
	rail = &ports->rails[target->rail];
	*out = (struct egress_port){
		.netlink = ports->netlink,
		.where = ports->where,
		.namespace_fd = NAMESPACE_OWN,
		.mtu_bytes = rail->mtu_bytes,
		.is_allowed = true,
	};
	memcpy(out->interface, rail->name, sizeof(out->interface));
	return 0;
}
