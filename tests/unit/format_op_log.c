/* format_op_log.c - the artefact's operator logs give the op times that were published of them,
 * and B means what the run's W say it means. */
#include "engine/format/op_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/stats.h"
#include "engine/base/units.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 12 };

/* The 10th and 90th percentile of the event times of each stage's F, B and W in ms, over the six
 * fault-free iterations of the run that the logged one is one of (op_times.csv, phase clean). Those
 * of W are of the ones that were timed alone. */
static const double one_f_one_b[N_STAGES][3][2] = {
	{{25.1136, 27.9972}, {45.3458, 49.0455}},
	{{32.4045, 36.8169}, {62.3555, 70.8137}},
	{{32.8325, 37.0627}, {63.9621, 70.7686}},
	{{30.3401, 32.4731}, {57.4689, 61.1441}},
};
static const double zero_bubble[N_STAGES][3][2] = {
	{{25.3102, 28.5901}, {32.0331, 36.9865}, {14.0769, 17.8842}},
	{{33.3107, 38.8829}, {41.7488, 47.4693}, {19.7274, 27.1391}},
	{{32.8593, 38.1114}, {44.4207, 47.542}, {21.2572, 26.5943}},
	{{30.4369, 34.1391}, {36.908, 39.297}, {19.1068, 22.1635}},
};

static int read_text(const char *text, struct observed *out, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes("x.log", text, strlen(text), &input, err);

	observed_init(out, 0);
	if (rc == 0)
		rc = op_log_read(input, out, err);
	input_close(input);
	return rc;
}

static int read_folder(const char *name, struct observed *out, struct err *err)
{
	const char *root = getenv("ADAPTRA_SOURCE");
	int rc = 0;

	observed_init(out, 0);
	for (int rank = 0; rank < N_STAGES && rc == 0; rank++) {
		struct input *input = NULL;
		char path[4096];

		snprintf(path, sizeof(path), "%s/tests/data/op_log/%s/GPU%d_rank%d.log",
		         root ? root : ".", name, rank, rank);
		rc = input_open(path, &input, err);
		if (rc == 0)
			rc = op_log_read(input, out, err);
		input_close(input);
	}
	return rc;
}

static bool is_alone(const struct observed *observed, size_t i)
{
	const struct observed_op *op = &observed->ops[i];

	return (i == 0 || op[-1].place != op->place) &&
	       (i + 1 == observed->n_ops || op[1].place != op->place);
}

/* The median event time of those timed alone; *n_out: how many there are in all. */
static double median_ms(const struct observed *observed, int stage, enum observed_kind kind,
                        int *n_out)
{
	double values[64];
	size_t n = 0;

	*n_out = 0;
	for (size_t i = 0; i < observed->n_ops && n < 64; i++) {
		if (observed->ops[i].stage != stage || observed->ops[i].kind != kind)
			continue;
		++*n_out;
		if (is_alone(observed, i))
			values[n++] = (double)observed->ops[i].busy_ns / NS_PER_MS;
	}
	return stats_median(values, n);
}

static void check_times(const char *name, const enum observed_kind *kinds, int n_kinds,
                        const double expected[N_STAGES][3][2])
{
	struct observed observed;
	struct err err = {0};

	tap_is_int(read_folder(name, &observed, &err), 0, "the four logs of %s are read", name);
	tap_is_int((int64_t)observed.n_ops, N_STAGES * N_MICROBATCHES * n_kinds,
	           "with every op, those that were timed together apart");
	for (int stage = 0; stage < N_STAGES; stage++) {
		for (int k = 0; k < n_kinds; k++) {
			const double *low = expected[stage][k];
			int n;
			double ms = median_ms(&observed, stage, kinds[k], &n);

			tap_is_int(n, N_MICROBATCHES, "%s, stage %d has its %s", name, stage,
			           observed_kind_name(kinds[k]));
			tap_ok(ms >= low[0] && ms <= low[1],
			       "whose median of %.2f ms is in the %.2f to %.2f ms of the run", ms,
			       low[0], low[1]);
		}
	}
	tap_is_int(observed.sources[3].rank, 3, "a file's rank is what its lines say");
	observed_fini(&observed);
}

static void check_published(void)
{
	static const enum observed_kind whole[] = {OBSERVED_FORWARD, OBSERVED_BACKWARD};
	static const enum observed_kind split[] = {OBSERVED_FORWARD, OBSERVED_BACKWARD_INPUT,
	                                           OBSERVED_BACKWARD_WEIGHT};

	check_times("1f1b", whole, 2, one_f_one_b);
	check_times("zb", split, 3, zero_bubble);
}

#define OP(what, from, to, took) \
	"[RANK3] " what " @ " from " (ms) to " to " (ms), cudaEventElapsed = " took " (ms)\n"

static void check_format(void)
{
	struct observed observed;
	struct err err = {0};
	const struct observed_op *op;

	tap_is_int(read_text("starting\r\n\r\n[RANK3] Iteration 7\r\n" OP(
				     "F", "12.4", "20.9", "8.31") OP("F", "21", "30", "8")
	                             OP("B", "31", "40", "9") OP("B", "40", "50", "9")
	                                     OP("2W", "402.0", "431.7", "29.2"),
	                     &observed, &err),
	           0, "a log is read");
	op = &observed.ops[0];
	tap_ok(op->start_ns == 12400000 && op->end_ns == 20900000 && op->busy_ns == 8310000,
	       "times are exact");
	tap_ok(op->iteration == 7 && op->stage == 3 && op->rank == 3 && op->microbatch == 0 &&
	               op->place == 4 && op->clock == CLOCK_HOST_REALTIME,
	       "as are iteration, rank, microbatch, line and clock");
	tap_is_int(observed.ops[2].kind, OBSERVED_BACKWARD_INPUT, "beside a W, B is for the input");
	op = &observed.ops[4];
	tap_ok(op->kind == OBSERVED_BACKWARD_WEIGHT && op->microbatch == 0 &&
	               op->busy_ns == 14600000 && op->end_ns == 416850000 &&
	               op[1].start_ns == op->end_ns && op[1].microbatch == 1,
	       "2W is two W of half the time");
	tap_is_int((int64_t)observed_n_skipped(&observed), 1, "other lines are counted");
	observed_fini(&observed);
}

static void check_runs(void)
{
	static const char log[] = OP("F", "1", "2", "1") "[RANK3] Iteration 0\n" OP(
		"F", "1", "2", "1") "[RANK3] Iteration 1\n" OP("F", "1", "2", "1")
		OP("B", "1", "2", "1") "[RANK3] Iteration 2\n" OP("F", "1", "2", "1")
			OP("B", "1", "2", "1") "[RANK3] Iteration 2\n" OP("F", "1", "2", "1")
				OP("B", "1", "2", "1")
					OP("W", "1", "2", "1") "[RANK3] Iteration 5\n" OP("F", "1",
	                                                                                  "2", "1")
						OP("B", "1", "2", "1");
	struct observed observed;
	struct err err = {0};

	tap_is_int(read_text(log, &observed, &err), 0, "a log of two runs is read");
	tap_is_int((int64_t)observed.n_sources, 2, "as two");
	tap_ok(observed.sources[0].segment == 0 && observed.sources[1].segment == 1,
	       "the second begins where the iterations do not go on");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD], 2, "the first has whole backwards");
	tap_is_int((int64_t)observed.n_read[OBSERVED_BACKWARD_INPUT], 1,
	           "the second split ones, though one of its iterations has no W");
	tap_is_int((int64_t)observed_n_skipped(&observed), 1,
	           "an iteration that only evaluates is skipped");
	tap_is_int((int64_t)observed_n_rejected(&observed), 2,
	           "one that breaks off is rejected, and an op before the first iteration");
	observed_fini(&observed);
}

static void check_refused(void)
{
#define START "[RANK3] Iteration 7\n"
	static const char *const cases[][2] = {
		{"", "x.log: no line such as '[RANK0] Iteration 1'"},
		{"nothing here\n", "no line such as"},
		{"[RANK3] Iteration x\n", "x.log: line 1: an iteration without a number"},
		{"[RANKx] Iteration 1\n", "wanted '[RANK3]' with a rank"},
		{"[RANK99999] Iteration 1\n", "wanted '[RANK3]' with a rank"},
		{START "[RANK3] f @ 1 (ms) to 2 (ms), cudaEventElapsed = 1 (ms)\n",
	         "line 2: found"},
		{START OP("0W", "1", "2", "1"), "line 2: found '0W"},
		{START OP("99999999W", "1", "2", "1"), "line 2: found"},
		{START OP("65536W", "1", "2", "1") OP("W", "1", "2", "1"),
	         "line 3: more than 65536 W"},
		{START OP("F", "2", "1", "1"), "which ends before it starts"},
		{START OP("F", "-2", "1", "1"), "line 2: found"},
		{START OP("F", "nan", "1", "1"), "line 2: found"},
		{START OP("F", "1", "1e99", "1"), "line 2: found"},
		{START OP("F", "1", "2", "-1"), "line 2: found"},
		{START "[RANK3] F @ 1 (us) to 2 (ms), cudaEventElapsed = 1 (ms)\n",
	         "line 2: found"},
		{START "[RANK3] F @ 1 (ms) to 2 (ms), cudaEventElapsed = 1 (s)\n", "line 2: found"},
		{START "[RANK3] F @ 1 (ms) to 2 (ms), cudaEventElapsed = 1 (ms) x\n",
	         "line 2: found"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct observed observed;
		struct err err = {0};

		tap_is_int(read_text(cases[i][0], &observed, &err), -EINVAL, "case %zu is refused",
		           i);
		tap_contains(err.text, cases[i][1], "because: %s", cases[i][1]);
		observed_fini(&observed);
	}
}

static void check_limit(void)
{
	static const char log[] = "[RANK3] Iteration 1\n[RANK3] Iteration 2\n[RANK3] Iteration 3\n";
	struct input *input = NULL;
	struct observed observed;
	struct err err = {0};

	observed_init(&observed, 2);
	input_open_bytes("x.log", log, strlen(log), &input, &err);
	tap_is_int(op_log_read(input, &observed, &err), -EFBIG,
	           "empty iterations have a limit, too");
	tap_is_str(err.text, "x.log: line 3: more than 2 iterations in one run", "which is told");
	input_close(input);
	observed_fini(&observed);
}

int main(void)
{
	check_published();
	check_format();
	check_runs();
	check_refused();
	check_limit();
	return tap_done();
}
