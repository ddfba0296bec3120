/* egress_lane.c - one destination of an interface: its class, queueing discipline and filter. */
#include <errno.h>
#include <string.h>

#include "engine/base/array.h"
#include "injectors/egress_internal.h"
#include "injectors/sorter_messages.h"

enum {
	LEAF_HANDLE = 0xa0000000, /* and its number in the upper half */
	NUMBER_SHIFT = 16,
	LANES_MAX = 3000, /* their handles end below the sorter's */
};

/* Every run uses the same handle. What is written down is undone by whoever finds this journal, so
 * another run's must not get into it. */
static int check_root(struct gate *gate, const struct qdisc_place *place, struct err *err)
{
	struct qdisc found;
	int rc = qdisc_read(gate->port.netlink, place, &found, err);

	if (rc == 0)
		return err_set(err, -EEXIST,
		               "another run's queueing discipline is on '%s'; if that run is over, "
		               "doctor --undo removes it",
		               gate->port.interface);
	return rc == -ENOENT ? 0 : rc;
}

int gate_put_root(struct journal *journal, struct gate *gate, const struct qdisc_place *place,
                  const struct qdisc_settings *settings, struct err *err)
{
	struct change change = {
		.kind = CHANGE_QDISC,
		.where = gate->port.where,
		.interface_index = place->interface_index,
		.qdisc = *place,
		.qdisc_kind = settings->kind,
	};
	int number, rc = check_root(gate, place, err);

	if (rc)
		return rc;
	memcpy(change.interface, gate->port.interface, sizeof(change.interface));
	rc = journal_add(journal, &change, &number, err);
	if (rc)
		return rc;
	rc = qdisc_add(gate->port.netlink, place, settings, err);
	if (!rc)
		gate->change = number;
	else
		/* A line too many is harmless: undoing it finds nothing. */
		(void)journal_mark_undone(journal, number, NULL);
	return rc;
}

struct lane *lane_new(struct gate *gate, uint32_t destination)
{
	struct lane *lanes = gate->n_lanes >= LANES_MAX
	                             ? NULL
	                             : array_grow(gate->lanes, &gate->capacity, gate->n_lanes + 1,
	                                          sizeof(*lanes));
	struct lane *lane;

	if (!lanes)
		return NULL;
	gate->lanes = lanes;
	lane = &lanes[gate->n_lanes++];
	*lane = (struct lane){.destination = destination, .number = (int)gate->n_lanes};
	lane->place = gate->sorter;
	if (destination) {
		lane->place.parent = sorter_class(&gate->sorter, lane->number);
		lane->place.handle = LEAF_HANDLE + ((uint32_t)lane->number << NUMBER_SHIFT);
	}
	return lane;
}

static int make_class(struct gate *gate, struct lane *lane, struct err *err)
{
	int rc = netlink_request(gate->port.netlink,
	                         sorter_class_message(&gate->sorter, lane->number), NULL, err);

	lane->has_class = rc == 0;
	return rc;
}

/* Until another filter is there, packets pass untouched. */
static int drop_filter(struct gate *gate, struct lane *lane, struct err *err)
{
	int rc = netlink_request(gate->port.netlink,
	                         sorter_unfilter_message(&gate->sorter, lane->number), NULL, err);

	/* It, or the interface, is gone already. */
	if (rc == -ENOENT || rc == -ENODEV || rc == -EINVAL)
		rc = 0;
	if (!rc) {
		lane->has_filter = false;
		lane->redirect_index = 0;
	}
	return rc;
}

int lane_redirect(struct gate *gate, struct lane *lane, int index, struct err *err)
{
	struct nl_msg *message;
	int rc = 0;

	if (lane->has_filter && lane->redirect_index == index && index)
		return 0;
	if (lane->has_filter)
		rc = drop_filter(gate, lane, err);
	if (rc || !index)
		return rc;
	message = sorter_redirect_message(&gate->sorter, lane->number, lane->destination, index);
	rc = netlink_request(gate->port.netlink, message, NULL, err);
	if (!rc) {
		lane->has_filter = true;
		lane->redirect_index = index;
	}
	return rc;
}

static int lead_to_class(struct gate *gate, struct lane *lane, struct err *err)
{
	struct nl_msg *message;
	int rc = 0;

	if (lane->has_filter && !lane->redirect_index)
		return 0;
	if (lane->has_filter)
		rc = drop_filter(gate, lane, err);
	if (rc)
		return rc;
	message = sorter_filter_message(&gate->sorter, lane->number, lane->destination);
	rc = netlink_request(gate->port.netlink, message, NULL, err);
	lane->has_filter = rc == 0;
	return rc;
}

/* One kind makes way for another once nothing waits in it. */
static int make_way(struct gate *gate, struct lane *lane, const struct qdisc_settings *settings,
                    struct err *err)
{
	struct qdisc found;
	int rc = qdisc_read(gate->port.netlink, &lane->place, &found, err);

	if (rc)
		return rc;
	if (lane->owner || found.waiting_packets > 0 || !lane->destination)
		return err_set(err, -EBUSY, "the %s on '%s' has not made way for a %s yet",
		               qdisc_kind_name(lane->kind), gate->port.interface,
		               qdisc_kind_name(settings->kind));
	rc = qdisc_delete(gate->port.netlink, &lane->place, lane->kind, err);
	if (!rc)
		lane->has_qdisc = false;
	return rc;
}

static int make_qdisc(struct journal *journal, struct gate *gate, struct lane *lane,
                      const struct qdisc_settings *settings, struct err *err)
{
	int rc = lane->destination ? qdisc_add(gate->port.netlink, &lane->place, settings, err)
	                           : gate_put_root(journal, gate, &lane->place, settings, err);

	if (rc)
		return rc;
	lane->has_qdisc = true;
	lane->kind = settings->kind;
	lane->sent_before = 0;
	lane->dropped_before = 0;
	return 0;
}

/* What was counted until now was the last owner's. */
static int begin_count(const struct gate *gate, struct lane *lane, const void *owner,
                       struct err *err)
{
	struct qdisc found;
	int rc;

	if (lane->count_owner == owner)
		return 0;
	rc = qdisc_read(gate->port.netlink, &lane->place, &found, err);
	if (rc)
		return rc;
	lane->sent_before = found.sent_packets;
	lane->dropped_before = found.dropped_packets;
	return 0;
}

static int change_qdisc(struct gate *gate, struct lane *lane, const void *owner,
                        const struct qdisc_settings *settings, struct err *err)
{
	int rc = begin_count(gate, lane, owner, err);

	return rc ? rc : qdisc_change(gate->port.netlink, &lane->place, settings, err);
}

int lane_put(struct journal *journal, struct gate *gate, struct lane *lane, const void *owner,
             const struct qdisc_settings *settings, struct err *err)
{
	int rc = 0;

	if (lane->destination && !lane->has_class)
		rc = make_class(gate, lane, err);
	if (!rc && lane->has_qdisc && lane->kind != settings->kind)
		rc = make_way(gate, lane, settings, err);
	if (!rc)
		rc = lane->has_qdisc ? change_qdisc(gate, lane, owner, settings, err)
		                     : make_qdisc(journal, gate, lane, settings, err);
	if (!rc && lane->destination)
		rc = lead_to_class(gate, lane, err);
	return rc;
}

int lane_count(const struct gate *gate, const struct lane *lane, struct egress_counts *sums,
               struct err *err)
{
	struct qdisc found;
	int rc;

	if (!lane->has_qdisc)
		return 0;
	rc = qdisc_read(gate->port.netlink, &lane->place, &found, err);
	if (rc)
		return rc;
	sums->sent_packets += found.sent_packets - lane->sent_before;
	sums->dropped_packets += found.dropped_packets - lane->dropped_before;
	sums->waiting_packets += found.waiting_packets;
	return 0;
}
