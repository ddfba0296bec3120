/* delegates.h - where a worker's delegates work: in a thread of their own, or in its loop. */
#ifndef ENGINE_REPLAY_DELEGATES_H
#define ENGINE_REPLAY_DELEGATES_H

#include <stdbool.h>

#include "engine/base/err.h"

/* AUTO: THREADS where every worker can have two cores, LOOP where not. Neither thread ever sleeps
 * while an iteration runs, so two that share a core take turns by the scheduler's clock. */
enum delegates { DELEGATES_AUTO, DELEGATES_THREADS, DELEGATES_LOOP };

enum { DELEGATES_TEXT_BYTES = 128 };

/* -EINVAL: no such name, err lists those there are. */
int delegates_parse(const char *name, enum delegates *out, struct err *err);

/* Cores that this process may use. */
int delegates_cores(void);

bool delegates_are_threads(enum delegates asked, int n_workers, int n_cores);

/* "in the workers' loops: 2 cores for 2 workers, threads want 4" */
void delegates_describe(enum delegates asked, int n_workers, int n_cores,
                        char out[DELEGATES_TEXT_BYTES]);

#endif
