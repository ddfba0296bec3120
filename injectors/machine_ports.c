/* machine_ports.c - interfaces of the machine itself, for faults that the user allows there. */
#include "injectors/machine_ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/nearest.h"

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

static int add_rail(struct machine_ports *ports, const char *name, struct err *err)
{
	struct interface *rail = &ports->rails[ports->n_rails];
	int rc;

	if (strcmp(name, "lo") == 0)
		return err_set(
			err, -EINVAL,
			"the loopback interface carries all that the machine says to itself; "
			"name another one");
	for (int i = 0; i < ports->n_rails; i++)
		if (strcmp(ports->rails[i].name, name) == 0)
			return err_set(err, -EINVAL, "interface '%s' is named twice", name);
	rc = interface_find(ports->netlink, name, rail, err);
	if (rc == -ENODEV)
		return refuse_unknown(ports->netlink, name, err);
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
