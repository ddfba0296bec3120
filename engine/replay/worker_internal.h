/* worker_internal.h - what worker.c (a worker's life), worker_run.c (one iteration), worker_rails.c
 * (RNICs that die and come back) and worker_exchanges.c (devices that exchange tensors themselves)
 * share; and what limits.c and memory.c say of workers, or ask. */
#ifndef ENGINE_REPLAY_WORKER_INTERNAL_H
#define ENGINE_REPLAY_WORKER_INTERNAL_H

#include "engine/replay/control.h"
#include "engine/replay/stage.h"
#include "engine/replay/worker.h"

/* The iteration in hand. */
struct worker_run {
	struct order order;
	struct stage_iteration stages;
	struct plane_rules rules; /* in force; they change when a rail dies */
	uint32_t handled;         /* outages whose moment has come, here or elsewhere */
	uint32_t mended;          /* of these, those that are over */
	bool is_done;             /* and the coordinator knows what was handled till then */
	bool has_died;
};

struct worker {
	const struct worker_config *config;
	int first_stage;
	int n_stages;
	bool *is_local;              /* [all stages] */
	bool *is_rail_down;          /* as the board said last */
	struct stage **stages;       /* [n_stages], from first_stage on */
	struct transport *transport; /* shaped around another one, or a threaded one */
	struct device *pinning;      /* whose host memory received payloads lie in */
	struct payload_area payloads;
	struct world *world;
	struct plan plan; /* in force; without stages before the first iteration */
	int plan_version;
	struct worker_run run;
};

/* The stage of this worker with that number; NULL: it is another worker's. */
struct stage *worker_stage(const struct worker *worker, int stage);

/* worker.c: messages that a neighbour can have under way to a stage, for which there is pinned
 * memory where the device has memory of its own: two a queue, or all of an iteration. */
int worker_n_received(int n_queues, int n_microbatches);

/* worker_exchanges.c: make the ids of links that begin here, for the board, where the stream plane
 * is to use exchanges; and, once all are there, meet the neighbours of all stages. Blocks for up to
 * limits_connect_ns(), -ETIMEDOUT. */
int worker_name_exchanges(struct worker *worker, struct err *err);
int worker_open_exchanges(struct worker *worker, struct err *err);

/* worker_exchanges.c: let the end of all exchanges begin, so that planes which then end theirs one
 * after the other have waited together. */
void worker_abort_exchanges(struct worker *worker);

/* worker_run.c: for how long faults hold a message of the iteration in hand, real time. */
int64_t worker_hold_ns(void *worker, const struct message *message);

/* Run one iteration. -ENETDOWN: the job dies of a rail, at *died_ns_out of the iteration's profile
 * time. */
int worker_run(struct worker *worker, const struct order *order, int64_t *died_ns_out,
               struct err *err);

/* Profile time since the start of the iteration in hand. */
int64_t worker_since_start_ns(const struct worker *worker);

/* limits.c: how long neighbours may take to find each other, real time. */
int64_t limits_connect_ns(const struct live_config *config);

/* limits.c: how long nobody may answer before a rail counts as LOST; 0: for ever, where RNICs do
 * not really go down. */
int64_t limits_silence_ns(const struct live_config *config);

/* worker_run.c: see what has happened meanwhile, and compute at most once. */
int worker_turn(struct worker *worker, struct err *err);

/* worker_run.c: take what the transport has to tell, and nothing else. */
int worker_poll(struct worker *worker, size_t *n_out, struct err *err);

/* worker_rails.c: connect what is not connected, with everybody who does the same. */
int worker_connect(struct worker *worker, struct err *err);

/* worker_rails.c: RNICs whose moment to die has come, and those whose moment to be back has. */
int worker_begin_outages(struct worker *worker, int64_t now_ns, struct err *err);
int worker_end_outages(struct worker *worker, int64_t now_ns, struct err *err);

/* worker_rails.c: a rail is LOST; what was planned for it begins now. */
int worker_lose_rail(struct worker *worker, const struct transport_event *event, struct err *err);

/* worker_rails.c: the iteration is over, and with it the short outages that began, and those that
 * began early. */
int worker_settle_outages(struct worker *worker, const struct order *step, struct err *err);

/* worker_rails.c: the board says which rails are down from now on. */
int worker_set_rails(struct worker *worker, struct err *err);

#endif
