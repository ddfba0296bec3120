/* egress_internal.h - the interfaces and destinations of an egress. */
#ifndef INJECTORS_EGRESS_INTERNAL_H
#define INJECTORS_EGRESS_INTERNAL_H

#include "injectors/egress.h"

/* One destination. What is there of it in the kernel is noted step by step, so that a step that
 * failed can be tried again. */
struct lane {
	uint32_t destination; /* 0: all */
	int number;           /* of its class and filter */
	struct qdisc_place place;
	enum qdisc_kind kind; /* of what stands at place */
	bool has_class, has_qdisc, has_filter;
	int redirect_index;      /* the filter leads to this interface; 0: to the class */
	const void *owner;       /* NULL: released */
	const void *count_owner; /* the last one; whose packets are counted */
	int64_t sent_before;     /* by owners before that */
	int64_t dropped_before;
};

/* One interface. */
struct gate {
	struct egress_port port; /* the first one that was asked for */
	struct qdisc_place sorter;
	int change; /* in the journal: what stands at the root; 0: nothing does */
	struct lane *lanes;
	size_t n_lanes, capacity;
};

/* Write into the journal that this comes to the root of the gate's interface, and put it there. */
int gate_put_root(struct journal *journal, struct gate *gate, const struct qdisc_place *place,
                  const struct qdisc_settings *settings, struct err *err);

/* NULL: out of memory, or no number is left. */
struct lane *lane_new(struct gate *gate, uint32_t destination);

/* Bring lane, of which gate has the sorter if its destination is not 0, to settings for owner. */
int lane_put(struct journal *journal, struct gate *gate, struct lane *lane, const void *owner,
             const struct qdisc_settings *settings, struct err *err);

/* Lead packets to another interface; index 0: nowhere, they pass untouched. */
int lane_redirect(struct gate *gate, struct lane *lane, int index, struct err *err);

/* Add what owner's packets were since it came. */
int lane_count(const struct gate *gate, const struct lane *lane, struct egress_counts *sums,
               struct err *err);

#endif
