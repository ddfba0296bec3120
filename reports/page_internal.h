/* page_internal.h - the sections of a page, and what they share.
 *
 * A section that has nothing to say writes nothing, and then has no heading either. */
#ifndef REPORTS_PAGE_INTERNAL_H
#define REPORTS_PAGE_INTERNAL_H

#include "reports/html.h"
#include "reports/page.h"
#include "reports/style.h"

enum { PAGE_CLASS_BYTES = 40, PAGE_COLOURS = 8 };

extern const struct report_style page_style;

void page_schedules(const struct page *page, struct strbuf *out);
void page_repeats(const struct page *page, struct strbuf *out);
void page_iterations(const struct page *page, struct strbuf *out);
void page_decisions(const struct page *page, struct strbuf *out);
void page_events(const struct page *page, struct strbuf *out);
void page_shares(const struct page *page, struct strbuf *out);
void page_timelines(const struct page *page, struct strbuf *out);
void page_distribution(const struct page *page, struct strbuf *out);
void page_links(const struct page *page, struct strbuf *out);
void page_passed(const struct page *page, struct strbuf *out); /* the end of page_links() */
void page_losses(const struct page *page, struct strbuf *out);
void page_simulated(const struct page *page, struct strbuf *out);
void page_variants(const struct page *page, struct strbuf *out);
void page_checks(const struct page *page, struct strbuf *out);
void page_settings(const struct page *page, struct strbuf *out);
void page_reproduce(const struct page *page, struct strbuf *out);

/* Patterns and arrow heads that pictures refer to. */
void page_definitions(struct strbuf *out);

/* "series curve s2": words, then the colour of the schedule. out holds PAGE_CLASS_BYTES; returns
 * out. */
char *page_class(const char *words, size_t schedule, char *out);

/* The answer as one line, "" where there is none. */
void page_headline(const struct page *page, struct strbuf *out);

/* The schedule's name, cut where it is long; out holds REPORT_NAME_BYTES; returns out. */
char *page_name(const struct page *page, size_t schedule, char *out);

/* html_figure() of a section. */
void page_figure(const struct page *page, struct strbuf *out,
                 void (*draw)(const struct page *page, double width, struct strbuf *out));

/* The place of a fault's event among those of the comparison, as tables number it; n_events: it is
 * of none. */
size_t page_event_of(const struct page *page, const struct stored_fault *fault);

/* "Iteration 374, under 2-3: 30 ms", "Iteration 5, healthy": the first run's that has one. false:
 * none has. */
bool page_describe(const struct page *page, enum page_kind kind, struct strbuf *out);

#endif
