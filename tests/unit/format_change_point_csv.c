/* format_change_point_csv.c - histories for change-point tools, read back cell by cell. */
#include "engine/format/change_point_csv.h"

#include <math.h>
#include <string.h>

#include "tests/tap.h"

static void test_table(void)
{
	static const char *const columns[] = {"a_p50_ms", "a_total_s"};
	static double first[] = {1589.8, 0.1}, second[] = {NAN, 918}, third[] = {INFINITY, -1e-300};
	const struct change_point_night nights[] = {
		{"2026-01-30T02:00:00Z", "abc122", first},
		{"2026-01-31T02:00:00Z", "a,\"b\"\nc", second},
		{"2026-02-01T02:00:00Z", "", third},
	};
	const struct change_point_table table = {columns, 2, nights, 3},
					none = {columns, 0, NULL, 0};
	struct strbuf out = {0}, empty = {0};

	change_point_csv_write(&table, &out);
	tap_is_str(strbuf_text(&out),
	           "time,commit,a_p50_ms,a_total_s\n"
	           "2026-01-30T02:00:00Z,abc122,1589.8,0.1\n"
	           "2026-01-31T02:00:00Z,\"a,\"\"b\"\"\nc\",,918\n"
	           "2026-02-01T02:00:00Z,,,-1e-300\n",
	           "a row a night, a cell a metric, nothing where there is none");
	change_point_csv_write(&none, &empty);
	tap_is_str(strbuf_text(&empty), "time,commit\n", "without nights there is a header");
	strbuf_fini(&out);
	strbuf_fini(&empty);
}

static void test_names(void)
{
	struct strbuf out = {0};

	change_point_name("zb-cpu #1, \xe2\x82\xac p50_ms", &out);
	tap_is_str(strbuf_text(&out), "zb_cpu__1______p50_ms", "names are what every tool takes");
	strbuf_fini(&out);
}

int main(void)
{
	test_table();
	test_names();
	return tap_done();
}
