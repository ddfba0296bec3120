/* import_record.h - `import … --as record`: what other programs' files say happened, as runs in the
 * database. */
#ifndef ENGINE_CLI_IMPORT_RECORD_H
#define ENGINE_CLI_IMPORT_RECORD_H

#include "engine/cli/import_files.h"

/* Every run that the files hold becomes a run of its own, in a comparison of its own; next gets the
 * command that shows them. Nothing is stored unless all of them can be. */
int import_record(const struct options *options, const struct import_files *files,
                  struct strbuf *next, struct err *err);

#endif
