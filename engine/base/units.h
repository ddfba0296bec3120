/* units.h - quantities with units, read from and written for people. */
#ifndef ENGINE_BASE_UNITS_H
#define ENGINE_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000, UNITS_TEXT_BYTES = 32 };

/* "30ms", "1.5s", "5us", "250ns", "2min", "1h": exact nanoseconds, rounded half up from the decimal
 * digits, never through a double. A bare number, a sign, an unknown unit or more than 2^62 ns:
 * -EINVAL and a sentence that names what was found and which units there are. */
int units_parse_duration(const char *text, int64_t *ns_out, struct err *err);

/* "200Gbit", "1.5Mbit", "9600bit", "25GB" (bytes per second; decimal prefixes): bits per second. */
int units_parse_rate(const char *text, int64_t *bits_per_s_out, struct err *err);

/* "4MiB", "512KiB", "1GB", "100B". */
int units_parse_size(const char *text, int64_t *bytes_out, struct err *err);

/* "0.1%" or "0.001": 0 to 1. */
int units_parse_ratio(const char *text, double *ratio_out, struct err *err);

/* "12", "0", whole numbers in [low, high] only. */
int units_parse_count(const char *text, int64_t low, int64_t high, int64_t *out, struct err *err);

/* Four significant digits with the unit that reads best: "30 ms", "1.847 s", "4 MiB", "200 Gbit/s".
 * out holds UNITS_TEXT_BYTES; each returns out. */
char *units_format_duration(int64_t ns, char *out);
char *units_format_rate(int64_t bits_per_s, char *out);
char *units_format_size(int64_t bytes, char *out);

/* Wall-clock style for sums and ETAs: "19 s", "12 min 03 s", "1 h 19 min". */
char *units_format_span(int64_t ns, char *out);

#endif
