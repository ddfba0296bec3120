/* display.h - text measured and fitted by the columns that it takes on a terminal.
 *
 * Text comes from scripts and databases, so control characters and broken UTF-8 are shown as '?',
 * never passed on: a title cannot move the cursor. Without Unicode a few signs are written in
 * ASCII,
 * "..." for an ellipsis, and everything else beyond it is '?' as well. */
#ifndef REPORTS_DISPLAY_H
#define REPORTS_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/strbuf.h"
#include "reports/style.h"

/* How a cell or a word is meant; shown by colour where there is some. */
enum tone { TONE_PLAIN, TONE_STRONG, TONE_DIM, TONE_GOOD, TONE_BAD, TONE_FAULT };

/* Columns that display_add() takes for text: East Asian wide characters take two, combining marks
 * none. */
int display_width(const char *text, const struct report_style *style);

void display_add(struct strbuf *out, const char *text, const struct report_style *style);

/* At most width columns; what is cut shows as "…" or "..": at the end, or in the middle for paths.
 */
void display_add_cut(struct strbuf *out, const char *text, int width,
                     const struct report_style *style);
void display_add_cut_middle(struct strbuf *out, const char *text, int width,
                            const struct report_style *style);

/* Words, broken into lines of at most style->columns, each but the first indented; a longer word is
 * cut. Starts at column start, ends with a line feed. */
void display_add_wrapped(struct strbuf *out, const char *text, int start, int indent,
                         const struct report_style *style);

void display_add_repeated(struct strbuf *out, const char *text, int n_times);

/* Colour from here to display_end(); nothing without colour or for TONE_PLAIN. */
void display_begin(struct strbuf *out, enum tone tone, const struct report_style *style);
void display_end(struct strbuf *out, enum tone tone, const struct report_style *style);

/* display_end() before the line feed with which out ends, so that the next line starts plain. */
void display_end_line(struct strbuf *out, enum tone tone, const struct report_style *style);

/* Is text UTF-8 throughout? */
bool display_is_utf8(const char *text);

/* The style's columns within what reports are made for. */
int display_columns(const struct report_style *style);

#endif
