/* version.c - the program's version; stored with every run. */
#include "engine/cli/command.h"

const char *version_text(void)
{
	return "0.1.0";
}
