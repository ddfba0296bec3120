/* op_log.c - reads the per-operator event logs of the published artefact.
 *
 * What B means is known only once all of a run was read: ops are kept until then. */
#include "engine/format/op_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/log_line_internal.h"
#include "engine/scenario/scenario.h"

#define OP_WANTED "wanted 'F @ 1.5 (ms) to 9.9 (ms), cudaEventElapsed = 8.3 (ms)'"
enum { LETTERS = 3, MS_EXPONENT = 6, ITERATION_MAX = 1 << 30 };
/* Three days: an op's end on the host's clock, and what keeps sums far from overflowing. */
#define TIME_MAX_NS INT64_C(259200000000000)

static const char letters[] = "FBW";
static const enum observed_kind kinds[LETTERS] = {OBSERVED_FORWARD, OBSERVED_BACKWARD_INPUT,
                                                  OBSERVED_BACKWARD_WEIGHT};

/* One "Iteration" and its ops. */
struct block {
	size_t first_op;
	size_t n_ops;
	int n_of[LETTERS];
};

struct op_log {
	struct input *input;
	struct observed *out;
	struct observed_op *ops; /* of the run under way */
	size_t n_ops;
	size_t ops_capacity;
	struct block *blocks;
	size_t n_blocks;
	size_t blocks_capacity;
	int rank; /* −1: nothing was read */
	int iteration;
	int segment;
};

static bool has_weights(const struct op_log *log)
{
	for (size_t i = 0; i < log->n_blocks; i++)
		if (log->blocks[i].n_of[2] > 0)
			return true;
	return false;
}

static int add_block(struct op_log *log, const struct block *block, bool has_split_backward,
                     struct err *err)
{
	int n_weights = has_split_backward ? block->n_of[1] : 0, rc = 0;

	if (block->n_of[1] == 0 && block->n_of[2] == 0) {
		observed_skip(log->out, "iteration that only evaluates", 29);
		return 0;
	}
	if (block->n_of[0] != block->n_of[1] || block->n_of[2] != n_weights) {
		observed_reject(log->out, "iteration with unequal numbers of F, B and W");
		return 0;
	}
	for (size_t i = 0; i < block->n_ops && rc == 0; i++) {
		struct observed_op *op = &log->ops[block->first_op + i];

		if (op->kind == OBSERVED_BACKWARD_INPUT && !has_split_backward)
			op->kind = OBSERVED_BACKWARD;
		rc = observed_add(log->out, *op, err);
	}
	return rc;
}

/* The run has ended: what its letters mean is known. */
static int end_run(struct op_log *log, struct err *err)
{
	bool has_split_backward = has_weights(log);
	int rc = 0;

	if (log->rank < 0)
		return 0;
	rc = observed_begin(log->out, input_name(log->input), log->segment, log->rank, err);
	for (size_t i = 0; i < log->n_blocks && rc == 0; i++)
		rc = add_block(log, &log->blocks[i], has_split_backward, err);
	log->n_blocks = 0;
	log->n_ops = 0;
	log->segment++;
	return rc;
}

static int begin_block(struct op_log *log, int rank, int iteration, struct err *err)
{
	struct block *blocks;
	int rc = 0;

	if (log->rank >= 0 && (rank != log->rank || iteration <= log->iteration))
		rc = end_run(log, err);
	if (rc < 0)
		return rc;
	if (log->n_blocks == log->out->ops_max)
		return err_set(err, -EFBIG, "%s: line %llu: more than %zu iterations in one run",
		               input_name(log->input), (unsigned long long)input_line(log->input),
		               log->out->ops_max);
	blocks = array_grow(log->blocks, &log->blocks_capacity, log->n_blocks + 1, sizeof(*blocks));
	if (blocks == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", input_name(log->input));
	log->blocks = blocks;
	blocks[log->n_blocks++] = (struct block){.first_op = log->n_ops};
	log->rank = rank;
	log->iteration = iteration;
	return 0;
}

static int keep_op(struct op_log *log, struct observed_op op, struct err *err)
{
	struct observed_op *ops;

	if (log->n_ops == log->out->ops_max)
		return err_set(err, -EFBIG, "%s: line %llu: more than %zu ops in one run",
		               input_name(log->input), (unsigned long long)input_line(log->input),
		               log->out->ops_max);
	ops = array_grow(log->ops, &log->ops_capacity, log->n_ops + 1, sizeof(*ops));
	if (ops == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", input_name(log->input));
	log->ops = ops;
	ops[log->n_ops++] = op;
	log->blocks[log->n_blocks - 1].n_ops++;
	return 0;
}

/* n ops that were timed together share the time. */
static int keep_ops(struct op_log *log, int letter, int n, struct observed_op whole,
                    struct err *err)
{
	struct block *block = &log->blocks[log->n_blocks - 1];
	int64_t length_ns = whole.end_ns - whole.start_ns;
	int rc = 0;

	if (block->n_of[letter] + n > SCENARIO_MICROBATCHES_MAX)
		return log_fail(log->input, err, "more than %d %c in one iteration",
		                SCENARIO_MICROBATCHES_MAX, letters[letter]);
	for (int i = 0; i < n && rc == 0; i++) {
		struct observed_op op = whole;

		op.start_ns = whole.start_ns + length_ns * i / n;
		op.end_ns = whole.start_ns + length_ns * (i + 1) / n;
		op.busy_ns = whole.busy_ns / n;
		op.microbatch = block->n_of[letter]++;
		rc = keep_op(log, op, err);
	}
	return rc;
}

static bool take_ms(struct text_span *rest, int64_t *out)
{
	return log_take_decimal(rest, MS_EXPONENT, out) && log_take_word(rest, "(ms)") &&
	       *out >= 0 && *out <= TIME_MAX_NS;
}

/* What stands behind "[RANK3] " and is no "Iteration". */
static int read_op(struct op_log *log, struct text_span line, struct err *err)
{
	struct observed_op op;
	struct text_span rest = line;
	char shown[TEXT_SHOWN_BYTES];
	const char *letter;
	int n = 1;

	(void)log_take_count(&rest, SCENARIO_MICROBATCHES_MAX, &n);
	letter = rest.length > 0 && rest.text[0] ? strchr(letters, rest.text[0]) : NULL;
	if (letter == NULL || n == 0)
		return log_fail(log->input, err, "found '%s'; " OP_WANTED, text_show(line, shown));
	op = observed_op_of(kinds[letter - letters]);
	rest = (struct text_span){rest.text + 1, rest.length - 1};
	if (!log_take_word(&rest, "@") || !take_ms(&rest, &op.start_ns) ||
	    !log_take_word(&rest, "to") || !take_ms(&rest, &op.end_ns) ||
	    !log_take_word(&rest, ", cudaEventElapsed =") || !take_ms(&rest, &op.busy_ns) ||
	    text_trim(rest).length > 0)
		return log_fail(log->input, err, "found '%s'; " OP_WANTED, text_show(line, shown));
	if (op.end_ns < op.start_ns)
		return log_fail(log->input, err, "found '%s', which ends before it starts",
		                text_show(line, shown));
	op.place = input_line(log->input);
	op.iteration = log->iteration;
	op.stage = op.rank = (int16_t)log->rank;
	op.clock = CLOCK_HOST_REALTIME;
	return keep_ops(log, (int)(letter - letters), n, op, err);
}

static int read_line(struct op_log *log, struct text_span line, struct err *err)
{
	struct text_span rest = line;
	int rank, iteration;

	if (!log_take_word(&rest, "[RANK")) {
		if (text_trim(line).length > 0)
			observed_skip(log->out, "other line", 10);
		return 0;
	}
	if (!log_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &rank) || !log_take_word(&rest, "]"))
		return log_fail(log->input, err, "wanted '[RANK3]' with a rank from 0 to %d",
		                TOPOLOGY_STAGES_MAX - 1);
	if (log_take_word(&rest, "Iteration")) {
		if (!log_take_count(&rest, ITERATION_MAX, &iteration))
			return log_fail(log->input, err, "an iteration without a number");
		return begin_block(log, rank, iteration, err);
	}
	if (log->rank < 0 || rank != log->rank) {
		observed_reject(log->out, "op before the first iteration");
		return 0;
	}
	return read_op(log, text_trim(rest), err);
}

int op_log_read(struct input *input, struct observed *out, struct err *err)
{
	struct op_log log = {.input = input, .out = out, .rank = -1};
	struct text_span line;
	int rc;

	while ((rc = input_next_line(input, &line.text, &line.length, err)) > 0) {
		rc = read_line(&log, line, err);
		if (rc < 0)
			break;
	}
	if (rc == 0 && log.rank < 0)
		rc = err_set(err, -EINVAL, "%s: no line such as '[RANK0] Iteration 1'",
		             input_name(input));
	if (rc == 0)
		rc = end_run(&log, err);
	if (rc == 0)
		out->n_bytes += input_n_bytes(input);
	free(log.blocks);
	free(log.ops);
	return rc;
}
