/* nightly.h - what the history of a scenario says of its last night.
 *
 * A night is one comparison. Histories are of one environment: only nights of one workload, mode,
 * machine and backends are alike. Less is better in every metric. */
#ifndef REPORTS_NIGHTLY_H
#define REPORTS_NIGHTLY_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/store/store.h"
#include "reports/change_points.h"
#include "reports/comparison.h"

enum nightly_metric {
	NIGHTLY_P50_MS, /* of a schedule's repeats, the mean of their medians after warm-up */
	NIGHTLY_TOTAL_S,
	NIGHTLY_COMPUTE_MS, /* from here on: why the first two are as they are; per iteration */
	NIGHTLY_WAIT_MS,
	NIGHTLY_BLOCKED_MS,
	NIGHTLY_TRANSFER_MS, /* per message */
	NIGHTLY_CONTROL,     /* width of the night's control; of the schedule that it repeats */
	NIGHTLY_METRICS,
	NIGHTLY_JUDGED = NIGHTLY_COMPUTE_MS,
};

const char *nightly_metric_name(enum nightly_metric metric); /* "p50_ms" */

/* What the runs of a night must share to be of one history. */
uint64_t nightly_environment(const struct stored_run *run);

/* The numbers of a comparison, to be put into the store; transfer_ms: [n_schedules]. The values'
 * names are the comparison's; out has room for n_schedules * NIGHTLY_METRICS. Returns how many. */
size_t nightly_values(const struct comparison *comparison, const double *transfer_ms, bool is_fresh,
                      struct night_value *out);

struct nightly_schedule {
	char *name;
	double *values[NIGHTLY_METRICS]; /* [n_nights]; NaN: none */
	double fresh[NIGHTLY_METRICS];   /* of the run that was to confirm the last night */
};

struct nightly_history {
	size_t n_nights;
	int64_t *comparisons; /* [n_nights], oldest first */
	char **created;       /* [n_nights] */
	char **versions;      /* [n_nights] */
	char **digests;       /* [n_nights], of the scenario's text and options */
	struct nightly_schedule *schedules;
	size_t n_schedules;
	struct night_alarm *alarms;
	size_t n_alarms;
	struct change_settings settings; /* with the median width of the controls */
};

int nightly_load(struct store *store, uint64_t environment, struct nightly_history *out,
                 struct err *err);
void nightly_fini(struct nightly_history *history);

enum nightly_state {
	NIGHTLY_SHORT,      /* too few nights for two levels */
	NIGHTLY_STEADY,     /* one level */
	NIGHTLY_BETTER,     /* the last change was for the better */
	NIGHTLY_SUSPECT,    /* for the worse, and no fresh run has been made */
	NIGHTLY_DISMISSED,  /* for the worse, but a fresh run does not say so */
	NIGHTLY_REGRESSION, /* for the worse, and a fresh run says the same */
	NIGHTLY_KNOWN,      /* the same, announced on an earlier night */
};

/* Of one judged metric of one schedule. */
struct nightly_verdict {
	size_t schedule;
	enum nightly_metric metric;
	enum nightly_state state;
	double tonight, fresh; /* NaN: none */
	struct change *changes;
	size_t n_changes, n_outliers;
	bool *is_outlier;             /* [n_nights] */
	double more[NIGHTLY_METRICS]; /* last level less the one before it; NaN: not known */
};

/* -ENOMEM. nightly_verdict_fini() releases what it holds. */
int nightly_judge(const struct nightly_history *history, size_t schedule,
                  enum nightly_metric metric, struct nightly_verdict *out, struct err *err);
void nightly_verdict_fini(struct nightly_verdict *verdict);

/* By how much each number of the level that one of the changes began is more than it was in the
 * level before; NaN: not known. */
void nightly_attribute(const struct nightly_history *history, const struct nightly_verdict *verdict,
                       size_t change, double more[NIGHTLY_METRICS]);

/* "host a and b, delay 30ms and 60ms": what was another in the second of two runs, the versions and
 * the settings included; nothing is added where all was the same. -ENOMEM. */
int nightly_add_differences(const struct stored_run *before, const struct stored_run *after,
                            struct strbuf *out, struct err *err);

/* The same of a schedule's runs on a night and on the last one before; nothing where one of them is
 * not there any more. */
int nightly_read_cause(struct store *store, const struct nightly_history *history, size_t schedule,
                       size_t night, struct strbuf *out, struct err *err);

#endif
