/* script_time.h - how long a script may take. */
#ifndef ENGINE_CLI_SCRIPT_TIME_H
#define ENGINE_CLI_SCRIPT_TIME_H

#include "engine/base/err.h"

/* From here to script_limit_stop() the process ends by itself when the script takes longer than 10
 * s (ADAPTRA_SCRIPT_SECONDS): with exit code 2 and a sentence while nothing has run yet, with 1 for
 * checks, which come after everything is stored. */
int script_time_start_loading(struct err *err);
int script_time_start_checks(struct err *err);

#endif
