/* recorded.h - recorded orders with every start and end, replayed. */
#ifndef ENGINE_VALIDATE_RECORDED_H
#define ENGINE_VALIDATE_RECORDED_H

#include "engine/validate/truth.h"
#include "engine/validate/validate.h"

/* Replay schedule_ops.csv of folder, whose other files are truth, and count what is equal; sets
 * n_orders, n_exact, n_ops, excluded, first_wrong_run. */
int recorded_replay(const char *folder, const struct truth *truth, struct validation *out,
                    struct err *err);

#endif
