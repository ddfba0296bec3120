/* worker.h - a process that runs the stages of one host and replica in one polling thread; where
 * cores are free, a second one moves their messages. */
#ifndef ENGINE_REPLAY_WORKER_H
#define ENGINE_REPLAY_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/replay/board.h"
#include "engine/replay/live.h"

struct worker_config {
	const struct live_config *live;
	const struct model_config *model;
	struct board *board;
	int host;
	int replica;
	int attempt;
	int first_iteration; /* whose state is loaded; 0: the initial one */
	pid_t coordinator;
	int control; /* socket to the coordinator */
	uint64_t run;
	size_t payload_bytes;
	bool has_delegate_thread;
};

/* The whole life of a worker process, after fork(). Never returns. */
_Noreturn void worker_main(const struct worker_config *config);

#endif
