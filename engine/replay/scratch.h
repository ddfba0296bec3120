/* scratch.h - a folder for checkpoints that is gone when its run is, however that ended.
 *
 * A small process of its own waits for the run's process to end and removes the folder then, so
 * that not even kill -9 leaves it behind. */
#ifndef ENGINE_REPLAY_SCRATCH_H
#define ENGINE_REPLAY_SCRATCH_H

#include <sys/types.h>

#include "engine/base/err.h"

struct scratch {
	char *folder;
	int pipe;  /* closed with the run's process; 0, -1: none */
	pid_t pid; /* who waits for that */
};

/* -ETIMEDOUT: the disk does not answer; else what kept the folder from being made. */
int scratch_open(struct scratch *out, struct err *err);

/* Remove the folder and everything in it. */
void scratch_close(struct scratch *scratch);

#endif
