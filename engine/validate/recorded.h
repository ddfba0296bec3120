/* recorded.h - recorded orders with every start and end, replayed. */
#ifndef ENGINE_VALIDATE_RECORDED_H
#define ENGINE_VALIDATE_RECORDED_H

#include "engine/validate/validate.h"

/* Replay schedule_ops.csv of folder and count what is equal; sets n_orders, n_exact, n_ops,
 * excluded, first_wrong_run. */
int recorded_replay(const char *folder, struct validation *out, struct err *err);

#endif
