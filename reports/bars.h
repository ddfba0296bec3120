/* bars.h - bars in groups, each with a mark beside it that says what others have, and both as
 * numbers. */
#ifndef REPORTS_BARS_H
#define REPORTS_BARS_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/html.h"

enum { BARS_TEXT_BYTES = 96 };

struct bar {
	char name[BARS_TEXT_BYTES];
	size_t colour;                /* page_class()'s */
	double value, mark;           /* NaN: none */
	char source[BARS_TEXT_BYTES]; /* of the mark, behind its number on hover */
};

struct bar_group {
	char label[BARS_TEXT_BYTES];
	struct bar *bars;
	size_t n_bars, capacity;
};

/* Start with the texts, which are borrowed, and all else zeroed. */
struct bars {
	const char *label;      /* what there is to see */
	const char *unit;       /* at the axis: "ms an iteration" */
	const char *value_head; /* above the bars' numbers: "here" */
	const char *mark_head;  /* above the marks': "measured" */
	struct bar_group *groups;
	size_t n_groups, capacity;
	struct bar spare; /* what is filled in when memory has run out */
	bool is_failed;
};

/* A group more, and a bar more in the last one; the bar may be filled in until the next is added.
 * Out of memory shows when they are drawn. */
void bars_add_group(struct bars *bars, const char *format, ...) HTML_FORMAT(2);
struct bar *bars_add(struct bars *bars, const char *name, size_t colour, double value);

/* The figure; nothing without groups. */
void bars_figure(const struct bars *bars, struct strbuf *out);

void bars_fini(struct bars *bars);

#endif
