/* settings.h - the settings of stored runs, read back: which of them differ? */
#ifndef REPORTS_SETTINGS_H
#define REPORTS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"

/* Is text one JSON value (RFC 8259), nested at most 64 deep, in UTF-8? */
bool settings_is_json(const char *text);

/* The number at a path of the object, as below; NaN: there is none, or text is no JSON object. */
double settings_number(const char *text, const char *path);

/* Is the string at a path of the object that value? false where there is none. */
bool settings_is(const char *text, const char *path, const char *value);

struct setting {
	char *path;  /* "topology.stages" */
	char *value; /* as a person would write it: strings without their quotes, all else as JSON
	              */
};

/* All settings of the object in its order; free *out with settings_free(). Errors as below. */
int settings_read(const char *text, struct setting **out, size_t *n_out, struct err *err);
void settings_free(struct setting *settings, size_t n);

/* The value at a path of the object, written the same way; the caller frees it. "": there is none,
 * or text is no JSON object; NULL: no memory. */
char *settings_text(const char *text, const char *path);

/* Add "delay 30ms and 60ms, topology.stages 4 and 8": the settings, by their path, that are not the
 * same in both objects; at most n_most, then how many more. Two long lists are named without their
 * values. Nothing is added when all agree. Paths in left_out, which ends with NULL, do not count;
 * one that ends with a point stands for all below it. -EINVAL: one of them is no JSON object;
 * -ENOMEM. */
int settings_add_differences(const char *a, const char *b, size_t n_most,
                             const char *const *left_out, struct strbuf *out, struct err *err);

#endif
