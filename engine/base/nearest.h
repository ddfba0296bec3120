/* nearest.h - the known name that somebody probably meant. */
#ifndef ENGINE_BASE_NEAREST_H
#define ENGINE_BASE_NEAREST_H

#include <stddef.h>

/* The name with the smallest edit distance (swapped neighbours count one) if it is at most a third
 * of the longer one's length, at least 1; else NULL. Case does not count. Ties go to the first. */
const char *nearest_name(const char *found, const char *const *names, size_t n_names);

#endif
