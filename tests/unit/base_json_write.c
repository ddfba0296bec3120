/* base_json_write.c - checks the writer of JSON. */
#include "engine/base/json_write.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/rng.h"
#include "tests/tap.h"

static void check_shapes(void)
{
	struct strbuf out = {0};
	struct json_write json;

	json_init(&json, &out, false);
	json_open_object(&json, NULL);
	json_string(&json, "s", "x");
	json_open_array(&json, "a");
	json_int(&json, NULL, 1);
	json_open_object(&json, NULL);
	json_close(&json);
	json_open_array(&json, NULL);
	json_close(&json);
	json_null(&json, NULL);
	json_close(&json);
	json_bool(&json, "t", true);
	json_bool(&json, "f", false);
	json_string(&json, "n", NULL);
	json_raw(&json, "r", "[1]");
	json_close(&json);
	tap_is_str(strbuf_text(&out),
	           "{\"s\":\"x\",\"a\":[1,{},[],null],\"t\":true,\"f\":false,\"n\":null,\"r\":[1]}",
	           "commas and keys are where they belong");
	tap_is_int(json.depth, 0, "everything is closed");
	strbuf_fini(&out);
}

static void check_indented(void)
{
	struct strbuf out = {0};
	struct json_write json;

	json_init(&json, &out, true);
	json_open_object(&json, NULL);
	json_open_array(&json, "a");
	json_int(&json, NULL, 1);
	json_null(&json, NULL);
	json_close(&json);
	json_open_array(&json, "b");
	json_string(&json, NULL, "s");
	json_close(&json);
	json_open_object(&json, "empty");
	json_close(&json);
	json_close(&json);
	tap_is_str(strbuf_text(&out),
	           "{\n  \"a\": [1, null],\n  \"b\": [\n    \"s\"\n  ],\n  \"empty\": {}\n}",
	           "an indented document reads well");
	strbuf_fini(&out);
}

static void check_strings(void)
{
	static const struct {
		const char *text, *want, *name;
	} cases[] = {
		{"a\"b\\c/", "\"a\\\"b\\\\c/\"", "quotes and backslashes are escaped"},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"", "control characters with a letter"},
		{"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "control characters without one"},
		{"µ € 😀", "\"µ € 😀\"", "UTF-8 stays"},
		{"\xff|\xc3", "\"\xef\xbf\xbd|\xef\xbf\xbd\"", "stray bytes are replaced"},
		{"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "overlong forms are replaced"},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
	         "surrogates are replaced"},
		{"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "a cut sequence is replaced"},
		{"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
	         "what lies above Unicode is replaced"},
		{"", "\"\"", "an empty string stays"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf out = {0};
		struct json_write json;

		json_init(&json, &out, false);
		json_string(&json, NULL, cases[i].text);
		tap_is_str(strbuf_text(&out), cases[i].want, "%s", cases[i].name);
		strbuf_fini(&out);
	}
}

static void check_number(double value, const char *want)
{
	struct strbuf out = {0};
	struct json_write json;

	json_init(&json, &out, false);
	json_number(&json, NULL, value);
	tap_is_str(strbuf_text(&out), want, "%g is written as %s", value, want);
	strbuf_fini(&out);
}

static void check_numbers(void)
{
	struct strbuf out = {0};
	struct json_write json;
	int n_wrong = 0;

	check_number(0, "0");
	check_number(0.1, "0.1");
	check_number(0.1 + 0.2, "0.30000000000000004");
	check_number(1.0 / 3, "0.3333333333333333");
	check_number(1e300, "1e+300");
	check_number(-2.5, "-2.5");
	check_number(123456789012.0, "123456789012");
	check_number(DBL_TRUE_MIN, "5e-324");
	check_number(NAN, "null");
	check_number(INFINITY, "null");
	check_number(-INFINITY, "null");
	json_init(&json, &out, false);
	for (uint64_t i = 0; i < 20000; i++) {
		double value = rng_normal(rng_mix(1, i)) * pow(10, (double)(i % 600) - 300);

		strbuf_clear(&out);
		json_number(&json, NULL, value);
		n_wrong += strtod(strbuf_text(&out), NULL) != value;
	}
	tap_is_int(n_wrong, 0, "numbers of every magnitude come back the same");
	strbuf_fini(&out);
}

static void check_integers_and_depth(void)
{
	struct strbuf out = {0};
	struct json_write json;

	json_init(&json, &out, false);
	json_open_array(&json, NULL);
	json_int(&json, NULL, INT64_MIN);
	json_int(&json, NULL, INT64_MAX);
	json_close(&json);
	tap_is_str(strbuf_text(&out), "[-9223372036854775808,9223372036854775807]",
	           "integers keep all of their digits");
	strbuf_clear(&out);
	for (int i = 0; i < 32; i++)
		json_open_array(&json, NULL);
	json_int(&json, NULL, 1);
	for (int i = 0; i < 32; i++)
		json_close(&json);
	tap_is_str(strbuf_text(&out),
	           "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
	           "32 levels nest");
	strbuf_fini(&out);
}

int main(void)
{
	check_shapes();
	check_indented();
	check_strings();
	check_numbers();
	check_integers_and_depth();
	return tap_done();
}
