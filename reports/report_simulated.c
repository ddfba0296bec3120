/* report_simulated.c - how near the simulator is to what was measured, for every schedule and fault
 * event. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "reports/beside.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/table.h"

enum { LABEL_SHORTEST = 16, MEASURED_MOST = 3 };

static const double PERCENT = 100;

/* What live runs are held to (DESIGN.md section 7, and the same doubled for one event, which has
 * fewer iterations). */
static const double TOTAL_ERROR = 0.05, EVENT_ERROR = 0.1;

/* One printing of the table. */
struct printing {
	struct table *table;
	const struct comparison *live, *simulated;
	const struct report_style *style;
	bool has_measured; /* columns; they stand further up as well, so they go where there is no
	                    * room */
};

static const char *error_text(double ratio, const struct report_style *style, char *out)
{
	char number[QUANTITY_BYTES];
	double percent = PERCENT * ratio;

	quantity_number(percent, 1, style, number);
	snprintf(out, QUANTITY_BYTES, "%s%.40s", percent > 0 && isfinite(percent) ? "+" : "",
	         number);
	return out;
}

static void add_cells(const struct printing *printing, const struct beside *beside, double limit)
{
	double pair[] = {beside->measured, beside->simulated};
	int decimals = quantity_decimals(quantity_largest(pair, 2));
	char text[QUANTITY_BYTES];
	bool is_far = fabs(beside->error_ratio) > limit; /* not for NaN */

	if (printing->has_measured)
		table_cell(printing->table, TONE_PLAIN, "%s",
		           quantity_number(beside->measured, decimals, printing->style, text));
	table_cell(printing->table, TONE_PLAIN, "%s",
	           quantity_number(beside->simulated, decimals, printing->style, text));
	table_cell(printing->table, is_far ? TONE_BAD : TONE_PLAIN, "%s",
	           error_text(beside->error_ratio, printing->style, text));
}

static void add_columns(const struct printing *printing)
{
	char name[REPORT_NAME_BYTES];

	table_column(printing->table, "", TABLE_LEFT, LABEL_SHORTEST);
	for (size_t i = 0; i < printing->live->n_schedules; i++) {
		struct strbuf title = {0};

		strbuf_addf(&title, "%s\n%s", report_name(printing->live, i, printing->style, name),
		            printing->has_measured ? "live" : "sim");
		table_column(printing->table, strbuf_text(&title), TABLE_RIGHT, 0);
		strbuf_fini(&title);
		if (printing->has_measured) {
			table_column(printing->table, "\nsim", TABLE_RIGHT, 0);
			table_join_column(printing->table);
		}
		table_column(printing->table, "\n%", TABLE_RIGHT, 0);
		table_join_column(printing->table);
	}
}

/* A row of the numbers that a schedule has once. */
static void add_row(const struct printing *printing, const char *label,
                    struct beside (*beside_of)(const struct comparison *live,
                                               const struct comparison *simulated, size_t schedule))
{
	table_cell(printing->table, TONE_STRONG, "%s", label);
	for (size_t i = 0; i < printing->live->n_schedules; i++) {
		struct beside beside = beside_of(printing->live, printing->simulated, i);

		add_cells(printing, &beside, TOTAL_ERROR);
	}
}

static void add_event(const struct printing *printing, size_t event)
{
	table_cell(printing->table, TONE_PLAIN, "%s", printing->live->events[event].label);
	for (size_t i = 0; i < printing->live->n_schedules; i++) {
		struct beside beside =
			beside_event_ms(printing->live, printing->simulated, event, i);

		add_cells(printing, &beside, EVENT_ERROR);
	}
}

static void add_heading(const struct printing *printing, struct strbuf *out)
{
	char which[QUANTITY_BYTES] = "";

	if (printing->simulated->comparison)
		snprintf(which, sizeof(which), " (comparison %" PRId64 ")",
		         printing->simulated->comparison);
	report_sentence(out, TONE_PLAIN, printing->style,
	                "Measured beside simulated%s: total in s, p50 of all iterations and of "
	                "each fault's in ms%s; %%: how much more was measured",
	                which,
	                printing->has_measured ? "" : "; what was measured stands further up");
}

void report_simulated(const struct comparison *comparison, const struct comparison *simulated,
                      const struct report_style *style, struct strbuf *out)
{
	struct printing printing = {.live = comparison,
	                            .simulated = simulated,
	                            .style = style,
	                            .has_measured = comparison->n_schedules <= MEASURED_MOST};

	if (!simulated || comparison->n_schedules == 0)
		return;
	printing.table = table_new();
	add_heading(&printing, out);
	add_columns(&printing);
	add_row(&printing, "total, s", beside_total_s);
	add_row(&printing, "p50, ms", beside_p50_ms);
	for (size_t e = 0; e < comparison->n_events; e++)
		add_event(&printing, e);
	table_print(printing.table, 1, style, out);
	table_free(printing.table);
}
