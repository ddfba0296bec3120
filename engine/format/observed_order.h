/* observed_order.h - the order in which stages ran their ops, as foreign files say. */
#ifndef ENGINE_FORMAT_OBSERVED_ORDER_H
#define ENGINE_FORMAT_OBSERVED_ORDER_H

#include "engine/base/err.h"
#include "engine/format/observed.h"
#include "engine/schedule/plan.h"

/* The first iteration behind the warm-up for which every stage has an order that can run, as a
 * checked plan; *iteration_out says which. A stage's ops are sorted by their starts, which is all
 * that clocks of different ranks allow. -EINVAL: no iteration has one; err says what is wrong with
 * the last that was tried. */
int observed_order_make(const struct observed *observed, struct plan *out, int *iteration_out,
                        struct err *err);

#endif
