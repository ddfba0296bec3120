/* html.h - a page: its frame, sections, sentences and tables.
 *
 * One file that needs no other: page.css travels inside, and there is no script. What is written is
 * XML as well, so that a strict reader can check it. All text is escaped here. */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include <stdbool.h>

#include "engine/base/strbuf.h"

#define HTML_FORMAT(at) __attribute__((format(printf, at, at + 1)))

void html_begin(struct strbuf *out, const char *title);
void html_end(struct strbuf *out);

/* The answer, once a page. */
void html_title(struct strbuf *out, const char *format, ...) HTML_FORMAT(2);

/* id is the anchor. */
void html_section(struct strbuf *out, const char *id, const char *title);
void html_section_end(struct strbuf *out);

/* Links to the sections, as many as there are, until html_contents_end(). */
void html_contents(struct strbuf *out);
void html_contents_link(struct strbuf *out, const char *id, const char *title);
void html_contents_end(struct strbuf *out);

/* A picture twice: for a desk and, with other proportions, for a phone; the page shows one. draw
 * gets what, and how many px wide it is to be. */
typedef void html_draw(const void *what, double width, struct strbuf *out);
void html_figure(struct strbuf *out, html_draw *draw, const void *what);

/* Is the picture of that width the one for a phone? */
bool html_is_narrow(double width);

/* A heading within a section. */
void html_heading(struct strbuf *out, const char *format, ...) HTML_FORMAT(2);

/* A paragraph; class NULL: plain. "caption" says what there is to see, "dim" what it means. */
void html_sentence(struct strbuf *out, const char *class, const char *format, ...) HTML_FORMAT(3);

/* Lines to be typed. */
void html_command(struct strbuf *out, const char *text);

/* What opens on demand, until html_details_end(). */
void html_details(struct strbuf *out, const char *summary);
void html_details_end(struct strbuf *out);

/* Small pictures side by side, until html_charts_end(): of each its title, remarks on it, then,
 * behind html_chart_picture(), what is drawn. */
void html_charts(struct strbuf *out);
void html_chart(struct strbuf *out, const char *title);
void html_remark(struct strbuf *out, const char *class, const char *format, ...) HTML_FORMAT(3);
void html_chart_picture(struct strbuf *out);
void html_chart_end(struct strbuf *out);
void html_charts_end(struct strbuf *out);

/* A table that scrolls by itself where it is too wide; label says what it is. The calls follow each
 * other as they stand here; cells and heads as often as there are columns. */
void html_table(struct strbuf *out, const char *label);
void html_head(struct strbuf *out, const char *class, const char *format, ...) HTML_FORMAT(3);
void html_rows(struct strbuf *out);
void html_row(struct strbuf *out);
void html_row_head(struct strbuf *out, const char *class, const char *format, ...) HTML_FORMAT(3);
void html_cell(struct strbuf *out, const char *class, const char *format, ...) HTML_FORMAT(3);
void html_row_end(struct strbuf *out);
void html_table_end(struct strbuf *out);

#endif
