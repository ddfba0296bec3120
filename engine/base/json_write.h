/* json_write.h - one JSON document, written into a strbuf.
 *
 * Keys and values are written in the order of the calls; commas and escapes are the writer's. An
 * indented document has a line for each item, but for numbers and words in arrays, which share one.
 * Numbers that are not finite become null. Nesting is limited to 32. */
#ifndef ENGINE_BASE_JSON_WRITE_H
#define ENGINE_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/strbuf.h"

struct json_write {
	struct strbuf *out;
	int depth;
	bool is_indented;
	uint32_t has_item; /* one bit a level */
	uint32_t is_array;
	uint32_t has_lines;
};

void json_init(struct json_write *json, struct strbuf *out, bool is_indented);

/* key is NULL inside an array and at the top. */
void json_open_object(struct json_write *json, const char *key);
void json_open_array(struct json_write *json, const char *key);
void json_close(struct json_write *json);
void json_string(struct json_write *json, const char *key, const char *value); /* NULL: null */
void json_int(struct json_write *json, const char *key, int64_t value);
void json_number(struct json_write *json, const char *key, double value); /* shortest exact */
void json_bool(struct json_write *json, const char *key, bool value);
void json_null(struct json_write *json, const char *key);

/* Text that is already JSON, as it stands. */
void json_raw(struct json_write *json, const char *key, const char *value);

#endif
