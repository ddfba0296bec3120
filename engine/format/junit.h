/* junit.h - results as JUnit XML, in the subset that the usual CI servers read. */
#ifndef ENGINE_FORMAT_JUNIT_H
#define ENGINE_FORMAT_JUNIT_H

#include <stddef.h>

#include "engine/base/strbuf.h"

enum junit_result {
	JUNIT_PASSED,
	JUNIT_FAILURE, /* the claim does not hold */
	JUNIT_ERROR,   /* it could not be tried */
	JUNIT_SKIPPED,
};

/* Suite and name tell a case from all others, night after night: no measured number in them. */
struct junit_case {
	const char *name;
	double time_s;
	enum junit_result result;
	const char *type;    /* of a failure or an error: one word */
	const char *message; /* why, unless it passed */
};

struct junit_property {
	const char *name, *value;
};

struct junit_suite {
	const char *name;
	const char *timestamp; /* UTC, ISO 8601; a zone behind the seconds is left out */
	const char *hostname;
	const struct junit_property *properties;
	size_t n_properties;
	const struct junit_case *cases;
	size_t n_cases;
};

/* The whole document. Characters that XML has not are left out, what is not UTF-8 becomes U+FFFD.
 */
void junit_write(const char *name, const struct junit_suite *suites, size_t n_suites,
                 struct strbuf *out);

#endif
