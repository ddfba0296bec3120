/* op_log.h - reads the per-operator event logs of the published artefact (GPU0_rank0.log).
 *
 * FORMATS.md 7.4. A stage that runs any W has B for the input only; one without has whole
 * backwards. Start and end are the host's, since the iteration's start; busy_ns is what the device
 * measured, and what an op takes. "4W" is four of a quarter each. */
#ifndef ENGINE_FORMAT_OP_LOG_H
#define ENGINE_FORMAT_OP_LOG_H

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/observed.h"

/* Read one rank's log; its stage is its rank. A log to which several runs were appended becomes as
 * many sources. Iterations that only evaluate are skipped, those that break off rejected, with a
 * count. -EINVAL: a line of the rank's that cannot be read, named; what input_next_line() says. */
int op_log_read(struct input *input, struct observed *out, struct err *err);

#endif
