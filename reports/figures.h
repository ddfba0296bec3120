/* figures.h - the studies of the paper, drawn from runs in virtual time beside what was published.
 *
 * A figure says which runs it needs; the caller makes them and hands them over. To add a study: one
 * file with its struct figure, and a row in figures.c. */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

#include "engine/validate/measured.h"
#include "reports/page.h"

enum { FIGURE_ASSIGNMENTS = 4, FIGURE_SCHEDULES = 4 };

/* A comparison: a scenario that comes with the program, in virtual time. */
struct figure_run {
	const char *scenario;                        /* "one_slow_link" */
	const char *assignments[FIGURE_ASSIGNMENTS]; /* "delay=10ms"; NULL after the last */
	const char *schedules[FIGURE_SCHEDULES];     /* the same; none: the scenario's */
	bool needs_ops;
};

/* What a figure is drawn from. Borrowed. */
struct figure_source {
	const struct page *pages; /* of its runs, in their order */
	const struct measurements *measured;
};

struct figure {
	const char *id, *title;
	const char *question; /* and what to see */
	const char *caveats;  /* what stands between our numbers and theirs */
	const char *source;   /* of the marks */
	const struct figure_run *runs;
	size_t n_runs;
	void (*draw)(const struct figure_source *source, struct strbuf *out);
};

size_t figures_count(void);
const struct figure *figures_at(size_t i);

/* The page: its head, then each figure's section, then its end. Out of memory shows in
 * out->is_failed. */
void figures_begin(const char *version, struct strbuf *out);
void figures_add(const struct figure *figure, const struct figure_source *source,
                 struct strbuf *out);
void figures_end(struct strbuf *out);

#endif
