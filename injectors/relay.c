/* relay.c - the injector that delays packets in this process, for kernels without netem.
 *
 *     rail0 ── sorter ── filter for the destination ── tap ── delay line ── rail0, past the sorter
 *
 * It may only be used in namespaces of the run's own: the taps are interfaces. When a fault ends,
 * packets still go through the tap, without delay and in order; only close() takes the filter away,
 * once nothing waits. */
#include "injectors/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "injectors/shaping_internal.h"
#include "injectors/tap.h"

enum {
	FRAME_BYTES = 18, /* Ethernet, with a VLAN */
	TOWARDS = 2,
	/* What all senders of one destination may have under way; as many may wait in the tap. */
	QUEUE_PACKETS = 200000,
	DRAIN_STEP_MS = 1,
	DRAIN_EXTRA_S = 2,
};

/* The same for every run: what is drawn for a packet depends on its place in its lane only. */
static const uint64_t seed = UINT64_C(0x7e1a7);

/* One port that has a tap. */
struct detour {
	bool is_made;
	int lane;
	int change; /* in the journal */
	struct interface tap;
	struct egress_port port;
};

struct relay {
	struct shaper shaper;
	struct delay_line *line;
	struct detour
		*detours; /* [((replica * n_stages + from) * 2 + is_forward) * n_rails + rail] */
	size_t n_detours;
	int64_t longest_ns; /* that a packet was delayed */
};

static struct detour *detour_of(struct relay *relay, const struct injector_target *target)
{
	const struct topology *topology = relay->shaper.base.config.topology;
	int direction = (target->replica * topology->n_stages + target->from_stage) * TOWARDS +
	                (target->to_stage > target->from_stage);

	return &relay->detours[direction * topology->n_rails + target->rail];
}

static struct delay_shape shape_of(const struct relay *relay, const struct shaping *shaping,
                                   int mtu_bytes)
{
	const struct injector_config *config = &relay->shaper.base.config;

	return (struct delay_shape){
		.delay_ns = shaping->delay_ns,
		.jitter_ns = shaping->jitter_ns,
		.distribution = shaping->distribution,
		.allows_reordering = shaping->allows_reordering,
		.loss_ratio = shaping->loss_ratio,
		.loss_correlation_ratio = shaping->loss_correlation_ratio,
		.rate_bits_per_s = shaping_rate_bits_per_s(config, shaping, mtu_bytes),
		.limit_packets = QUEUE_PACKETS,
	};
}

/* In the journal before it is made; its name is its place among all detours. */
static int make_tap(struct relay *relay, struct detour *detour, int *fd_out, struct err *err)
{
	struct change change = {.kind = CHANGE_INTERFACE, .where = detour->port.where};
	int rc;

	snprintf(change.interface, sizeof(change.interface), "delay%u",
	         (unsigned)(detour - relay->detours));
	/* A line of an attempt that failed stands for this one as well. */
	rc = detour->change ? 0
	                    : journal_add(relay->shaper.base.config.journal, &change,
	                                  &detour->change, err);
	if (!rc)
		rc = tap_open(detour->port.namespace_fd, change.interface, fd_out, err);
	if (rc)
		return rc;
	rc = interface_find(detour->port.netlink, change.interface, &detour->tap, err);
	if (rc)
		close(*fd_out);
	return rc;
}

static int set_up_tap(const struct detour *detour, struct err *err)
{
	struct netlink *netlink = detour->port.netlink;
	int rc = interface_set_mtu(netlink, detour->tap.index, detour->port.mtu_bytes, err);

	if (!rc)
		rc = interface_set_queue(netlink, detour->tap.index, QUEUE_PACKETS, err);
	if (!rc)
		rc = interface_set_quiet(netlink, detour->tap.index, err);
	if (!rc)
		rc = interface_set_up(netlink, detour->tap.index, true, err);
	return rc;
}

static int open_sender(const struct detour *detour, int *fd_out, struct err *err)
{
	struct interface rail;
	int rc = interface_find(detour->port.netlink, detour->port.interface, &rail, err);

	return rc ? rc : tap_open_sender(detour->port.namespace_fd, rail.index, fd_out, err);
}

static int make_detour(struct relay *relay, struct detour *detour, const struct delay_shape *shape,
                       struct err *err)
{
	struct delay_ends ends = {.packet_bytes = detour->port.mtu_bytes + FRAME_BYTES};
	int rc = make_tap(relay, detour, &ends.in_fd, err);

	if (rc)
		return rc;
	rc = set_up_tap(detour, err);
	if (!rc)
		rc = open_sender(detour, &ends.out_fd, err);
	if (rc) {
		close(ends.in_fd);
		return rc;
	}
	rc = delay_line_add(relay->line, &ends, shape, &detour->lane, err);
	detour->is_made = rc == 0;
	return rc;
}

static int put(struct shaper *shaper, const struct shaping *shaping,
               const struct injector_port *port, struct err *err)
{
	struct relay *relay = (struct relay *)shaper;
	struct egress *egress = shaper->base.config.egress;
	struct detour *detour = detour_of(relay, &port->target);
	struct delay_shape shape = shape_of(relay, shaping, port->port.mtu_bytes);
	int rc = 0;

	if (shape.delay_ns + shape.jitter_ns > relay->longest_ns)
		relay->longest_ns = shape.delay_ns + shape.jitter_ns;
	if (!detour->is_made && shaping_is_nothing(shaping))
		return 0;
	if (!detour->is_made) {
		detour->port = port->port;
		rc = make_detour(relay, detour, &shape, err);
	} else {
		delay_line_set(relay->line, detour->lane, &shape);
	}
	if (rc)
		return rc;
	return shaping_is_nothing(shaping)
	               ? egress_release(egress, relay, &port->port, err)
	               : egress_redirect(egress, relay, &port->port, detour->tap.index, err);
}

/* Its taps are interfaces, and only a lab's are the run's to make; what leaves them is told apart
 * by destination. */
static int needs_lab(const struct injector_port *port, void *context, struct err *err)
{
	(void)context;
	return port->port.destination ? 0
	                              : err_set(err, -ENOTSUP,
	                                        "injector relay works in a lab only, not on '%s'; "
	                                        "use --lab netns, "
	                                        "or netem and rate, which do it where it is",
	                                        port->port.interface);
}

static int relay_check(const struct injector *injector, const struct fault *fault, struct err *err)
{
	int rc = shaping_check(injector, fault, err);

	return rc ? rc : injector_each_port(injector, fault, needs_lab, NULL, err);
}

/* Can taps be made, and filters that lead there? */
static int probe(struct err *err)
{
	int namespace_fd, fd, rc = qdisc_probe(QDISC_SORTER, err);

	if (!rc)
		rc = namespace_make(1, &namespace_fd, err);
	if (rc)
		return rc;
	rc = tap_open(namespace_fd, "probe", &fd, err);
	close(namespace_fd);
	if (!rc)
		close(fd);
	return rc == -ENOENT ? -ENOTSUP : rc;
}

static int make_relay(const struct injector_config *config, struct relay **out, struct err *err)
{
	const struct topology *topology = config->topology;
	struct relay *relay = calloc(1, sizeof(*relay));
	int rc = -ENOMEM;

	if (relay) {
		relay->n_detours = (size_t)topology->n_replicas * (size_t)topology->n_stages *
		                   TOWARDS * (size_t)topology->n_rails;
		relay->detours = array_new(relay->n_detours, sizeof(*relay->detours));
	}
	if (!relay || !relay->detours) {
		free(relay);
		return err_set(err, -ENOMEM, "out of memory for an injector");
	}
	rc = shaping_init(&relay->shaper, config, &relay_ops, put, err);
	if (!rc)
		*out = relay;
	else {
		free(relay->detours);
		free(relay);
	}
	return rc;
}

static int relay_open(const struct injector_config *config, struct injector **out, struct err *err)
{
	struct relay *relay = NULL;
	int rc = probe(err);

	if (!rc)
		rc = make_relay(config, &relay, err);
	if (rc)
		return rc;
	rc = delay_line_open(seed, &relay->line, err);
	if (rc) {
		(void)injector_close(&relay->shaper.base, NULL);
		return rc;
	}
	*out = &relay->shaper.base;
	return 0;
}

/* What the tap had no room for never came to the line. */
static int count_detour(const struct relay *relay, const struct detour *detour,
                        struct injector_counts *sums, struct err *err)
{
	struct delay_counts counts;
	struct interface tap;
	int rc = interface_find(detour->port.netlink, detour->tap.name, &tap, err);

	if (rc && rc != -ENODEV)
		return rc;
	delay_line_count(relay->line, detour->lane, &counts);
	sums->sent_packets += counts.sent_packets;
	sums->delayed_packets += counts.sent_packets;
	sums->delay_sum_ns += counts.delay_sum_ns;
	sums->lost_packets += counts.lost_packets;
	sums->dropped_packets += counts.dropped_packets;
	if (!rc)
		sums->dropped_packets += tap.dropped_packets;
	return 0;
}

/* Of all replicas, and on all rails. */
static bool is_on_way(const struct relay *relay, size_t detour, const struct fault *fault)
{
	const struct topology *topology = relay->shaper.base.config.topology;
	int direction = (int)(detour / (size_t)topology->n_rails) % (topology->n_stages * TOWARDS);

	return !fault ||
	       direction == fault->from_stage * TOWARDS + (fault->to_stage > fault->from_stage);
}

static int relay_count(const struct injector *injector, const struct fault *fault,
                       struct injector_counts *out, struct err *err)
{
	const struct relay *relay = (const struct relay *)injector;
	struct injector_counts sums = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < relay->n_detours; i++)
		if (relay->detours[i].is_made && is_on_way(relay, i, fault))
			rc = count_detour(relay, &relay->detours[i], &sums, err);
	if (!rc)
		*out = sums;
	return rc;
}

int relay_accuracy(const struct injector *injector, struct delay_accuracy *out, struct err *err)
{
	if (injector->ops != &relay_ops)
		return err_set(err, -EINVAL, "injector %s does not measure its lateness",
		               injector->ops->name);
	delay_line_accuracy(((const struct relay *)injector)->line, out);
	return 0;
}

/* Wait until nothing of the detour is under way, as long as that may take. */
static void drain(const struct relay *relay, const struct detour *detour)
{
	int64_t end_ns =
		clock_monotonic_ns() + relay->longest_ns + DRAIN_EXTRA_S * (int64_t)NS_PER_S;
	struct delay_counts counts;

	for (;;) {
		delay_line_count(relay->line, detour->lane, &counts);
		if (counts.waiting_packets == 0 || clock_monotonic_ns() > end_ns)
			return;
		clock_sleep_ns(DRAIN_STEP_MS * NS_PER_MS);
	}
}

static int end_detour(struct relay *relay, const struct detour *detour, struct err *err)
{
	int rc = egress_redirect(relay->shaper.base.config.egress, relay, &detour->port, 0, err);

	/* Another injector leads them elsewhere by now. */
	if (rc == -EBUSY)
		rc = 0;
	drain(relay, detour);
	return rc;
}

static int relay_close(struct injector *injector, struct err *err)
{
	struct relay *relay = (struct relay *)injector;
	struct journal *journal = injector->config.journal;
	int rc = shaping_fini(&relay->shaper, err), first = rc;

	for (size_t i = 0; i < relay->n_detours; i++)
		if (relay->detours[i].is_made) {
			rc = end_detour(relay, &relay->detours[i], first ? NULL : err);
			first = first ? first : rc;
		}
	delay_line_close(relay->line);
	for (size_t i = 0; i < relay->n_detours; i++)
		if (relay->detours[i].change) {
			rc = journal_mark_undone(journal, relay->detours[i].change,
			                         first ? NULL : err);
			first = first ? first : rc;
		}
	free(relay->detours);
	free(relay);
	return first;
}

const struct injector_ops relay_ops = {
	.name = "relay",
	.open = relay_open,
	.check = relay_check,
	.apply = shaping_apply,
	.clear = shaping_clear,
	.count = relay_count,
	.close = relay_close,
};
