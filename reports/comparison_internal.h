/* comparison_internal.h - what the files that make a comparison share. */
#ifndef REPORTS_COMPARISON_INTERNAL_H
#define REPORTS_COMPARISON_INTERNAL_H

#include "reports/comparison.h"

/* The numbers of one run. */
struct run_numbers {
	int n_complete; /* iterations whose last attempt ended */
	int n_restarts;
	int n_replans;
	int first_replan; /* −1: there was none */
	double total_s;
	double p50_ms, p95_ms;
	double mean_ms, compute_ms, wait_ms, blocked_ms;
	double samples_per_s;
	double bubble_ratio, blocked_ratio;
	double repeated_s;
	double *iteration_ms; /* [run->n_iterations] */
	int *restart_iterations;
	size_t n_restart_iterations;
	bool has_stream, has_delegate;
	double *loss;                       /* [run->n_iterations], last attempt; NaN: none */
	int missing_loss, conflicting_loss; /* as in struct comparison_losses */
	char loss_digest[LOSS_DIGEST_BYTES];
};

/* rows are the run's iterations in the order in which they happened. -EINVAL: the run's row makes
 * no sense. */
int run_numbers_init(struct run_numbers *numbers, const struct stored_run *run,
                     const struct record_iteration *rows, size_t n_rows, struct err *err);
void run_numbers_fini(struct run_numbers *numbers);

/* comparison_backends.c: "device paced, transport tcp, injector shaped (#3) and stream (#4)"; the
 * caller's to free. NULL: out of memory. */
char *comparison_backends(const struct stored_run *runs, size_t n_runs);

/* Runs of one schedule that are repeats of each other. */
struct run_group {
	size_t *members; /* indices of runs */
	size_t n_members;
	size_t n_counting; /* the first of members: those whose numbers count */
};

/* The runs of a comparison being made. */
struct run_set {
	const struct stored_run *runs;
	struct run_numbers *numbers; /* [n_runs] */
	size_t n_runs;
	struct run_group *groups;
	size_t n_groups;
	bool is_whole; /* they are those of one comparison, so its control stands apart */
	struct run_group control; /* without members: there is none */
	size_t controlled;        /* the group that it stands beside */
};

/* Group runs by comparison and schedule; in each group the repeats that count come first. -ENOMEM.
 */
int run_set_group(struct run_set *set, struct err *err);
void run_set_fini(struct run_set *set);

/* Fill out->schedules, out->speedups and out->control. -ENOMEM. */
int comparison_add_schedules(const struct run_set *set, struct comparison *out, struct err *err);
int comparison_add_speedups(const struct run_set *set, struct comparison *out, struct err *err);
int comparison_add_control(const struct run_set *set, struct comparison *out, struct err *err);

/* Fill out->losses from the live runs of the group, and of the control beside it. -ENOMEM. */
int comparison_copy_losses(const struct run_set *set, size_t group, int n_asked,
                           struct comparison_schedule *out);

/* Fill out->facts from the group's live runs. */
void comparison_add_facts(const struct run_set *set, const struct run_group *group,
                          struct comparison_schedule *out);

/* Fill out->events from those of the first run. */
int comparison_add_events(const struct run_set *set, struct store *store, struct comparison *out,
                          struct err *err);

/* Fill out->links from the live runs that count, once out has its schedules. */
int comparison_add_links(const struct run_set *set, struct store *store, struct comparison *out,
                         struct err *err);

/* -EINVAL and what differs when the workloads of the runs are not the same, a warning in out when
 * is_forced. */
int comparison_check_workloads(const struct stored_run *runs, size_t n_runs, bool is_forced,
                               struct comparison *out, struct err *err);

#endif
