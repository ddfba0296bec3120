/* core_internal.h - the in-order machinery that the CPU devices share; each is one setting of it.
 *
 * A queue is a ring of items in the order of their issue. A stream issues to one queue; streams of
 * one issue queue share it, which is all that an issue queue is. The item at a queue's head is
 * taken out as its current one. A wait or a hold is over as soon as its mark or flag is, since
 * nothing happens then but that the queue has reached a later moment; every other item has
 * a due moment, and device_progress() ends due items over all queues in the order of these
 * moments, so that a call after a long silence does the same as many calls would have. */
#ifndef ENGINE_DEVICE_CORE_INTERNAL_H
#define ENGINE_DEVICE_CORE_INTERNAL_H

#include "engine/device/device.h"

/* What makes one of the devices out of the machinery. */
struct core_kind {
	const struct device_ops *ops;
	const char *timer;
	bool runs_kernels;
	bool holds_durations; /* false: everything ends when it really ends */
};

/* One record of an event. Who waits keeps the mark, so that the event can be recorded again. */
struct mark {
	int n_users; /* the event, the record's item, waits */
	bool is_done;
	int64_t scheduled_ns;
	int64_t real_ns;
	struct mark *next_free;
};

enum item_kind { ITEM_LAUNCH, ITEM_COPY, ITEM_CALL, ITEM_HOLD, ITEM_RECORD, ITEM_WAIT };

struct item {
	enum item_kind kind;
	int64_t issued_ns;
	union {
		struct {
			device_kernel *kernel;
			void *argument;
			int64_t duration_ns; /* already divided by speed */
			int64_t (*ask)(void *argument, int64_t start_ns); /* or asked for then */
		} launch;
		struct {
			void *to;
			const void *from;
			size_t n_bytes;
		} copy;
		struct {
			device_callback *callback;
			void *argument;
		} call;
		const struct device_flag *flag;
		struct mark *mark; /* record and wait */
	};
};

enum queue_state {
	QUEUE_EMPTY,
	QUEUE_WAITS,   /* for a mark */
	QUEUE_HOLDS,   /* for a flag */
	QUEUE_READY,   /* a computation begins at due_ns, given leave */
	QUEUE_ENDS_AT, /* the current item ends, or does what it does at once, at due_ns */
};

struct queue {
	struct item *items;
	size_t capacity; /* a power of two, or 0 */
	size_t first;
	size_t n_items;
	struct item current; /* unless QUEUE_EMPTY */
	enum queue_state state;
	int64_t reached_ns; /* scheduled end of the last item that ended */
	int64_t start_ns;   /* scheduled start of current, as far as it is known */
	int64_t due_ns;
};

struct core_stream {
	struct device_stream base;
	struct queue *queue;
	struct core_stream *next;
};

struct core_event {
	struct device_event base;
	struct mark *mark; /* NULL: never recorded */
	struct core_event *next;
};

/* In front of every block of memory; its size keeps the block aligned. */
struct core_block {
	struct core_block *next;
	struct core_block *previous;
} __attribute__((aligned(64)));

struct mark_chunk {
	struct mark_chunk *next;
	struct mark marks[64];
};

struct core {
	struct device base;
	const struct core_kind *kind;
	struct device_config config;
	struct queue **queues;
	size_t n_queues;
	size_t queues_capacity;
	size_t n_streams;
	struct core_stream *streams;
	struct core_event *events;
	struct core_block blocks; /* head of a ring */
	struct mark_chunk *chunks;
	struct mark *free_marks;
	size_t n_outstanding;
	size_t n_holding;    /* queues that stand at a flag, at the last look */
	bool is_changed;     /* something was issued since the last look */
	bool is_progressing; /* guards against a callback that calls device_progress() */
	int64_t light_ns;    /* first moment at which something ends, at the last look */
	int64_t ready_ns;    /* first moment at which a computation begins, at the last look */
	struct err error;    /* code 0: none */
};

int core_open(const struct core_kind *kind, const struct device_config *config, struct device **out,
              struct err *err);
int64_t core_now(const struct core *core);

/* Divided by speed; 0 where durations are not held. More than 36 years are as much as that. */
int64_t core_scaled_ns(const struct core *core, int64_t duration_ns);
struct mark *core_mark_new(struct core *core);
void core_mark_release(struct core *core, struct mark *mark);

/* What the tables of the CPU devices share. */
void core_close(struct device *device);
void *core_memory(struct device *device, void *memory, size_t n_bytes, bool is_host);
int core_stream_new(struct device *device, struct device_stream **out, struct err *err);
int core_event_new(struct device *device, struct device_event **out, struct err *err);
int core_launch(struct device_stream *stream, device_kernel *kernel, void *argument,
                struct device_duration duration, struct err *err);
int core_copy(struct device_stream *stream, void *to, const void *from, size_t n_bytes,
              struct err *err);
int core_call(struct device_stream *stream, device_callback *callback, void *argument,
              struct err *err);
int core_hold(struct device_stream *stream, const struct device_flag *flag, struct err *err);
int core_record(struct device_event *event, struct device_stream *stream, struct err *err);
int core_wait(struct device_stream *stream, struct device_event *event, struct err *err);
int core_query(struct device_event *event, int64_t *scheduled_ns_out, int64_t *real_ns_out,
               struct err *err);
int core_progress(struct device *device, bool may_compute, struct device_state *out,
                  struct err *err);

#endif
