/* style.h - what the reader's terminal can show. */
#ifndef REPORTS_STYLE_H
#define REPORTS_STYLE_H

#include <stdbool.h>

enum { REPORT_COLUMNS_MIN = 60, REPORT_COLUMNS_MAX = 120 };

struct report_style {
	int columns; /* at least 60; more than 120 are not used */
	bool has_color;
	bool has_unicode;
};

#endif
