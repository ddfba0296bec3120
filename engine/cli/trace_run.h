/* trace_run.h - `trace export RUN FILE`: a stored run as a Chrome trace. */
#ifndef ENGINE_CLI_TRACE_RUN_H
#define ENGINE_CLI_TRACE_RUN_H

#include "engine/cli/options.h"

/* run is a run's number; path "-" is standard output. Returns an exit code. */
int trace_export_run(const struct options *options, const char *run, const char *path);

#endif
