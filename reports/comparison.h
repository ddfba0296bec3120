/* comparison.h - the numbers that every report of a comparison shows, computed once from stored
 * runs.
 *
 * Milliseconds and seconds are profile time. A number that could not be computed is NaN. */
#ifndef REPORTS_COMPARISON_H
#define REPORTS_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "engine/store/store.h"
#include "reports/comparison_live.h"
#include "reports/paired.h"

enum { LOSS_DIGEST_BYTES = 17 };

/* One schedule of the comparison; over its repeats, means of times and sums of restarts. A repeat
 * that did not finish counts only when none did. */
struct comparison_schedule {
	char *name;
	int64_t run;      /* number of the first repeat; 0: it is in no store */
	char *plane;      /* "stream", "delegate", or "stream, delegate" when it switched */
	char *status;     /* "done", or what the first unfinished repeat says */
	int n_repeats;    /* that count */
	int n_iterations; /* completed, in their last attempt; the fewest of the repeats */
	double total_s;   /* first start to last end */
	double p50_ms;    /* after warm-up, last attempt only */
	double p95_ms;
	double samples_per_s;
	double bubble_ratio;  /* share of stage time in which no op ran */
	double blocked_ratio; /* share of stage time held by a transfer */
	double mean_ms;       /* iteration, over the iterations of p50 … */
	double compute_ms;    /* … and its three parts, means over stages; they add up to it */
	double wait_ms;
	double blocked_ms;
	int n_restarts;
	bool is_adaptive;     /* it may be planned anew during a run */
	int n_replans;        /* first repeat */
	int first_replan;     /* the iteration before which it first was; −1: it never was */
	double repeated_s;    /* lost iterations and restarts: time that did not count */
	double *iteration_ms; /* first repeat, [n_iterations_asked], last attempt; NaN: missing */
	int *restart_iterations; /* first repeat: those that a failure ended, in order */
	size_t n_restart_iterations;
	double *repeat_total_s;              /* [n_repeats] */
	double *repeat_p50_ms;               /* the same */
	char loss_digest[LOSS_DIGEST_BYTES]; /* of every iteration's loss; "": there are no losses
	                                      */
	struct comparison_losses *losses;    /* one a live run, those that count first */
	size_t n_losses;
	bool has_facts;
	struct comparison_facts facts;
	char *timeline_json; /* first repeat: what was done on paper only, a list of texts; NULL */
};

struct comparison_speedup {
	size_t of, over;  /* indices of schedules */
	double ratio;     /* total_s(over) / total_s(of); NaN: one of them did not finish */
	double low, high; /* of it: 95 %, paired t over log ratios of repeats; NaN: pairs < 2 */
	int pairs;
	/* Each run being one number, its p50: the median of the iterations that the scenario
	 * declares to be steady, which are those after warm-up. NaN too where two runs do not
	 * declare the same ones. */
	struct paired steady;
};

/* A schedule beside itself in every repeat: how far apart equal things are. */
struct comparison_control {
	char *schedule; /* NULL: there is no control */
	struct paired total, steady;
};

struct comparison_event {
	int event; /* its number in the scenario, from 0; some may not have happened */
	char *label;
	char *links;          /* "2-3 3-4", or "" */
	int first_iteration;  /* −1: by time */
	int last_iteration;   /* inclusive; −1: by time */
	double *p50_ms;       /* [n_schedules], of its iterations */
	double *published_ms; /* [n_schedules], NaN: none */
};

struct comparison {
	int64_t comparison; /* its number in the store; 0: runs put together by hand */
	int64_t simulated;  /* that of the same in virtual time; 0: none */
	char *created;      /* of its first run */
	char *store_path;
	char *scenario_title;
	char *scenario_path;
	char *mode;
	double speed;   /* of the first run, live: profile time per real time */
	char *backends; /* "device virtual, transport …, injector …"; comparison_internal.h */
	char *note;     /* the scenario's; NULL: none. The store has none: the caller sets it */
	char *warning;  /* what runs compared by force do not share; NULL: none */
	uint64_t seed;
	int n_stages;
	int n_replicas;
	int n_microbatches;
	int n_iterations_asked;
	int n_warmup;
	struct comparison_schedule *schedules;
	size_t n_schedules;
	struct comparison_speedup *speedups; /* every ordered pair of different schedules */
	size_t n_speedups;
	struct comparison_control control;
	struct comparison_event *events;
	size_t n_events;
	struct comparison_link *links; /* live: those of which something was measured */
	size_t n_links;
	char *settings_json; /* of the first run */
	char *rnics;         /* that its rails stood on: "rail 0: …"; "": none */
};

/* All runs of a comparison of the store; comparison 0: the last one. -ENOENT: there is none. */
int comparison_load(struct store *store, int64_t comparison, struct comparison *out,
                    struct err *err);

/* Runs put together by hand; repeats of one comparison are joined, others stay apart as "zb #12".
 * -EINVAL: their workloads differ (err says in what), unless is_forced; -ENOENT: no such run. */
int comparison_load_runs(struct store *store, const int64_t *runs, size_t n_runs, bool is_forced,
                         struct comparison *out, struct err *err);

void comparison_fini(struct comparison *comparison);

/* The speedup of one schedule over another; NULL: not among them. */
const struct comparison_speedup *comparison_speedup_of(const struct comparison *comparison,
                                                       size_t of, size_t over);

/* Did all runs that share workload, seed and repeat give the same losses, bit for bit? sentence
 * gets the first iteration and the schedules that differ. true where there are no losses. */
bool comparison_losses_agree(const struct comparison *comparison, struct strbuf *sentence);

/* Has every repeat of the schedule run to its end? */
bool comparison_is_done(const struct comparison_schedule *schedule);

/* Whom the report is about: adaptra when it finished, else the fastest that did, else the first. */
size_t comparison_subject(const struct comparison *comparison);

#endif
