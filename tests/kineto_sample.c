/* kineto_sample.c - traces as the PyTorch profiler writes them, of a pipeline whose every time is
 * known. */
#include "tests/kineto_sample.h"

#include <inttypes.h>

enum { KERNEL_GAP_NS = 2000, LAUNCH_NS = 9000, LAUNCH_AHEAD_NS = 400000, TRANSFER_NS = 300000 };

struct writer {
	const struct kineto_sample *sample;
	FILE *out;
	int correlation;
	int external;
};

int64_t kineto_sample_op_ns(int stage, char kind, int microbatch)
{
	int64_t us = kind == 'F' ? 1000 : kind == 'I' ? 1200 : 600;

	return (us + 100 * stage + microbatch % 3) * 1000;
}

/* Microseconds with three decimals, as the profiler writes them. */
static void put_time(struct writer *writer, const char *key, int64_t ns)
{
	fprintf(writer->out, "\"%s\": %" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

static void put_event(struct writer *writer, const char *category, const char *name, int64_t start,
                      int64_t duration)
{
	bool is_device = category[0] == 'g' || category[0] == 'k';

	fprintf(writer->out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", ",
	        category, name);
	fprintf(writer->out, "\"pid\": %d, \"tid\": %d,\n    ",
	        is_device ? writer->sample->rank : 4242, is_device ? 7 : 4242);
	put_time(writer, "ts", start + writer->sample->clock_ns);
	fprintf(writer->out, ", ");
	put_time(writer, "dur", duration);
}

static void put_host_ops(struct writer *writer, int64_t launch)
{
	for (int i = 0; i < writer->sample->n_host_ops; i++) {
		put_event(writer, "cpu_op", "aten::_scaled_dot_product_flash_attention_backward",
		          launch - 3000 + i, 2000);
		writer->external++;
		fprintf(writer->out,
		        ",\n    \"args\": {\n      \"External id\": %d, \"Record function id\": 0, "
		        "\"Concrete Inputs\": [\"\", \"[1, 1024, 4096]\", \"True\"], "
		        "\"Input type\": [\"c10::BFloat16\", \"ScalarList\", \"Scalar\"], "
		        "\"Input Strides\": [[4194304, 4096, 1], [], []], "
		        "\"Input Dims\": [[1, 1024, 4096], [], []], \"Ev Idx\": %d\n    }\n  }",
		        writer->external, writer->external);
	}
}

/* A launch on the host, the kernel on the device, and the arrow between them. */
static void put_kernel(struct writer *writer, int64_t start, int64_t duration)
{
	const struct kineto_sample *sample = writer->sample;
	int64_t launch = start - LAUNCH_AHEAD_NS;
	int correlation = ++writer->correlation;

	put_host_ops(writer, launch);
	put_event(writer, "cuda_runtime", "cudaLaunchKernel", launch, LAUNCH_NS);
	fprintf(writer->out,
	        ",\n    \"args\": {\n      \"External id\": %d, \"cbid\": 211, "
	        "\"correlation\": %d\n    }\n  }",
	        writer->external, correlation);
	put_event(writer, "kernel",
	          "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<"
	          "float>, at::detail::Array<char*, 1> >(int, \\\"x\\\")",
	          start, duration);
	fprintf(writer->out,
	        ",\n    \"args\": {\n      \"External id\": %d, \"queued\": 0, \"device\": %d, "
	        "\"context\": 1, \"stream\": 7, \"correlation\": %d, "
	        "\"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": 9.481481,"
	        " \"warps per SM\": 37.925926, \"grid\": [1024, 1, 1], \"block\": [128, 1, 1], "
	        "\"est. achieved occupancy %%\": 59\n    }\n  }",
	        writer->external, sample->rank, correlation);
	fprintf(writer->out,
	        ",\n  {\n    \"ph\": \"s\", \"id\": %d, \"pid\": 4242, \"tid\": 4242, "
	        "\"ts\": %" PRId64 ".000,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }",
	        correlation, launch / 1000);
}

static void put_range(struct writer *writer, const char *category, const char *name, int64_t start,
                      int64_t duration)
{
	put_event(writer, category, name, start, duration);
	fprintf(writer->out, "\n  }");
}

/* An op from start on: its range on the host, where it is only launched, and its kernels. */
static int64_t put_op(struct writer *writer, const char *kind, int microbatch, int64_t start,
                      int64_t duration)
{
	const struct kineto_sample *sample = writer->sample;
	int64_t piece = duration / sample->n_kernels;
	char name[32];

	snprintf(name, sizeof(name), "PP:%d%s%d", sample->rank, kind, microbatch);
	put_range(writer, "user_annotation", name, start - LAUNCH_AHEAD_NS - 1000,
	          duration - KERNEL_GAP_NS);
	for (int i = 0; i < sample->n_kernels; i++)
		put_kernel(writer, start + i * piece,
		           (i + 1 < sample->n_kernels ? piece - KERNEL_GAP_NS
		                                      : duration - i * piece));
	if (sample->has_device_ranges)
		put_range(writer, "gpu_user_annotation", name, start - 1, duration + 2);
	return start + duration;
}

static void put_transfer(struct writer *writer, bool is_send, int64_t start, int64_t end)
{
	int rank = writer->sample->rank;

	put_event(writer, "kernel", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
	          start, end - start);
	fprintf(writer->out,
	        ",\n    \"args\": {\n      \"stream\": 23, \"correlation\": %d, "
	        "\"Collective name\": \"%s\", \"In msg nelems\": %d, \"Out msg nelems\": %d, "
	        "\"Group size\": %d, \"dtype\": \"BFloat16\", \"Process Group Ranks\": \"[0, 1]\", "
	        "\"Src Rank\": %d, \"Dst Rank\": %d\n    }\n  }",
	        ++writer->correlation, is_send ? "send" : "recv", KINETO_MESSAGE_BYTES / 2,
	        KINETO_MESSAGE_BYTES / 2, writer->sample->n_ranks, is_send ? rank : rank - 1,
	        is_send ? rank + 1 : rank);
}

/* When the forwards of a microbatch start on a stage: late enough for all before it. */
static int64_t forward_start(int stage, int microbatch)
{
	return (stage * INT64_C(2000) + microbatch * INT64_C(2500)) * 1000 + 1000000;
}

static void put_iteration(struct writer *writer, int iteration, int64_t origin)
{
	const struct kineto_sample *sample = writer->sample;
	int n = sample->n_microbatches, rank = sample->rank;
	int64_t at = origin + forward_start(sample->n_ranks, n);
	char name[32];

	snprintf(name, sizeof(name), "ProfilerStep#%d", iteration);
	put_range(writer, "user_annotation", name, origin, forward_start(sample->n_ranks, 3 * n));
	for (int mb = 0; mb < n; mb++) {
		int64_t start = origin + forward_start(rank, mb);
		int64_t duration = kineto_sample_op_ns(rank, 'F', mb);

		if (rank > 0)
			put_transfer(writer, false, start - TRANSFER_NS - 200000, start);
		put_op(writer, "F", mb, start, duration);
		if (rank + 1 < sample->n_ranks)
			put_transfer(writer, true, start + duration,
			             origin + forward_start(rank + 1, mb));
	}
	for (int mb = 0; mb < n; mb++) {
		int64_t for_input = kineto_sample_op_ns(rank, 'I', mb);
		int64_t for_weights = kineto_sample_op_ns(rank, 'W', mb);

		if (sample->has_whole_backward) {
			at = put_op(writer, "B", mb, at, for_input + for_weights) + 5000;
			continue;
		}
		at = put_op(writer, "I", mb, at, for_input) + 5000;
		at = put_op(writer, "W", mb, at, for_weights) + 5000;
	}
}

void kineto_sample_write(const struct kineto_sample *sample, FILE *out)
{
	struct writer writer = {.sample = sample, .out = out};
	int64_t length = forward_start(sample->n_ranks, 3 * sample->n_microbatches) + 1000000;

	fprintf(out,
	        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, "
	        "\"name\": \"NVIDIA H800\", \"totalGlobalMem\": 85054455808, \"numSms\": 132\n"
	        "    }\n  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, "
	        "\"world_size\": %d, \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", "
	        "\"ranks\": [0, 1]}], \"nccl_version\": \"2.21.5\"},\n",
	        sample->rank, sample->n_ranks);
	if (sample->base_ns > 0)
		fprintf(out, "  \"baseTimeNanoseconds\": %" PRId64 ",\n", sample->base_ns);
	fprintf(out, "  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [\n  {\n    "
	             "\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 4242, \"tid\": 0, "
	             "\"ts\": 0.000, \"args\": {\"name\": \"python3\"}\n  }");
	for (int i = 0; i < sample->n_iterations; i++)
		put_iteration(&writer, sample->first_iteration + i, 1000000 + i * length);
	fprintf(out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": 0.5, \"dur\": 9000.1,"
	             " \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\", "
	             "\"name\": \"PyTorch Profiler (0)\", \"args\": {\"Op count\": 0}\n  }");
	fprintf(out, "\n  ],\n  \"traceName\": \"rank%d.pt.trace.json\"\n}\n", sample->rank);
}
