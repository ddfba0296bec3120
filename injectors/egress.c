/* egress.c - what leaves interfaces, each destination in a queueing discipline of its own.
 *
 *     interface ── sorter adab: ─┬─ class adab:1 ── netem ada1: ── destination 1
 *                                ├─ class adab:2 ── tbf ada2:  ── destination 2
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
#include "injectors/sorter_messages.h"

enum {
	SORTER_HANDLE = 0xadab0000,
	LEAF_HANDLE = 0xa0000000, /* and its number in the upper half */
	NUMBER_SHIFT = 16,
	LANES_MAX = 3000, /* on one interface; their handles end below the sorter's */
	PACKET_BYTES_MAX = 65536,
};

/* More than any interface of a lab takes. */
static const int64_t fastest_bits_per_s = INT64_C(100000000000);

/* One destination. */
struct lane {
	uint32_t destination;
	struct qdisc_place place;
	enum qdisc_kind kind;
	const void *owner;       /* NULL: released */
	const void *count_owner; /* the last one; whose packets are counted */
	int64_t sent_before;     /* by owners before that */
	int64_t dropped_before;
};

/* One interface. */
struct gate {
	struct egress_port port;
	struct qdisc_place sorter; /* handle 0: the only lane stands at the root */
	int change;                /* in the journal */
	struct lane *lanes;
	size_t n_lanes, capacity;
};

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

/* Write down that a queueing discipline will stand at the root of the gate's interface. */
static int note_root(struct egress *egress, struct gate *gate, const struct qdisc_place *place,
                     enum qdisc_kind kind, struct err *err)
{
	struct change change = {
		.kind = CHANGE_QDISC,
		.where = gate->port.where,
		.interface_index = place->interface_index,
		.qdisc = *place,
		.qdisc_kind = kind,
	};

	memcpy(change.interface, gate->port.interface, sizeof(change.interface));
	return journal_add(egress->journal, &change, &gate->change, err);
}

/* The change that was written down was not made. */
static void unnote_root(struct egress *egress, const struct gate *gate)
{
	/* A line too many is harmless: undoing it finds nothing. */
	(void)journal_mark_undone(egress->journal, gate->change, NULL);
}

static int put_root(struct egress *egress, struct gate *gate, const struct qdisc_place *place,
                    const struct qdisc_settings *settings, struct err *err)
{
	int rc = note_root(egress, gate, place, settings->kind, err);

	if (rc)
		return rc;
	rc = qdisc_add(gate->port.netlink, place, settings, err);
	if (rc)
		unnote_root(egress, gate);
	return rc;
}

static int check_interface(const struct egress_port *port, struct interface *out, struct err *err)
{
	int rc = interface_find(port->netlink, port->interface, out, err);

	if (rc)
		return rc;
	if (strcmp(out->kind, "veth") != 0 && !port->is_allowed)
		return err_set(err, -EPERM,
		               "interface '%s' is not a virtual wire's end; name it with "
		               "--allow-interface if it may be disturbed",
		               port->interface);
	return 0;
}

static int keep_gate(struct egress *egress, struct gate *gate)
{
	struct gate **gates = array_grow(egress->gates, &egress->capacity, egress->n_gates + 1,
	                                 sizeof(struct gate *));

	if (!gates)
		return -ENOMEM;
	egress->gates = gates;
	gates[egress->n_gates++] = gate;
	return 0;
}

/* A sorter on the interface, unless one lane takes all. */
static int make_gate(struct egress *egress, const struct egress_port *port, struct gate **out,
                     struct err *err)
{
	const struct qdisc_settings settings = {.kind = QDISC_SORTER};
	struct interface found;
	struct gate *gate;
	int rc = check_interface(port, &found, err);

	if (rc)
		return rc;
	gate = calloc(1, sizeof(*gate));
	if (!gate || keep_gate(egress, gate)) {
		free(gate);
		return err_set(err, -ENOMEM, "out of memory for queueing disciplines");
	}
	gate->port = *port;
	gate->sorter = (struct qdisc_place){
		.interface_index = found.index, .parent = QDISC_AT_ROOT, .handle = SORTER_HANDLE};
	if (port->destination)
		rc = put_root(egress, gate, &gate->sorter, &settings, err);
	if (rc) {
		egress->n_gates--;
		free(gate);
		return rc;
	}
	*out = gate;
	return 0;
}

/* Its class, its queueing discipline, and only then the filter that leads there. */
static int fill_lane(struct gate *gate, const struct lane *lane, int number,
                     const struct qdisc_settings *settings, struct err *err)
{
	struct netlink *netlink = gate->port.netlink;
	int rc = netlink_request(netlink, sorter_class_message(&gate->sorter, number), NULL, err);

	if (!rc)
		rc = qdisc_add(netlink, &lane->place, settings, err);
	if (!rc)
		rc = netlink_request(
			netlink, sorter_filter_message(&gate->sorter, number, lane->destination),
			NULL, err);
	return rc;
}

static struct lane *new_lane(struct gate *gate, uint32_t destination,
                             const struct qdisc_settings *settings)
{
	struct lane *lanes = gate->n_lanes >= LANES_MAX
	                             ? NULL
	                             : array_grow(gate->lanes, &gate->capacity, gate->n_lanes + 1,
	                                          sizeof(*lanes));
	int number = (int)gate->n_lanes + 1;

	if (!lanes)
		return NULL;
	gate->lanes = lanes;
	lanes[number - 1] = (struct lane){.destination = destination, .kind = settings->kind};
	lanes[number - 1].place = gate->sorter;
	if (destination) {
		lanes[number - 1].place.parent = sorter_class(&gate->sorter, number);
		lanes[number - 1].place.handle = LEAF_HANDLE + ((uint32_t)number << NUMBER_SHIFT);
	}
	return &lanes[number - 1];
}

static int make_lane(struct egress *egress, struct gate *gate, uint32_t destination,
                     const struct qdisc_settings *settings, struct lane **out, struct err *err)
{
	struct lane *lane;
	int rc;

	if (gate->n_lanes > 0 && (!destination || !gate->lanes[0].destination))
		return err_set(err, -EBUSY,
		               "interface '%s' has faults for some destinations; one for all "
		               "cannot stand beside them",
		               gate->port.interface);
	lane = new_lane(gate, destination, settings);
	if (!lane)
		return err_set(err, -ENOMEM, "no room for more than %zu destinations on '%s'",
		               gate->n_lanes, gate->port.interface);
	rc = destination ? fill_lane(gate, lane, (int)gate->n_lanes + 1, settings, err)
	                 : put_root(egress, gate, &lane->place, settings, err);
	/* A class that is half made has no filter: nothing goes there. Its number is used up. */
	if (!rc || destination)
		gate->n_lanes++;
	if (!rc)
		*out = lane;
	else
		lane->destination = UINT32_MAX;
	return rc;
}

static int read_lane(const struct gate *gate, const struct lane *lane, struct qdisc *out,
                     struct err *err)
{
	return qdisc_read(gate->port.netlink, &lane->place, out, err);
}

/* What was counted until now was the last owner's. */
static int begin_count(const struct gate *gate, struct lane *lane, const void *owner,
                       struct err *err)
{
	struct qdisc found;
	int rc;

	if (lane->count_owner == owner)
		return 0;
	rc = read_lane(gate, lane, &found, err);
	if (rc)
		return rc;
	lane->count_owner = owner;
	lane->sent_before = found.sent_packets;
	lane->dropped_before = found.dropped_packets;
	return 0;
}

/* One kind makes way for another once nothing waits in it; until the new one is there, packets pass
 * as if there were none. */
static int replace_lane(const struct gate *gate, struct lane *lane,
                        const struct qdisc_settings *settings, struct err *err)
{
	struct qdisc found;
	int rc = read_lane(gate, lane, &found, err);

	if (rc)
		return rc;
	if (lane->owner || found.waiting_packets > 0 || !lane->destination)
		return err_set(err, -EBUSY, "the %s on '%s' has not made way for a %s yet",
		               qdisc_kind_name(lane->kind), gate->port.interface,
		               qdisc_kind_name(settings->kind));
	rc = qdisc_delete(gate->port.netlink, &lane->place, lane->kind, err);
	if (!rc)
		rc = qdisc_add(gate->port.netlink, &lane->place, settings, err);
	if (rc)
		return rc;
	lane->kind = settings->kind;
	lane->sent_before = 0;
	lane->dropped_before = 0;
	return 0;
}

static int change_lane(struct gate *gate, struct lane *lane, const void *owner,
                       const struct qdisc_settings *settings, struct err *err)
{
	int rc;

	if (lane->owner && lane->owner != owner)
		return err_set(err, -EBUSY,
		               "another injector has a fault on '%s' for that destination already",
		               gate->port.interface);
	if (lane->kind != settings->kind)
		return replace_lane(gate, lane, settings, err);
	rc = begin_count(gate, lane, owner, err);
	return rc ? rc : qdisc_change(gate->port.netlink, &lane->place, settings, err);
}

int egress_put(struct egress *egress, const void *owner, const struct egress_port *port,
               const struct qdisc_settings *settings, struct err *err)
{
	struct gate *gate = find_gate(egress, port);
	struct lane *lane = find_lane(gate, port->destination);
	int rc = 0;

	if (!gate)
		rc = make_gate(egress, port, &gate, err);
	if (!rc && lane)
		rc = change_lane(gate, lane, owner, settings, err);
	else if (!rc)
		rc = make_lane(egress, gate, port->destination, settings, &lane, err);
	if (!rc) {
		lane->owner = owner;
		lane->count_owner = owner;
	}
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
	int rc;

	if (!lane || lane->owner != owner)
		return 0;
	settings = passing(lane->kind);
	rc = qdisc_change(gate->port.netlink, &lane->place, &settings, err);
	/* Gone with its interface. */
	if (rc == -ENODEV || rc == -ENOENT)
		rc = 0;
	if (!rc)
		lane->owner = NULL;
	return rc;
}

int egress_count(struct egress *egress, const void *owner, struct egress_counts *out,
                 struct err *err)
{
	struct egress_counts counts = {0};

	for (size_t i = 0; i < egress->n_gates; i++)
		for (size_t j = 0; j < egress->gates[i]->n_lanes; j++) {
			const struct lane *lane = &egress->gates[i]->lanes[j];
			struct qdisc found;
			int rc;

			if (lane->count_owner != owner)
				continue;
			rc = read_lane(egress->gates[i], lane, &found, err);
			if (rc)
				return rc;
			counts.sent_packets += found.sent_packets - lane->sent_before;
			counts.dropped_packets += found.dropped_packets - lane->dropped_before;
			counts.waiting_packets += found.waiting_packets;
		}
	*out = counts;
	return 0;
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
