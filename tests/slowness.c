/* slowness.c - how much longer a test waits, by the machine and by the build. */
#include "tests/slowness.h"

#include <stdlib.h>

double slowness_of_machine(void)
{
	const char *text = getenv("ADAPTRA_TEST_SLOW");
	double factor = text ? strtod(text, NULL) : 1;

	return factor > 1 ? factor : 1;
}

double slowness_of_build(void)
{
#if defined(__SANITIZE_THREAD__)
	return 40;
#elif defined(__SANITIZE_ADDRESS__)
	return 4;
#else
	return 1;
#endif
}
