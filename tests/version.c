/* version.c - the program's version, for tests that are linked without it: its own changes with
 * every commit. */
#include "engine/cli/command.h"

const char *version_text(void)
{
	return "0.0.0";
}
