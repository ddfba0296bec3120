/* report_nightly.c - the last night of some scenarios in 80 columns. */
#include "reports/report_nightly.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { DAY_COLUMNS = 10, DECIMALS_MOST = 4 };

static const double PERCENT = 100;

const struct nightly_part nightly_parts[NIGHTLY_PARTS] = {
	{NIGHTLY_COMPUTE_MS, "computation"},
	{NIGHTLY_WAIT_MS, "waiting"},
	{NIGHTLY_BLOCKED_MS, "blocking"},
	{NIGHTLY_TRANSFER_MS, "transfer of a message"},
};

int nightly_part_decimals(const double more[NIGHTLY_METRICS])
{
	double numbers[NIGHTLY_PARTS];

	for (size_t i = 0; i < NIGHTLY_PARTS; i++)
		numbers[i] = more[nightly_parts[i].metric];
	return quantity_decimals(quantity_largest(numbers, NIGHTLY_PARTS));
}

const char *nightly_state_name(enum nightly_state state)
{
	switch (state) {
	case NIGHTLY_SHORT:
		return "too short";
	case NIGHTLY_STEADY:
		return "steady";
	case NIGHTLY_BETTER:
		return "better";
	case NIGHTLY_SUSPECT:
		return "suspect";
	case NIGHTLY_DISMISSED:
		return "dismissed";
	case NIGHTLY_REGRESSION:
		return "regression";
	case NIGHTLY_KNOWN:
		return "known";
	}
	return "";
}

static enum tone state_tone(enum nightly_state state)
{
	switch (state) {
	case NIGHTLY_REGRESSION:
	case NIGHTLY_SUSPECT:
	case NIGHTLY_KNOWN:
		return TONE_BAD;
	case NIGHTLY_BETTER:
		return TONE_GOOD;
	case NIGHTLY_SHORT:
	case NIGHTLY_STEADY:
	case NIGHTLY_DISMISSED:
		return TONE_PLAIN;
	}
	return TONE_PLAIN;
}

size_t nightly_count_regressions(const struct nightly_report *reports, size_t n_reports)
{
	size_t n = 0;

	for (size_t i = 0; i < n_reports; i++)
		for (size_t v = 0; v < reports[i].n_verdicts; v++)
			n += reports[i].verdicts[v].state == NIGHTLY_REGRESSION;
	return n;
}

static const struct change *last_change(const struct nightly_verdict *verdict)
{
	return verdict->n_changes > 0 ? &verdict->changes[verdict->n_changes - 1] : NULL;
}

static void add_causes(const struct nightly_verdict *verdict, struct strbuf *out)
{
	int decimals = nightly_part_decimals(verdict->more);
	const char *separator = "; more: ";

	for (size_t i = 0; i < NIGHTLY_PARTS; i++) {
		double more = verdict->more[nightly_parts[i].metric];

		if (!isfinite(more))
			continue;
		strbuf_addf(out, "%s%s %+.*f ms", separator, nightly_parts[i].name, decimals, more);
		separator = ", ";
	}
}

void nightly_explain(const struct nightly_report *report, const struct nightly_verdict *verdict,
                     struct strbuf *out)
{
	const struct nightly_history *history = report->history;
	const struct change *change = last_change(verdict);
	size_t night = change->night;

	strbuf_addf(out,
	            "%s, %s: from %.4g to %.4g (%+.2g %%) with the night of %.*s (comparison "
	            "%lld, version %s)",
	            history->schedules[verdict->schedule].name,
	            nightly_metric_name(verdict->metric), change->before, change->after,
	            PERCENT * (change->after / change->before - 1), DAY_COLUMNS,
	            history->created[night], (long long)history->comparisons[night],
	            history->versions[night]);
	if (isfinite(verdict->fresh))
		strbuf_addf(out, "; a fresh run gives %.4g", verdict->fresh);
	add_causes(verdict, out);
}

struct nightly_row nightly_row_of(const struct nightly_report *report,
                                  const struct nightly_verdict *verdict,
                                  const struct report_style *style)
{
	const struct change *change = last_change(verdict);
	double before = change ? change->before : NAN;
	int decimals = quantity_decimals(fmax(isfinite(before) ? before : 0, verdict->tonight));
	struct nightly_row row = {
		.schedule = report->history->schedules[verdict->schedule].name,
		.metric = nightly_metric_name(verdict->metric),
	};

	decimals = decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
	quantity_number(verdict->tonight, decimals, style, row.tonight);
	quantity_number(before, decimals, style, row.before);
	quantity_number(NAN, 0, style, row.change);
	if (change) {
		snprintf(row.change, sizeof(row.change), "%+.1f",
		         PERCENT * (change->after / before - 1));
		snprintf(row.since, sizeof(row.since), "%s",
		         report->history->created[change->night]);
	}
	return row;
}

static void add_row(struct table *table, const struct nightly_report *report,
                    const struct nightly_verdict *verdict, const struct report_style *style)
{
	const struct nightly_row row = nightly_row_of(report, verdict, style);
	const char *const cells[] = {row.schedule, row.metric, row.tonight,
	                             row.before,   row.change, row.since};

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		table_cell(table, TONE_PLAIN, "%s", cells[i]);
	table_cell(table, state_tone(verdict->state), "%s", nightly_state_name(verdict->state));
}

static void add_table(const struct nightly_report *report, const struct report_style *style,
                      struct strbuf *out)
{
	struct table *table = table_new();

	table_column(table, "schedule", TABLE_LEFT, 8);
	table_column(table, "metric", TABLE_LEFT, 0);
	table_column(table, "tonight", TABLE_RIGHT, 0);
	table_column(table, "before", TABLE_RIGHT, 0);
	table_column(table, "change\n%", TABLE_RIGHT, 0);
	table_column(table, "since", TABLE_LEFT, 0);
	table_column(table, "state", TABLE_LEFT, 0);
	for (size_t i = 0; i < report->n_verdicts; i++)
		add_row(table, report, &report->verdicts[i], style);
	table_print(table, 1, style, out);
	table_free(table);
}

bool nightly_is_told(enum nightly_state state)
{
	return state == NIGHTLY_REGRESSION || state == NIGHTLY_DISMISSED ||
	       state == NIGHTLY_SUSPECT;
}

static void add_scenario(const struct nightly_report *report, const struct report_style *style,
                         struct strbuf *out)
{
	size_t n = report->history->n_nights;

	strbuf_add_char(out, '\n');
	report_sentence(out, TONE_STRONG, style,
	                "%s: %zu night%s; changes of less than %.2g %% do not count%s",
	                *report->title ? report->title : report->path, n, n == 1 ? "" : "s",
	                PERCENT * report->history->settings.least_ratio,
	                report->has_failed ? "; not every run came to its end" : "");
	if (report->n_verdicts > 0)
		add_table(report, style, out);
	for (size_t i = 0; i < report->n_verdicts; i++) {
		const struct nightly_verdict *verdict = &report->verdicts[i];
		struct strbuf text = {0};

		if (!nightly_is_told(verdict->state))
			continue;
		nightly_explain(report, verdict, &text);
		report_sentence(out, state_tone(verdict->state), style, "%s: %s.",
		                nightly_state_name(verdict->state), strbuf_text(&text));
		out->is_failed |= text.is_failed;
		strbuf_fini(&text);
	}
}

void nightly_answer(size_t n_regressions, bool has_failed, struct strbuf *out)
{
	if (n_regressions == 0)
		strbuf_addf(out, "Nothing%s became slower.",
		            has_failed ? " that came to its end" : "");
	else
		strbuf_addf(out, "%zu %s slower, and a fresh run says the same.", n_regressions,
		            n_regressions == 1 ? "metric became" : "metrics became");
}

void report_nightly_terminal(const struct nightly_report *reports, size_t n_reports,
                             const struct report_style *style, struct strbuf *out)
{
	struct strbuf answer = {0};
	bool has_failed = false;

	for (size_t i = 0; i < n_reports; i++)
		has_failed |= reports[i].has_failed;
	nightly_answer(nightly_count_regressions(reports, n_reports), has_failed, &answer);
	report_sentence(out, TONE_STRONG, style, "%s", strbuf_text(&answer));
	for (size_t i = 0; i < n_reports; i++)
		add_scenario(&reports[i], style, out);
	out->is_failed |= answer.is_failed;
	strbuf_fini(&answer);
}
