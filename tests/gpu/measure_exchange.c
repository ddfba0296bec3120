/* measure_exchange.c - how fast two neighbours with GPUs of their own exchange, as one line of
 * JSON.
 *
 * For every pair of GPUs that follow each other: posts of 64 MiB there and as many back, or as many
 * MiB as are named, in GB/s one way; and the same by plain calls of NCCL, over two communicators
 * that nobody looks after. Told is the slowest pair, and the lowest ratio of the two. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/cuda_stream.h"
#include "engine/transport/exchange.h"
#include "engine/transport/nccl_library.h"

enum { N_WARM = 5, N_POSTS = 20, GPUS_MAX = 16 };

/* A GPU in its turn as the lower or the higher one of a pair. */
struct end {
	struct device *device;
	struct device_stream *stream;
	struct device_event *event;
	char *sent, *received;
	struct exchange *exchange;
	ncclComm_t communicator;
};

struct bench {
	const struct exchange_ops *exchanges;
	const struct device_ops *devices;
	struct nccl_library nccl;
	size_t n_bytes;
	struct end ends[2];
};

static void end_if(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "measure_exchange: %s\n", err->text);
	exit(1);
}

static void end_unless(ncclResult_t status, const struct bench *bench)
{
	if (status == ncclSuccess || status == ncclInProgress)
		return;
	fprintf(stderr, "measure_exchange: %s\n", bench->nccl.error_string(status));
	exit(1);
}

static void open_end(struct bench *bench, int gpu, struct end *out)
{
	const struct device_config config = {.speed = 1, .unit = gpu};
	struct err err = {0};

	end_if(bench->devices->open(&config, &out->device, &err), &err);
	end_if(device_stream_new(out->device, &out->stream, &err), &err);
	end_if(device_event_new(out->device, &out->event, &err), &err);
	out->sent = device_alloc(out->device, bench->n_bytes, false);
	out->received = device_alloc(out->device, bench->n_bytes, false);
	if (!out->sent || !out->received)
		end_if(err_set(&err, -1, "no memory for what is exchanged"), &err);
}

static bool has_ended(struct end *end)
{
	struct device_state state;
	struct err err = {0};
	int rc = device_progress(end->device, true, &state, &err);

	rc = rc ? rc : device_query(end->event, NULL, NULL, &err);
	end_if(rc, &err);
	return rc == 1;
}

/* Both have done all that was issued. */
static void finish(struct bench *bench)
{
	struct err err = {0};

	for (int i = 0; i < 2; i++)
		end_if(device_record(bench->ends[i].event, bench->ends[i].stream, &err), &err);
	while (!has_ended(&bench->ends[0]) || !has_ended(&bench->ends[1]))
		(void)sched_yield();
}

static void meet(struct bench *bench)
{
	struct exchange_id id;
	struct err err = {0};
	int n_ready = 0;

	end_if(bench->exchanges->make_id(&id, &err), &err);
	for (int i = 0; i < 2; i++) {
		const struct exchange_config config = {bench->ends[i].device, i, !i, id};

		end_if(bench->exchanges->open(&config, &bench->ends[i].exchange, &err), &err);
	}
	while (n_ready < 2) {
		n_ready = 0;
		for (int i = 0; i < 2; i++) {
			int rc = exchange_progress(bench->ends[i].exchange, &err);

			end_if(rc, &err);
			n_ready += rc;
		}
	}
}

static void post(struct bench *bench, int i)
{
	struct end *end = &bench->ends[i];
	const struct exchange_part parts[] = {
		{.is_send = true, .memory = end->sent, .n_bytes = bench->n_bytes},
		{.memory = end->received, .n_bytes = bench->n_bytes},
	};
	struct err err = {0};

	end_if(exchange_post(end->exchange, end->stream, parts, 2, &err), &err);
}

static void settle(struct bench *bench, int i)
{
	ncclResult_t status = ncclInProgress;

	while (status == ncclInProgress) {
		end_unless(bench->nccl.get_async_error(bench->ends[i].communicator, &status),
		           bench);
		end_unless(status, bench);
	}
}

static void meet_plainly(struct bench *bench)
{
	ncclUniqueId id;
	struct err err = {0};

	end_unless(bench->nccl.get_unique_id(&id), bench);
	for (int i = 0; i < 2; i++) {
		ncclConfig_t config = NCCL_CONFIG_INITIALIZER;

		config.blocking = 0;
		end_if(cuda_stream_choose(bench->ends[i].device, &err), &err);
		end_unless(bench->nccl.init_rank(&bench->ends[i].communicator, 2, id, i, &config),
		           bench);
	}
	settle(bench, 0);
	settle(bench, 1);
}

static void begin_plainly(struct bench *bench, int i)
{
	struct end *end = &bench->ends[i];
	const struct nccl_library *nccl = &bench->nccl;
	cudaStream_t stream = NULL;
	struct err err = {0};

	end_if(cuda_stream_issue(end->stream, &stream, &err), &err);
	end_unless(nccl->group_start(), bench);
	end_unless(nccl->send(end->sent, bench->n_bytes, ncclUint8, !i, end->communicator, stream),
	           bench);
	end_unless(nccl->receive(end->received, bench->n_bytes, ncclUint8, !i, end->communicator,
	                         stream),
	           bench);
	end_unless(nccl->group_end(), bench);
}

static void post_all(struct bench *bench, int n)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < 2; i++)
			post(bench, i);
	finish(bench);
}

/* The first one connects both, so nobody waits for one of them alone. */
static void post_all_plainly(struct bench *bench, int n)
{
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < 2; i++)
			begin_plainly(bench, i);
		for (int i = 0; i < 2; i++)
			settle(bench, i);
	}
	finish(bench);
}

static double gb_per_s(struct bench *bench, void (*run)(struct bench *bench, int n))
{
	int64_t began_ns;

	run(bench, N_WARM);
	began_ns = clock_monotonic_ns();
	run(bench, N_POSTS);
	return (double)N_POSTS * (double)bench->n_bytes / (double)(clock_monotonic_ns() - began_ns);
}

static void close_pair(struct bench *bench)
{
	for (int i = 0; i < 2; i++) {
		(void)bench->nccl.abort(bench->ends[i].communicator);
		exchange_close(bench->ends[i].exchange);
	}
	for (int i = 0; i < 2; i++)
		device_close(bench->ends[i].device);
}

static void measure_pair(struct bench *bench, int gpu, double *exchange_out, double *plain_out)
{
	for (int i = 0; i < 2; i++)
		open_end(bench, gpu + i, &bench->ends[i]);
	meet(bench);
	*exchange_out = gb_per_s(bench, post_all);
	meet_plainly(bench);
	*plain_out = gb_per_s(bench, post_all_plainly);
	close_pair(bench);
}

static int count_gpus(const struct bench *bench)
{
	const struct device_config config = {.speed = 1};
	struct device *device;
	struct err err = {0};
	int n;

	end_if(bench->devices->open(&config, &device, &err), &err);
	n = device->about.n_units;
	device_close(device);
	return n < GPUS_MAX ? n : GPUS_MAX;
}

static double lower_of(double a, double b)
{
	return a < b ? a : b;
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20};
	double slowest = 1e9, lowest_ratio = 1e9;
	struct err err = {0};
	int n_gpus;

	end_if(device_find("cuda", &bench.devices, &err), &err);
	end_if(exchange_find("nccl", &bench.exchanges, &err), &err);
	end_if(nccl_library_find(&bench.nccl, &err), &err);
	n_gpus = count_gpus(&bench);
	for (int gpu = 0; gpu + 1 < n_gpus; gpu++) {
		double exchange = 0, plain = 0;

		measure_pair(&bench, gpu, &exchange, &plain);
		slowest = lower_of(slowest, exchange);
		lowest_ratio = lower_of(lowest_ratio, exchange / plain);
	}
	if (n_gpus < 2)
		end_if(err_set(&err, -1, "it needs more than one GPU"), &err);
	printf("{\"pairs_of_gpus\": %d, \"exchange_gb_per_s\": %.2f, "
	       "\"exchange_to_plain_ratio\": %.3f}\n",
	       n_gpus - 1, slowest, lowest_ratio);
	return 0;
}
