/* page_file.h - writes a comparison as an HTML page. */
#ifndef ENGINE_CLI_PAGE_FILE_H
#define ENGINE_CLI_PAGE_FILE_H

#include "engine/cli/options.h"
#include "engine/store/store.h"
#include "reports/report.h"

/* To options->html, whole or not at all. Returns an exit code. */
int page_file_write(const struct options *options, struct store *store,
                    const struct comparison *comparison, const struct report_extras *extras);

#endif
