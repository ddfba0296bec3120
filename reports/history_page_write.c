/* history_page_write.c - the page of histories, from its answer down to single nights. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/history_page_internal.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"

enum { DAY_COLUMNS = 10, ANCHOR_BYTES = 40 };

static const double PERCENT = 100;

static const char *title_of(const struct history_scenario *scenario)
{
	return *scenario->report->title ? scenario->report->title : scenario->report->path;
}

/* "zb p50_ms +6.0 % since 2026-01-31, regression" of all that deserves it, on one line. */
static void add_told(const struct history_scenario *scenario, struct strbuf *out)
{
	const struct nightly_report *report = scenario->report;
	struct strbuf text = {0};

	for (size_t v = 0; v < report->n_verdicts; v++) {
		const struct nightly_verdict *verdict = &report->verdicts[v];
		struct nightly_row row = nightly_row_of(report, verdict, &page_style);

		if (nightly_is_told(verdict->state))
			strbuf_addf(&text, "%s %s %s %s %% since %s (%s)", text.length ? ";" : "",
			            row.schedule, row.metric, row.change, row.since,
			            nightly_state_name(verdict->state));
	}
	if (text.length > 0)
		html_sentence(out, "warning", "%s:%s.", title_of(scenario), strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

/* The same one by one, with what a fresh run says. */
static void add_explanations(const struct history_scenario *scenario, struct strbuf *out)
{
	const struct nightly_report *report = scenario->report;

	for (size_t v = 0; v < report->n_verdicts; v++) {
		struct strbuf text = {0};

		if (!nightly_is_told(report->verdicts[v].state))
			continue;
		nightly_explain(report, &report->verdicts[v], &text);
		html_sentence(out, NULL, "%s: %s.", nightly_state_name(report->verdicts[v].state),
		              strbuf_text(&text));
		out->is_failed |= text.is_failed;
		strbuf_fini(&text);
	}
}

/* The answer, and below what it is about. */
static void add_answer(const struct history_page *page, struct strbuf *out)
{
	struct strbuf answer = {0};
	bool has_failed = false;
	size_t n = 0;

	for (size_t i = 0; i < page->n_scenarios; i++) {
		n += nightly_count_regressions(page->scenarios[i].report, 1);
		has_failed |= page->scenarios[i].report->has_failed;
	}
	nightly_answer(n, has_failed, &answer);
	html_title(out, "%s", strbuf_text(&answer));
	out->is_failed |= answer.is_failed;
	strbuf_fini(&answer);
	for (size_t i = 0; i < page->n_scenarios; i++)
		add_told(&page->scenarios[i], out);
}

static const char *state_class(enum nightly_state state)
{
	switch (state) {
	case NIGHTLY_REGRESSION:
	case NIGHTLY_SUSPECT:
	case NIGHTLY_KNOWN:
		return "bad";
	case NIGHTLY_BETTER:
		return "good";
	case NIGHTLY_SHORT:
	case NIGHTLY_STEADY:
	case NIGHTLY_DISMISSED:
		return "faint";
	}
	return "";
}

static void add_verdict(const struct history_scenario *scenario,
                        const struct nightly_verdict *verdict, struct strbuf *out)
{
	struct nightly_row row = nightly_row_of(scenario->report, verdict, &page_style);

	html_row(out);
	html_row_head(out, "label", "%s", title_of(scenario));
	html_cell(out, "", "%s", row.schedule);
	html_cell(out, "", "%s", row.metric);
	html_cell(out, "n strong", "%s", row.tonight);
	html_cell(out, "n", "%s", row.before);
	html_cell(out, "n", "%s", row.change);
	html_cell(out, "n", "%s", row.since);
	html_cell(out, state_class(verdict->state), "%s", nightly_state_name(verdict->state));
	html_row_end(out);
}

static void add_verdicts(const struct history_page *page, struct strbuf *out)
{
	static const struct {
		const char *class, *title;
	} heads[] = {
		{"", "scenario"}, {"", "schedule"},   {"", "metric"}, {"n", "tonight"},
		{"n", "before"},  {"n", "change, %"}, {"n", "since"}, {"", "state"},
	};

	html_section(out, "tonight", "The last night");
	html_table(out, "Verdicts on the last night");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		html_head(out, heads[i].class, "%s", heads[i].title);
	html_rows(out);
	for (size_t i = 0; i < page->n_scenarios; i++)
		for (size_t v = 0; v < page->scenarios[i].report->n_verdicts; v++)
			add_verdict(&page->scenarios[i], &page->scenarios[i].report->verdicts[v],
			            out);
	html_table_end(out);
	html_section_end(out);
}

/* "330.1 ms, +6.0 % since 2026-01-31" */
static void add_chart(const struct nightly_history *history, const struct history_chart *chart,
                      struct strbuf *out)
{
	const struct nightly_verdict *verdict = &chart->verdict;
	const struct history_metric *metric = history_metric_of(verdict->metric);
	const struct change *last =
		verdict->n_changes ? &verdict->changes[verdict->n_changes - 1] : NULL;
	double tonight = verdict->tonight * metric->scale;
	char number[QUANTITY_BYTES];

	html_chart(out, metric->title);
	html_remark(out, "strong", "%s %s",
	            quantity_number(tonight, quantity_decimals(tonight), &page_style, number),
	            metric->unit);
	if (last)
		html_remark(out, change_is_regression(last) ? "bad" : "good",
		            "%s %+.1f %% since %.*s", change_is_regression(last) ? "▲" : "▼",
		            PERCENT * (last->after / last->before - 1), DAY_COLUMNS,
		            history->created[last->night]);
	html_chart_picture(out);
	history_chart_draw(history, chart, out);
	html_chart_end(out);
}

static void add_charts(const struct history_scenario *scenario, struct strbuf *out)
{
	const struct nightly_history *history = scenario->report->history;

	for (size_t c = 0; c < scenario->n_charts; c++) {
		size_t schedule = scenario->charts[c].verdict.schedule;
		bool is_first = c == 0 || scenario->charts[c - 1].verdict.schedule != schedule;
		bool is_last = c + 1 == scenario->n_charts ||
		               scenario->charts[c + 1].verdict.schedule != schedule;

		if (is_first) {
			html_heading(out, "%s", history->schedules[schedule].name);
			html_charts(out);
		}
		add_chart(history, &scenario->charts[c], out);
		if (is_last)
			html_charts_end(out);
	}
}

static void add_pasts(const struct history_scenario *scenario, struct strbuf *out)
{
	for (size_t i = 0; i < scenario->n_pasts; i++) {
		const struct history_past *past = &scenario->pasts[i];

		html_sentence(out, "caption",
		              "%d other night%s (%.*s to %.*s) cannot be compared with these; "
		              "then and tonight: %s.",
		              past->n_nights, past->n_nights == 1 ? "" : "s", DAY_COLUMNS,
		              past->first, DAY_COLUMNS, past->last,
		              *past->differences ? past->differences : "what differs is not kept");
	}
}

static char *anchor_of(size_t scenario, char out[ANCHOR_BYTES])
{
	snprintf(out, ANCHOR_BYTES, "scenario-%zu", scenario + 1);
	return out;
}

static void add_scenario(const struct history_scenario *scenario, const char *anchor,
                         struct strbuf *out)
{
	const struct nightly_history *history = scenario->report->history;
	size_t n = history->n_nights;

	html_section(out, anchor, title_of(scenario));
	if (n == 0) {
		html_sentence(out, "caption", "There is no night yet.");
	} else {
		html_sentence(out, "caption",
		              "%zu night%s, %.*s to %.*s. Changes of less than %.2g %% do not "
		              "count.",
		              n, n == 1 ? "" : "s", DAY_COLUMNS, history->created[0], DAY_COLUMNS,
		              history->created[n - 1], PERCENT * history->settings.least_ratio);
		add_pasts(scenario, out);
		add_explanations(scenario, out);
		add_charts(scenario, out);
		history_changes(scenario, out);
		history_nights(scenario, out);
	}
	html_section_end(out);
}

static void add_key(struct strbuf *out)
{
	html_sentence(
		out, "dim",
		"The thin line has a point a night, the broad one is the level. ▲ a change for "
		"the worse, ▼ for the better: E-divisive found it and Student's t confirms "
		"it. ◇ a lone spike, which is no level. Ticks below the line: another "
		"version or another script from that night on. Scales do not begin at 0. "
		"Times are those of the profile, so less is better.");
}

static void add_contents(const struct history_page *page, struct strbuf *out)
{
	html_contents(out);
	html_contents_link(out, "tonight", "The last night");
	for (size_t i = 0; i < page->n_scenarios; i++) {
		char anchor[ANCHOR_BYTES];

		html_contents_link(out, anchor_of(i, anchor), title_of(&page->scenarios[i]));
	}
	html_contents_end(out);
}

void history_page_write(const struct history_page *page, struct strbuf *out)
{
	html_begin(out, "Night after night - adaptra-bench");
	html_sentence(out, "eyebrow", "adaptra-bench, night after night");
	add_answer(page, out);
	add_contents(page, out);
	add_verdicts(page, out);
	add_key(out);
	for (size_t i = 0; i < page->n_scenarios; i++) {
		char anchor[ANCHOR_BYTES];

		add_scenario(&page->scenarios[i], anchor_of(i, anchor), out);
	}
	html_end(out);
}
