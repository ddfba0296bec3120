/* report_facts.c - what live runs were like, so that a reader can tell what their times are worth.
 */
#include <math.h>
#include <string.h>

#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { US_PER_MS = 1000 };

static double largest(const struct comparison *comparison,
                      double (*value)(const struct comparison_facts *facts))
{
	double most = 0;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		double one = value(&comparison->schedules[i].facts);

		if (comparison->schedules[i].has_facts && isfinite(one))
			most = fmax(most, fabs(one));
	}
	return most;
}

static double late_mean_us(const struct comparison_facts *facts)
{
	return facts->n_ops > 0 ? facts->late_mean_us : NAN;
}

static double late_max_us(const struct comparison_facts *facts)
{
	return facts->n_ops > 0 ? facts->late_max_us : NAN;
}

static double overruns_percent(const struct comparison_facts *facts)
{
	return facts->n_ops > 0 ? 100 * facts->n_overruns / facts->n_ops : NAN;
}

static double foreign_cores(const struct comparison_facts *facts)
{
	return facts->foreign_cores;
}

static double between_s(const struct comparison_facts *facts)
{
	return facts->between_s;
}

static const struct {
	const char *title;
	double (*value)(const struct comparison_facts *facts);
	int decimals_most;
} columns[] = {
	{"late us\nmean", late_mean_us, 1},  {"late us\nmost", late_max_us, 1},
	{"overran\n%", overruns_percent, 2}, {"foreign\ncores", foreign_cores, 2},
	{"between\ns", between_s, 2},
};

enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_row(struct table *table, const struct comparison *comparison, size_t i,
                    const struct report_style *style)
{
	const struct comparison_schedule *schedule = &comparison->schedules[i];
	char text[QUANTITY_BYTES], name[REPORT_NAME_BYTES];

	table_cell(table, TONE_PLAIN, "%s", report_name(comparison, i, style, name));
	for (size_t c = 0; c < N_COLUMNS; c++) {
		double value = schedule->has_facts ? columns[c].value(&schedule->facts) : NAN;
		int decimals = quantity_decimals(largest(comparison, columns[c].value));
		bool is_bad = columns[c].value == foreign_cores && comparison_is_crowded(value);

		decimals =
			decimals < columns[c].decimals_most ? decimals : columns[c].decimals_most;
		table_cell(table, is_bad ? TONE_BAD : TONE_PLAIN, "%s",
		           quantity_number(value, decimals, style, text));
	}
}

/* What the scenario asked for is not what was done. */
static void add_lowered(const struct comparison_facts *facts, const struct report_style *style,
                        struct strbuf *out)
{
	if (facts->lowered_from > 0)
		report_sentence(
			out, TONE_BAD, style,
			"The scenario's speed is %.4g, which was too much for this machine; "
			"it was lowered.",
			facts->lowered_from);
}

/* "2 workers, 10 times faster than the profile, messages of 16,384 bytes" */
static void add_heading(const struct comparison_facts *facts, const struct report_style *style,
                        struct strbuf *out)
{
	char workers[QUANTITY_BYTES], bytes[QUANTITY_BYTES], cpu[QUANTITY_BYTES];
	char speed[QUANTITY_BYTES];

	report_sentence(out, TONE_PLAIN, style,
	                "The live runs, in real time: %s worker%s, %s, messages of %s bytes, an "
	                "op's own computation %s us",
	                quantity_number(facts->n_workers, 0, style, workers),
	                facts->n_workers == 1 ? "" : "s", quantity_speed(facts->speed, speed),
	                quantity_number(facts->payload_bytes, 0, style, bytes),
	                quantity_number(facts->op_cpu_us, 0, style, cpu));
}

/* Add "; …" behind what is there already. */
static void begin_part(struct strbuf *text)
{
	strbuf_add(text, text->length ? "; " : "");
}

static char *duration(double us, const struct report_style *style, char *out)
{
	return quantity_duration(us / US_PER_MS, style, out);
}

static void add_packets(const struct comparison_facts *facts, const struct report_style *style,
                        struct strbuf *text)
{
	char packets[QUANTITY_BYTES], lost[QUANTITY_BYTES], dropped[QUANTITY_BYTES];
	char mean[QUANTITY_BYTES], p99[QUANTITY_BYTES], most[QUANTITY_BYTES];

	/* Neither is a number where there was no lab. */
	if (!(facts->n_packets > 0 || facts->n_dropped > 0))
		return;
	strbuf_addf(text, "%s packets met a fault of their link, %s dropped",
	            quantity_number(facts->n_packets, 0, style, packets),
	            facts->n_dropped > 0 ? quantity_number(facts->n_dropped, 0, style, dropped)
	                                 : "none was");
	if (facts->n_lost > 0)
		strbuf_addf(text, ", %s lost as asked",
		            quantity_number(facts->n_lost, 0, style, lost));
	if (facts->n_relayed > 0)
		strbuf_addf(text,
		            "; the relay sent them %s late in the mean, 99 of 100 within %s, at "
		            "most %s",
		            duration(facts->relay_mean_us, style, mean),
		            duration(facts->relay_p99_us, style, p99),
		            duration(facts->relay_max_us, style, most));
}

static void add_changes(const struct comparison_facts *facts, const struct report_style *style,
                        struct strbuf *text)
{
	char first[QUANTITY_BYTES], second[QUANTITY_BYTES];

	if (facts->n_applied > 0) {
		begin_part(text);
		strbuf_addf(text,
		            "inside iterations faults began and ended %s late in the mean, at most "
		            "%s",
		            duration(facts->apply_mean_us, style, first),
		            duration(facts->apply_max_us, style, second));
	}
	if (facts->n_outages > 0) {
		begin_part(text);
		strbuf_addf(text,
		            "an RNIC that was taken down was noticed within %s and overcome within "
		            "%s",
		            duration(facts->notice_max_us, style, first),
		            quantity_duration(facts->recover_max_ms, style, second));
	}
}

void report_lab(const struct comparison_facts *facts, const struct report_style *style,
                struct strbuf *out)
{
	add_packets(facts, style, out);
	add_changes(facts, style, out);
}

/* Of every schedule that ran in a lab: what its packets met, and how exact that was. */
static void add_labs(const struct comparison *comparison, const struct report_style *style,
                     struct strbuf *out)
{
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];
		char name[REPORT_NAME_BYTES];
		struct strbuf text = {0};

		if (!schedule->has_facts)
			continue;
		report_lab(&schedule->facts, style, &text);
		if (text.length)
			report_sentence(out, schedule->facts.n_dropped > 0 ? TONE_BAD : TONE_PLAIN,
			                style, "%s, faults outside of its workers: %s.",
			                report_name(comparison, i, style, name),
			                strbuf_text(&text));
		strbuf_fini(&text);
	}
}

void report_facts(const struct comparison *comparison, const struct report_style *style,
                  struct strbuf *out)
{
	size_t first = 0;
	struct table *table;

	if (strcmp(comparison->mode, "live") != 0)
		return;
	while (first < comparison->n_schedules && !comparison->schedules[first].has_facts)
		first++;
	if (first == comparison->n_schedules) {
		report_sentence(out, TONE_PLAIN, style,
		                "No live run came to an iteration, so there are no facts about its "
		                "workers.");
		return;
	}
	table = table_new();
	add_heading(&comparison->schedules[first].facts, style, out);
	add_lowered(&comparison->schedules[first].facts, style, out);
	report_rdma(comparison, comparison->schedules[first].facts.speed, style, out);
	table_column(table, "schedule", TABLE_LEFT, 0);
	for (size_t c = 0; c < N_COLUMNS; c++)
		table_column(table, columns[c].title, TABLE_RIGHT, 0);
	for (size_t i = 0; i < comparison->n_schedules; i++)
		add_row(table, comparison, i, style);
	table_print(table, 1, style, out);
	table_free(table);
	add_labs(comparison, style, out);
	report_sentence(out, TONE_DIM, style,
	                "late: from an op's end until it was seen; overran: ops whose own "
	                "computation took longer than the profile says; foreign: cores that other "
	                "programs kept busy; between: time between iterations, in no total above.");
}
