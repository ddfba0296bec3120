/* page_events.c - what each fault cost every schedule, beside what was published. */
#include <math.h>

#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

static bool has_published(const struct comparison *comparison, size_t schedule)
{
	for (size_t i = 0; i < comparison->n_events; i++)
		if (isfinite(comparison->events[i].published_ms[schedule]))
			return true;
	return false;
}

/* Of all events and schedules, so that the columns compare at a glance. */
static int decimals_of(const struct comparison *comparison)
{
	double largest = 0;

	for (size_t i = 0; i < comparison->n_events; i++) {
		largest = fmax(largest, quantity_largest(comparison->events[i].p50_ms,
		                                         comparison->n_schedules));
		largest = fmax(largest, quantity_largest(comparison->events[i].published_ms,
		                                         comparison->n_schedules));
	}
	return quantity_decimals(largest);
}

/* The least of those that can be compared; NaN: there is nothing to compare. */
static double least_of(const struct comparison *comparison, const struct comparison_event *event)
{
	double least = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		if (!isfinite(event->p50_ms[i]))
			continue;
		least = fmin(least, event->p50_ms[i]);
		n++;
	}
	return n > 1 ? least : NAN;
}

static void add_iterations(const struct comparison_event *event, struct strbuf *out)
{
	char first[QUANTITY_BYTES], last[QUANTITY_BYTES];

	if (event->first_iteration < 0)
		html_cell(out, "n faint", "by time");
	else if (event->first_iteration == event->last_iteration)
		html_cell(out, "n", "%s", quantity_count(event->first_iteration, first));
	else
		html_cell(out, "n", "%s–%s", quantity_count(event->first_iteration, first),
		          quantity_count(event->last_iteration, last));
}

static void add_event(const struct comparison *comparison, size_t e, struct strbuf *out)
{
	const struct comparison_event *event = &comparison->events[e];
	double least = least_of(comparison, event);
	int decimals = decimals_of(comparison);
	char text[QUANTITY_BYTES];

	html_row(out);
	html_row_head(out, "n strong", "%zu", e + 1);
	html_cell(out, "label", "%s", event->label);
	add_iterations(event, out);
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		bool is_restarted = report_has_restart(
			&comparison->schedules[i], event->first_iteration, event->last_iteration);

		html_cell(out,
		          is_restarted                ? "n bad"
		          : event->p50_ms[i] <= least ? "n good"
		                                      : "n",
		          "%s%s", is_restarted ? "↺ " : "",
		          quantity_number(event->p50_ms[i], decimals, &page_style, text));
		if (has_published(comparison, i))
			html_cell(out, "n faint", "%s",
			          quantity_number(event->published_ms[i], decimals, &page_style,
			                          text));
	}
	html_row_end(out);
}

static bool has_restart(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_schedules; i++)
		if (comparison->schedules[i].n_restart_iterations > 0)
			return true;
	return false;
}

/* Of every schedule whose faults were those of interfaces. */
static void add_labs(const struct page *page, struct strbuf *out)
{
	for (size_t i = 0; i < page->comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &page->comparison->schedules[i];
		char name[REPORT_NAME_BYTES];
		struct strbuf text = {0};

		if (schedule->has_facts)
			report_lab(&schedule->facts, &page_style, &text);
		if (text.length)
			html_sentence(out, "caption", "%s, faults outside of its workers: %s.",
			              page_name(page, i, name), strbuf_text(&text));
		strbuf_fini(&text);
	}
}

void page_events(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;

	if (comparison->n_events == 0 || comparison->n_schedules == 0)
		return;
	html_sentence(out, "caption",
	              "Median time of the iterations under each fault, in ms. Bold: the schedule "
	              "that it slows least.%s",
	              has_restart(comparison)
	                      ? " ↺: the run restarted here, and the median is that of the "
	                        "iterations once repeated."
	                      : "");
	html_table(out, "Median iteration time under each fault");
	html_head(out, "n", "no.");
	html_head(out, "", "fault");
	html_head(out, "n", "iterations");
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		html_head(out, "n", "%s", comparison->schedules[i].name);
		if (has_published(comparison, i))
			html_head(out, "n", "published");
	}
	html_rows(out);
	for (size_t e = 0; e < comparison->n_events; e++)
		add_event(comparison, e, out);
	html_table_end(out);
	add_labs(page, out);
}
