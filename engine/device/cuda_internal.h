/* cuda_internal.h - what the files of the CUDA devices share.
 *
 * Streams of one issue queue share a CUDA stream, which is all that an issue queue is. So the
 * number of issue queues is exact; the driver's own queues, CUDA_DEVICE_MAX_CONNECTIONS of them,
 * only have to be enough that no stream waits for another one by chance. */
#ifndef ENGINE_DEVICE_CUDA_INTERNAL_H
#define ENGINE_DEVICE_CUDA_INTERNAL_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "engine/device/cuda_blas.h"
#include "engine/device/device.h"

typedef CUresult cuda_wait_value(CUstream stream, CUdeviceptr at, cuuint32_t value,
                                 unsigned int flags);

struct cuda_kind {
	const struct device_ops *ops;
	const char *timer;
	bool holds_durations; /* false: everything ends when it really ends */
};

struct cuda_queue {
	cudaStream_t stream;
	bool is_busy;                     /* something was issued since it was seen to be empty */
	uint64_t n_issued;                /* to it so far */
	const struct device_flag **holds; /* that it may stand at */
	size_t n_holds;
	size_t holds_capacity;
	/* Where durations are held (cuda_paced.c); host functions in the queue's order have them.
	 */
	int64_t reached_ns; /* scheduled end of the last item that ended */
	int64_t began_ns;   /* the op under way, really */
	int64_t held_ns;    /* and for how long */
	bool has_copied;    /* since the last record; the owner's */
	uint32_t *gate;     /* host memory of the device, where ops end (cuda_pacer.h) */
	uint32_t n_gated;   /* ops that have been issued; the owner's */
};

/* Of a stream. cuBLAS's handle is made with the first product. */
struct cuda_arithmetic {
	struct arithmetic base;
	struct cuda *cuda;
	struct cuda_queue *queue;
	cublasHandle_t handle;
	cudaEvent_t awaited;
};

struct cuda_stream {
	struct device_stream base;
	struct cuda_arithmetic arithmetic;
	struct cuda_queue *queue;
	struct cuda_stream *next;
};

struct cuda_event {
	struct device_event base;
	cudaEvent_t event;
	bool is_recorded;
	uint64_t recorded_in;     /* n_looks then */
	struct cuda_queue *queue; /* then */
	uint64_t issue;           /* n_issued of the queue after it */
	bool is_done;             /* and both times are known */
	int64_t scheduled_ns;
	int64_t real_ns;
	int64_t paced_ns; /* where durations are held: scheduled, by the last record that ended */
	struct cuda_event *next;
};

struct cuda_block {
	void *memory;
	struct cuda_block *next;
};

/* The moment of an event on the host's clock is that of the anchor and the time between them. Both
 * events exist from the first setting on; the one that is not in use is tried for a better one. */
struct cuda_clock {
	cudaEvent_t anchor, other;
	int64_t host_ns;    /* INT64_MIN: not set */
	int64_t bracket_ns; /* between the looks at the host's clock on both sides of it */
	int64_t renewal_ns; /* not before */
};

struct cuda {
	struct device base;
	const struct cuda_kind *kind;
	struct device_config config;
	int gpu;
	cuda_wait_value *wait_value;
	struct cuda_blas blas;
	struct cuda_queue **queues;
	size_t n_queues;
	size_t queues_capacity;
	size_t n_streams;
	struct cuda_stream *streams;
	struct cuda_event *events;
	struct cuda_block *blocks[2]; /* of the device, of the host */
	struct cuda_clock clock;
	struct cuda_pacer *pacer; /* where durations are held; else NULL */
	uint64_t n_looks;         /* calls of device_progress() */
	uint32_t is_closing;      /* host functions do nothing any more */
	struct err error;         /* code 0: none */
};

/* cuda_status.c: 0, or the device is in error from now on: what it cannot, and CUDA's reason. */
int cuda_check(struct cuda *cuda, cudaError_t status, const char *cannot, struct err *err);

/* cuda_status.c: the device's error, if it has one. */
int cuda_report(const struct cuda *cuda, struct err *err);

/* cuda_status.c: -ENODEV and a sentence, unless status is success. */
int cuda_check_driver(cudaError_t status, struct err *err);

/* cuda_clock.c: translate from now on by this moment. The stream is empty. */
int cuda_clock_set(struct cuda *cuda, cudaStream_t stream, struct err *err);

/* cuda_clock.c: set it again if that was a while ago, since the clocks drift. The stream is empty.
 */
int cuda_clock_renew(struct cuda *cuda, cudaStream_t stream, struct err *err);

/* cuda_clock.c: when an event that has ended did so, on the host's clock. */
int cuda_clock_moment(struct cuda *cuda, cudaEvent_t event, int64_t *ns_out, struct err *err);
void cuda_clock_close(struct cuda_clock *clock);

/* cuda_arithmetic.c: what a stream computes with. */
void cuda_arithmetic_init(struct cuda_arithmetic *arithmetic, struct cuda *cuda,
                          struct cuda_queue *queue);
void cuda_arithmetic_fini(struct cuda_arithmetic *arithmetic);

#endif
