/* figure_internal.h - what the figures share: their list, and bars made of runs. */
#ifndef REPORTS_FIGURE_INTERNAL_H
#define REPORTS_FIGURE_INTERNAL_H

#include "reports/bars.h"
#include "reports/figures.h"

extern const struct figure figure_delay, figure_single, figure_multiple, figure_domino,
	figure_slackness, figure_dynamic, figure_overhead, figure_trace;

/* "here" beside "measured", in ms an iteration; bars_fini(). */
struct bars figure_bars(const char *label);

/* The colour that a schedule has in every figure; FIGURE_COLOURS: it has none. */
enum { FIGURE_COLOURS = 7 };
size_t figure_colour(const char *schedule);

/* Into the last group: a bar of every schedule with its median under an event of the run's; key,
 * less its schedule, says where the marks are found. */
void figure_add_event(struct bars *bars, const struct figure_source *source, size_t run,
                      size_t event, struct measured_key key);

/* The artefact's name for a schedule: "ZB" for "zb"; NULL: it had no such schedule. */
const char *figure_measured_name(const char *schedule);

/* Put the mark where it was measured, under the fault or before; no schedule or no such run: no
 * mark. */
enum figure_phase { FIGURE_STEADY, FIGURE_CLEAN };
void figure_mark(struct bar *bar, const struct measurements *measured,
                 const struct measured_key *key, enum figure_phase phase);

#endif
