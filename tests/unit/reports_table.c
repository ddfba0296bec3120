/* reports_table.c - tables line up, are cut and split to fit, and carry colours that take no room.
 */
#include "reports/table.h"

#include "tests/reports_sample.h"
#include "tests/tap.h"

static const struct report_style plain = {.columns = 60, .has_unicode = true};
static const struct report_style colored = {.columns = 60, .has_unicode = true, .has_color = true};

static struct table *small_table(void)
{
	struct table *table = table_new();

	table_column(table, "name", TABLE_LEFT, 0);
	table_column(table, "time\nms", TABLE_RIGHT, 0);
	table_column(table, "note", TABLE_LEFT, 0);
	table_cell(table, TONE_PLAIN, "é");
	table_cell(table, TONE_GOOD, "%d", 5);
	table_cell(table, TONE_PLAIN, "%s", "");
	table_cell(table, TONE_PLAIN, "longer");
	table_cell(table, TONE_PLAIN, "%d", 1234);
	table_cell(table, TONE_PLAIN, "x");
	return table;
}

static void test_small(void)
{
	struct table *table = small_table();
	struct strbuf out = {0};

	table_print(table, 0, &plain, &out);
	tap_is_str(strbuf_text(&out),
	           "name    time  note\n"
	           "          ms\n"
	           "é          5\n"
	           "longer  1234  x\n",
	           "columns line up by display width and no line ends with blanks");
	strbuf_clear(&out);
	table_print(table, 0, &colored, &out);
	tap_contains(strbuf_text(&out), "é          \033[32m5\033[0m\n",
	             "a colour surrounds its text only");
	table_free(table);
	strbuf_fini(&out);
}

static struct table *wide_table(int n_columns, const char *cell, int shortest)
{
	struct table *table = table_new();

	table_column(table, "row", TABLE_LEFT, 0);
	for (int c = 0; c < n_columns; c++)
		table_column(table, "c", TABLE_RIGHT, shortest);
	for (int row = 0; row < 2; row++) {
		table_cell(table, TONE_PLAIN, "r%d", row);
		for (int c = 0; c < n_columns; c++)
			table_cell(table, TONE_PLAIN, "%s%d", cell, c);
	}
	return table;
}

static void test_split(void)
{
	struct table *table = wide_table(4, "0123456789012345678", 0);
	struct strbuf out = {0};

	table_print(table, 1, &plain, &out);
	tap_is_str(strbuf_text(&out),
	           "row                    c                    c\n"
	           "r0  01234567890123456780 01234567890123456781\n"
	           "r1  01234567890123456780 01234567890123456781\n\n"
	           "row                    c                    c\n"
	           "r0  01234567890123456782 01234567890123456783\n"
	           "r1  01234567890123456782 01234567890123456783\n",
	           "columns that do not fit follow below, the first one repeated");
	table_free(table);
	strbuf_fini(&out);
}

static void test_split_without_repeating(void)
{
	struct table *table = wide_table(3, "0123456789012345678", 0);
	struct strbuf out = {0};

	table_print(table, 0, &plain, &out);
	tap_contains(strbuf_text(&out), "\n\n                   c\n01234567890123456782\n",
	             "without repeated columns the next table starts at the margin");
	table_free(table);
	strbuf_fini(&out);
}

static void test_cut(void)
{
	struct table *table = wide_table(2, "0123456789012345678901234567890123456789", 10);
	struct strbuf out = {0};

	table_print(table, 1, &plain, &out);
	tap_is_int(sample_widest_line(strbuf_text(&out)), 60,
	           "columns that may be cut are, just enough");
	tap_contains(strbuf_text(&out), "…", "and the cut shows");
	table_free(table);
	table = wide_table(
		1, "01234567890123456789012345678901234567890123456789012345678901234567", 0);
	strbuf_clear(&out);
	table_print(table, 1, &plain, &out);
	sample_fits(strbuf_text(&out), 60, "a cell wider than the page is cut to it");
	table_free(table);
	strbuf_fini(&out);
}

int main(void)
{
	test_small();
	test_split();
	test_split_without_repeating();
	test_cut();
	return tap_done();
}
