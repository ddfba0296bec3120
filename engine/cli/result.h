/* result.h - prints a comparison. */
#ifndef ENGINE_CLI_RESULT_H
#define ENGINE_CLI_RESULT_H

#include "engine/cli/options.h"
#include "reports/comparison.h"
#include "reports/report.h"

/* As tables, or as one JSON document. Returns an exit code. */
int result_print(const struct options *options, const struct comparison *comparison,
                 const struct report_extras *extras);

#endif
