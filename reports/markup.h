/* markup.h - text inside HTML and SVG: whatever it holds, it stays text. */
#ifndef REPORTS_MARKUP_H
#define REPORTS_MARKUP_H

#include <stdarg.h>

#include "engine/base/strbuf.h"

/* Escaped for elements and for attributes in double quotes. Text comes from scripts and databases:
 * control characters and what is not UTF-8 become '?'. */
void markup_add(struct strbuf *out, const char *text);
void markup_addf(struct strbuf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void markup_vaddf(struct strbuf *out, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
