/* egress.c - what leaves interfaces, each destination in a queueing discipline of its own.
 *
 *     interface ── sorter adab: ─┬─ class adab:1 ── netem a001: ── destination 1
 *                                ├─ class adab:2 ── tbf a002:  ── destination 2
 *                                ├─ another interface          ── destination 3
 *                                └─ everything else
 *
 * Only the sorter is in the journal: all below goes with it. A class is never taken away while the
 * run lasts, because the packets that wait in it would be dropped and the next ones overtake them;
 * one that is released lets everything through. */
#include "injectors/egress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "injectors/egress_internal.h"

enum {
	SORTER_HANDLE = 0xadab0000,
	PACKET_BYTES_MAX = 65536,
};

/* More than any interface of a lab takes. */
static const int64_t fastest_bits_per_s = INT64_C(100000000000);

struct egress {
	struct journal *journal;
	struct gate **gates;
	size_t n_gates, capacity;
};

int egress_open(struct journal *journal, struct egress **out, struct err *err)
{
	struct egress *egress = calloc(1, sizeof(*egress));

	if (!egress)
		return err_set(err, -ENOMEM, "out of memory for queueing disciplines");
	egress->journal = journal;
	*out = egress;
	return 0;
}

static struct gate *find_gate(const struct egress *egress, const struct egress_port *port)
{
	for (size_t i = 0; i < egress->n_gates; i++)
		if (namespace_is_same(&egress->gates[i]->port.where, &port->where) &&
		    strcmp(egress->gates[i]->port.interface, port->interface) == 0)
			return egress->gates[i];
	return NULL;
}

static struct lane *find_lane(const struct gate *gate, uint32_t destination)
{
	for (size_t i = 0; gate && i < gate->n_lanes; i++)
		if (gate->lanes[i].destination == destination)
			return &gate->lanes[i];
	return NULL;
}

int egress_find_interface(const struct egress_port *port, struct interface *out, struct err *err)
{
	int rc = interface_find(port->netlink, port->interface, out, err);

	if (rc || port->is_allowed)
		return rc;
	return err_set(err, -EPERM,
	               "interface '%s' is not one that this run made; name it with "
	               "--allow-interface if it may be disturbed",
	               port->interface);
}

static int new_gate(struct egress *egress, const struct egress_port *port, int index,
                    struct gate **out, struct err *err)
{
	struct gate **gates = array_grow(egress->gates, &egress->capacity, egress->n_gates + 1,
	                                 sizeof(struct gate *));
	struct gate *gate = gates ? calloc(1, sizeof(*gate)) : NULL;

	if (gates)
		egress->gates = gates;
	if (!gate)
		return err_set(err, -ENOMEM, "out of memory for queueing disciplines");
	gate->port = *port;
	gate->sorter = (struct qdisc_place){
		.interface_index = index, .parent = QDISC_AT_ROOT, .handle = SORTER_HANDLE};
	egress->gates[egress->n_gates++] = gate;
	*out = gate;
	return 0;
}

/* Does a lane for all destinations stand there, or for some? */
static int check_neighbours(const struct gate *gate, uint32_t destination, struct err *err)
{
	if (gate->n_lanes == 0 || (destination && gate->lanes[0].destination))
		return 0;
	return err_set(err, -EBUSY,
	               "interface '%s' has faults for some destinations; one for all cannot stand "
	               "beside them",
	               gate->port.interface);
}

static int make_lane(struct egress *egress, const struct egress_port *port, struct gate *gate,
                     struct lane **out, struct err *err)
{
	const struct qdisc_settings sorter = {.kind = QDISC_SORTER};
	int rc = check_neighbours(gate, port->destination, err);

	if (!rc && port->destination && !gate->change)
		rc = gate_put_root(egress->journal, gate, &gate->sorter, &sorter, err);
	if (rc)
		return rc;
	*out = lane_new(gate, port->destination);
	return *out ? 0
	            : err_set(err, -ENOMEM, "no room for more than %zu destinations on '%s'",
	                      gate->n_lanes, gate->port.interface);
}

/* The lane of port, made if need be, with its sorter in front; owner may have it. */
static int get_lane(struct egress *egress, const void *owner, const struct egress_port *port,
                    struct gate **gate_out, struct lane **lane_out, struct err *err)
{
	struct interface found;
	int rc = 0;

	*gate_out = find_gate(egress, port);
	*lane_out = find_lane(*gate_out, port->destination);
	if (!*gate_out) {
		rc = egress_find_interface(port, &found, err);
		if (!rc)
			rc = new_gate(egress, port, found.index, gate_out, err);
	}
	if (!rc && !*lane_out)
		rc = make_lane(egress, port, *gate_out, lane_out, err);
	if (!rc && (*lane_out)->owner && (*lane_out)->owner != owner)
		rc = err_set(err, -EBUSY,
		             "another injector has a fault on '%s' for that destination already",
		             port->interface);
	return rc;
}

int egress_put(struct egress *egress, const void *owner, const struct egress_port *port,
               const struct qdisc_settings *settings, struct err *err)
{
	struct gate *gate;
	struct lane *lane;
	int rc = get_lane(egress, owner, port, &gate, &lane, err);

	if (!rc)
		rc = lane_put(egress->journal, gate, lane, owner, settings, err);
	if (!rc) {
		lane->owner = owner;
		lane->count_owner = owner;
	}
	return rc;
}

int egress_redirect(struct egress *egress, const void *owner, const struct egress_port *port,
                    int interface_index, struct err *err)
{
	struct gate *gate;
	struct lane *lane;
	int rc;

	if (!port->destination)
		return err_set(err, -EINVAL, "all that leaves '%s' cannot be led elsewhere",
		               port->interface);
	rc = get_lane(egress, owner, port, &gate, &lane, err);
	if (!rc)
		rc = lane_redirect(gate, lane, interface_index, err);
	if (!rc)
		lane->owner = interface_index ? owner : NULL;
	return rc;
}

/* As good as none. netem keeps the order because it has a rate. */
static struct qdisc_settings passing(enum qdisc_kind kind)
{
	return (struct qdisc_settings){
		.kind = kind,
		.netem = {.rate_bits_per_s = fastest_bits_per_s, .limit_packets = UINT32_MAX},
		.tbf = {.rate_bits_per_s = fastest_bits_per_s,
	                .burst_bytes = tbf_burst_bytes(fastest_bits_per_s, PACKET_BYTES_MAX),
	                .limit_bytes = UINT32_MAX},
	};
}

int egress_release(struct egress *egress, const void *owner, const struct egress_port *port,
                   struct err *err)
{
	const struct gate *gate = find_gate(egress, port);
	struct lane *lane = find_lane(gate, port->destination);
	struct qdisc_settings settings;
	int rc = 0;

	if (!lane || lane->owner != owner)
		return 0;
	if (!lane->redirect_index) {
		settings = passing(lane->kind);
		rc = qdisc_change(gate->port.netlink, &lane->place, &settings, err);
	}
	/* Gone with its interface. */
	if (rc == -ENODEV || rc == -ENOENT)
		rc = 0;
	if (!rc)
		lane->owner = NULL;
	return rc;
}

int egress_count(struct egress *egress, const void *owner, const struct egress_port *port,
                 struct egress_counts *out, struct err *err)
{
	const struct gate *only_gate = port ? find_gate(egress, port) : NULL;
	const struct lane *only = port ? find_lane(only_gate, port->destination) : NULL;
	struct egress_counts counts = {0};
	int rc = 0;

	for (size_t i = 0; i < egress->n_gates; i++)
		for (size_t j = 0; !rc && j < egress->gates[i]->n_lanes; j++) {
			const struct lane *lane = &egress->gates[i]->lanes[j];

			if (lane->count_owner == owner && (!port || lane == only))
				rc = lane_count(egress->gates[i], lane, &counts, err);
		}
	if (!rc)
		*out = counts;
	return rc;
}

/* The sorter with all below it, or the only lane. */
static int close_gate(struct egress *egress, struct gate *gate, struct err *err)
{
	bool is_single = gate->n_lanes > 0 && gate->lanes[0].destination == 0;
	enum qdisc_kind kind = is_single ? gate->lanes[0].kind : QDISC_SORTER;
	int rc = 0;

	if (gate->change) {
		rc = qdisc_delete(gate->port.netlink, &gate->sorter, kind, err);
		if (!rc)
			rc = journal_mark_undone(egress->journal, gate->change, err);
	}
	free(gate->lanes);
	free(gate);
	return rc;
}

int egress_close(struct egress *egress, struct err *err)
{
	int first = 0;

	if (!egress)
		return 0;
	for (size_t i = 0; i < egress->n_gates; i++) {
		struct err own = {0};
		int rc = close_gate(egress, egress->gates[i], &own);

		if (rc && !first)
			first = err_set(err, rc, "%s", own.text);
	}
	free(egress->gates);
	free(egress);
	return first;
}
