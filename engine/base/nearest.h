/* nearest.h - the known name that somebody probably meant. */
#ifndef ENGINE_BASE_NEAREST_H
#define ENGINE_BASE_NEAREST_H

#include <stddef.h>

#include "engine/base/err.h"

/* The name with the smallest edit distance (swapped neighbours count one) if it is at most a third
 * of the longer one's length, at least 1; else NULL. Case does not count. Ties go to the first. */
const char *nearest_name(const char *found, const char *const *names, size_t n_names);

/* Refuse found, which is none of the names: the sentence offers the nearest and lists all. noun
 * says what they are names of: "device". Returns -ENOENT. */
int nearest_refuse(const char *noun, const char *found, const char *const *names, size_t n_names,
                   struct err *err);

#endif
