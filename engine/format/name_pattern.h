/* name_pattern.h - a user's regular expression for the names that ops have in a trace.
 *
 * POSIX extended, with named groups: "^(?<kind>[A-Z]+)-(?<mb>[0-9]+)@(?<stage>[0-9]+)$". */
#ifndef ENGINE_FORMAT_NAME_PATTERN_H
#define ENGINE_FORMAT_NAME_PATTERN_H

#include "engine/base/err.h"
#include "engine/format/action_name.h"
#include "engine/format/vocabulary.h"

struct name_pattern;

enum name_match {
	NAME_OTHER,   /* the expression does not match */
	NAME_UNKNOWN, /* it does, but kind is no word of the vocabulary, or a number is too large */
	NAME_ACTION,
};

/* Words for kind are of that vocabulary. -EINVAL: no such expression, or one without the groups
 * kind and mb; stage may be missing. Free *out with name_pattern_free(). */
int name_pattern_new(const char *expression, enum vocabulary vocabulary, struct name_pattern **out,
                     struct err *err);
void name_pattern_free(struct name_pattern *pattern);

/* out->stage is −1 where the expression has no group for it. */
enum name_match name_pattern_match(const struct name_pattern *pattern, const char *name,
                                   struct action_name *out);

#endif
