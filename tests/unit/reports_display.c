/* reports_display.c - text takes the columns that it is said to take, and hostile text does
 * nothing. */
#include "reports/display.h"

#include "tests/reports_sample.h"
#include "tests/tap.h"

static const struct report_style unicode = {.columns = 80, .has_unicode = true};
static const struct report_style ascii = {.columns = 80};

enum how { CUT, CUT_MIDDLE, ADD };

static void is_shown(enum how how, const char *text, int width, const struct report_style *style,
                     const char *want, const char *name)
{
	struct strbuf out = {0};

	if (how == CUT)
		display_add_cut(&out, text, width, style);
	else if (how == CUT_MIDDLE)
		display_add_cut_middle(&out, text, width, style);
	else
		display_add(&out, text, style);
	tap_is_str(strbuf_text(&out), want, "%s", name);
	strbuf_fini(&out);
}

static void test_widths(void)
{
	tap_is_int(display_width("plain", &unicode), 5, "a letter takes one column");
	tap_is_int(display_width("±µ…", &unicode), 3, "so does a letter of two or three bytes");
	tap_is_int(display_width("日本", &unicode), 4, "an East Asian character takes two");
	tap_is_int(display_width("e\xcc\x81", &unicode), 1, "a combining accent takes none");
	tap_is_int(display_width("日本", &ascii), 2, "without Unicode each is one question mark");
	tap_is_int(display_width("\xff\xc0\x80", &unicode), 3,
	           "a broken byte is one question mark");
}

static void test_cuts(void)
{
	is_shown(CUT, "adaptra", 7, &unicode, "adaptra", "what fits is not cut");
	is_shown(CUT, "adaptra", 5, &unicode, "adap…", "a cut shows");
	is_shown(CUT, "adaptra", 5, &ascii, "ada..", "a cut shows in ASCII");
	is_shown(CUT, "日本語", 4, &unicode, "日…", "half of a wide character is not shown");
	is_shown(CUT, "adaptra", 0, &unicode, "", "no columns show nothing");
	is_shown(CUT_MIDDLE, "/some/path/results.db", 14, &unicode, "/som…esults.db",
	         "the end of a path is kept when its middle is cut");
}

static void test_substitutes(void)
{
	is_shown(ADD, "RUN… 30 ms ± 5, 2–3 × 4 µs — done", 0, &ascii,
	         "RUN... 30 ms +- 5, 2-3 x 4 us - done", "common signs are written in ASCII");
	tap_is_int(display_width("RUN…", &ascii), 6, "and measured as they are written");
	is_shown(CUT, "a…b", 3, &ascii, "a..", "one that does not fit is not halved");
}

static void test_hostile(void)
{
	is_shown(ADD, "\033[2Jx\n\x7f", 0, &unicode, "?[2Jx??",
	         "control characters are not passed on");
	is_shown(ADD,
	         "\xc2\x9b"
	         "1m",
	         0, &unicode, "?1m", "nor are those of eight bits");
	is_shown(ADD,
	         "\xe2\x80\xae"
	         "abc",
	         0, &unicode, "?abc", "nor is a change of direction");
	is_shown(ADD, "\xed\xa0\x80", 0, &unicode, "???", "surrogates are not UTF-8");
	tap_ok(display_is_utf8("日本 ±") && !display_is_utf8("a\xc0\xaf"),
	       "UTF-8 is told from other bytes");
}

static void test_wrapping(void)
{
	struct report_style narrow = {.columns = 60, .has_unicode = true};
	struct strbuf out = {0};

	display_add_wrapped(&out, "one two  three", 0, 2, &narrow);
	tap_is_str(strbuf_text(&out), "one two three\n", "words that fit stay on one line");
	strbuf_clear(&out);
	display_add_wrapped(&out,
	                    "0123456789 0123456789 0123456789 0123456789 0123456789 01234 next "
	                    "averyveryveryveryveryveryveryveryveryveryveryveryveryveryverylongword",
	                    0, 2, &narrow);
	tap_is_str(strbuf_text(&out),
	           "0123456789 0123456789 0123456789 0123456789 0123456789 01234\n  next\n"
	           "  averyveryveryveryveryveryveryveryveryveryveryveryveryvery…\n",
	           "the other words go on further lines, and one longer than a line is cut");
	tap_is_int(sample_widest_line(strbuf_text(&out)), 60,
	           "no line is wider than the style's columns");
	strbuf_fini(&out);
}

int main(void)
{
	test_widths();
	test_cuts();
	test_substitutes();
	test_hostile();
	test_wrapping();
	return tap_done();
}
