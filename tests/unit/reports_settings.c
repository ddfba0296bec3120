/* reports_settings.c - settings are read strictly, and what differs is named. */
#include "reports/settings.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/tap.h"

static void test_grammar(void)
{
	static const char *const good[] = {"{}",
	                                   " [] ",
	                                   "0",
	                                   "-1.5e+3",
	                                   "\"a\\u00e9\\n\"",
	                                   "null",
	                                   "{\"a\":{\"b\":[1,true,{}]},\"c\":\"日\"}"};
	static const char *const bad[] = {"",         "{",   "{a:1}",      "{\"a\"}",   "[1,]",
	                                  "01",       "1.",  "+1",         "\"\\x\"",   "tru",
	                                  "{} {}",    "\"",  "[1",         "\"\\u12\"", "\"\n\"",
	                                  "\"\xff\"", "nul", "{\"a\":1,}", "-",         "1e"};
	char deep[201];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		tap_ok(settings_is_json(good[i]), "%s is JSON", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		tap_ok(!settings_is_json(bad[i]), "bad text %zu is not JSON", i);
	tap_ok(!settings_is_json(NULL), "no text is not JSON");
	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	deep[200] = '\0';
	tap_ok(!settings_is_json(deep), "nesting has a limit");
}

static void differ(const char *a, const char *b, size_t n_most, const char *want, const char *name)
{
	static const char *const left_out[] = {"title", "file.", NULL};
	struct strbuf out = {0};
	struct err err = {0};
	int rc = settings_add_differences(a, b, n_most, left_out, &out, &err);

	tap_is_str(rc ? err.text : strbuf_text(&out), want, "%s", name);
	strbuf_fini(&out);
}

static void test_numbers(void)
{
	const char *text = "{\"a\":{\"b\":-2.5e1},\"s\":\"7\",\"n\":null,\"c\":3 }";

	tap_is_number(settings_number(text, "a.b"), -25, 0, "a number is found by its path");
	tap_is_number(settings_number(text, "c"), 3, 0, "also in front of blanks");
	tap_is_number(settings_number(text, "s"), NAN, 0, "a text is no number");
	tap_ok(settings_is(text, "s", "7"), "but it is itself");
	tap_ok(!settings_is(text, "s", "other") && !settings_is(text, "c", "3") &&
	               !settings_is(text, "x", "") && !settings_is("[]", "s", ""),
	       "and nothing else is");
	tap_is_number(settings_number(text, "n"), NAN, 0, "nor is null");
	tap_is_number(settings_number(text, "x"), NAN, 0, "nor what is not there");
	tap_is_number(settings_number("{\"a\":nan}", "a"), NAN, 0, "nor what is not JSON");
	tap_is_number(settings_number(NULL, "a"), NAN, 0, "nor is nothing");
}

static void test_reading(void)
{
	struct setting *settings;
	struct err err = {0};
	size_t n = 0;

	if (!tap_is_int(settings_read("{\"a\":{\"b\":1.50},\"c\":\"d \\\"e\\\" \\n\",\"f\":[1, 2],"
	                              "\"g\":\"\"}",
	                              &settings, &n, &err),
	                0, "settings are read %s", err.text) ||
	    !tap_is_int((int64_t)n, 4, "all of them"))
		return;
	tap_is_str(settings[0].path, "a.b", "in their order, by their path");
	tap_is_str(settings[0].value, "1.50", "a number as it is written");
	tap_is_str(settings[1].value, "d \"e\" \\n", "a text without quotes");
	tap_is_str(settings[2].value, "[1, 2]", "an array as one value");
	tap_is_str(settings[3].value, "", "an empty text as nothing");
	settings_free(settings, n);
	tap_is_int(settings_read("[1]", &settings, &n, &err), -EINVAL, "an array is no settings");
	tap_ok(settings_read("{}", &settings, &n, &err) == 0 && n == 0, "there may be none");
	settings_free(settings, n);
}

int main(void)
{
	test_reading();
	static const char *const none[] = {NULL};
	struct strbuf out = {0};
	struct err err = {0};

	test_grammar();
	test_numbers();
	differ("{\"a\":1,\"b\":\"x\"}", "{ \"b\" : \"x\" , \"a\" : 1 }", 9, "",
	       "order and blanks make no difference");
	differ("{\"delay\":\"30ms\",\"t\":{\"stages\":4}}",
	       "{\"delay\":\"60ms\",\"t\":{\"stages\":8}}", 9,
	       "delay 30ms and 60ms, t.stages 4 and 8", "what differs is named by its path");
	differ("{\"a\":1}", "{\"b\":[1, 2]}", 9, "a 1 and nothing, b nothing and [1, 2]",
	       "what one side lacks is named");
	differ("{\"a\":1,\"b\":1,\"c\":1}", "{\"a\":2,\"b\":2,\"c\":2}", 1, "a 1 and 2 and 2 more",
	       "a long list is cut");
	differ("{\"a\":\"0123456789012345678901é2345\"}", "{}", 9,
	       "a 0123456789012345678901é... and nothing",
	       "a long value is cut between characters");
	differ("{\"a\":[100000000, 100000000, 1], \"b\":1}",
	       "{\"a\":[100000000, 100000000, 2], \"b\":2}", 9, "a, b 1 and 2",
	       "long lists are named without their values");
	differ("{\"file.0\":\"x\",\"file\":1,\"a\":1}",
	       "{\"file.0\":\"y\",\"file.1\":\"z\",\"a\":2}", 9, "file 1 and nothing, a 1 and 2",
	       "a group that does not count, whose name does");
	differ("{\"title\":\"x\",\"a\":1}", "{\"title\":\"y\",\"a\":2}", 9, "a 1 and 2",
	       "what is left out is not named");
	tap_is_int(settings_add_differences("[1]", "{}", 9, none, &out, &err), -EINVAL,
	           "settings that are no object are refused");
	strbuf_fini(&out);
	return tap_done();
}
