/* kineto_internal.h - a trace under way: an event as it stands in the file, and what is kept of all
 * events until the ops can be made; shared by the files of the Kineto reader. */
#ifndef ENGINE_FORMAT_KINETO_INTERNAL_H
#define ENGINE_FORMAT_KINETO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/action_name.h"
#include "engine/format/json_read.h"
#include "engine/format/name_pattern.h"
#include "engine/format/observed.h"

enum { KINETO_NAME_BYTES = 128, KINETO_CATEGORY_BYTES = 32, KINETO_WORD_BYTES = 16 };

enum kineto_category {
	KINETO_OTHER,
	KINETO_HOST_RANGE,
	KINETO_DEVICE_RANGE,
	KINETO_KERNEL,
	KINETO_LAUNCH,
	KINETO_SLICE, /* of this project's own traces */
};

/* Strings are cut to their sizes. has_*: the event says it. −1: args do not say it. */
struct kineto_event {
	enum kineto_category category;
	char category_name[KINETO_CATEGORY_BYTES];
	char name[KINETO_NAME_BYTES];
	char phase;
	bool has_name, has_start, has_duration, has_numbers; /* numbers: pid and tid are such */
	int64_t start_ns;
	int64_t duration_ns;
	int64_t process;
	int64_t thread;
	int64_t correlation;
	int64_t n_in;
	int64_t n_out;
	int64_t from_rank;
	int64_t to_rank;
	int64_t iteration; /* these six: of slices of our own */
	int64_t attempt;
	int64_t peer;
	int64_t bytes;
	int64_t wait_ns;
	char timer[KINETO_WORD_BYTES];
	char collective[KINETO_WORD_BYTES];
	char element[KINETO_WORD_BYTES]; /* dtype */
};

/* A range named for an action; iteration −1: not known yet. */
struct kineto_range {
	struct action_name action;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t lane; /* process and thread, or device and stream, in one */
	uint64_t place;
	int32_t iteration;
	int32_t occurrence; /* of the action on the host; −1: not known */
};

struct kineto_step {
	int64_t start_ns;
	int64_t end_ns;
	int32_t iteration;
};

struct kineto_launch {
	int64_t start_ns;
	uint64_t lane;
	uint32_t correlation;
};

struct kineto_kernel {
	int64_t start_ns;
	uint32_t duration_ns;
	uint32_t correlation;
};

struct kineto_table {
	void *items;
	size_t n;
	size_t capacity;
};

struct kineto_trace {
	struct input *input;
	struct json_read *json;
	struct observed *out;
	const struct name_pattern *names; /* NULL: only PP ranges are ops */
	uint64_t n_events;
	int64_t base_ns;
	int rank;                          /* −1: the file does not say */
	int attempt;                       /* of slices; 0 at first */
	enum observed_clock clock;         /* of slices */
	struct kineto_table host_ranges;   /* struct kineto_range */
	struct kineto_table device_ranges; /* struct kineto_range */
	struct kineto_table steps;         /* struct kineto_step */
	struct kineto_table launches;      /* struct kineto_launch */
	struct kineto_table kernels;       /* struct kineto_kernel */
	struct kineto_table messages;      /* struct observed_op */
};

/* The object that was opened by the last item. */
int kineto_event_read(struct json_read *json, struct kineto_event *out, struct err *err);

/* Keep of an event what ops are made of; count it otherwise. */
int kineto_collect(struct kineto_trace *trace, const struct kineto_event *event, struct err *err);

/* The same of a slice of our own; its event was checked. */
int kineto_collect_slice(struct kineto_trace *trace, const struct kineto_event *event,
                         struct err *err);

/* Append a copy of the item. -EFBIG: the limit on ops is one on everything that is kept. */
int kineto_table_add(struct kineto_trace *trace, struct kineto_table *table, const void *item,
                     size_t item_bytes, struct err *err);

/* All events are there: add the ops. */
int kineto_add_ops(struct kineto_trace *trace, struct err *err);

/* The same for host ranges, by the kernels launched inside them. */
int kineto_add_launched(struct kineto_trace *trace, struct err *err);

/* The op of a range, on the device from start to end, in the epoch's time and of this rank. */
struct observed_op kineto_op(const struct kineto_trace *trace, const struct kineto_range *range,
                             int64_t start_ns, int64_t end_ns);

/* "event 12" in front; returns code. */
int kineto_fail(const struct kineto_trace *trace, int code, struct err *err, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

#endif
