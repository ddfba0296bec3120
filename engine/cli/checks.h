/* checks.h - does what the scenario claims hold? */
#ifndef ENGINE_CLI_CHECKS_H
#define ENGINE_CLI_CHECKS_H

#include "engine/script/script.h"
#include "reports/comparison.h"
#include "reports/report.h"

/* Start zeroed. */
struct checks {
	struct report_check *reports; /* strings are the script's */
	size_t n_reports;
};

/* Run the scenario's checks over the comparison. EXIT_DONE, or EXIT_CHECK_FAILED when one did not
 * hold, or could not be run, which is said. */
int checks_run(struct script *script, const struct comparison *comparison, struct checks *out);
void checks_fini(struct checks *checks);

#endif
