/* stored.h - what the user names on the command line is looked up in the database. */
#ifndef ENGINE_CLI_STORED_H
#define ENGINE_CLI_STORED_H

#include <stdbool.h>

#include "engine/cli/options.h"
#include "engine/store/store.h"

/* Open the database for reading: --store, or the default. Returns an exit code after saying what is
 * wrong; *out is set on EXIT_DONE. */
int stored_open(const struct options *options, struct store **out);

/* The same database for writing; a note says if it was of an older schema. */
int stored_open_to_write(const struct options *options, struct store **out, struct err *err);

/* Is there no database yet? */
bool stored_is_empty(const struct options *options);

/* Print the comparison of the runs that the arguments number, or write it to --html's file; without
 * arguments, the last comparison.
 * Returns an exit code. */
int stored_report(const struct options *options);

/* Is text a run's number rather than a scenario's name? */
bool stored_is_run(const char *text);

#endif
