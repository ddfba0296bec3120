/* format_csv_table.c - tables are read by column name, and what isn't a table is refused by line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/format/csv_table.h"
#include "tests/tap.h"

static struct csv_table *parse(const char *text)
{
	struct csv_table *table = NULL;
	struct err err = {0};

	if (csv_table_parse("t.csv", text, strlen(text), &table, &err) < 0)
		tap_note("%s", err.text);
	return table;
}

static void check_values(void)
{
	struct csv_table *table = parse("\xef\xbb\xbfname,ms,n\r\n"
	                                "\"a, \"\"b\"\"\",1.5,-7\r\n"
	                                "\r\n"
	                                "\"two\nlines\",2e3,0\r\n"
	                                ",-.25,9223372036854775807");
	struct err err = {0};
	int64_t whole = 0;
	double number = 0;

	if (!tap_ok(table != NULL,
	            "a table with quotes, CR LF, an empty line and no last LF is read"))
		return;
	tap_is_int((int64_t)csv_table_n_rows(table), 3, "empty lines and the header are no rows");
	tap_is_int(csv_table_column(table, "ms", &err), 1, "a column is found by its name");
	tap_is_int(csv_table_column(table, "name", &err), 0,
	           "a byte order mark isn't part of a name");
	tap_is_str(csv_table_text(table, 0, 0), "a, \"b\"",
	           "quotes keep commas and doubled quotes");
	tap_is_str(csv_table_text(table, 1, 0), "two\nlines", "quotes keep line breaks");
	tap_is_str(csv_table_text(table, 2, 0), "", "an empty field is an empty string");
	tap_is_int((int64_t)csv_table_line(table, 2), 6, "a row knows its line");
	csv_table_number(table, 1, 1, &number, &err);
	tap_is_number(number, 2000, 0, "exponents are read");
	csv_table_number(table, 2, 1, &number, &err);
	tap_is_number(number, -0.25, 0, "negative fractions are read");
	csv_table_int(table, 0, 2, &whole, &err);
	tap_is_int(whole, -7, "negative whole numbers are read");
	csv_table_int(table, 2, 2, &whole, &err);
	tap_is_int(whole, INT64_MAX, "the largest whole number is read");
	csv_table_free(table);
}

static void check_bad_fields(void)
{
	static const char *const not_numbers[] = {"",    " ",    "x",   "1x",    "nan",
	                                          "inf", "0x10", "1 2", "1e999", "1.5 ms"};
	static const char *const not_whole[] = {"", "1.0", "9223372036854775808", "0x1", "1e3"};

	for (size_t i = 0; i < sizeof(not_numbers) / sizeof(*not_numbers); i++) {
		struct strbuf text = {0};
		struct csv_table *table;
		struct err err = {0};
		double number = 42;

		strbuf_addf(&text, "a,b\n1,1\n1,%s\n", not_numbers[i]);
		table = parse(strbuf_text(&text));
		tap_is_int(csv_table_number(table, 1, 1, &number, &err), -EINVAL,
		           "'%s' is not a number", not_numbers[i]);
		tap_contains(err.text, "t.csv: line 3, column 'b'",
		             "and the place of '%s' is named", not_numbers[i]);
		tap_is_number(number, 42, 0, "and no number is set for '%s'", not_numbers[i]);
		csv_table_free(table);
		strbuf_fini(&text);
	}
	for (size_t i = 0; i < sizeof(not_whole) / sizeof(*not_whole); i++) {
		struct strbuf text = {0};
		struct csv_table *table;
		struct err err = {0};
		int64_t whole = 42;

		strbuf_addf(&text, "a,b\n1,%s\n", not_whole[i]);
		table = parse(strbuf_text(&text));
		tap_is_int(csv_table_int(table, 0, 1, &whole, &err), -EINVAL,
		           "'%s' is not a whole number", not_whole[i]);
		csv_table_free(table);
		strbuf_fini(&text);
	}
}

static void check_columns(void)
{
	struct csv_table *table = parse("iteration,start_ms,end_ms,x,x\n");
	struct err err = {0};

	tap_is_int((int64_t)csv_table_n_rows(table), 0, "a header alone is a table without rows");
	tap_is_int(csv_table_column(table, "start_m", &err), -1, "an unknown column isn't found");
	tap_contains(err.text, "start_ms", "and the nearest name is named");
	tap_is_int(csv_table_column(table, "x", &err), -1,
	           "a name that two columns have is refused");
	csv_table_free(table);
}

static void check_refused(const char *text, size_t n_bytes, int code, const char *want,
                          const char *name)
{
	struct csv_table *table = NULL;
	struct err err = {0};

	tap_is_int(csv_table_parse("t.csv", text, n_bytes, &table, &err), code, "%s", name);
	tap_contains(err.text, want, "and the sentence has '%s'", want);
	tap_ok(table == NULL, "and nothing is returned for: %s", name);
}

static void check_bad_tables(void)
{
	char *wide = malloc(5000);

	check_refused("", 0, -EINVAL, "is empty", "an empty file is no table");
	check_refused("\n\n", 2, -EINVAL, "is empty", "empty lines are no table");
	check_refused("a,b\n1,2\n1,2,3\n", 14, -EINVAL, "line 3: 3 fields, but the header has 2",
	              "a row with too many fields is refused");
	check_refused("a,b\n1\n", 6, -EINVAL, "line 2: 1 fields", "a row with too few is refused");
	check_refused("a,b\n1,\"2\n", 9, -EINVAL, "line 2, column 2", "an open quote is refused");
	check_refused("a,b\n\"1\"x,2\n", 11, -EINVAL, "line 2, column 1",
	              "text after a closing quote is refused");
	check_refused("a,b\n1,\0\n", 8, -EINVAL, "line 2: has a NUL", "a NUL byte is refused");
	check_refused("\x1f\x8b\x08\x00", 4, -EINVAL, "gunzip", "compressed data is refused");
	memset(wide, ',', 5000);
	check_refused(wide, 5000, -EINVAL, "5001 columns", "thousands of columns are refused");
	free(wide);
}

static void check_read(void)
{
	struct csv_table *table = NULL;
	struct err err = {0};

	tap_is_int(csv_table_read("no/such/file.csv", &table, &err), -ENOENT,
	           "a file that isn't there is reported");
	tap_contains(err.text, "no/such/file.csv", "and named");
}

static void check_long_lines(void)
{
	size_t n_bytes = 8 << 20;
	char *text = malloc(n_bytes + 2);
	struct csv_table *table = NULL;
	struct err err = {0};

	memset(text, 'x', n_bytes);
	text[0] = 'a';
	text[1] = '\n';
	tap_is_int(csv_table_parse("t.csv", text, n_bytes, &table, &err), 0,
	           "a field of eight million characters is read");
	tap_is_int((int64_t)strlen(csv_table_text(table, 0, 0)), (int64_t)n_bytes - 2, "whole");
	csv_table_free(table);
	free(text);
}

int main(void)
{
	check_values();
	check_bad_fields();
	check_columns();
	check_bad_tables();
	check_read();
	check_long_lines();
	return tap_done();
}
