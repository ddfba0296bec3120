/* cuda_errors.c - whatever CUDA refuses becomes a sentence, and the device stays in error. */
#include <errno.h>
#include <stdlib.h>

#include "engine/model/work.h"
#include "tests/cuda_double/cuda_double.h"
#include "tests/unit/device_fixture.h"

/* What is there of a device when something fails. */
struct bench {
	struct device *device;
	struct device_stream *stream;
	struct device_event *event;
	char *host, *own;
};

static void ignore(void *argument)
{
	(void)argument;
}

static int make_stream(struct bench *bench, struct err *err)
{
	struct device_stream *stream;

	return device_stream_new(bench->device, &stream, err);
}

static int make_event(struct bench *bench, struct err *err)
{
	struct device_event *event;

	return device_event_new(bench->device, &event, err);
}

static int copy(struct bench *bench, struct err *err)
{
	return device_copy(bench->stream, bench->own, bench->host, 64, err);
}

static int call(struct bench *bench, struct err *err)
{
	return device_call(bench->stream, ignore, NULL, err);
}

static int hold(struct bench *bench, struct err *err)
{
	return device_hold(bench->stream, (struct device_flag *)bench->host, err);
}

static int record(struct bench *bench, struct err *err)
{
	return device_record(bench->event, bench->stream, err);
}

static int wait_for_event(struct bench *bench, struct err *err)
{
	return device_wait(bench->stream, bench->event, err);
}

static int multiply(struct bench *bench, struct err *err)
{
	float *at = (float *)bench->own;
	const struct product product = {
		.a = {at, 4, 4, 4}, .b = {at + 16, 4, 4, 4}, .out = at + 32, .out_stride = 4};

	arithmetic_multiply(bench->stream->arithmetic, &product);
	return arithmetic_check(bench->stream->arithmetic, err);
}

static int work(struct bench *bench, struct err *err)
{
	const struct work clear = {.kind = WORK_CLEAR, .n_items = 16, .clear = (float *)bench->own};

	arithmetic_run(bench->stream->arithmetic, &clear);
	return arithmetic_wait(bench->stream->arithmetic, err);
}

static int wait_for_work(struct bench *bench, struct err *err)
{
	return arithmetic_wait(bench->stream->arithmetic, err);
}

static int launch(struct bench *bench, struct err *err)
{
	return device_launch(bench->stream, NULL, NULL, 0, err);
}

static int progress(struct bench *bench, struct err *err)
{
	struct device_state state;

	return device_progress(bench->device, true, &state, err);
}

/* In the end it is known that the event has ended, and when that was is what fails. */
static int query(struct bench *bench, struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + (int64_t)(20e9 * slowness_of_machine());
	int rc;

	do {
		rc = progress(bench, err);
		rc = rc ? rc : device_query(bench->event, NULL, NULL, err);
	} while (rc == 0 && clock_monotonic_ns() < end_ns);
	return rc;
}

static const struct {
	const char *function;
	int (*act)(struct bench *bench, struct err *err);
	const char *cannot;
} failures[] = {
	{"cudaStreamCreateWithFlags", make_stream, "make a stream"},
	{"cudaEventCreateWithFlags", make_event, "make an event"},
	{"cudaMemcpyAsync", copy, "copy"},
	{"cudaLaunchHostFunc", call, "call a function of the host"},
	{"cuStreamWaitValue32", hold, "wait for a flag"},
	{"cudaEventRecord", record, "record an event"},
	{"cudaStreamWaitEvent", wait_for_event, "wait for an event"},
	{"cublasCreate", multiply, "multiply matrices"},
	{"cublasSetMathMode", multiply, "multiply matrices"},
	{"cublasSetAtomicsMode", multiply, "multiply matrices"},
	{"cublasSetStream", multiply, "multiply matrices"},
	{"cublasSgemm", multiply, "multiply matrices"},
	{"cudaLaunchKernel", work, "start a kernel"},
	{"cudaEventSynchronize", wait_for_work, "end what it computes"},
	{"cudaSetDevice", launch, "be chosen"},
	{"cudaStreamQuery", progress, "go on"},
	{"cudaEventQuery", query, "say whether an event has ended"},
	{"cudaEventElapsedTime", query, "tell the time between two events"},
};

static struct bench open_bench(void)
{
	struct bench bench = {.device = fixture_open("cuda", 0, 1, NULL)};

	bench.stream = fixture_stream(bench.device);
	bench.event = fixture_record(bench.stream);
	bench.host = device_alloc(bench.device, 4096, true);
	bench.own = device_alloc(bench.device, 4096, false);
	return bench;
}

static void check_failure(size_t i)
{
	struct bench bench = open_bench();
	const char *name = failures[i].function;
	struct err err = {0}, again = {0};

	cuda_double_fail(name, 1);
	tap_is_int(failures[i].act(&bench, &err), -EIO, "%s fails", name);
	cuda_double_fail(NULL, 0);
	tap_contains(err.text, "the GPU cannot", "which is said plainly: %s", err.text);
	tap_contains(err.text, failures[i].cannot, "with what it cannot");
	tap_is_int(launch(&bench, &again), -EIO, "the device stays in error");
	tap_is_str(again.text, err.text, "and says the same");
	device_close(bench.device);
}

static void check_memory(const char *function, bool is_host)
{
	struct bench bench = open_bench();

	cuda_double_fail(function, 1);
	tap_ok(!device_alloc(bench.device, 64, is_host), "%s fails: no memory is given", function);
	tap_is_int(launch(&bench, NULL), 0, "which is not an error of the device");
	device_close(bench.device);
}

/* status: with which the function fails. */
static void check_absent(const char *function, cudaError_t status, const char *said)
{
	const struct device_config config = {.speed = 1};
	const struct device_ops *ops = NULL;
	struct device *device = NULL;
	struct err err = {0};

	(void)device_find("cuda", &ops, NULL);
	cuda_double_fail_as(function, 1, status);
	tap_is_int(ops->open(&config, &device, &err), -ENODEV, "%s fails: there is no device",
	           function ? function : "the driver");
	tap_contains(err.text, said, "which is said plainly: %s", err.text);
	tap_ok(!device, "and none is given");
}

/* Of such a version, 0 for none. */
static void check_driver(const char *version, const char *said)
{
	(void)setenv("CUDA_DOUBLE_DRIVER", version, 1);
	check_absent(NULL, cudaSuccess, said);
	(void)unsetenv("CUDA_DOUBLE_DRIVER");
}

/* What a process may have at once, and what somebody has set for another program. */
static void check_streams(const char *connections, int n_streams, int n_devices, const char *said)
{
	const struct device_config config = {
		.speed = 1, .n_streams = n_streams, .n_devices = n_devices};
	const struct device_ops *ops = NULL;
	struct device *device = NULL;
	struct err err = {0};

	(void)device_find("cuda", &ops, NULL);
	(void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1);
	tap_is_int(ops->open(&config, &device, &err), said ? -EINVAL : 0,
	           "%d times %d streams of %s that are kept apart", n_devices, n_streams,
	           connections);
	if (said)
		tap_contains(err.text, said, "which is said plainly: %s", err.text);
	device_close(device);
	(void)unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		check_failure(i);
	check_memory("cudaMalloc", false);
	check_memory("cudaHostAlloc", true);
	check_memory("cudaMemsetAsync", false);
	check_absent("cudaGetDeviceCount", cudaErrorNoDevice, "CUDA_VISIBLE_DEVICES may hide it");
	check_absent("cudaGetDeviceCount", cudaErrorOperatingSystem, "may not open /dev/nvidia*");
	check_absent("cudaGetDeviceCount", cudaErrorUnknown, "no GPU can be used");
	check_absent("cudaSetDevice", cudaErrorDevicesUnavailable, "another process has it alone");
	check_absent("cudaGetDeviceProperties", cudaErrorUnknown, "no GPU can be used");
	check_absent("cudaDriverGetVersion", cudaErrorUnknown, "no GPU can be used");
	check_absent("cudaFuncGetAttributes", cudaErrorNoKernelImageForDevice,
	             "no code for the GPU test double of a GPU of compute capability 9.0");
	check_absent("cudaFuncGetAttributes", cudaErrorUnknown, "no GPU can be used");
	check_absent("cudaMemGetInfo", cudaErrorUnknown, "no GPU can be used");
	check_absent("cudaGetDriverEntryPointByVersion", cudaErrorUnknown,
	             "has no cuStreamWaitValue32");
	check_driver("0", "there is no NVIDIA driver here");
	check_driver("12020", "the NVIDIA driver is for CUDA 12.2 and this program for");
	check_streams("32", 31, 1, NULL);
	check_streams("32", 32, 1, "use more hosts");
	check_streams("32", 16, 2, "use more hosts");
	check_streams("1", 13, 2, "CUDA_DEVICE_MAX_CONNECTIONS is 1, and a worker has 27 streams");
	(void)setenv("CUDA_DOUBLE_GPUS", "2", 1);
	check_streams("32", 16, 3, "use more hosts");
	check_streams("32", 16, 2, NULL);
	(void)unsetenv("CUDA_DOUBLE_GPUS");
	return tap_done();
}
