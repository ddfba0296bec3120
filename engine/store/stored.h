/* stored.h - what a database holds, read back; the end of store.h.
 *
 * Results are the caller's; free them with the _fini of their type. */
#ifndef ENGINE_STORE_STORED_H
#define ENGINE_STORE_STORED_H

#include "engine/store/store.h"

struct stored_run {
	int64_t run;
	int64_t comparison;
	char *created; /* UTC, ISO 8601 */
	char *status;
	char *reason;
	char *scenario_title;
	char *scenario_path;
	char *schedule;
	char *mode;
	char *plane;
	char *device, *transport, *injector;
	char *host, *version;
	char *settings_json;
	char *facts_json; /* "{}" in virtual time */
	uint64_t workload_fingerprint;
	uint64_t seed;
	uint64_t repeat_seed;
	int repeat;
	int place;
	bool is_control;
	int n_stages, n_replicas, n_microbatches;
	int samples_per_iteration;
	int n_iterations, n_warmup;
	bool is_oracle;
	double speed;
};

void stored_runs_fini(struct stored_run *runs, size_t n_runs);

/* Filter for runs; 0 or NULL: any. */
struct store_query {
	int64_t run;
	int64_t comparison;
	int most; /* newest first when > 0 */
};

/* Runs in order of their numbers (newest first with most). status is as stored, or "lost" for a run
 * whose process died: it is "running", and nobody writes; the next writer makes it "failed". */
int store_read_runs(struct store *store, const struct store_query *query,
                    struct stored_run **runs_out, size_t *n_out, struct err *err);

/* Number of the newest comparison; -ENOENT: there is none. */
int store_last_comparison(struct store *store, int64_t *comparison_out, struct err *err);

/* What the scenario says below the comparison; NULL: nothing. The caller frees *note_out. */
int store_read_note(struct store *store, int64_t comparison, char **note_out, struct err *err);

/* Number of the comparison in virtual time beside a live one; 0: there is none. */
int store_read_simulated(struct store *store, int64_t comparison, int64_t *simulated_out,
                         struct err *err);

/* All iterations of a run in the order in which they happened, ops NULL. The caller frees *out. */
int store_read_iterations(struct store *store, int64_t run, struct record_iteration **out,
                          size_t *n_out, struct err *err);

struct store_iteration {
	int64_t run;
	int attempt;
	int iteration;
};

/* The ops of one iteration of one attempt, with the way of their messages if those were stored. The
 * caller frees *out. */
int store_read_ops(struct store *store, const struct store_iteration *which, struct record_op **out,
                   size_t *n_out, struct err *err);

struct stored_event {
	int event;
	char *label; /* as the scenario's event */
	char *links; /* "2-3 3-4", or "" */
	int first_iteration;
	int last_iteration;
	struct published *published;
	size_t n_published;
};

int store_read_events(struct store *store, int64_t run, struct stored_event **out, size_t *n_out,
                      struct err *err);
void stored_events_fini(struct stored_event *events, size_t n_events);

struct stored_decision {
	char *kind;
	int attempt;
	int iteration;
	int64_t at_ns;
	int link;
	int64_t seen_ns;
	int64_t since_iteration;
	char *plane;
	char *warmups;
	char *clamped;
	char *reason;
};

int store_read_decisions(struct store *store, int64_t run, struct stored_decision **out,
                         size_t *n_out, struct err *err);
void stored_decisions_fini(struct stored_decision *decisions, size_t n_decisions);

/* A fault each time it was in force. */
struct stored_fault {
	int fault; /* index in the scenario's faults */
	int event; /* -1: of none */
	char *kind;
	char *label; /* its event's, else its kind */
	int from_stage, to_stage;
	int64_t delay_ns; /* that the scenario adds to a message, before jitter; -1: no delay */
	char *delay_model;
	int64_t jitter_ns, rate_bits_per_s; /* that it asks for; -1: none */
	double loss_ratio;                  /* NaN: none */
	char *moments; /* the same for faults that start and end together, as they are asked for */
	int attempt;
	int64_t asked_ns, applied_ns, cleared_ns, measured_ns; /* -1: as in struct record_fault */
	int64_t n_messages;
	struct record_traffic traffic; /* -1 throughout: it was not measured */
};

/* By the time at which they came into force; faults of one event on one link stand together. */
int store_read_faults(struct store *store, int64_t run, struct stored_fault **out, size_t *n_out,
                      struct err *err);
void stored_faults_fini(struct stored_fault *faults, size_t n_faults);

struct stored_pipeline {
	int n_stages, n_replicas;
	int n_hosts;           /* 0: not known */
	int64_t message_bytes; /* 0: not known */
	enum record_timer timer;
	int64_t *activation_bytes; /* per stage; 0: not known */
	int64_t n_iterations_with_ops;
};

/* -ENOENT: there is no such run. */
int store_read_pipeline(struct store *store, int64_t run, struct stored_pipeline *out,
                        struct err *err);
void stored_pipeline_fini(struct stored_pipeline *pipeline);

#endif
