/* json_read.h - reads one JSON document item by item, in memory that does not grow with it.
 *
 * Strict RFC 8259: no comments, no NaN or Infinity, no text behind the document. Nesting is limited
 * to 64 and a string to 1 MiB. Whether a key was there before is not known here: who reads an
 * object sees its keys and refuses a second one of those that it uses (json_once()). */
#ifndef ENGINE_FORMAT_JSON_READ_H
#define ENGINE_FORMAT_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/input.h"

enum { JSON_NESTING_MAX = 64, JSON_STRING_BYTES_MAX = 1 << 20, JSON_NUMBER_BYTES_MAX = 256 };

enum json_kind {
	JSON_END, /* of the document */
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
	JSON_KEY, /* its value is the next item */
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
};

/* text: of a key or string without quotes and escapes; of a number as it stands. Valid until the
 * next item; not NUL-terminated. */
struct json_item {
	enum json_kind kind;
	const char *text;
	size_t length;
};

struct json_read;

/* input is borrowed. Close *out with json_read_close(). */
int json_read_open(struct input *input, struct json_read **out, struct err *err);
void json_read_close(struct json_read *json);

/* The next item. -EINVAL: not JSON; -EFBIG: a limit; what input_read() says. Sentences name file,
 * line and byte. */
int json_next(struct json_read *json, struct json_item *item, struct err *err);

/* The next item, of this kind, else -EINVAL: "wanted WHAT". */
int json_expect(struct json_read *json, enum json_kind kind, const char *what,
                struct json_item *item, struct err *err);

/* Step over the rest of the value that item began: nothing, unless it opened an object or array. */
int json_skip(struct json_read *json, const struct json_item *item, struct err *err);

/* Write "file: line 3, byte 120: " and the sentence; returns code. */
int json_fail(const struct json_read *json, int code, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Mark bit of *seen. -EINVAL: it was marked, so key is in its object twice. */
int json_once(const struct json_read *json, uint32_t *seen, int bit, const char *key,
              struct err *err);

bool json_is(const struct json_item *item, const char *text);

/* The number × 10^exponent, rounded half away from zero from its digits, never through a double;
 * "1.5" of microseconds with exponent 3 is 1500 ns. False: it does not fit. */
bool json_scaled(const struct json_item *number, int exponent, int64_t *out);

/* The number's exact value; false: not whole, or it does not fit. */
bool json_whole(const struct json_item *number, int64_t *out);

#endif
