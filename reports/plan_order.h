/* plan_order.h - a stage's order in few words. */
#ifndef REPORTS_PLAN_ORDER_H
#define REPORTS_PLAN_ORDER_H

#include "engine/base/strbuf.h"
#include "engine/schedule/plan.h"

/* Add "(F0)×15 (B0 W0 F15)×9 …": ops in order, what is repeated with every microbatch one further
 * in brackets, times being the sign between a bracket and its count. Exact: it expands to the
 * order. */
void plan_order_compact(const struct plan *plan, int stage, const char *times, struct strbuf *out);

#endif
