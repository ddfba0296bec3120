/* dump_ops.h - reads what a simulator's op list says of times; order_file.h reads its order.
 *
 * FORMATS.md 5.3: lines "stage, F|B|W, start, end" in milliseconds. B is for the input only on a
 * stage that has a W. */
#ifndef ENGINE_FORMAT_DUMP_OPS_H
#define ENGINE_FORMAT_DUMP_OPS_H

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/observed.h"

/* One iteration, 0, on a simulated clock. -EINVAL: a line that cannot be read, or a stage whose B
 * and W are not equally many; both named. */
int dump_ops_read(struct input *input, struct observed *out, struct err *err);

#endif
