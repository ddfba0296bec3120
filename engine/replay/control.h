/* control.h - what coordinator and workers say to each other over their sockets. */
#ifndef ENGINE_REPLAY_CONTROL_H
#define ENGINE_REPLAY_CONTROL_H

#include "engine/sim/executor.h"

enum { CONTROL_OUTAGES_MAX = 16, CONTROL_SENTENCE_BYTES = ERR_TEXT_BYTES };

/* RAILS: what the board says of the rails has changed. */
enum order_kind { ORDER_CONNECT, ORDER_RAILS, ORDER_RUN, ORDER_STEP, ORDER_EXIT };

struct order {
	enum order_kind kind;
	int attempt;
	int iteration;
	int plan_version;
	bool merges_backward; /* of that plan */
	enum plane_kind plane;
	struct plane_rules rules[2];
	int64_t run_start_ns;  /* of the iteration, profile time since the run's start */
	int64_t real_start_ns; /* the same, CLOCK_MONOTONIC */
	int64_t failover_ns;   /* profile time */
	bool wants_checkpoint; /* STEP */
	uint32_t handled;      /* STEP: outages that began, anywhere */
	uint32_t early;        /* STEP: of these, those whose moment is in the next iteration */
	int n_outages;         /* the first of them, by at_ns */
	struct executor_outage outages[CONTROL_OUTAGES_MAX];
};

enum answer_kind {
	ANSWER_OPENED,
	ANSWER_READY,
	ANSWER_DONE,
	ANSWER_OP_STARTED, /* one at which a fault starts or ends; out of turn */
	ANSWER_DIED,       /* of itself, or since the board says that the job has */
	ANSWER_STEPPED,
	ANSWER_FAILED
};

struct answer {
	enum answer_kind kind;
	uint32_t handled; /* DONE: outages that began, one bit each */
	int64_t died_ns;  /* DIED: profile time since the iteration's start */
	int code;         /* FAILED: -errno */
	char sentence[CONTROL_SENTENCE_BYTES];
};

/* Both block; -EPIPE: the other side is gone; -ETIMEDOUT: nothing came for timeout_ms (-1: for
 * ever).
 */
int control_send(int fd, const void *message, size_t n_bytes);
int control_receive(int fd, void *message, size_t n_bytes, int timeout_ms);

#endif
