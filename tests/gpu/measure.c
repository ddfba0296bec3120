/* measure.c - what check.sh wants to know of a GPU and cannot see in runs, as one line of JSON.
 *
 * An op of known length is a host function that sleeps, between two events: what the events say,
 * over what it took. Events around every op, over none: the ratio of both times, and how long such
 * an op is, which is a hundred small kernels. Copies of the device between its own memory and the
 * host's, of 64 MiB or as many as are named, in GB/s. What delegates copy, a quarter of that a
 * message, over plain copies of the same size. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/device.h"
#include "engine/model/work.h"
#include "tests/plane_speed.h"

enum { N_OPS = 40, WORK_PER_OP = 100, N_ROUNDS = 5, N_COPIES = 8 };

static const int64_t known_ns = 20 * NS_PER_MS;

struct bench {
	struct device *device;
	struct device_stream *stream;
	struct device_event *events[2 * N_OPS];
	char *host, *own;
	size_t copied_bytes;
};

static void end_if(int rc, const struct err *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "measure: %s\n", err->text);
	exit(1);
}

static void finish(struct bench *bench, struct device_event *event)
{
	struct device_state state;
	struct err err = {0};
	int rc = device_record(event, bench->stream, &err);

	while (rc == 0) {
		end_if(device_progress(bench->device, true, &state, &err), &err);
		rc = device_query(event, NULL, NULL, &err);
	}
	end_if(rc < 0 ? rc : 0, &err);
}

struct nap {
	int64_t took_ns;
};

static void sleep_known(void *argument)
{
	struct nap *nap = argument;
	int64_t began_ns = clock_monotonic_ns();

	clock_sleep_ns(known_ns);
	nap->took_ns = clock_monotonic_ns() - began_ns;
}

static double measure_known(struct bench *bench)
{
	struct nap nap = {0};
	int64_t told_ns = 0;
	struct err err = {0};

	end_if(device_record(bench->events[0], bench->stream, &err), &err);
	end_if(device_call(bench->stream, sleep_known, &nap, &err), &err);
	finish(bench, bench->events[1]);
	(void)device_elapsed(bench->events[0], bench->events[1], &told_ns, &err);
	return (double)told_ns / (double)nap.took_ns;
}

static int op(void *argument, struct err *err)
{
	struct bench *bench = argument;
	const struct work work = {
		.kind = WORK_CLEAR,
		.n_items = bench->copied_bytes / sizeof(float) / 4,
		.clear = (float *)bench->own,
	};

	for (int i = 0; i < WORK_PER_OP; i++)
		arithmetic_run(bench->stream->arithmetic, &work);
	return arithmetic_check(bench->stream->arithmetic, err);
}

static int64_t run_ops(struct bench *bench, bool has_events)
{
	int64_t began_ns = clock_monotonic_ns();
	struct err err = {0};

	for (int i = 0; i < N_OPS; i++) {
		if (has_events)
			end_if(device_record(bench->events[2 * i], bench->stream, &err), &err);
		end_if(device_launch(bench->stream, op, bench, 0, &err), &err);
		if (has_events)
			end_if(device_record(bench->events[2 * i + 1], bench->stream, &err), &err);
	}
	finish(bench, bench->events[0]);
	return clock_monotonic_ns() - began_ns;
}

/* The least of some rounds each, taken by turns. */
static double measure_timing(struct bench *bench, double *op_us_out)
{
	int64_t with_ns = INT64_MAX, without_ns = INT64_MAX;

	(void)run_ops(bench, true);
	for (int round = 0; round < N_ROUNDS; round++) {
		int64_t ns = run_ops(bench, false);

		without_ns = ns < without_ns ? ns : without_ns;
		ns = run_ops(bench, true);
		with_ns = ns < with_ns ? ns : with_ns;
	}
	*op_us_out = (double)without_ns / N_OPS / (double)NS_PER_US;
	return (double)with_ns / (double)without_ns - 1;
}

static double measure_copies(struct bench *bench, void *to, const void *from)
{
	int64_t began_ns = clock_monotonic_ns();
	struct err err = {0};

	for (int i = 0; i < N_COPIES; i++)
		end_if(device_copy(bench->stream, to, from, bench->copied_bytes, &err), &err);
	finish(bench, bench->events[0]);
	return (double)N_COPIES * (double)bench->copied_bytes /
	       (double)(clock_monotonic_ns() - began_ns);
}

static void open_bench(const char *name, struct bench *out)
{
	const struct device_config config = {.speed = 1};
	const struct device_ops *ops;
	struct err err = {0};

	end_if(device_find(name, &ops, &err), &err);
	end_if(ops->open(&config, &out->device, &err), &err);
	end_if(device_stream_new(out->device, &out->stream, &err), &err);
	for (int i = 0; i < 2 * N_OPS; i++)
		end_if(device_event_new(out->device, &out->events[i], &err), &err);
	out->host = device_alloc(out->device, out->copied_bytes, true);
	out->own = device_alloc(out->device, out->copied_bytes, false);
	if (!out->host || !out->own) {
		fprintf(stderr, "measure: no memory for copies\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "cuda";
	struct bench bench = {.copied_bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 64) << 20};
	double known, timing, op_us, to_host, to_device;
	struct plane_speed planes;
	struct err err = {0};

	open_bench(device, &bench);
	known = measure_known(&bench);
	timing = measure_timing(&bench, &op_us);
	(void)measure_copies(&bench, bench.own, bench.host);
	to_device = measure_copies(&bench, bench.own, bench.host);
	to_host = measure_copies(&bench, bench.host, bench.own);
	device_close(bench.device);
	end_if(plane_speed_measure(device, bench.copied_bytes / 4, &planes, &err), &err);
	printf("{\"known_op_ratio\": %.4f, \"timing_cost_ratio\": %.4f, \"timed_op_us\": %.1f, "
	       "\"to_device_gb_per_s\": %.2f, \"to_host_gb_per_s\": %.2f, "
	       "\"delegate_to_device_gb_per_s\": %.2f, \"delegate_to_host_gb_per_s\": %.2f, "
	       "\"delegate_to_device_ratio\": %.4f, \"delegate_to_host_ratio\": %.4f}\n",
	       known, timing, op_us, to_device, to_host, planes.to_device, planes.to_host,
	       planes.to_device / planes.plain_to_device, planes.to_host / planes.plain_to_host);
	return 0;
}
