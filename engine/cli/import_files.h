/* import_files.h - the files of an import, read; and what is said of them. */
#ifndef ENGINE_CLI_IMPORT_FILES_H
#define ENGINE_CLI_IMPORT_FILES_H

#include "engine/cli/options.h"
#include "engine/format/clock_offsets.h"
#include "engine/format/flight_recorder.h"
#include "engine/format/import_format.h"
#include "engine/format/observed.h"

/* All files' content; start zeroed but for rules, import_files_fini() in any case. */
struct import_files {
	struct import_rules rules; /* the caller's */
	enum import_format format; /* all have one */
	struct observed observed;
	struct clock_offsets clocks;     /* n_ranks 0: there was nothing to put on one */
	struct flight_recorder recorder; /* IMPORT_FLIGHT_RECORDER */
	char *text;                      /* of a format of which one file is all */
	size_t n_text;
	const char *name; /* of the first file; borrowed */
};

/* Read all files that the arguments name; "-" is standard input. -EINVAL: one that cannot be read,
 * two formats, a file twice, two traces of one rank and iteration, or several
 * files of a format of which one is all. */
int import_files_read(const struct text_list *paths, struct import_files *out, struct err *err);
void import_files_fini(struct import_files *files);

/* On stderr: what was read, what skipped and what rejected. */
void import_files_tell(const struct options *options, const struct import_files *files);

#endif
