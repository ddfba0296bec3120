/* trace_draw.h - a stored run drawn as a Chrome trace. */
#ifndef ENGINE_CLI_TRACE_DRAW_H
#define ENGINE_CLI_TRACE_DRAW_H

#include "engine/format/chrome_trace.h"
#include "reports/trace_source.h"

/* Of the i-th iteration: is it drawn, and with arrows? Borrowed. */
struct trace_selection {
	const bool *is_drawn;
	const bool *has_arrows;
};

/* Write the iterations that are selected, all faults and all decisions. -EINTR: the user stopped
 * it. */
int trace_draw(const struct trace_source *source, const struct trace_selection *selection,
               struct chrome_trace_target target, struct err *err);

#endif
