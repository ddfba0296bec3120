/* dump_ops.c - reads what a simulator's op list says of times. */
#include "engine/format/dump_ops.h"

#include <errno.h>
#include <string.h>

#include "engine/format/log_line_internal.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/topology.h"

#define LINE_WANTED "wanted 'stage, F|B|W, start, end'"
enum { LETTERS = 3, MS_EXPONENT = 6 };

static const char letters[] = "FBW";
static const enum observed_kind kinds[LETTERS] = {OBSERVED_FORWARD, OBSERVED_BACKWARD_INPUT,
                                                  OBSERVED_BACKWARD_WEIGHT};

/* Ops of each letter that a stage has so far. */
struct counts {
	int n_of[TOPOLOGY_STAGES_MAX][LETTERS];
};

static bool take_comma(struct text_span *rest)
{
	return log_take_word(rest, ",");
}

static bool take_letter(struct text_span *rest, int *out)
{
	for (int i = 0; i < LETTERS; i++) {
		char word[] = {letters[i], '\0'};

		if (log_take_word(rest, word)) {
			*out = i;
			return true;
		}
	}
	return false;
}

static int read_line(struct input *input, struct text_span line, struct counts *counts,
                     struct observed *out, struct err *err)
{
	struct observed_op op = observed_op_of(OBSERVED_OTHER);
	struct text_span rest = line;
	char shown[TEXT_SHOWN_BYTES];
	int stage, letter;

	if (!log_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &stage) || !take_comma(&rest) ||
	    !take_letter(&rest, &letter) || !take_comma(&rest) ||
	    !log_take_decimal(&rest, MS_EXPONENT, &op.start_ns) || !take_comma(&rest) ||
	    !log_take_decimal(&rest, MS_EXPONENT, &op.end_ns) || text_trim(rest).length > 0)
		return log_fail(input, err, "found '%s'; " LINE_WANTED, text_show(line, shown));
	if (op.start_ns < 0 || op.end_ns < op.start_ns)
		return log_fail(input, err,
		                "found '%s', which ends before it starts, or starts "
		                "before 0",
		                text_show(line, shown));
	if (counts->n_of[stage][letter] == SCENARIO_MICROBATCHES_MAX)
		return log_fail(input, err, "more than %d %c on stage %d",
		                SCENARIO_MICROBATCHES_MAX, letters[letter], stage);
	op.kind = (uint8_t)kinds[letter];
	op.stage = op.rank = (int16_t)stage;
	op.iteration = 0;
	op.microbatch = counts->n_of[stage][letter]++;
	op.place = input_line(input);
	op.clock = CLOCK_SIMULATED;
	return observed_add(out, op, err);
}

/* Which backwards are whole is known once all lines are. */
static int name_backwards(const struct input *input, const struct counts *counts, size_t first,
                          struct observed *out, struct err *err)
{
	for (int stage = 0; stage < TOPOLOGY_STAGES_MAX; stage++) {
		const int *n_of = counts->n_of[stage];

		if (n_of[2] > 0 && n_of[1] != n_of[2])
			return err_set(err, -EINVAL, "%s: stage %d has %d B, but %d W",
			               input_name(input), stage, n_of[1], n_of[2]);
	}
	for (size_t i = first; i < out->n_ops; i++) {
		struct observed_op *op = &out->ops[i];

		if (op->kind != OBSERVED_BACKWARD_INPUT || counts->n_of[op->stage][2] > 0)
			continue;
		op->kind = OBSERVED_BACKWARD;
		out->n_read[OBSERVED_BACKWARD_INPUT]--;
		out->n_read[OBSERVED_BACKWARD]++;
	}
	return 0;
}

int dump_ops_read(struct input *input, struct observed *out, struct err *err)
{
	struct counts counts = {0};
	size_t first = out->n_ops;
	struct text_span line;
	int rc = observed_begin(out, input_name(input), 0, -1, err);

	if (rc < 0)
		return rc;
	while ((rc = input_next_line(input, &line.text, &line.length, err)) > 0) {
		line = text_trim(line);
		if (line.length == 0)
			continue;
		rc = read_line(input, line, &counts, out, err);
		if (rc < 0)
			return rc;
	}
	if (rc == 0)
		rc = name_backwards(input, &counts, first, out, err);
	if (rc == 0)
		out->n_bytes += input_n_bytes(input);
	return rc;
}
