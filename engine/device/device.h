/* device.h - where ops run: in-order streams and events with the semantics of CUDA's.
 *
 * Work that is issued to a stream runs in the order of its issue. Streams run beside each other
 * unless an event orders them, or unless they share an issue queue: then an item does not begin
 * before everything issued to the queue earlier, on whichever stream, has ended. That is how a slow
 * transfer keeps computation waiting.
 *
 * A device belongs to one thread; only device_flag_set() may come from another. CPU devices make
 * progress in device_progress() alone, at most one computation a call, so that a polling worker
 * looks at its messages in between. A GPU makes progress by itself.
 *
 * Device clock: an item's scheduled start is the latest of the scheduled end of the item before it
 * in its order, the moments of the holds and events it waited for, and its own issue; its scheduled
 * end is that plus its duration divided by speed, and it does not end sooner. So being late does
 * not add up while a stage is busy. A kernel that takes longer than its duration ends when it
 * really ends (device_stats counts it); a copy takes as long as it took. Contracts of the
 * calls below are those of the members of device_ops. */
#ifndef ENGINE_DEVICE_DEVICE_H
#define ENGINE_DEVICE_DEVICE_H

#include "engine/device/device_ops.h"
#include "engine/model/arithmetic.h"

enum {
	DEVICE_COPY_SMALL_BYTES = 65536,
	DEVICE_STREAMS_APART =
		32, /* more of a process on a GPU may wait for each other by chance */
};

struct device_config {
	int n_issue_queues; /* 1: one for all streams; k: stream i uses i mod k; 0: one a stream */
	double speed;       /* durations are divided by it; more than 0, on every device */
	int64_t (*clock_ns)(void *context); /* NULL: CLOCK_MONOTONIC; a GPU knows no other */
	void *clock_context;
	int unit;      /* which GPU, modulo those there are; a CPU device has no choice */
	int n_streams; /* that it will have; 0: not known */
	int n_devices; /* that the process opens, on units in turn, with as many; 0: this one */
};

/* What a hold waits for. It starts cleared. */
struct device_flag {
	uint32_t is_set;
	int64_t at_ns; /* when what was waited for happened, such as an arrival */
};

/* What device_progress() leaves the caller with. A GPU's next_ns is the present. */
struct device_state {
	bool is_idle;     /* nothing is issued that has not ended */
	int64_t ready_ns; /* scheduled start of the computation that comes first; INT64_MAX: none */
	int64_t next_ns;  /* nothing happens before unless somebody acts; INT64_MAX: never */
};

/* Over launched computations that ended, since the device was opened or the owner zeroed it. */
struct device_stats {
	int64_t n_ops;
	int64_t late_ns_sum; /* from scheduled end to real end */
	int64_t late_ns_max;
	int64_t n_overruns; /* kernels that took longer than their duration */
	int64_t overrun_ns_sum;
};

/* Of a device that is hardware beside the CPU. */
struct device_about {
	char text[192];       /* what it is, for a reader; empty: nothing beside the CPU */
	int n_units;          /* how many there are for the stages to share */
	int64_t memory_bytes; /* of its own that this one has free */
};

#define DEVICE_AS_OF_CALL INT64_MIN

/* Backends embed these first. */
struct device {
	const struct device_ops *ops;
	const char *timer;    /* of its times: "virtual", "host" or "cuda_event" */
	bool runs_kernels;    /* false: launched kernels are never called */
	bool has_own_memory;  /* the host neither reads nor writes what device_alloc() gives */
	int64_t issued_as_of; /* see device_issue_as_of() */
	struct device_stats stats;
	struct device_about about;
};
struct device_stream {
	struct device *device;
	struct arithmetic *arithmetic; /* computes in the stream's order; the device's */
};
struct device_event {
	struct device *device;
};

/* NULL-terminated; registry.c. */
const struct device_ops *const *device_list(void);

/* -ENOENT: no such device, err names those there are. */
int device_find(const char *name, const struct device_ops **out, struct err *err);

/* What is issued from here to the next device_progress() counts as issued at at_ns, not when the
 * call is made: the moment the caller reacts to, such as the scheduled end of an event it saw.
 * Without it the caller's own lateness becomes part of the schedule. A GPU ignores it. */
static inline void device_issue_as_of(struct device *device, int64_t at_ns)
{
	device->issued_as_of = at_ns;
}

static inline void device_flag_clear(struct device_flag *flag)
{
	__atomic_store_n(&flag->is_set, 0, __ATOMIC_RELAXED);
}

static inline void device_flag_set(struct device_flag *flag, int64_t at_ns)
{
	flag->at_ns = at_ns;
	__atomic_store_n(&flag->is_set, 1, __ATOMIC_RELEASE);
}

static inline bool device_flag_is_set(const struct device_flag *flag)
{
	return __atomic_load_n(&flag->is_set, __ATOMIC_ACQUIRE) != 0;
}

static inline void device_close(struct device *device)
{
	if (device)
		device->ops->close(device);
}

static inline void *device_alloc(struct device *device, size_t n_bytes, bool is_host)
{
	return device->ops->memory(device, NULL, n_bytes, is_host);
}

static inline void device_free(struct device *device, void *memory, bool is_host)
{
	if (memory)
		(void)device->ops->memory(device, memory, 0, is_host);
}

#include "engine/device/device_calls.h"

#endif
