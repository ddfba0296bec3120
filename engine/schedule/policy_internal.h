/* policy_internal.h - what the files of the policies share. */
#ifndef ENGINE_SCHEDULE_POLICY_INTERNAL_H
#define ENGINE_SCHEDULE_POLICY_INTERNAL_H

#include "engine/schedule/order.h"

/* The rows, each at the bottom of its own file. */
extern const struct schedule_ops gpipe_ops;
extern const struct schedule_ops one_f_one_b_ops;
extern const struct schedule_ops zb_ops;
extern const struct schedule_ops zb_cpu_ops;
extern const struct schedule_ops adaptra_ops;
extern const struct schedule_ops adaptra_cpu_ops;
extern const struct schedule_ops adaptra_search_ops;
extern const struct schedule_ops adaptra_published_ops;
extern const struct schedule_ops adaptra_static_ops;
extern const struct schedule_ops hold_ops;
extern const struct schedule_ops csv_ops;

/* Fills an initialised plan's ops; their times are set after it. */
typedef int policy_fill(const struct schedule_request *request, struct plan *plan, struct err *err);

/* Check the request, make a plan, fill it and time it: what every make() does. */
int policy_make(const struct schedule_request *request, policy_fill *fill, struct plan *out,
                struct err *err);

/* Most forwards before the first backward that stage can run, given the cap of the stage before it
 * (N for stage 0): no more than its limit, and no more than that stage will send it. *reason_out
 * says what bound it. */
int policy_cap(const struct schedule_request *request, const int *limits, int stage, int cap_before,
               const char **reason_out);

/* Appends ops to a stage, microbatches counted per kind. */
struct op_writer {
	struct plan_op *ops;
	int n_ops;
	int next[OP_KINDS]; /* microbatch */
};

struct op_writer op_writer_at(struct plan *plan, int stage);
void op_put(struct op_writer *writer, enum op_kind kind);

/* F, then W where the stage is at its limit: what the stage holds. */
static inline bool op_is_full(const struct op_writer *writer, int limit)
{
	return limit > 0 && writer->next[OP_F] - writer->next[OP_W] >= limit;
}

#endif
