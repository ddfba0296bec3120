/* page_links.c - what each fault was to add to every message, when it came into force, and what the
 * messages took longer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "reports/page_dots.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

enum { ROWS_MOST = 40, LABEL_BYTES = 48 };

/* A fault of an event on a link, both directions and all attempts together. */
struct row {
	const struct stored_fault *fault;
	double asked_ms;     /* NaN: it is not about time */
	double *measured_ms; /* [n_schedules]; NaN: none */
	double applied_ms;   /* mean time from when it was asked for; NaN: never */
};

struct rows {
	struct row *items;
	size_t n, n_all; /* n_all: with those that are left out */
	double *measured_ms;
};

static bool is_same(const struct stored_fault *a, const struct stored_fault *b)
{
	bool is_along = a->from_stage == b->from_stage && a->to_stage == b->to_stage;
	bool is_against = a->from_stage == b->to_stage && a->to_stage == b->from_stage;

	return a->event == b->event && strcmp(a->kind, b->kind) == 0 &&
	       a->delay_ns == b->delay_ns && (is_along || is_against);
}

static bool is_known(const struct rows *rows, const struct stored_fault *fault)
{
	for (size_t i = 0; i < rows->n; i++)
		if (is_same(rows->items[i].fault, fault))
			return true;
	return false;
}

static double mean_extra_ms(const struct trace_source *source, const struct stored_fault *like)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < source->n_faults; i++) {
		const struct stored_fault *fault = &source->faults[i];

		if (!is_same(fault, like) || fault->measured_ns < 0 || fault->n_messages < 1)
			continue;
		sum += (double)fault->measured_ns / NS_PER_MS * (double)fault->n_messages;
		n += (double)fault->n_messages;
	}
	return n > 0 ? sum / n : NAN;
}

/* Over all schedules: the world puts faults in force, not the schedule. */
static double mean_applied_ms(const struct page *page, const struct stored_fault *like)
{
	double sum = 0, n = 0;

	for (size_t s = 0; s < page->comparison->n_schedules; s++) {
		const struct trace_source *source = &page->runs[s].source;

		for (size_t i = 0; i < source->n_faults; i++) {
			const struct stored_fault *fault = &source->faults[i];

			if (!is_same(fault, like) || fault->applied_ns < 0 || fault->asked_ns < 0)
				continue;
			sum += (double)(fault->applied_ns - fault->asked_ns) / NS_PER_MS;
			n++;
		}
	}
	return n > 0 ? sum / n : NAN;
}

static void add_row(const struct page *page, const struct stored_fault *fault, struct rows *rows)
{
	size_t n_schedules = page->comparison->n_schedules;
	struct row *row = &rows->items[rows->n];

	*row = (struct row){
		.fault = fault,
		.asked_ms = fault->delay_ns < 0 ? NAN : (double)fault->delay_ns / NS_PER_MS,
		.measured_ms = &rows->measured_ms[rows->n * n_schedules],
		.applied_ms = mean_applied_ms(page, fault),
	};
	for (size_t s = 0; s < n_schedules; s++)
		row->measured_ms[s] = mean_extra_ms(&page->runs[s].source, fault);
	rows->n++;
}

static int compare_faults(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int x_low = x->fault->from_stage < x->fault->to_stage ? x->fault->from_stage
	                                                      : x->fault->to_stage;
	int y_low = y->fault->from_stage < y->fault->to_stage ? y->fault->from_stage
	                                                      : y->fault->to_stage;

	if (x->fault->event != y->fault->event)
		return x->fault->event < y->fault->event ? -1 : 1;
	return (x_low > y_low) - (x_low < y_low);
}

/* Faults that only some schedules lived to see count as well. */
static bool collect(const struct page *page, struct rows *rows)
{
	size_t n_schedules = page->comparison->n_schedules;

	*rows = (struct rows){.items = array_new(ROWS_MOST, sizeof(*rows->items)),
	                      .measured_ms = array_new(ROWS_MOST * n_schedules, sizeof(double))};
	if (!rows->items || !rows->measured_ms)
		return false;
	for (size_t s = 0; s < n_schedules; s++)
		for (size_t i = 0; i < page->runs[s].source.n_faults; i++) {
			const struct stored_fault *fault = &page->runs[s].source.faults[i];

			if (fault->applied_ns < 0 || is_known(rows, fault))
				continue;
			if (rows->n < ROWS_MOST)
				add_row(page, fault, rows);
			rows->n_all++;
		}
	qsort(rows->items, rows->n, sizeof(*rows->items), compare_faults);
	return true;
}

static void rows_fini(struct rows *rows)
{
	free(rows->items);
	free(rows->measured_ms);
}

static void label_of(const struct row *row, char *out)
{
	int from = row->fault->from_stage, to = row->fault->to_stage;

	if (from == to)
		snprintf(out, LABEL_BYTES, "stage %d", from);
	else
		snprintf(out, LABEL_BYTES, "link %d-%d", from < to ? from : to,
		         from < to ? to : from);
}

/* As in the table of events; "": it is of none. */
static void number_of(const struct page *page, const struct row *row, char *out)
{
	size_t event = page_event_of(page, row->fault);

	*out = '\0';
	if (event < page->comparison->n_events)
		snprintf(out, LABEL_BYTES, "no. %zu", event + 1);
}

/* "no. 4, delay, link 2-3"; a phone has no room for the kind. */
static void describe_row(const struct page *page, const struct row *row, bool is_narrow, char *out)
{
	char label[LABEL_BYTES], number[LABEL_BYTES];

	label_of(row, label);
	number_of(page, row, number);
	snprintf(out, PAGE_DOTS_BYTES, "%s%s%.40s%s%s", number, *number ? ", " : "",
	         is_narrow ? "" : row->fault->kind, is_narrow ? "" : ", ", label);
}

static void fill_dots(const struct page *page, const struct rows *rows, bool is_narrow,
                      struct page_dots_row *out)
{
	for (size_t i = 0; i < rows->n; i++) {
		describe_row(page, &rows->items[i], is_narrow, out[i].label);
		out[i].wanted = rows->items[i].asked_ms;
		out[i].values = rows->items[i].measured_ms;
	}
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	struct page_dots_row dots_rows[ROWS_MOST];
	struct page_dots dots = {
		.page = page,
		.label = "How much longer messages took under each fault, beside what was asked "
			 "for",
		.wanted = "asked for",
		.unit = "ms more",
		.rows = dots_rows,
	};
	struct rows rows;

	if (collect(page, &rows)) {
		fill_dots(page, &rows, html_is_narrow(width), dots_rows);
		dots.n_rows = rows.n;
		if (page_dots_has_numbers(&dots))
			page_dots_draw(&dots, width, out);
	} else {
		out->is_failed = 1;
	}
	rows_fini(&rows);
}

static void add_number(double ms, struct strbuf *out)
{
	char text[QUANTITY_BYTES];

	html_cell(out, "n", "%s", quantity_duration(ms, &page_style, text));
}

static void add_table(const struct page *page, const struct rows *rows, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;

	html_table(out, "Faults asked for, applied and measured");
	html_head(out, "n", "event");
	html_head(out, "", "fault");
	html_head(out, "", "where");
	html_head(out, "n", "asked");
	html_head(out, "n", "in force after");
	for (size_t s = 0; s < comparison->n_schedules; s++)
		html_head(out, "n", "measured, %s", comparison->schedules[s].name);
	html_rows(out);
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = &rows->items[i];
		char label[LABEL_BYTES], number[LABEL_BYTES];

		label_of(row, label);
		number_of(page, row, number);
		html_row(out);
		html_row_head(out, "n", "%s", number);
		html_cell(out, "label", "%s", row->fault->label);
		html_cell(out, "", "%s", label);
		add_number(row->asked_ms, out);
		add_number(row->applied_ms, out);
		for (size_t s = 0; s < comparison->n_schedules; s++)
			add_number(row->measured_ms[s], out);
		html_row_end(out);
	}
	html_table_end(out);
}

static void add_key(const struct page *page, struct strbuf *out)
{
	struct strbuf key = {0};

	page_dots_key(page, &key);
	html_sentence(out, "caption",
	              "By how much messages took longer on average while a fault was in force. "
	              "Upright line: asked for. Measured: %s. Marks on their line: the fault did "
	              "what it was to do.",
	              strbuf_text(&key));
	out->is_failed |= key.is_failed;
	strbuf_fini(&key);
}

void page_links(const struct page *page, struct strbuf *out)
{
	struct rows rows;

	if (!collect(page, &rows)) {
		out->is_failed = 1;
	} else if (rows.n > 0) {
		add_key(page, out);
		page_figure(page, out, draw);
		if (rows.n < rows.n_all)
			html_sentence(out, "dim",
			              "The first %zu; more are in the database's view "
			              "fault_ms.",
			              rows.n);
		html_details(out, "The numbers, and how long after it was asked for each fault was "
		                  "in force");
		add_table(page, &rows, out);
		html_details_end(out);
		page_passed(page, out);
	}
	rows_fini(&rows);
}
