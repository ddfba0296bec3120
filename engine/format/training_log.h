/* training_log.h - reads logs of Megatron and of the zero-bubble runtime: iteration times, timers,
 * stragglers.
 *
 * FORMATS.md 7.1 to 7.3. An iteration's time is the mean since the line before it. Lines are found
 * by their keys, behind whatever a launcher put in front. */
#ifndef ENGINE_FORMAT_TRAINING_LOG_H
#define ENGINE_FORMAT_TRAINING_LOG_H

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/observed.h"

/* n_microbatches: of an iteration; 0: not known. With it, ranks' own forward and backward timers
 * become ops, one a microbatch, of equal parts: the only op times that such a log has. A rank is
 * taken for its stage. Read a log; each run that was appended to it is a source. Timers of the log
 * mean that the devices were stopped to take them: is_intrusive is set. -EINVAL: no iteration line,
 * or one whose time is negative, no number or not in ms, named by its line; what input_next_line()
 * says. */
int training_log_read(struct input *input, int n_microbatches, struct observed *out,
                      struct err *err);

#endif
