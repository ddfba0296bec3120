/* qdisc.c - queueing disciplines: made, compared with what was asked, changed, read, removed. */
#include "injectors/qdisc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "injectors/namespace.h"
#include "injectors/qdisc_messages.h"

enum {
	BITS_PER_BYTE = 8,
	LIMIT_PACKETS_MIN = 1000,
	BURSTS_PER_S = 1000,
	LOOPBACK_INDEX = 1, /* in every namespace */
	PROBE_HANDLE = 0xadab0000,
};

/* No virtual wire carries more. */
static const int64_t fastest_bits_per_s = INT64_C(100000000000);

/* The scheduler's clock: words 1 and 2 of the file are ns per µs and ns per tick. libnl goes on
 * with 1 µs where the file cannot be read; no delay would be right then. */
static int read_tick(int64_t *ns_out, struct err *err)
{
	FILE *file = fopen("/proc/net/psched", "re");
	unsigned ns_per_us = 0, ns_per_tick = 0;
	int n_read = 0;

	if (file) {
		n_read = fscanf(file, "%x %x", &ns_per_us, &ns_per_tick);
		fclose(file);
	}
	if (n_read != 2 || ns_per_us != NS_PER_US || ns_per_tick == 0)
		return err_set(err, -ENOTSUP,
		               "/proc/net/psched does not say how long the scheduler's ticks are");
	*ns_out = ns_per_tick;
	return 0;
}

static int read_kind(struct netlink *netlink, const struct qdisc_place *place, int64_t ns_per_tick,
                     struct qdisc *out, struct err *err)
{
	struct netlink_answer answer = {0};
	const struct nlmsghdr *head;
	int rc = netlink_request(netlink, qdisc_get_message(place), &answer, err);

	if (rc) {
		(void)err_wrap(err, "qdisc %x: on interface %d", place->handle >> 16,
		               place->interface_index);
		return rc;
	}
	head = netlink_next(&answer, NULL);
	rc = head ? qdisc_parse(head, ns_per_tick, out) : -EPROTO;
	netlink_answer_fini(&answer);
	return rc ? err_set(err, rc, "the kernel's answer about a qdisc is none") : 0;
}

int qdisc_read(struct netlink *netlink, const struct qdisc_place *place, struct qdisc *out,
               struct err *err)
{
	int64_t ns_per_tick;
	int rc = read_tick(&ns_per_tick, err);

	return rc ? rc : read_kind(netlink, place, ns_per_tick, out, err);
}

static bool is_ratio(double asked, double found)
{
	return qdisc_probability(asked) == qdisc_probability(found);
}

/* The first thing that is not as asked, NULL: all is. */
static const char *difference_of_netem(const struct netem *asked, const struct netem *found)
{
	if (asked->delay_ns != found->delay_ns)
		return "delay";
	if (asked->jitter_ns != found->jitter_ns)
		return "jitter";
	if (!is_ratio(asked->delay_correlation_ratio, found->delay_correlation_ratio) ||
	    !is_ratio(asked->loss_correlation_ratio, found->loss_correlation_ratio))
		return "correlation";
	if (!is_ratio(asked->loss_ratio, found->loss_ratio))
		return "loss";
	if (!is_ratio(asked->burst_enter_ratio, found->burst_enter_ratio) ||
	    !is_ratio(asked->burst_enter_ratio > 0 ? asked->burst_leave_ratio : 0,
	              found->burst_leave_ratio))
		return "bursts of loss";
	if (asked->rate_bits_per_s / BITS_PER_BYTE != found->rate_bits_per_s / BITS_PER_BYTE)
		return "rate";
	return asked->limit_packets == found->limit_packets ? NULL : "limit";
}

/* The kernel keeps the burst as whole ticks of time. */
static const char *difference_of_tbf(const struct tbf *asked, const struct tbf *found,
                                     int64_t ns_per_tick)
{
	double tick_bytes =
		(double)asked->rate_bits_per_s / BITS_PER_BYTE * (double)ns_per_tick / NS_PER_S;
	double burst_apart = fabs((double)asked->burst_bytes - (double)found->burst_bytes);

	if (asked->rate_bits_per_s / BITS_PER_BYTE != found->rate_bits_per_s / BITS_PER_BYTE)
		return "rate";
	if (burst_apart > 2 * tick_bytes + 2)
		return "burst";
	return asked->limit_bytes == found->limit_bytes ? NULL : "limit";
}

static const char *difference_of(const struct qdisc_settings *asked, const struct qdisc *found,
                                 int64_t ns_per_tick)
{
	if (strcmp(found->kind, qdisc_kind_name(asked->kind)) != 0)
		return "kind";
	switch (asked->kind) {
	case QDISC_NETEM:
		return difference_of_netem(&asked->netem, &found->settings.netem);
	case QDISC_TBF:
		return difference_of_tbf(&asked->tbf, &found->settings.tbf, ns_per_tick);
	case QDISC_SORTER:
		return NULL;
	}
	return NULL;
}

static int compare(struct netlink *netlink, const struct qdisc_place *place,
                   const struct qdisc_settings *settings, int64_t ns_per_tick, struct err *err)
{
	const char *difference;
	struct qdisc found;
	int rc = read_kind(netlink, place, ns_per_tick, &found, err);

	if (rc)
		return rc;
	difference = difference_of(settings, &found, ns_per_tick);
	if (difference)
		return err_set(
			err, -EBADMSG,
			"the kernel took another %s for %s on interface %d than it was given",
			difference, found.kind, place->interface_index);
	return 0;
}

static int refused(const struct netlink *netlink, const struct qdisc_place *place,
                   enum qdisc_kind kind, struct err *err)
{
	const char *complaint = netlink_complaint(netlink);

	/* Also the answer to a parent that is not there, so the sentence decides, where the kernel
	 * has any. */
	if (err->code == -ENOENT && (!complaint[0] || strstr(complaint, "is unknown")))
		return err_set(err, -ENOTSUP,
		               "qdisc %s is not in this kernel; load its module (sch_%s), or use "
		               "the relay or shaped injector",
		               qdisc_kind_name(kind), qdisc_kind_name(kind));
	return err_wrap(err, "qdisc %s cannot be put on interface %d", qdisc_kind_name(kind),
	                place->interface_index);
}

int qdisc_add(struct netlink *netlink, const struct qdisc_place *place,
              const struct qdisc_settings *settings, struct err *err)
{
	struct err own = {0};
	int64_t ns_per_tick;
	int rc = read_tick(&ns_per_tick, err);

	if (rc)
		return rc;
	if (netlink_request(netlink, qdisc_put_message(place, settings, true), NULL, &own)) {
		rc = refused(netlink, place, settings->kind, &own);
		return err_set(err, rc, "%s", own.text);
	}
	rc = compare(netlink, place, settings, ns_per_tick, err);
	if (rc)
		/* What is wrong is told; that it could not be removed as well would hide it. */
		(void)qdisc_delete(netlink, place, settings->kind, NULL);
	return rc;
}

int qdisc_change(struct netlink *netlink, const struct qdisc_place *place,
                 const struct qdisc_settings *settings, struct err *err)
{
	int64_t ns_per_tick;
	int rc = read_tick(&ns_per_tick, err);

	if (rc)
		return rc;
	rc = netlink_request(netlink, qdisc_put_message(place, settings, false), NULL, err);
	if (rc) {
		(void)err_wrap(err, "qdisc %s on interface %d cannot be changed",
		               qdisc_kind_name(settings->kind), place->interface_index);
		return rc;
	}
	return compare(netlink, place, settings, ns_per_tick, err);
}

int qdisc_delete(struct netlink *netlink, const struct qdisc_place *place, enum qdisc_kind kind,
                 struct err *err)
{
	int rc = netlink_request(netlink, qdisc_delete_message(place, kind), NULL, err);

	/* ENODEV, ENOENT: the interface, or any qdisc in that place, is gone; EINVAL: its handle or
	 * its kind are another one's. */
	if (rc == 0 || rc == -ENODEV || rc == -ENOENT || rc == -EINVAL)
		return 0;
	(void)err_wrap(err, "qdisc %s on interface %d cannot be removed", qdisc_kind_name(kind),
	               place->interface_index);
	return rc;
}

int qdisc_probe(enum qdisc_kind kind, struct err *err)
{
	const struct qdisc_place place = {
		.interface_index = LOOPBACK_INDEX, .parent = QDISC_AT_ROOT, .handle = PROBE_HANDLE};
	const struct qdisc_settings settings = {
		.kind = kind,
		.netem = {.limit_packets = 1},
		.tbf = {.rate_bits_per_s = 8000000, .burst_bytes = 100000, .limit_bytes = 100000},
	};
	struct netlink *netlink;
	int fd, rc;

	rc = namespace_make(1, &fd, err);
	if (rc)
		return rc;
	rc = netlink_open(fd, &netlink, err);
	if (!rc) {
		rc = qdisc_add(netlink, &place, &settings, err);
		netlink_close(netlink);
	}
	close(fd);
	return rc;
}

uint32_t netem_limit_packets(int64_t rate_bits_per_s, int64_t delay_ns, int packet_bytes)
{
	double rate = (double)(rate_bits_per_s > 0 ? rate_bits_per_s : fastest_bits_per_s);
	double bytes = rate / BITS_PER_BYTE * (double)delay_ns / NS_PER_S;
	double packets = ceil(bytes / packet_bytes * 1.5);

	return (uint32_t)fmin(fmax(packets, LIMIT_PACKETS_MIN), UINT32_MAX);
}

uint32_t tbf_burst_bytes(int64_t rate_bits_per_s, int packet_bytes)
{
	double bytes = (double)rate_bits_per_s / BITS_PER_BYTE / BURSTS_PER_S;

	return (uint32_t)fmin(fmax(ceil(bytes), 2.0 * packet_bytes), UINT32_MAX);
}
