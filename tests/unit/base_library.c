/* base_library.c - functions of a library are found, and what is missing is named. */
#include <errno.h>
#include <stddef.h>

#include "engine/base/library.h"
#include "tests/tap.h"

/* In a library that comes with the C library, but with no program that does not ask for it. */
struct found {
	int (*parse)(const char *text, unsigned long *seconds_out);
	int (*format)(unsigned long seconds, char *out, size_t n_bytes);
};

static int find(const char *second, struct found *out, struct err *err)
{
	const struct library_function functions[] = {
		{"ns_parse_ttl", offsetof(struct found, parse)},
		{second, offsetof(struct found, format)},
	};

	return library_find("libresolv.so.2", functions, 2, out, err);
}

static int find_first(const char *file_name, const char *first, struct found *out, struct err *err)
{
	const struct library_function functions[] = {{first, offsetof(struct found, parse)}};

	return library_find(file_name, functions, 1, out, err);
}

int main(void)
{
	struct found found = {0};
	struct err err = {0};
	unsigned long seconds = 0;
	char text[32];

	tap_is_int(find("ns_format_ttl", &found, &err), 0, "functions are found: %s", err.text);
	if (found.parse && found.format) {
		tap_is_int(found.parse("1H2M", &seconds), 0, "and can be called");
		tap_is_int((int64_t)seconds, 3720, "with what they take and give");
		tap_ok(found.format(60, text, sizeof(text)) > 0, "each in its place");
	}
	tap_is_int(find("no_such_format", &found, &err), -ENODEV,
	           "a function that is not there is told of");
	tap_contains(err.text, "libresolv.so.2 has no no_such_format", "by its name");
	tap_is_int(find_first("libno_such.so.9", "no_such_parse", &found, &err), -ENODEV,
	           "so is a library that is not there");
	tap_contains(err.text, "libno_such.so.9", "by its name: %s", err.text);
	tap_is_int(find_first("libno_such.so.9", "strlen", &found, &err), 0,
	           "what the program has already needs no file");
	return tap_done();
}
