/* format_json_read.c - JSON is read item by item whatever pieces it comes in, and what is not JSON,
 * or too much of it, is one sentence with its place. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/format/json_read.h"
#include "tests/packed.h"
#include "tests/tap.h"

static const char letters[] = {
	[JSON_END] = '.',       [JSON_OBJECT] = '{', [JSON_OBJECT_END] = '}', [JSON_ARRAY] = '[',
	[JSON_ARRAY_END] = ']', [JSON_KEY] = 'k',    [JSON_STRING] = 's',     [JSON_NUMBER] = 'n',
	[JSON_TRUE] = 't',      [JSON_FALSE] = 'f',  [JSON_NULL] = '0',
};

/* "{k(a)n(1)}." for {"a":1}; the result of the last json_next(). */
static int read_items(const char *text, size_t n_bytes, struct strbuf *out, struct err *err)
{
	char *copy = malloc(n_bytes > 0 ? n_bytes : 1);
	struct input *input = NULL;
	struct json_read *json = NULL;
	struct json_item item = {JSON_NULL, "", 0};
	int rc;

	memcpy(copy, text, n_bytes);
	rc = input_open_bytes("x", copy, n_bytes, &input, err);
	if (rc == 0)
		rc = json_read_open(input, &json, err);
	while (rc == 0 && item.kind != JSON_END) {
		rc = json_next(json, &item, err);
		if (rc < 0)
			break;
		strbuf_add_char(out, letters[item.kind]);
		if (item.kind == JSON_KEY || item.kind == JSON_STRING || item.kind == JSON_NUMBER) {
			strbuf_add_char(out, '(');
			strbuf_add_bytes(out, item.text, item.length);
			strbuf_add_char(out, ')');
		}
	}
	json_read_close(json);
	input_close(input);
	free(copy);
	return rc;
}

static void check_items(void)
{
	static const char *const cases[][2] = {
		{"{}", "{}."},
		{" [ ] ", "[]."},
		{"{\"a\":1,\"b\":[true,false,null,{}],\"c\":\"\"}",
	         "{k(a)n(1)k(b)[tf0{}]k(c)s()}."},
		{"[\"\\\"\\\\\\/\\n\\t\",\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\",\"\\ud83d!\"]",
	         "[s(\"\\/\n\t)s(A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80)s(\xef\xbf\xbd!)]."},
		{"[0,-0.5,12e3,1E-2,1.25e+10]", "[n(0)n(-0.5)n(12e3)n(1E-2)n(1.25e+10)]."},
		{"\"alone\"", "s(alone)."},
		{"17", "n(17)."},
		{"\r\n\t[\n[\n[ ]\n,[]]]", "[[[][]]]."},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf out = {0};
		struct err err = {0};
		int rc;

		rc = read_items(cases[i][0], strlen(cases[i][0]), &out, &err);
		tap_is_int(rc, 0, "%s is read", cases[i][0]);
		tap_is_str(strbuf_text(&out), cases[i][1], "as its items");
		strbuf_fini(&out);
	}
}

static void check_refused(const char *text, int code, const char *want)
{
	struct strbuf out = {0};
	struct err err = {0};

	tap_is_int(read_items(text, strlen(text), &out, &err), code, "%.60s is refused", text);
	tap_contains(err.text, want, "because: %s", want);
	strbuf_fini(&out);
}

static void check_mistakes(void)
{
	check_refused("", -EINVAL, "x: line 1, byte 1: the text breaks off");
	check_refused("{\"a\":1", -EINVAL, "the text breaks off");
	check_refused("{\"a", -EINVAL, "the text breaks off");
	check_refused("[1,\n2,\n", -EINVAL, "line 3, byte 8: the text breaks off");
	check_refused("[1 2]", -EINVAL, "line 1, byte 4: wanted a comma or the end of the array");
	check_refused("{\"a\" 1}", -EINVAL, "wanted a colon");
	check_refused("{a:1}", -EINVAL, "wanted a key in quotes");
	check_refused("{\"a\":1,}", -EINVAL, "wanted a key in quotes");
	check_refused("[1,]", -EINVAL, "found ']'; wanted a value");
	check_refused("[1}", -EINVAL, "found '}'; wanted ']'");
	check_refused("{\"a\":1]", -EINVAL, "found ']'; wanted '}'");
	check_refused("[] []", -EINVAL, "byte 4: text behind the end of the document");
	check_refused("[NaN]", -EINVAL, "NaN and Infinity are no numbers");
	check_refused("[nan]", -EINVAL, "NaN and the like are no numbers");
	check_refused("[-Infinity]", -EINVAL, "found '-'; wanted a number");
	check_refused("[Infinity]", -EINVAL, "NaN and Infinity are no numbers");
	check_refused("[truth]", -EINVAL, "wanted true, false or null");
	check_refused("[01]", -EINVAL, "found '01'; wanted a number");
	check_refused("[1.]", -EINVAL, "found '1.'");
	check_refused("[.5]", -EINVAL, "found '.'; wanted a value");
	check_refused("[1e]", -EINVAL, "found '1e'");
	check_refused("[1-2]", -EINVAL, "found '1-2'");
	check_refused("[+1]", -EINVAL, "found '+'");
	check_refused("[\"a\nb\"]", -EINVAL, "control character");
	check_refused("[\"\\x41\"]", -EINVAL, "unknown escape");
	check_refused("[\"\\u12g4\"]", -EINVAL, "unknown escape");
	check_refused("[\"\\u12\"]", -EINVAL, "unknown escape");
	check_refused("[\"\\", -EINVAL, "breaks off");
	check_refused("// no\n[]", -EINVAL, "found '/'");
}

/* n times the text. */
static char *repeated(const char *text, size_t n)
{
	size_t length = strlen(text);
	char *out = malloc(n * length + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(out + i * length, text, length);
	out[n * length] = '\0';
	return out;
}

static void check_limits(void)
{
	char *text = repeated("[", 1000000);
	struct strbuf out = {0};
	struct err err = {0};

	check_refused(text, -EFBIG, "line 1, byte 65: nested deeper than 64");
	text[64] = '\0';
	tap_is_int(read_items(text, 64, &out, &err), -EINVAL, "64 levels are not too many");
	free(text);
	text = repeated("{\"a\":", 1000000);
	check_refused(text, -EFBIG, "nested deeper than 64");
	free(text);
	text = repeated("7", 5000000);
	check_refused(text, -EFBIG, "a number of more than 256 characters");
	text[0] = '"';
	check_refused(text, -EFBIG, "a string longer than 1048576 bytes");
	memmove(text + JSON_STRING_BYTES_MAX - 1, "\"", 2);
	strbuf_clear(&out);
	tap_is_int(read_items(text, strlen(text), &out, &err), 0, "a string of a MiB is read");
	tap_is_int((int64_t)out.length, JSON_STRING_BYTES_MAX - 2 + 4, "whole");
	free(text);
	strbuf_fini(&out);
}

/* Every item may be cut by the end of a piece: a document longer than any buffer, read with its
 * start shifted byte by byte. */
static void check_pieces(void)
{
	static const char piece[] = "{\"key \\u00e9\": [1.5e3, \"text\\n\", true, null, \"\"]},\n";
	static const char item[] = "{k(key \xc3\xa9)[n(1.5e3)s(text\n)t0s()]}";
	size_t n_right = 0, n_shifts = 0;

	for (size_t shift = 0; shift < sizeof(piece); shift++) {
		struct strbuf text = {0}, got = {0}, want = {0};
		struct err err = {0};

		strbuf_add(&want, "[");
		for (size_t i = 0; i < shift; i++)
			strbuf_add_char(&text, ' ');
		strbuf_add(&text, "[\n");
		for (size_t i = 0; i < 8000; i++) {
			strbuf_add_bytes(&text, piece, sizeof(piece) - (i == 7999 ? 3 : 1));
			strbuf_add(&want, item);
		}
		strbuf_add(&text, "]");
		strbuf_add(&want, "].");
		n_shifts++;
		n_right += read_items(text.text, text.length, &got, &err) == 0 &&
		           strcmp(strbuf_text(&got), want.text) == 0;
		strbuf_fini(&text);
		strbuf_fini(&got);
		strbuf_fini(&want);
	}
	tap_is_int((int64_t)n_right, (int64_t)n_shifts, "pieces may end anywhere");
}

static void check_numbers(void)
{
	static const struct {
		const char *text;
		int exponent;
		bool fits;
		int64_t want;
	} cases[] = {
		{"1.5", 3, true, 1500},
		{"1700000000000000.123", 3, true, 1700000000000000123},
		{"0.0005", 3, true, 1},
		{"0.00049", 3, true, 0},
		{"-1.0005", 3, true, -1001},
		{"12e-1", 0, true, 1},
		{"15e-1", 0, true, 2},
		{"1e3", 3, true, 1000000},
		{"0e999999999", 0, true, 0},
		{"1e-999999999", 6, true, 0},
		{"9223372036854775807", 0, true, INT64_MAX},
		{"9223372036854775808", 0, false, 0},
		{"9223372036854775807.5", 0, false, 0},
		{"1e19", 0, false, 0},
		{"1e999999999", 0, false, 0},
		{"-0", 3, true, 0},
	};
	struct json_item half = {JSON_NUMBER, "2.50", 4}, two = {JSON_NUMBER, "20e-1", 5};
	int64_t value = 42;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct json_item item = {JSON_NUMBER, cases[i].text, strlen(cases[i].text)};
		int64_t found = 0;

		tap_is_int(json_scaled(&item, cases[i].exponent, &found), cases[i].fits,
		           "%s times ten to the %d %s", cases[i].text, cases[i].exponent,
		           cases[i].fits ? "fits" : "does not fit");
		if (cases[i].fits)
			tap_is_int(found, cases[i].want, "and is %" PRId64, cases[i].want);
	}
	tap_ok(!json_whole(&half, &value) && value == 42, "2.50 is not whole");
	tap_ok(json_whole(&two, &value) && value == 2, "20e-1 is");
}

static void check_skip_and_keys(void)
{
	static const char text[] = "{\"a\":[1,[2,{\"x\":[]}],3],\"b\":5,\"c\":{},\"b\":6}";
	struct input *input = NULL;
	struct json_read *json = NULL;
	struct json_item item;
	struct err err = {0};
	uint32_t seen = 0;

	input_open_bytes("x", text, strlen(text), &input, &err);
	json_read_open(input, &json, &err);
	json_next(json, &item, &err);
	json_next(json, &item, &err);
	json_next(json, &item, &err);
	tap_is_int(json_skip(json, &item, &err), 0, "an array is stepped over");
	json_next(json, &item, &err);
	tap_ok(item.kind == JSON_KEY && json_is(&item, "b"), "whatever is in it");
	tap_ok(!json_is(&item, "bb") && !json_is(&item, ""), "a key is told from others");
	tap_is_int(json_once(json, &seen, 3, "b", &err), 0, "a key is met once");
	tap_is_int(json_expect(json, JSON_NUMBER, "a number", &item, &err), 0, "a number follows");
	tap_is_int(json_skip(json, &item, &err), 0, "which is stepped over already");
	json_next(json, &item, &err);
	tap_is_int(json_expect(json, JSON_STRING, "a name", &item, &err), -EINVAL,
	           "an object is no string");
	tap_contains(err.text, "x: line 1, byte 36: wanted a name", "and that is said");
	json_skip(json, &item, &err);
	tap_is_int(json_once(json, &seen, 3, "b", &err), -EINVAL, "a key met again is refused");
	tap_contains(err.text, "key 'b' is in its object twice", "by name");
	json_read_close(json);
	input_close(input);
}

static void check_cut_gzip(void)
{
	char *text = repeated("12345,123\n,", 60000);
	struct strbuf out = {0};
	struct err err = {0};
	size_t n_packed;
	char *zip;

	text[0] = '[';
	zip = packed(text, strlen(text), &n_packed);
	tap_is_int(read_items(zip, n_packed - 20, &out, &err), -EINVAL,
	           "compressed JSON that breaks off is refused");
	tap_contains(err.text, "compressed data breaks off", "as such");
	free(zip);
	free(text);
	strbuf_fini(&out);
}

int main(void)
{
	check_items();
	check_mistakes();
	check_limits();
	check_pieces();
	check_numbers();
	check_skip_and_keys();
	check_cut_gzip();
	return tap_done();
}
