/* format_kineto.c - ops of the PyTorch profiler's traces have the times that the device took. */
#include "engine/format/kineto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kineto_sample.h"
#include "tests/tap.h"

#define BASE_NS INT64_C(1700000000000000000)

static int read_text(const char *text, size_t n_bytes, struct observed *out, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes("t.json", text, n_bytes, &input, err);

	observed_init(out, 0);
	if (rc == 0)
		rc = kineto_read(input, NULL, out, err);
	input_close(input);
	return rc;
}

static int read_sample(const struct kineto_sample *sample, struct observed *out, struct err *err)
{
	size_t n_bytes = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &n_bytes);
	int rc;

	kineto_sample_write(sample, file);
	fclose(file);
	rc = read_text(text, n_bytes, out, err);
	free(text);
	return rc;
}

static const struct observed_op *find(const struct observed *observed, enum observed_kind kind,
                                      int iteration, int microbatch)
{
	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];

		if (op->kind == kind && op->iteration == iteration && op->microbatch == microbatch)
			return op;
	}
	return NULL;
}

/* Every F, I and W is there once with the time it took; returns how many are right. */
static int n_right(const struct observed *observed, const struct kineto_sample *sample)
{
	static const enum observed_kind kinds[] = {OBSERVED_FORWARD, OBSERVED_BACKWARD_INPUT,
	                                           OBSERVED_BACKWARD_WEIGHT};
	int n = 0;

	for (int i = 0; i < sample->n_iterations; i++) {
		for (int mb = 0; mb < sample->n_microbatches; mb++) {
			for (size_t k = 0; k < 3; k++) {
				const struct observed_op *op =
					find(observed, kinds[k], sample->first_iteration + i, mb);

				n += op != NULL && op->stage == sample->rank &&
				     op->rank == sample->rank && op->clock == CLOCK_DEVICE &&
				     op->end_ns - op->start_ns ==
				             kineto_sample_op_ns(sample->rank, "FIW"[k], mb);
			}
		}
	}
	return n;
}

static const struct kineto_sample sample = {.rank = 1,
                                            .n_ranks = 3,
                                            .first_iteration = 5,
                                            .n_iterations = 3,
                                            .n_microbatches = 4,
                                            .n_kernels = 7,
                                            .n_host_ops = 1,
                                            .has_device_ranges = true,
                                            .base_ns = BASE_NS};

static void check_device_ranges(void)
{
	struct observed observed;
	struct err err = {0};
	const struct observed_op *op;

	tap_is_int(read_sample(&sample, &observed, &err), 0, "a trace with device ranges is read");
	tap_is_int(n_right(&observed, &sample), 36,
	           "every op has its time without the nanosecond at either end, its iteration, "
	           "stage and rank");
	tap_is_int((int64_t)observed.n_read[OBSERVED_FORWARD], 12, "once");
	op = find(&observed, OBSERVED_FORWARD, 5, 0);
	tap_is_int(op->start_ns, BASE_NS + 1000000 + 3000000, "times are since the epoch");
	tap_is_int(op->busy_ns, -1, "how much of it was busy is not known");
	tap_is_int((int64_t)observed.n_read[OBSERVED_SEND_FORWARD], 12, "NCCL's sends are ops");
	tap_is_int((int64_t)observed.n_read[OBSERVED_RECEIVE_FORWARD], 12, "and its receives");
	for (size_t i = 0; i < observed.n_ops; i++)
		if (observed.ops[i].kind == OBSERVED_SEND_FORWARD) {
			tap_is_int(observed.ops[i].bytes, KINETO_MESSAGE_BYTES, "with their bytes");
			tap_is_int(observed.ops[i].peer, 2, "and their peer");
			tap_is_int(observed.ops[i].wait_ns, -1,
			           "and no word on how long they waited");
			break;
		}
	tap_is_int(observed.sources[0].rank, 1, "the rank is the file's own");
	tap_ok(observed_n_skipped(&observed) > 36, "all else is counted");
	observed_fini(&observed);
}

static void check_host_ranges(void)
{
	struct kineto_sample host_only = sample;
	struct observed observed;
	struct err err = {0};
	const struct observed_op *op;

	host_only.has_device_ranges = false;
	tap_is_int(read_sample(&host_only, &observed, &err), 0,
	           "a trace with ranges of the host only is read");
	tap_is_int(n_right(&observed, &host_only), 36,
	           "an op lasts from its first kernel to its last");
	op = find(&observed, OBSERVED_BACKWARD_INPUT, 6, 2);
	tap_is_int(op->busy_ns, op->end_ns - op->start_ns - 6 * 2000,
	           "and was busy while a kernel ran");
	observed_fini(&observed);
}

static void check_whole_backward(void)
{
	struct kineto_sample whole = sample;
	struct observed observed;
	struct err err = {0};

	whole.has_whole_backward = true;
	whole.base_ns = 0;
	read_sample(&whole, &observed, &err);
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD], 12,
	           "PP:1B0 is a whole backward, and I would be the half for the input");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD_INPUT], 0, "of which there is none");
	tap_is_int(find(&observed, OBSERVED_FORWARD, 5, 0)->start_ns, 4000000,
	           "without a base times are as they stand");
	observed_fini(&observed);
}

/* The example of FORMATS.md 3.7, its keys in another order, and what else is known to occur. */
static const char example[] =
	"{\"traceEvents\":[\n"
	"{\"dur\":52000.000,\"ts\":10.000,\"tid\":900,\"pid\":900,\"name\":\"ProfilerStep#4\","
	"\"cat\":\"user_annotation\",\"ph\":\"X\"},\n"
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"PP:1F0\",\"pid\":900,\"tid\":900,"
	"\"ts\":20,\"dur\":5},\n"
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"PP:1F0\",\"pid\":1,\"tid\":7,"
	"\"ts\":120.499,\"dur\":7003.002},\n"
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"PP:0RECV_F0\",\"pid\":1,"
	"\"tid\":23,\"ts\":89.999,\"dur\":40.002},\n"
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"PP:(2F4;5B1)OVERLAP_F_B\","
	"\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":1},\n"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
	"\"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)\",\"pid\":1,\"tid\":23,"
	"\"ts\":90.000,\"dur\":40.000,\"args\":{\"correlation\":55,\"Collective name\":\"recv\","
	"\"In msg nelems\":524288,\"Out msg nelems\":524288,\"dtype\":\"Half\",\"Group size\":4,"
	"\"Src Rank\":0,\"Dst Rank\":1}},\n"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_AllReduce_RING_LL_Sum_float\","
	"\"pid\":1,\"tid\":24,\"ts\":9000,\"dur\":40.000},\n"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllGather\",\"pid\":1,"
	"\"tid\":24,\"ts\":9000,\"dur\":40.000},\n"
	"{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"x\",\"pid\":\"\",\"tid\":\"\",\"ts\":1,"
	"\"dur\":1},\n"
	"{\"ph\":\"i\",\"s\":\"g\",\"name\":\"end\",\"pid\":\"Traces\",\"tid\":\"T\",\"ts\":1}],\n"
	"\"baseTimeNanoseconds\":1700000000000000000,"
	"\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":1,\"world_size\":4},"
	"\"schemaVersion\":1}\n";

static void check_example(void)
{
	struct observed observed;
	struct err err = {0};
	const struct observed_op *op;

	tap_is_int(read_text(example, strlen(example), &observed, &err), 0,
	           "keys may come in any order, the base and the rank last");
	op = find(&observed, OBSERVED_FORWARD, 4, 0);
	tap_is_int(op->start_ns, BASE_NS + 120500, "the range is shorter by a nanosecond");
	tap_is_int(op->end_ns, BASE_NS + 7123500, "at either end");
	tap_is_int(op->rank, 1, "the rank is known though it came last");
	op = find(&observed, OBSERVED_RECEIVE_FORWARD, 4, 0);
	tap_is_int(op->bytes, 1048576, "a receive's bytes are those of the kernel inside");
	tap_is_int(op->stage, 0, "its stage is the range's");
	tap_is_int((int64_t)observed.n_read[OBSERVED_RECEIVE_FORWARD], 1, "it is there once");
	tap_is_int((int64_t)observed.n_read[OBSERVED_ALL_REDUCE], 1,
	           "the older names of NCCL's kernels are known");
	tap_is_int((int64_t)observed_n_rejected(&observed), 1, "a pair of actions is rejected");
	tap_is_int((int64_t)observed_n_skipped(&observed), 3,
	           "another collective and rows without a process are skipped");
	observed_fini(&observed);
}

static void check_without_steps(void)
{
	static const char text[] = "[{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":"
				   "\"PP:0F1\",\"pid\":1,\"tid\":7,\"ts\":50,\"dur\":1},"
				   "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":"
				   "\"PP:0F1\",\"pid\":1,\"tid\":7,\"ts\":20,\"dur\":0.001}]";
	struct observed observed;
	struct err err = {0};

	tap_is_int(read_text(text, strlen(text), &observed, &err), 0,
	           "an array of events is a trace, too");
	tap_is_int(find(&observed, OBSERVED_FORWARD, 0, 1)->start_ns, 20000,
	           "without steps the first time of an action is iteration 0");
	tap_is_int(find(&observed, OBSERVED_FORWARD, 1, 1)->start_ns, 50001, "the next one 1");
	tap_is_int(observed.ops[0].rank, -1, "and nobody knows the rank");
	observed_fini(&observed);
}

#define EVENT(category, name, ts, dur)                            \
	"{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":7,\"ts\":" ts ",\"dur\":" dur "}"

static void check_late_device(void)
{
	static const char text[] =
		"[" EVENT("user_annotation", "ProfilerStep#7", "0", "100") "," EVENT(
			"user_annotation", "ProfilerStep#8", "100",
			"100") "," EVENT("user_annotation", "PP:0F0", "50",
	                                 "1") "," EVENT("user_annotation", "PP:0F0", "150",
	                                                "1") "," EVENT("gpu_user_annotation",
	                                                               "PP:0F0", "120",
	                                                               "20") "," EVENT("gpu_user_"
	                                                                               "annotation",
	                                                                               "PP:0F0",
	                                                                               "170",
	                                                                               "30") "]";
	struct observed observed;
	struct err err = {0};

	tap_is_int(read_text(text, strlen(text), &observed, &err), 0, "two steps are read");
	tap_ok(find(&observed, OBSERVED_FORWARD, 7, 0) != NULL &&
	               find(&observed, OBSERVED_FORWARD, 7, 0)->start_ns == 120001,
	       "an op belongs to the step that launched it, though the next one had begun");
	tap_ok(find(&observed, OBSERVED_FORWARD, 8, 0) != NULL, "and the next one has its own");
	observed_fini(&observed);
}

#define ON_STREAM(name, stream, ts, dur)                                 \
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"" name \
	"\",\"pid\":1,\"tid\":" stream ",\"ts\":" ts ",\"dur\":" dur "}"

/* Kernels of an action on two streams: the profiler draws a range on each. */
static void check_streams(void)
{
	static const char text[] =
		"[" EVENT("user_annotation", "PP:0F0", "1", "1") "," EVENT("user_annotation", "PP:0F0", "3", "1") "," ON_STREAM(
			"PP:0F0", "7", "9.999",
			"30.002") "," ON_STREAM("PP:0F0", "20", "29.999",
	                                        "40.002") "," ON_STREAM("PP:0F0", "7", "99.999",
	                                                                "30.002") "," ON_STREAM("PP"
	                                                                                        ":0"
	                                                                                        "F"
	                                                                                        "0",
	                                                                                        "2"
	                                                                                        "0",
	                                                                                        "10"
	                                                                                        "9."
	                                                                                        "99"
	                                                                                        "9",
	                                                                                        "5."
	                                                                                        "00"
	                                                                                        "2") "]";
	struct observed observed;
	struct err err = {0};
	const struct observed_op *op;

	tap_is_int(read_text(text, strlen(text), &observed, &err), 0, "two streams are read");
	tap_is_int((int64_t)observed.n_ops, 2, "an action is one op, whatever streams it used");
	op = find(&observed, OBSERVED_FORWARD, 0, 0);
	tap_ok(op->start_ns == 10000 && op->end_ns == 70000, "from its first kernel to its last");
	op = find(&observed, OBSERVED_FORWARD, 1, 0);
	tap_ok(op->start_ns == 100000 && op->end_ns == 130000, "each time that it ran");
	observed_fini(&observed);
}

/* Another runtime's ranges: names by a pattern, stages by the rank, B of the zero-bubble runtime.
 */
static void check_pattern(void)
{
	static const char text[] = "{\"distributedInfo\":{\"rank\":3},\"traceEvents\":[" EVENT(
		"gpu_user_annotation", "F.0", "10",
		"5") "," EVENT("gpu_user_annotation", "B.0", "20",
	                       "5") "," EVENT("gpu_user_annotation", "W.0", "30",
	                                      "5") "," EVENT("gpu_user_annotation", "R.0", "40",
	                                                     "5") "," EVENT("gpu_user_annotation",
	                                                                    "forward", "50",
	                                                                    "5") "]}";
	struct name_pattern *names = NULL;
	struct input *input = NULL;
	struct observed observed;
	struct err err = {0};

	name_pattern_new("^(?<kind>[A-Z]+)[.](?<mb>[0-9]+)$", VOCABULARY_ZERO_BUBBLE, &names, &err);
	observed_init(&observed, 0);
	input_open_bytes("t.json", text, strlen(text), &input, &err);
	tap_is_int(kineto_read(input, names, &observed, &err), 0,
	           "a trace of another runtime is read by a pattern");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD_INPUT], 1,
	           "whose B is the half for the input");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD], 0, "and not a whole backward");
	tap_is_int(observed.ops[0].stage, 3, "a name without a stage is of the rank's");
	tap_is_int((int64_t)observed_n_rejected(&observed), 1, "its R is rejected");
	tap_is_int((int64_t)observed_n_skipped(&observed), 1, "and what does not match skipped");
	input_close(input);
	observed_fini(&observed);
	name_pattern_free(names);
}

#define RANGE(rest)                                                                                \
	"{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"pid\":1,\"tid\":7" rest \
	"}]}"

static void check_hostile(void)
{
	static const char *const cases[][2] = {
		{RANGE(",\"name\":\"PP:0F0\",\"ts\":1,\"dur\":-5"), "negative duration"},
		{RANGE(",\"name\":\"PP:0F0\",\"ts\":1,\"dur\":NaN"), "NaN and Infinity"},
		{RANGE(",\"name\":\"PP:0F0\",\"ts\":1e300,\"dur\":1"), "less than a hundred years"},
		{RANGE(",\"name\":\"PP:0F0\",\"ts\":\"1\",\"dur\":1"), "a number of microseconds"},
		{RANGE(",\"name\":\"PP:0F0\",\"dur\":1"), "event 1: a gpu_user_annotation without "
	                                                  "its ts"},
		{RANGE(",\"name\":\"PP:0F0\",\"ts\":1"), "without its dur"},
		{RANGE(",\"ts\":1,\"dur\":1"), "without its name"},
		{RANGE(",\"name\":7,\"ts\":1,\"dur\":1"), "wanted a string"},
		{RANGE(",\"name\":\"PP:0F0\",\"ts\":1,\"ts\":2,\"dur\":1"), "twice"},
		{RANGE(",\"args\":{\"dtype\":\"Half\",\"dtype\":\"Float\"}"), "'dtype' is in its"},
		{"{\"traceEvents\":[],\"traceEvents\":[]}", "'traceEvents' is in its object twice"},
		{"{\"traceEvents\":{}}", "wanted an array"},
		{"{\"traceEvents\":[1]}", "event 1: wanted an object"},
		{"{\"schemaVersion\":1}", "no 'traceEvents'"},
		{"{\"baseTimeNanoseconds\":-1,\"traceEvents\":[]}", "wanted a number of nano"},
		{"{\"distributedInfo\":{\"rank\":\"1\"},\"traceEvents\":[]}", "'rank'; wanted"},
		{"7", "wanted an object with"},
		{"{\"traceEvents\":[]} x", "text behind the end"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct observed observed;
		struct err err = {0};
		int rc = read_text(cases[i][0], strlen(cases[i][0]), &observed, &err);

		tap_is_int(rc, -EINVAL, "%.90s is refused", cases[i][0]);
		tap_contains(err.text, cases[i][1], "because: %s", cases[i][1]);
		observed_fini(&observed);
	}
}

static void check_limit(void)
{
	struct kineto_sample large = sample;
	struct observed observed;
	struct err err = {0};
	size_t n_bytes = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &n_bytes);
	struct input *input = NULL;

	kineto_sample_write(&large, file);
	fclose(file);
	observed_init(&observed, 20);
	input_open_bytes("t.json", text, n_bytes, &input, &err);
	tap_is_int(kineto_read(input, NULL, &observed, &err), -EFBIG,
	           "more than the limit is refused");
	tap_contains(err.text, "more than 20", "with the limit");
	input_close(input);
	observed_fini(&observed);
	free(text);
}

int main(void)
{
	check_device_ranges();
	check_host_ranges();
	check_whole_backward();
	check_example();
	check_without_steps();
	check_late_device();
	check_streams();
	check_pattern();
	check_hostile();
	check_limit();
	return tap_done();
}
