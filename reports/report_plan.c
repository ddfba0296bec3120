/* report_plan.c - what a schedule planned, for people: counts and delays per stage, a picture, the
 * orders. */
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"
#include "reports/plan_order.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { ORDER_LINES_MOST = 3, ORDER_INDENT = 5 };

static const double PERCENT = 100, MS = NS_PER_MS;

static void add_headline(const struct plan_report *report, const struct report_style *style,
                         struct strbuf *out)
{
	const struct plan *plan = report->plan;
	char makespan[QUANTITY_BYTES], when[QUANTITY_BYTES], number[QUANTITY_BYTES];

	if (report->iteration < 0)
		snprintf(when, sizeof(when), "initial plan");
	else
		snprintf(when, sizeof(when), "plan at iteration %s",
		         quantity_count(report->iteration, number));
	quantity_duration((double)plan->makespan_ns / MS, style, makespan);
	report_sentence(out, TONE_STRONG, style,
	                "%s, %s: an iteration of %d stage%s and %d microbatch%s takes %s.",
	                report->schedule, when, plan->n_stages, plan->n_stages == 1 ? "" : "s",
	                plan->n_microbatches, plan->n_microbatches == 1 ? "" : "es", makespan);
	report_sentence(out, TONE_DIM, style, "%s; %s plane", report->scenario_title,
	                report->plane);
}

/* Planned time in which no op runs, of the makespan. */
static double idle_percent(const struct plan_report *report, int stage)
{
	double busy_ns = 0;

	for (int kind = 0; kind < OP_KINDS; kind++)
		busy_ns += (double)report->times->op_ns[kind][stage] * report->plan->n_microbatches;
	return PERCENT * (1 - busy_ns / (double)report->plan->makespan_ns);
}

/* So that all delays of the column have as many. */
static int tolerated_decimals(const struct plan_report *report)
{
	int64_t largest_ns = 0;

	for (int stage = 0; stage < report->plan->n_stages - 1; stage++)
		if (report->tolerated_delay_ns[stage] > largest_ns)
			largest_ns = report->tolerated_delay_ns[stage];
	return quantity_decimals((double)largest_ns / MS);
}

static void add_tolerated(struct table *table, const struct plan_report *report, int stage,
                          int decimals, const struct report_style *style)
{
	int64_t delay_ns = report->tolerated_delay_ns[stage];
	char text[QUANTITY_BYTES];

	if (delay_ns < 0)
		table_cell(table, TONE_GOOD, "all tried");
	else
		table_cell(table, TONE_PLAIN, "%s",
		           quantity_number((double)delay_ns / MS, decimals, style, text));
}

static void add_stages(const struct plan_report *report, const struct report_style *style,
                       struct strbuf *out)
{
	const struct plan *plan = report->plan;
	const int decimals = tolerated_decimals(report);
	struct table *table = table_new();
	char text[QUANTITY_BYTES];

	table_column(table, "stage", TABLE_RIGHT, 0);
	table_column(table, "warm-up\nforwards", TABLE_RIGHT, 0);
	table_column(table, "activations\nat most", TABLE_RIGHT, 0);
	table_column(table, "idle\n%", TABLE_RIGHT, 0);
	table_column(table, "slackness\nto next", TABLE_RIGHT, 0);
	table_column(table, "delay tolerated\nto next, ms", TABLE_RIGHT, 0);
	for (int stage = 0; stage < plan->n_stages; stage++) {
		table_cell(table, TONE_PLAIN, "%d", stage);
		table_cell(table, TONE_PLAIN, "%d", plan->warmups[stage]);
		table_cell(table, TONE_PLAIN, "%d", plan_peak_activations(plan, stage));
		table_cell(table, TONE_PLAIN, "%s",
		           quantity_number(idle_percent(report, stage), 1, style, text));
		if (stage == plan->n_stages - 1) {
			table_cell(table, TONE_PLAIN, "%s", "");
			table_cell(table, TONE_PLAIN, "%s", "");
			continue;
		}
		table_cell(table, TONE_PLAIN, "%d",
		           plan->warmups[stage] - plan->warmups[stage + 1]);
		add_tolerated(table, report, stage, decimals, style);
	}
	table_print(table, 1, style, out);
	table_free(table);
	report_sentence(out, TONE_DIM, style,
	                "Tolerated: the largest delay on the link with which the "
	                "makespan grows by at most twice the delay.");
}

/* One stage's order, at most so many lines of it. */
static void add_order(const struct plan_report *report, int stage, const struct report_style *style,
                      struct strbuf *out)
{
	struct strbuf order = {0}, wrapped = {0};
	const char *line;

	plan_order_compact(report->plan, stage, style->has_unicode ? "×" : "*", &order);
	display_add_wrapped(&wrapped, strbuf_text(&order), ORDER_INDENT, ORDER_INDENT, style);
	strbuf_addf(out, "%3d%*s", stage, stage < 1000 ? 2 : 1, "");
	line = strbuf_text(&wrapped);
	for (int i = 0; *line; i++) {
		size_t n = strcspn(line, "\n");

		if (i == ORDER_LINES_MOST) {
			strbuf_addf(out, "%*s%s\n", ORDER_INDENT, "",
			            style->has_unicode ? "… (--json has all of it)"
			                               : ".. (--json has all of it)");
			break;
		}
		strbuf_add_bytes(out, line, n + (line[n] == '\n'));
		line += n + (line[n] == '\n');
	}
	out->is_failed |= order.is_failed | wrapped.is_failed;
	strbuf_fini(&order);
	strbuf_fini(&wrapped);
}

static void add_orders(const struct plan_report *report, const struct report_style *style,
                       struct strbuf *out)
{
	report_sentence(out, TONE_PLAIN, style,
	                "Order of each stage; a bracket is repeated, its microbatches "
	                "counting up by one each time");
	for (int stage = 0; stage < report->plan->n_stages; stage++)
		add_order(report, stage, style, out);
}

static void add_clamps(const struct plan_report *report, const struct report_style *style,
                       struct strbuf *out)
{
	const struct plan *plan = report->plan;
	bool has_warning = report->warning && *report->warning;

	if (plan->n_clamps > 0 || has_warning)
		strbuf_add_char(out, '\n');
	for (size_t i = 0; i < plan->n_clamps; i++)
		report_sentence(out, TONE_FAULT, style,
		                "Clamped: stage %d asked for %d warm-up forwards and "
		                "got %d (%s).",
		                plan->clamps[i].stage, plan->clamps[i].asked, plan->clamps[i].given,
		                plan->clamps[i].reason);
	if (has_warning)
		report_sentence(out, TONE_BAD, style, "Warning: %s.", report->warning);
}

void report_plan_terminal(const struct plan_report *report, const struct report_style *style,
                          struct strbuf *out)
{
	add_headline(report, style, out);
	strbuf_add_char(out, '\n');
	add_stages(report, style, out);
	strbuf_add_char(out, '\n');
	report_plan_picture(report, style, out);
	strbuf_add_char(out, '\n');
	add_orders(report, style, out);
	add_clamps(report, style, out);
}
