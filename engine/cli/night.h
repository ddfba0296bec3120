/* night.h - one scenario as one more night of its history. */
#ifndef ENGINE_CLI_NIGHT_H
#define ENGINE_CLI_NIGHT_H

#include "engine/cli/backend.h"
#include "engine/cli/load.h"
#include "reports/report_nightly.h"

enum { NIGHT_HOST_BYTES = 256 };

/* Borrowed: options, store. Start with night_load(), end with night_fini(). */
struct night {
	const struct options *options;
	struct store *store;
	struct loaded loaded;
	struct backend backend;
	uint64_t environment;
	int64_t comparison; /* of the night; 0: not made */
	struct comparison result;
	bool has_result, has_failed;
	char host[NIGHT_HOST_BYTES];
	struct nightly_history history;
	struct nightly_verdict *verdicts;
	size_t n_verdicts;
};

/* Load the scenario and choose what runs it; exit codes as load_scenario() has them. */
int night_load(struct night *night, const struct options *options, const struct paths *paths,
               const char *name);

/* Run it, judge its history, make a fresh run where something became slower, and keep what that
 * confirms as an alarm. EXIT_INTERRUPTED, or EXIT_RUN_FAILED after saying why; EXIT_DONE whatever
 * was found. */
int night_run(struct night *night, struct store *store);

struct nightly_report night_report(const struct night *night);
void night_fini(struct night *night);

#endif
