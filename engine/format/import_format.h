/* import_format.h - which foreign format a file has, told by its start. */
#ifndef ENGINE_FORMAT_IMPORT_FORMAT_H
#define ENGINE_FORMAT_IMPORT_FORMAT_H

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/name_pattern.h"
#include "engine/format/observed.h"

enum import_format {
	IMPORT_KINETO,
	IMPORT_FLIGHT_RECORDER,
	IMPORT_OP_LOG,
	IMPORT_TRAINING_LOG,
	IMPORT_SLOW_LINK_TRACE,
	IMPORT_SIMULATOR_DUMP, /* an order, and times: dump_ops.h */
	IMPORT_ORDER,          /* PyTorch's CSV, letter grids and the like: order_file.h */
};

/* Nothing is taken of the input. What looks like nothing in particular is taken for a training log,
 * since these begin with anything. What input_peek() says; -EINVAL: the file is empty. */
int import_format_detect(struct input *input, enum import_format *out, struct err *err);

/* What the user knows of the files, and they don't say. Start zeroed. */
struct import_rules {
	const struct name_pattern *names; /* of ops in traces; borrowed, NULL: only PyTorch's */
	int n_microbatches; /* an iteration of training logs; 0: not known, timers are no ops */
};

/* "a trace of the PyTorch profiler" */
const char *import_format_name(enum import_format format);

/* Read one of the formats whose content is what happened: traces, both kinds of log, a simulator's
 * dump. -EINVAL: another; the sentence says what it is. */
int import_format_read(enum import_format format, struct input *input,
                       const struct import_rules *rules, struct observed *out, struct err *err);

#endif
