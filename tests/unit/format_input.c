/* format_input.c - plain and compressed input gives the same text, and what is cut or damaged is
 * one sentence. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/rng.h"
#include "engine/base/strbuf.h"
#include "engine/format/input.h"
#include "tests/packed.h"
#include "tests/tap.h"

/* Everything, asked for in pieces of n_wanted; the result of the last read. */
static int read_all(struct input *input, size_t n_wanted, struct strbuf *out, struct err *err)
{
	char *piece = malloc(n_wanted);
	size_t n = 1;
	int rc = 0;

	while (rc == 0 && n > 0) {
		n = 0;
		rc = input_read(input, piece, n_wanted, &n, err);
		strbuf_add_bytes(out, piece, n);
	}
	free(piece);
	return rc;
}

static int read_bytes(const char *bytes, size_t n_bytes, size_t n_wanted, struct strbuf *out,
                      struct err *err)
{
	/* An exact copy, so that one byte read too far is seen. */
	char *copy = malloc(n_bytes > 0 ? n_bytes : 1);
	struct input *input = NULL;
	int rc;

	memcpy(copy, bytes, n_bytes);
	rc = input_open_bytes("x", copy, n_bytes, &input, err);
	if (rc == 0)
		rc = read_all(input, n_wanted, out, err);
	input_close(input);
	free(copy);
	return rc;
}

/* Half a megabyte that can be compressed, but not to nothing. */
static void make_text(struct strbuf *out)
{
	uint64_t state = 7;

	while (out->length < 500000) {
		state = rng_mix(state, 1);
		strbuf_addf(out, "%llu\n", (unsigned long long)(state % 100000));
	}
}

static void check_same(void)
{
	static const size_t sizes[] = {1, 1000, 65536, 1 << 20};
	struct strbuf text = {0};
	struct err err = {0};
	size_t n_packed, n_again;
	char *zip, *twice;

	make_text(&text);
	zip = packed(text.text, text.length, &n_packed);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct strbuf plain = {0}, unpacked = {0};

		tap_is_int(read_bytes(text.text, text.length, sizes[i], &plain, &err), 0,
		           "plain text is read, %zu bytes at a time", sizes[i]);
		tap_is_str(strbuf_text(&plain), text.text, "as it is");
		tap_is_int(read_bytes(zip, n_packed, sizes[i], &unpacked, &err), 0,
		           "compressed text is read, %zu bytes at a time", sizes[i]);
		tap_is_str(strbuf_text(&unpacked), text.text, "and is the same");
		strbuf_fini(&plain);
		strbuf_fini(&unpacked);
	}
	twice = malloc(2 * n_packed + 700);
	memcpy(twice, zip, n_packed);
	free(zip);
	zip = packed("and more", 8, &n_again);
	memcpy(twice + n_packed, zip, n_again);
	memset(twice + n_packed + n_again, 0, 700);
	strbuf_add(&text, "and more");
	{
		struct strbuf unpacked = {0};

		tap_is_int(read_bytes(twice, n_packed + n_again + 700, 4096, &unpacked, &err), 0,
		           "two compressed files one after the other are read, and zeros behind");
		tap_is_str(strbuf_text(&unpacked), text.text, "as one text");
		strbuf_fini(&unpacked);
	}
	free(twice);
	free(zip);
	strbuf_fini(&text);
}

static void check_refused(const char *bytes, size_t n_bytes, const char *want, const char *name)
{
	struct strbuf out = {0};
	struct err err = {0};

	tap_is_int(read_bytes(bytes, n_bytes, 4096, &out, &err), -EINVAL, "%s is refused", name);
	tap_contains(err.text, want, "with a sentence");
	strbuf_fini(&out);
}

static void check_damage(void)
{
	struct strbuf text = {0};
	size_t n_packed;
	char *zip;

	make_text(&text);
	zip = packed(text.text, text.length, &n_packed);
	for (size_t n = 2; n < n_packed; n += n_packed / 7)
		check_refused(zip, n, "x: compressed data breaks off after", "a cut file");
	check_refused(zip, n_packed - 1, "breaks off", "a file without its last byte");
	zip = realloc(zip, n_packed + 5);
	memcpy(zip + n_packed, "hello", 5);
	check_refused(zip, n_packed + 5, "not compressed follows", "text behind compressed data");
	zip[n_packed / 2] ^= 0x55;
	zip[n_packed - 8] ^= 1;
	check_refused(zip, n_packed, "is damaged near its byte", "a changed byte");
	zip[2] = 99;
	check_refused(zip, n_packed, "is damaged", "an unknown method");
	free(zip);
	strbuf_fini(&text);
}

static void check_lines(void)
{
	static const char text[] = "\xef\xbb\xbfone\r\n\ntwo three\nlast";
	static const char *const want[] = {"one", "", "two three", "last"};
	struct input *input = NULL;
	struct err err = {0};
	const char *line;
	size_t length;

	input_open_bytes("x", text, sizeof(text) - 1, &input, &err);
	for (int i = 0; i < 4; i++) {
		char found[16] = "";

		tap_is_int(input_next_line(input, &line, &length, &err), 1, "line %d is there", i);
		memcpy(found, line, length);
		tap_is_str(found, want[i], "and is '%s'", want[i]);
		tap_is_int((int64_t)input_line(input), i + 1, "and is counted");
	}
	tap_is_int(input_next_line(input, &line, &length, &err), 0, "then there are no more");
	tap_is_int(input_next_line(input, &line, &length, &err), 0, "even if asked again");
	tap_is_int((int64_t)input_n_bytes(input), sizeof(text) - 1, "all bytes were read");
	input_close(input);
}

static int last_of_lines(const char *bytes, size_t n_bytes, size_t *longest, struct err *err)
{
	struct input *input = NULL;
	const char *line;
	size_t length;
	int rc = input_open_bytes("x", bytes, n_bytes, &input, err);

	while (rc == 0 && (rc = input_next_line(input, &line, &length, err)) == 1) {
		*longest = length > *longest ? length : *longest;
		rc = 0;
	}
	input_close(input);
	return rc;
}

static void check_long_lines(void)
{
	size_t n = INPUT_LINE_BYTES_MAX + 200000, longest = 0;
	char *bytes = malloc(n);
	struct err err = {0};

	memset(bytes, 'a', n);
	bytes[INPUT_LINE_BYTES_MAX - 3] = '\n';
	tap_is_int(last_of_lines(bytes, n, &longest, &err), 0, "a line of almost a MiB is read");
	tap_is_int((int64_t)longest, INPUT_LINE_BYTES_MAX - 3, "whole");
	bytes[INPUT_LINE_BYTES_MAX - 3] = 'a';
	tap_is_int(last_of_lines(bytes, n, &longest, &err), -EFBIG, "a longer one is refused");
	tap_contains(err.text, "x: line 1 is longer than", "with its number");
	bytes[1] = '\n';
	bytes[5] = '\0';
	bytes[9] = '\n';
	tap_is_int(last_of_lines(bytes, n, &longest, &err), -EINVAL, "a NUL byte is refused");
	tap_contains(err.text, "x: line 2 has a NUL byte", "with its line");
	free(bytes);
	tap_is_int(last_of_lines("", 0, &longest, &err), 0, "an empty file has no lines");
}

/* A pipe that gives a byte at a time stands for a slow standard input. */
static void check_standard_input(void)
{
	size_t n_packed;
	char *zip = packed("from a pipe", 11, &n_packed);
	struct input *input = NULL;
	struct strbuf out = {0};
	struct err err = {0};
	int ends[2];

	if (pipe(ends) != 0)
		return;
	if (fork() == 0) {
		for (size_t i = 0; i < n_packed; i++) {
			if (write(ends[1], zip + i, 1) != 1)
				_exit(1);
			usleep(200);
		}
		_exit(0);
	}
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	tap_is_int(input_open("-", &input, &err), 0, "standard input is opened");
	tap_is_int(read_all(input, 100, &out, &err), 0, "and compressed text read from it");
	tap_is_str(strbuf_text(&out), "from a pipe", "whole");
	tap_is_str(input_name(input), "standard input", "it has a name");
	input_close(input);
	wait(NULL);
	strbuf_fini(&out);
	free(zip);
}

/* Looking ahead takes nothing, of plain and of compressed text, however long. */
static void check_peek(void)
{
	struct strbuf text = {0};
	char *bytes[2];
	size_t sizes[2];

	make_text(&text);
	bytes[0] = text.text;
	sizes[0] = text.length;
	bytes[1] = packed(text.text, text.length, &sizes[1]);
	for (int i = 0; i < 2; i++) {
		struct input *input = NULL;
		struct strbuf out = {0};
		struct err err = {0};
		const char *shown = NULL;
		size_t n = 0;

		input_open_bytes("x", bytes[i], sizes[i], &input, &err);
		tap_is_int(input_peek(input, &shown, &n, &err), 0, "the start of %s text is shown",
		           i ? "compressed" : "plain");
		tap_ok(n == INPUT_PEEK_BYTES && memcmp(shown, text.text, n) == 0, "as it is");
		tap_is_int((int64_t)input_n_bytes(input), 0, "and not taken");
		tap_is_int(read_all(input, 777, &out, &err), 0, "then it is read");
		tap_is_str(strbuf_text(&out), text.text, "whole");
		tap_is_int((int64_t)input_n_bytes(input), (int64_t)text.length, "once");
		strbuf_fini(&out);
		input_close(input);
	}
	free(bytes[1]);
	strbuf_fini(&text);
}

static void check_read_all(void)
{
	struct input *input = NULL;
	struct strbuf text = {0};
	struct err err = {0};
	char *whole = NULL;
	size_t n = 0;

	make_text(&text);
	input_open_bytes("x", text.text, text.length, &input, &err);
	tap_is_int(input_read_all(input, text.length, &whole, &n, &err), 0, "all is read at once");
	tap_is_str(whole, text.text, "as it is");
	tap_is_int((int64_t)n, (int64_t)text.length, "and counted");
	input_close(input);
	free(whole);
	whole = NULL;
	input_open_bytes("x", text.text, text.length, &input, &err);
	tap_is_int(input_read_all(input, text.length - 1, &whole, &n, &err), -EFBIG,
	           "more than the limit is refused");
	tap_contains(err.text, "x is longer than", "by name");
	tap_ok(whole == NULL, "and nothing is set");
	input_close(input);
	strbuf_fini(&text);
}

static void check_missing(void)
{
	struct input *input = NULL;
	struct err err = {0};

	tap_is_int(input_open("no/such/file", &input, &err), -ENOENT, "a missing file is told");
	tap_is_str(err.text, "cannot open 'no/such/file': No such file or directory", "by name");
	tap_is_int(input_open("/", &input, &err), -EISDIR, "a folder is no file");
	tap_ok(input == NULL, "and nothing was opened");
}

int main(void)
{
	check_same();
	check_damage();
	check_lines();
	check_long_lines();
	check_standard_input();
	check_peek();
	check_read_all();
	check_missing();
	return tap_done();
}
