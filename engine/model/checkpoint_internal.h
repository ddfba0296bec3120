/* checkpoint_internal.h - the names of a stage's checkpoints in their folder. */
#ifndef ENGINE_MODEL_CHECKPOINT_INTERNAL_H
#define ENGINE_MODEL_CHECKPOINT_INTERNAL_H

#include "engine/base/err.h"

/* Whose checkpoints, and where. */
struct checkpoint_owner {
	const char *folder;
	int stage;
	int replica;
};

/* On the heap. NULL: out of memory. */
char *checkpoint_path(const struct checkpoint_owner *owner, int iteration);

/* Remove the owner's checkpoints before iteration, and all its temporary files. */
int checkpoint_remove(const struct checkpoint_owner *owner, int iteration, struct err *err);

/* Until then a rename may be undone by a power failure. */
int checkpoint_sync_folder(const char *folder, struct err *err);

#endif
