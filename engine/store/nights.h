/* nights.h - histories: the numbers that nightly comparisons gave, and what was announced. Part of
 * store.h. */
#ifndef ENGINE_STORE_NIGHTS_H
#define ENGINE_STORE_NIGHTS_H

#include "engine/store/store.h"

/* One number of one schedule. Read back, its texts are the caller's, free them with
 * stored_nights_fini(). */
struct night_value {
	int64_t comparison;
	char *schedule;
	char *metric;  /* with its unit: "p50_ms" */
	bool is_fresh; /* of a run that was to confirm what the night showed */
	double value;
	char *created; /* of the comparison; not stored again */
	char *version; /* of adaptra-bench in its first run */
	char *digest;  /* of the scenario's text and options; not stored again */
};

/* Values that are no numbers are left out. environment: a hash of what nights must share to be
 * alike. */
int store_put_night(struct store *store, uint64_t environment, const struct night_value *values,
                    size_t n_values, struct err *err);

/* All values of an environment, oldest comparison first. */
int store_read_nights(struct store *store, uint64_t environment, struct night_value **out,
                      size_t *n_out, struct err *err);
void stored_nights_fini(struct night_value *values, size_t n_values);

/* All nights of a scenario that are alike. */
struct night_environment {
	uint64_t environment;
	int n_nights;
	int64_t last;                       /* comparison of the last night */
	char *first_created, *last_created; /* of the first and the last night */
};

/* Environments in which the scenario of that comparison has nights, the oldest first; free *out
 * with stored_environments_fini(). */
int store_read_environments(struct store *store, int64_t comparison, struct night_environment **out,
                            size_t *n_out, struct err *err);
void stored_environments_fini(struct night_environment *environments, size_t n_environments);

/* A regression that was confirmed. */
struct night_alarm {
	int64_t comparison; /* of the night that found it */
	char *schedule;
	char *metric;
	int64_t since; /* comparison of the first night of the new level */
	double before, after;
	double p;
};

int store_put_alarm(struct store *store, uint64_t environment, const struct night_alarm *alarm,
                    struct err *err);
int store_read_alarms(struct store *store, uint64_t environment, struct night_alarm **out,
                      size_t *n_out, struct err *err);
void stored_alarms_fini(struct night_alarm *alarms, size_t n_alarms);

/* Mean time of the run's messages from their request to their arrival, in iterations after warm-up;
 * NaN where ops were not kept or sent none. */
int store_read_transfer_ns(struct store *store, int64_t run, double *out, struct err *err);

#endif
