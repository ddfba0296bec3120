/* checkpoint.h - a stage's parameters and optimizer state on disk, whole or not at all.
 *
 * One writer per folder, stage and replica. The file is folder/stage-S-replica-R-iteration-I.ckpt,
 * for this kind of machine only. The place in the corpus follows from the iteration. */
#ifndef ENGINE_MODEL_CHECKPOINT_H
#define ENGINE_MODEL_CHECKPOINT_H

#include <stdint.h>

#include "engine/model/model.h"

/* Write to a temporary name, sync, rename, sync the folder, which is there already. iteration: the
 * first that is not contained. -EPERM: the model is inside an iteration; -ENOSPC: no room, whether
 * on the disk, in a quota or in a limit on files; nothing is left of it. Removes what a save that
 * was killed has left. */
int checkpoint_save(const struct model_stage *model, const char *folder, int replica, int iteration,
                    struct err *err);

/* Load the state of exactly this iteration and forget an unfinished one. -ENOENT: there is none;
 * -EBADMSG: torn, damaged (checksum), or of another model, seed or corpus; the model is untouched
 * on every error but one of its arithmetic. n_slots may differ: it is no part of what is learned.
 */
int checkpoint_load(struct model_stage *model, const char *folder, int replica, int iteration,
                    struct err *err);

/* Remove this stage's checkpoints before iteration, and what a save that was killed has left. */
int checkpoint_prune(const struct model_stage *model, const char *folder, int replica,
                     int iteration, struct err *err);

#endif
