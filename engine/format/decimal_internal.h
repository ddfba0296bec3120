/* decimal_internal.h - decimal numbers as they stand in files, exactly: "12.5", "-3", "2.1E+00". */
#ifndef ENGINE_FORMAT_DECIMAL_INTERNAL_H
#define ENGINE_FORMAT_DECIMAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes that numbers are made of are at text, which ends with another. */
size_t decimal_span(const char *text);

/* The same if they are digits only and a number, which needs no second look; else 0. */
size_t decimal_plain(const char *text);

/* By JSON's grammar: no plus in front, no bare point, no NaN. */
bool decimal_is_number(const char *text, size_t length);

/* A number × 10^exponent, rounded half away from zero from its digits, never through a double.
 * False: it does not fit. */
bool decimal_scaled(const char *text, size_t length, int exponent, int64_t *out);

/* A number's exact value; false: not whole, or it does not fit. */
bool decimal_whole(const char *text, size_t length, int64_t *out);

#endif
