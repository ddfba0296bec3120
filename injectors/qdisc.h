/* qdisc.h - queueing disciplines: what a packet goes through before it leaves an interface.
 *
 * One that is made here has a handle of the caller's choice, and is changed and removed by its
 * place, handle and kind together; the kernel refuses when another one stands there. What was made
 * or changed is read back and compared, so success means that it is in force as asked. All of it
 * happens in the namespace of the netlink connection. */
#ifndef INJECTORS_QDISC_H
#define INJECTORS_QDISC_H

#include <stddef.h>
#include <stdint.h>

#include "engine/scenario/fault.h"
#include "injectors/netlink.h"

enum qdisc_kind { QDISC_NETEM, QDISC_TBF, QDISC_SORTER };

/* Where the one that sees all packets of an interface stands. */
#define QDISC_AT_ROOT UINT32_C(0xffffffff)

struct qdisc_place {
	int interface_index;
	uint32_t parent; /* QDISC_AT_ROOT, or a class of a sorter */
	uint32_t handle; /* lower 16 bits 0 */
};

/* Delays, loses and spaces packets. Ratios are 0 to 1. */
struct netem {
	int64_t delay_ns;
	int64_t jitter_ns; /* reorders packets unless there is a rate; as fault.h says */
	enum distribution distribution;
	double delay_correlation_ratio; /* of each delay with the one before */
	double loss_ratio;
	double loss_correlation_ratio;
	double burst_enter_ratio; /* in place of loss_ratio: losses in a row begin … */
	double burst_leave_ratio; /* … and end with this probability at each packet */
	int64_t rate_bits_per_s;  /* 0: any; whole bytes */
	uint32_t limit_packets;   /* what does not fit is dropped */
};

/* Lets packets through at a rate; the first burst_bytes pass at once. */
struct tbf {
	int64_t rate_bits_per_s; /* whole bytes */
	uint32_t burst_bytes;
	uint32_t limit_bytes; /* that wait; what does not fit is dropped */
};

struct qdisc_settings {
	enum qdisc_kind kind;
	struct netem netem; /* QDISC_NETEM */
	struct tbf tbf;     /* QDISC_TBF */
};

/* What the kernel says about one. */
struct qdisc {
	char kind[16];
	uint32_t parent;
	struct qdisc_settings settings; /* kind is set for kinds known here */
	int64_t sent_packets;
	int64_t sent_bytes;
	int64_t dropped_packets; /* losses that were asked for included */
	int64_t waiting_packets;
};

const char *qdisc_kind_name(enum qdisc_kind kind);

/* Is the kind in this kernel? Tried out in a namespace that is made for it. -ENOTSUP: it is not,
 * err says what to use instead; -EPERM: not allowed to try. */
int qdisc_probe(enum qdisc_kind kind, struct err *err);

/* -EEXIST: somebody else's is there, which stays as it is; -ENOTSUP: the kernel does not know the
 * kind; -EBADMSG: the kernel took something else than was asked, and it was removed again. */
int qdisc_add(struct netlink *netlink, const struct qdisc_place *place,
              const struct qdisc_settings *settings, struct err *err);

/* Packets that wait keep the time they got. -ENOENT: it is not there; -EBADMSG as above, but it
 * stays. */
int qdisc_change(struct netlink *netlink, const struct qdisc_place *place,
                 const struct qdisc_settings *settings, struct err *err);

/* Its packets are dropped, and an interface without one is as before any was made. Success when
 * it is gone, or when another one stands in its place, which is left alone. */
int qdisc_delete(struct netlink *netlink, const struct qdisc_place *place, enum qdisc_kind kind,
                 struct err *err);

/* -ENOENT: none of that handle. */
int qdisc_read(struct netlink *netlink, const struct qdisc_place *place, struct qdisc *out,
               struct err *err);

/* Packets under way on a path of that rate (0: the fastest there may be, 100 Gbit/s), with half as
 * many again to spare; at least the 1000 that the kernel takes for 0. */
uint32_t netem_limit_packets(int64_t rate_bits_per_s, int64_t delay_ns, int packet_bytes);

/* What passes in a millisecond, which is how late the timer behind it may be without the rate
 * suffering, and at least two packets. */
uint32_t tbf_burst_bytes(int64_t rate_bits_per_s, int packet_bytes);

#endif
