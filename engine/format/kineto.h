/* kineto.h - reads traces of the PyTorch profiler (Kineto JSON).
 *
 * FORMATS.md section 3. Ranges named "PP:1F3" become ops: the device's own where the trace has
 * them, else the kernels launched inside the host's, never the host's time itself. NCCL's kernels
 * become transfers and all-reduces. Times are the device's since the epoch. Chrome traces that this
 * project wrote are read back as what they were made of. */
#ifndef ENGINE_FORMAT_KINETO_H
#define ENGINE_FORMAT_KINETO_H

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/name_pattern.h"
#include "engine/format/observed.h"

/* names: which other ranges are ops; NULL: none. A name without a stage is of the stage that the
 * rank is. Read one rank's trace, however large, in memory that grows with its ranges and, where
 * the device has none, with its kernels. -EINVAL: not such a trace; -EFBIG: more than
 * OBSERVED_OPS_MAX of anything that has to be kept; what json_next() says. */
int kineto_read(struct input *input, const struct name_pattern *names, struct observed *out,
                struct err *err);

#endif
