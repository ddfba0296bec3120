/* quantity.h - numbers for people: at most four significant digits, thousands separated. */
#ifndef REPORTS_QUANTITY_H
#define REPORTS_QUANTITY_H

#include <stddef.h>

#include "reports/style.h"

enum { QUANTITY_BYTES = 64 };

/* Decimals with which a column whose largest magnitude is largest keeps four significant digits; 0
 * to 4. */
int quantity_decimals(double largest);

/* The largest magnitude among n values, those that are no numbers left out; 0: there is none. */
double quantity_largest(const double *values, size_t n);

/* "1,438", "958.2"; "—" or "-" for what is no number. out holds QUANTITY_BYTES; each returns out.
 */
char *quantity_number(double value, int decimals, const struct report_style *style, char *out);

/* Whole, every digit: "1,200". */
char *quantity_count(long long count, char *out);

/* "12.34 s", "24 min 03 s", "1 h 43 min": in the form that suits the largest of those it stands
 * beside, so that a column reads as one. */
char *quantity_span(double seconds, double largest, const struct report_style *style, char *out);

/* With the unit that reads best: "958.2 ms", "1.438 s". */
char *quantity_duration(double ms, const struct report_style *style, char *out);

/* "1.61x", "12.3x", "431x". */
char *quantity_ratio(double ratio, const struct report_style *style, char *out);

/* Of profile time over real time: "16 times faster than the profile", "as fast as the profile". */
char *quantity_speed(double speed, char *out);

#endif
