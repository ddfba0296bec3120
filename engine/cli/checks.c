/* checks.c - hands a comparison's numbers to the scenario's checks and keeps what they say. */
#include "engine/cli/checks.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/script_time.h"
#include "engine/script/limit.h"

static struct check_schedule numbers_of(const struct comparison_schedule *schedule)
{
	return (struct check_schedule){
		.name = schedule->name,
		.total_s = schedule->total_s,
		.p50_ms = schedule->p50_ms,
		.p95_ms = schedule->p95_ms,
		.samples_per_s = schedule->samples_per_s,
		.bubble_ratio = schedule->bubble_ratio,
		.compute_ms = schedule->compute_ms,
		.wait_ms = schedule->wait_ms,
		.blocked_ms = schedule->blocked_ms,
		.iterations = schedule->n_iterations,
		.restarts = schedule->n_restarts,
	};
}

static int ask(struct script *script, const struct comparison *comparison,
               const struct check_result **results, size_t *n, struct err *err)
{
	struct check_schedule *schedules = array_new(comparison->n_schedules, sizeof(*schedules));
	int rc;

	if (!schedules)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < comparison->n_schedules; i++)
		schedules[i] = numbers_of(&comparison->schedules[i]);
	rc = script_time_start_checks(err);
	if (rc == 0)
		rc = script_run_checks(script, schedules, comparison->n_schedules, results, n, err);
	script_limit_stop();
	free(schedules);
	return rc;
}

int checks_run(struct script *script, const struct comparison *comparison, struct checks *out)
{
	const struct check_result *results = NULL;
	struct err err = {0};
	size_t n = 0;
	int code = EXIT_DONE;

	if (ask(script, comparison, &results, &n, &err)) {
		output_error("%s", err.text);
		return EXIT_CHECK_FAILED;
	}
	out->reports = array_new(n, sizeof(*out->reports));
	if (!out->reports) {
		output_error("out of memory");
		return EXIT_CHECK_FAILED;
	}
	out->n_reports = n;
	for (size_t i = 0; i < n; i++) {
		bool has_held = results[i].state == CHECK_HELD;

		out->reports[i] =
			(struct report_check){results[i].name, has_held, results[i].detail};
		if (!has_held)
			code = EXIT_CHECK_FAILED;
	}
	return code;
}

void checks_fini(struct checks *checks)
{
	free(checks->reports);
	*checks = (struct checks){0};
}
