/* version.c - the program's version and, where it was built from a repository, its commit; stored
 * with every run. */
#include "engine/cli/command.h"

const char *version_text(void)
{
	return "0.1.0" ADAPTRA_COMMIT;
}
