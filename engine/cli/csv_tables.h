/* csv_tables.h - `report --csv TABLE`: a table of a report or of the database, on standard output.
 */
#ifndef ENGINE_CLI_CSV_TABLES_H
#define ENGINE_CLI_CSV_TABLES_H

#include "engine/cli/options.h"
#include "engine/store/store.h"
#include "reports/report.h"

/* Is there a table of that name? If not, say which there are; returns an exit code. */
int csv_tables_check(const char *name);

/* Print it: of the comparison, or of its runs' rows in the store, every repeat's. Returns an exit
 * code. */
int csv_tables_print(const struct options *options, struct store *store,
                     const struct comparison *comparison, const struct report_extras *extras);

#endif
