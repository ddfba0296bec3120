/* base_strbuf.c - checks struct strbuf. */
#include "engine/base/strbuf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void check_adding(void)
{
	struct strbuf buf = {0};
	char *text;

	tap_is_str(strbuf_text(&buf), "", "an empty buffer has an empty text");
	strbuf_add(&buf, "");
	tap_is_str(buf.text, "", "adding nothing makes a text");
	strbuf_add(&buf, "one");
	strbuf_add_char(&buf, ' ');
	strbuf_addf(&buf, "%s %d", "two", 3);
	tap_is_str(strbuf_text(&buf), "one two 3", "what is added follows");
	strbuf_add_bytes(&buf, "\0x", 2);
	tap_is_int((int64_t)buf.length, 11, "a NUL counts");
	strbuf_clear(&buf);
	tap_is_str(strbuf_text(&buf), "", "a cleared buffer is empty");
	text = strbuf_take(&buf);
	tap_is_str(text, "", "an empty text can be taken");
	free(text);
	text = strbuf_take(&buf);
	tap_is_str(text, "", "an empty text can be taken twice");
	free(text);
	strbuf_fini(&buf);
	strbuf_fini(&buf);
}

/* Every length around the sizes at which a buffer grows. */
static void check_growing(void)
{
	char filler[300];
	int n_wrong = 0;

	memset(filler, 'x', sizeof(filler));
	for (int n = 0; n < (int)sizeof(filler); n++) {
		struct strbuf buf = {0};

		strbuf_add(&buf, "<");
		strbuf_addf(&buf, "%.*s", n, filler);
		strbuf_addf(&buf, "%s", ">");
		n_wrong += buf.length != (size_t)n + 2 || strlen(buf.text) != buf.length ||
		           buf.text[n + 1] != '>';
		strbuf_fini(&buf);
	}
	tap_is_int(n_wrong, 0, "formatted text of every length arrives whole");
}

static void check_many(void)
{
	struct strbuf buf = {0};
	char *text;

	for (int i = 0; i < 100000; i++)
		strbuf_addf(&buf, "%d,", i % 10);
	tap_is_int((int64_t)buf.length, 200000, "a hundred thousand pieces are all there");
	text = strbuf_take(&buf);
	tap_is_str(text + 200000 - 6, "7,8,9,", "the last piece is the last");
	tap_ok(!buf.text && buf.length == 0, "a taken buffer is empty");
	free(text);
}

static void check_numbers(void)
{
	static const double numbers[] = {0.1, 1.0 / 3, 1e300, 5e-324, -2, 0};
	struct strbuf buf = {0};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		strbuf_add_char(&buf, ' ');
		strbuf_add_number(&buf, numbers[i]);
	}
	tap_is_str(strbuf_text(&buf), " 0.1 0.3333333333333333 1e+300 5e-324 -2 0",
	           "numbers have as many digits as they need");
	strbuf_fini(&buf);
}

static void check_failing(void)
{
	struct strbuf buf = {0};

	strbuf_add(&buf, "kept");
	strbuf_add_bytes(&buf, "x", SIZE_MAX - 2);
	tap_ok(buf.is_failed, "a size that overflows is a failure");
	tap_is_str(strbuf_text(&buf), "kept", "what was there is kept");
	tap_ok(!strbuf_take(&buf), "a failed buffer gives no text");
	tap_ok(!buf.is_failed, "and is as new");
	strbuf_fini(&buf);
}

int main(void)
{
	check_adding();
	check_growing();
	check_many();
	check_numbers();
	check_failing();
	return tap_done();
}
