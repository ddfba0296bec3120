/* live_view.h - lines on the terminal behind stderr that are redrawn in place.
 *
 * Nothing of the terminal's state is changed: the cursor stays where the next line would begin and
 * there is no second screen, so whatever ends the program leaves a terminal as it should be. */
#ifndef ENGINE_CLI_LIVE_VIEW_H
#define ENGINE_CLI_LIVE_VIEW_H

#include <stdbool.h>

#include "engine/base/strbuf.h"
#include "reports/style.h"

/* Zeroed: nothing is shown. */
struct live_view {
	struct strbuf shown; /* lines that stand on the terminal */
};

struct live_view_size {
	int columns, rows;
};

/* Of the terminal now; false: stderr is none that can be redrawn. */
bool live_view_size(struct live_view_size *out);

/* Put lines, each with a line feed and narrower than the terminal, in the place of those shown.
 * Skipped while the terminal takes nothing. */
void live_view_draw(struct live_view *view, const struct strbuf *lines, int columns);

/* Take away what is shown. */
void live_view_end(struct live_view *view);

#endif
