/* report_csv.h - the tables of a report as CSV, for whoever takes the numbers elsewhere. */
#ifndef REPORTS_REPORT_CSV_H
#define REPORTS_REPORT_CSV_H

#include "reports/report.h"

size_t report_csv_n_tables(void);
const char *report_csv_name(size_t i);

/* Table i of the comparison, with a header. Columns carry units; what is not known is empty. */
void report_csv(const struct comparison *comparison, const struct report_extras *extras, size_t i,
                struct strbuf *out);

#endif
