/* history_page_changes.c - the changes of a history and its last nights as tables: pictures say
 * little to a keyboard or a printer. */
#include <math.h>
#include <string.h>

#include "reports/history_page_internal.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

enum { DAY_COLUMNS = 10, MINUTE_COLUMNS = 16, CHANGES_MOST = 100, NIGHTS_MOST = 30 };

static const double PERCENT = 100;

static void add_number(double value, struct strbuf *out)
{
	char number[QUANTITY_BYTES];

	html_cell(out, "n", "%s",
	          quantity_number(value, quantity_decimals(value), &page_style, number));
}

static void add_parts(const double more[NIGHTLY_METRICS], struct strbuf *out)
{
	int decimals = nightly_part_decimals(more);

	for (size_t p = 0; p < NIGHTLY_PARTS; p++) {
		double number = more[nightly_parts[p].metric];

		if (isfinite(number))
			html_cell(out, "n", "%+.*f", decimals, number);
		else
			html_cell(out, "n faint", "—");
	}
}

static void add_change(const struct history_scenario *scenario, const struct history_chart *chart,
                       size_t i, struct strbuf *out)
{
	const struct nightly_history *history = scenario->report->history;
	const struct nightly_verdict *verdict = &chart->verdict;
	const struct change *change = &verdict->changes[i];
	double more[NIGHTLY_METRICS];

	nightly_attribute(history, verdict, i, more);
	html_row(out);
	html_row_head(out, "key", "%.*s", DAY_COLUMNS, history->created[change->night]);
	html_cell(out, "", "%s", history->schedules[verdict->schedule].name);
	html_cell(out, "", "%s", nightly_metric_name(verdict->metric));
	add_number(change->before, out);
	add_number(change->after, out);
	html_cell(out, change_is_regression(change) ? "n bad" : "n good", "%s %+.1f",
	          change_is_regression(change) ? "▲" : "▼",
	          PERCENT * (change->after / change->before - 1));
	add_parts(more, out);
	html_cell(out, "text", "%s", *chart->causes[i] ? chart->causes[i] : "nothing that is kept");
	html_row_end(out);
}

static void add_heads(struct strbuf *out)
{
	html_head(out, "", "since");
	html_head(out, "", "schedule");
	html_head(out, "", "metric");
	html_head(out, "n", "before");
	html_head(out, "n", "after");
	html_head(out, "n", "change, %%");
	for (size_t p = 0; p < NIGHTLY_PARTS; p++)
		html_head(out, "n", "%s", nightly_parts[p].name);
	html_head(out, "", "new that night: before and after");
}

/* Newest first; of the metrics that are judged, for the others are why. */
void history_changes(const struct history_scenario *scenario, struct strbuf *out)
{
	const struct nightly_history *history = scenario->report->history;
	struct strbuf rows = {0};
	size_t n = 0;

	for (size_t night = history->n_nights; night-- > 0;)
		for (size_t c = 0; c < scenario->n_charts; c++) {
			const struct history_chart *chart = &scenario->charts[c];

			for (size_t i = 0; i < chart->verdict.n_changes; i++)
				if (chart->verdict.metric < NIGHTLY_JUDGED &&
				    chart->verdict.changes[i].night == night && n++ < CHANGES_MOST)
					add_change(scenario, chart, i, &rows);
		}
	if (n > 0) {
		html_heading(out, "Every change, the newest first");
		html_sentence(out, "caption",
		              "How many ms an iteration had more of each part than before, and how "
		              "much longer a message took; at the end what else was another on "
		              "that night.");
		html_table(out, "Changes of the scenario");
		add_heads(out);
		html_rows(out);
		strbuf_add(out, strbuf_text(&rows));
		html_table_end(out);
		if (n > CHANGES_MOST)
			html_sentence(out, "dim", "The last %d of %zu.", CHANGES_MOST, n);
	}
	out->is_failed |= rows.is_failed;
	strbuf_fini(&rows);
}

static bool is_judged(const struct history_chart *chart)
{
	return chart->verdict.metric < NIGHTLY_JUDGED;
}

static void add_night(const struct history_scenario *scenario, size_t night, struct strbuf *out)
{
	const struct nightly_history *history = scenario->report->history;

	html_row(out);
	html_row_head(out, "key", "%.*s", MINUTE_COLUMNS, history->created[night]);
	html_cell(out, "n", "%lld", (long long)history->comparisons[night]);
	html_cell(out, "", "%s", history->versions[night]);
	for (size_t c = 0; c < scenario->n_charts; c++) {
		const struct nightly_verdict *verdict = &scenario->charts[c].verdict;

		if (is_judged(&scenario->charts[c]))
			add_number(history->schedules[verdict->schedule]
			                   .values[verdict->metric][night],
			           out);
	}
	html_row_end(out);
}

void history_nights(const struct history_scenario *scenario, struct strbuf *out)
{
	const struct nightly_history *history = scenario->report->history;
	size_t n = history->n_nights;

	html_details(out, "The last nights as numbers");
	html_table(out, "Last nights of the scenario");
	html_head(out, "", "night");
	html_head(out, "n", "comparison");
	html_head(out, "", "version");
	for (size_t c = 0; c < scenario->n_charts; c++)
		if (is_judged(&scenario->charts[c]))
			html_head(out, "n", "%s %s",
			          history->schedules[scenario->charts[c].verdict.schedule].name,
			          nightly_metric_name(scenario->charts[c].verdict.metric));
	html_rows(out);
	for (size_t i = 0; i < n && i < NIGHTS_MOST; i++)
		add_night(scenario, n - 1 - i, out);
	html_table_end(out);
	html_details_end(out);
}
