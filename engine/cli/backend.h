/* backend.h - what runs the iterations of a session: the simulator, or worker processes. */
#ifndef ENGINE_CLI_BACKEND_H
#define ENGINE_CLI_BACKEND_H

#include <stdbool.h>

#include "engine/cli/options.h"
#include "engine/cli/rnics.h"
#include "engine/device/trial.h"
#include "engine/record/record.h"
#include "engine/replay/live.h"
#include "engine/replay/scratch.h"
#include "engine/replay/site.h"

enum { STREAM_TEXT_BYTES = 256, BACKEND_GPUS_BYTES = 256 };

/* Zeroed: virtual time. */
struct backend {
	bool is_live;
	double speed;
	double lowered_from; /* the scenario's speed, which is too much for this machine; 0: it is
	                        not */
	bool is_speed_found; /* by backend_fit_speed() */
	const struct device_ops *device;
	struct device_trial trial;
	int n_stages; /* of all replicas */
	const struct transport_ops *transport;
	const char *transports; /* as they were asked for: a list is what a mixed one is made of */
	const struct exchange_ops *exchange; /* of the stream plane; NULL: transport */
	bool occupies_streams;               /* injector stream */
	char stream_text[STREAM_TEXT_BYTES]; /* what carries the stream plane, and why; "": the
	                                        transport, as nobody would expect otherwise */
	const char *rdma_devices;            /* NULL: not named */
	struct rnics rnics;                  /* that the rails stand on; empty without verbs */
	enum delegates delegates;
	char delegates_text[DELEGATES_TEXT_BYTES]; /* where they work, and why */
	int64_t payload_bytes;
	struct watcher *watcher;            /* of the next run; NULL: none */
	const struct site_ops *lab;         /* NULL: all workers are on this machine */
	const char *interfaces;             /* of this machine that may be taken down; NULL */
	const char *injector;               /* as it was named, or "auto" */
	char applies[SITE_NAME_BYTES];      /* who applies faults of links, in a word */
	char applies_text[SITE_TEXT_BYTES]; /* and why */
	struct site *site;                  /* while an executor is open */
	struct scratch scratch;             /* while an executor is open */
	struct executor *executor;
	struct live_facts facts;        /* of the last run; zeroed when it did not begin */
	struct site_report site_report; /* the same; zeroed without a lab */
	struct strbuf timeline;         /* the same: what was done only on paper, a line each */
};

/* Let the scenario's messages, also in virtual time, be those of a live run: the model's tensors,
 * or the payload that it asks for. */
void backend_set_live_messages(struct scenario *scenario);

/* Is the device one for live runs? The others need virtual time. */
bool backend_takes_device(const struct device_ops *device);

/* Live, as options and scenario say. The scenario's messages become the live ones. Returns an exit
 * code after saying what is wrong. */
int backend_choose_live(const struct options *options, struct scenario *scenario,
                        struct backend *out);

/* Lower the scenario's speed where this machine does not hold it; one that was named stays. Starts
 * workers for a moment. -EINTR and what live_open() has. */
int backend_fit_speed(const struct options *options, const struct scenario *scenario,
                      struct backend *backend, struct err *err);

/* "real time, 16 times faster than the profile; device paced, transport tcp; delegates in threads
 * of their own: 8 cores for 2 workers, threads want 4; injector shaped"; a device that is hardware
 * of its own says which: "device cuda (NVIDIA H200, …; 4 stages share 1 of them)", and what carries
 * the stream plane: "; stream plane: tcp in stream order (NCCL takes …)" */
void backend_describe(const struct backend *backend, char *out, size_t n_bytes);

/* "NVIDIA H200, …; 4 stages share 1 of them"; "": it needs none. */
void backend_describe_gpus(const struct backend *backend, char out[BACKEND_GPUS_BYTES]);

/* What moves tensors, in a word that --transport takes; "virtual". */
const char *backend_transport_name(const struct backend *backend);

/* What times the ops of a run. */
enum record_timer backend_timer(const struct backend *backend);

/* Start what a run needs; backend->executor is NULL in virtual time. backend_end() in any case,
 * which returns what went wrong with the run's surroundings: a lab that is not all gone, or -EIO:
 * it has dropped packets, so the run is worth nothing. */
int backend_begin(struct backend *backend, const struct scenario *scenario, int repeat,
                  struct err *err);
int backend_end(struct backend *backend, struct err *err);

#endif
