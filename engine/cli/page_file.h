/* page_file.h - writes a comparison as an HTML page. */
#ifndef ENGINE_CLI_PAGE_FILE_H
#define ENGINE_CLI_PAGE_FILE_H

#include "engine/cli/options.h"
#include "engine/store/store.h"
#include "reports/comparison.h"

/* To options->html, whole or not at all; simulated NULL: there is none beside it. Returns an exit
 * code. */
int page_file_write(const struct options *options, struct store *store,
                    const struct comparison *comparison, const struct comparison *simulated);

#endif
