/* script_summary.h - what a script says of itself in its first comment. */
#ifndef ENGINE_CLI_SCRIPT_SUMMARY_H
#define ENGINE_CLI_SCRIPT_SUMMARY_H

#include "engine/base/strbuf.h"

/* Of "name.lua - what it answers.", the first paragraph of the script's first comment, what follows
 * the name; nothing of a file that cannot be read. */
void script_summary(const char *path, struct strbuf *out);

#endif
