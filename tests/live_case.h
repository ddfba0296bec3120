/* live_case.h - a scenario that runs for real in worker processes, and what came of it. */
#ifndef TESTS_LIVE_CASE_H
#define TESTS_LIVE_CASE_H

#include "engine/replay/live.h"
#include "tests/record_capture.h"
#include "tests/scenario_fixture.h"

enum { LIVE_CASE_ITERATIONS_MAX = 64 };

/* Change what is to differ between _init and _run; a case can run several times. */
struct live_case {
	struct scenario scenario;
	const char *device;                        /* "cpu": as fast as it can */
	const struct device_about *about;          /* NULL: it has no memory of its own */
	const char *transport;                     /* "tcp", or a list of several */
	const struct transport_ops *transport_ops; /* instead of the one of that name; NULL */
	const char *rdma_devices;                  /* of "verbs" */
	const struct exchange_ops *exchange;       /* of the stream plane; NULL */
	bool occupies_streams;
	enum delegates delegates;
	double speed;
	bool may_be_slower; /* than speed, where the machine is too busy for that now */
	int64_t payload_bytes;
	struct site *site;        /* where workers are; NULL */
	const char *folder;       /* for checkpoints, instead of a scratch one; NULL */
	int patience_ms;          /* 0: the default */
	int n_other_children;     /* of this process, that do not count as left */
	const struct plan *order; /* instead of the schedule's own; NULL */
	struct watcher *watcher;  /* NULL: nobody watches */

	/* Of the last run. */
	int rc;
	struct err err;
	struct capture capture;
	struct live_facts facts;
	double losses[LIVE_CASE_ITERATIONS_MAX]; /* last attempt; NaN: did not end */
	int n_started;                           /* processes, but for who removes the folder */
	int64_t took_ns;                         /* real time, workers' start and end included */
};

/* scenario_fixture() with ops of 10 ms, so many hosts and replicas, 4 iterations. */
void live_case_init(struct live_case *c, int n_stages, int n_microbatches, int n_hosts,
                    int n_replicas);
/* Device paced, that many times faster than the profile, or less where this machine or this build
 * is slow: the model must not take more than a tenth of an op. c->speed says after a run what it
 * was. */
void live_case_pace(struct live_case *c, double speed);

void live_case_fini(struct live_case *c);

/* Run it under one schedule, ops captured; returns what live_open() or sim_run() did, and fails a
 * check where a process, a descriptor or the folder is left. */
int live_case_run(struct live_case *c, const char *schedule);

/* The same in virtual time, into *capture, which is the caller's; the scenario's messages are as
 * large as the live ones. */
int live_case_simulate(struct live_case *c, const char *schedule, struct capture *capture);

/* Has the record of the last run the same rows as in sim (attempt, iteration, completeness, plane),
 * and as many faults and decisions? Checks of that name. A run that has not is repeated a few
 * times, always with the same losses; the last one is what is looked at afterwards. */
void live_case_check_like_sim(struct live_case *c, const char *schedule, const char *name);

/* Did the last run end every iteration, with these losses bit for bit? A check that says which
 * differs first. */
bool live_case_has_losses(const struct live_case *c, const double *want, const char *name, ...)
	__attribute__((format(printf, 3, 4)));

/* What a message took in iteration i of the record, profile time, from its channel or queue to its
 * arrival; NaN: there is none. */
double live_case_transfer_ms(const struct capture *capture, size_t i, int from_stage, int to_stage,
                             int microbatch);

/* Children of this process that still exist. */
int live_case_children(void);

#endif
