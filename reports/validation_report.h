/* validation_report.h - the simulator against measurements, as a person or a program reads it. */
#ifndef REPORTS_VALIDATION_REPORT_H
#define REPORTS_VALIDATION_REPORT_H

#include "engine/base/strbuf.h"
#include "engine/validate/validate.h"
#include "reports/style.h"

/* Summary first, then every row with its error. */
void report_validation_terminal(const struct validation *validation,
                                const struct report_style *style, struct strbuf *out);
void report_validation_json(const struct validation *validation, struct strbuf *out);

#endif
