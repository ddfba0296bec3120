/* live.h - runs iterations for real: worker processes exchange tensors, ops are timed by their
 * devices.
 *
 * A coordinator (the caller's process) starts one worker a host and replica; a worker runs all
 * stages of its host in one polling thread, and its delegates in that or in one of their own. It is
 * an executor: planning, adaptation, restarts and the record are the simulator's (engine/sim). */
#ifndef ENGINE_REPLAY_LIVE_H
#define ENGINE_REPLAY_LIVE_H

#include "engine/device/device.h"
#include "engine/model/model.h"
#include "engine/replay/delegates.h"
#include "engine/replay/site.h"
#include "engine/replay/watch.h"
#include "engine/scenario/scenario.h"
#include "engine/sim/executor.h"
#include "engine/transport/exchange.h"
#include "engine/transport/transport.h"

/* Profile time / real time, at least and at most. */
#define LIVE_SPEED_LEAST 0.01
#define LIVE_SPEED_MOST  1000.0

/* Borrowed until live_close(). */
struct live_config {
	const struct scenario *scenario;
	uint64_t seed; /* of this repeat */
	double speed;  /* profile time / real time */
	const struct device_ops *device;
	/* What device_try() has found; NULL: it computes in the host's memory. */
	const struct device_about *about;
	const struct transport_ops *transport;
	const struct exchange_ops *exchange; /* what the stream plane uses instead; NULL: nothing */
	bool occupies_streams; /* what holds messages stands in streams, not in the transport */
	const char *transport_parts; /* of transport mixed, as transport.h says; else NULL */
	const char *rdma_devices;    /* of transport verbs, as verbs.h says; NULL: not named */
	enum delegates delegates;
	int64_t payload_bytes; /* of a message; 0: the tensor's own */
	const char *folder;    /* for checkpoints; exists, is the run's own */
	struct site *site;     /* where workers are; NULL: all on this machine */
	/* A worker that says nothing counts as stuck after so much real time, and what its
	 * iteration may take at most; 0: 20 s. Neighbours may take half of it to find each other,
	 * and never less than 10 s. */
	int patience_ms;
	struct watcher *watcher; /* is shown what goes on; NULL: nobody is */
	/* live_fastest() has found the speed: a moment in which the machine is slower does not
	 * refuse it. */
	bool is_speed_found;
};

/* What the worker processes were like, for the report. */
struct live_facts {
	int n_workers;
	char delegates[DELEGATES_TEXT_BYTES]; /* where they work, and why */
	int64_t payload_bytes;
	int64_t n_ops;
	int64_t late_ns_sum, late_ns_max; /* of ops, real time */
	int64_t n_overruns;
	int64_t n_judged, n_unsure; /* messages, as in struct executor */
	int64_t op_cpu_ns;          /* the model's own time for an op, mean */
	double foreign_cores;       /* CPU that others used meanwhile, in cores */
	int64_t between_ns;  /* real time between iterations, which is no part of the run's */
	int64_t watching_ns; /* CPU time of whoever watched, a sum; 0: nobody did */
	/* Of faults that a site applied or cleared inside iterations: how late, real time. */
	int64_t n_applied;
	int64_t apply_late_ns_sum, apply_late_ns_max;
	/* Of RNICs that a site took down, and workers noticed: until the first one did, and until
	 * all that was lost had arrived or the job had started again; the longest, real time. */
	int64_t n_outages;
	int64_t notice_ns_max, recover_ns_max;
};

/* Start the workers and connect them. -EINVAL: the scenario cannot run live (sentence says why);
 * nothing is left then. */
int live_open(const struct live_config *config, struct executor **out, struct err *err);

/* The highest speed at which the model takes no more than the tenth of an op that it may, on this
 * machine now; infinite where the device does not hold ops to their times. Starts workers and ends
 * them. Errors as those of live_open() but for the speed. */
int live_fastest(const struct live_config *config, double *speed_out, struct err *err);

/* Not above speed, with two significant digits, as a person would type it. */
double live_round_speed(double speed);

/* Facts so far. */
struct live_facts live_facts(const struct executor *executor);

/* Ends all workers, within a second. */
void live_close(struct executor *executor);

#endif
