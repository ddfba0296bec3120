/* plan_internal.h - what timing and verification share. */
#ifndef ENGINE_SCHEDULE_PLAN_INTERNAL_H
#define ENGINE_SCHEDULE_PLAN_INTERNAL_H

#include "engine/schedule/plan.h"

/* No time is negative, and no sum over an iteration can overflow. -EINVAL names the stage or link.
 */
int plan_times_check(const struct plan_times *times, int n_microbatches, struct err *err);

/* Can the order be run with unbounded buffers? -EDEADLK: no, and err names the next op of the
 * stages that are stuck. The microbatches of all ops must be in range. */
int plan_can_run(const struct plan *plan, struct err *err);

#endif
