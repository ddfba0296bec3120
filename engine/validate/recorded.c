/* recorded.c - recorded orders with every start and end, replayed (DESIGN.md section 4, fact 1).
 *
 * Durations are the rows' own. A message arrives with the delay of its link later, in runs whose
 * order was made for that delay; in all others the files hold fault-free orders. Equal means every
 * start and every end, in whole milliseconds. */
#include "engine/validate/recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/format/csv_table.h"
#include "engine/scenario/fault.h"
#include "engine/schedule/plan.h"
#include "engine/validate/truth.h"

enum recorded_column { RUN_ID, STAGE, KIND, MICROBATCH, START, END };
enum { RECORDED_COLUMNS = END + 1 };

/* Runs with several delays at once, for which one number a link cannot stand. */
static const int excluded[VALIDATE_EXCLUDED] = {35, 181, 185, 189};

struct recorded {
	const struct truth *truth;
	struct csv_table *ops;
	int columns[RECORDED_COLUMNS];
};

static int find_columns(struct recorded *recorded, struct err *err)
{
	static const char *const names[RECORDED_COLUMNS] = {
		"run_id", "stage", "kind", "microbatch", "start_ms", "end_ms",
	};

	for (int i = 0; i < RECORDED_COLUMNS; i++) {
		recorded->columns[i] = csv_table_column(recorded->ops, names[i], err);
		if (recorded->columns[i] < 0)
			return -EINVAL;
	}
	return 0;
}

static int cell(const struct recorded *recorded, size_t row, enum recorded_column column,
                int64_t *out, struct err *err)
{
	return csv_table_int(recorded->ops, row, recorded->columns[column], out, err);
}

/* Rows [first, last) are one run, stage after stage, in order: ops and times of a plan. */
static int read_plan(const struct recorded *recorded, size_t first, size_t last, struct plan *plan,
                     int64_t op_ns[OP_KINDS][TRUTH_STAGES_MAX], struct err *err)
{
	for (size_t row = first; row < last; row++) {
		const char *letter = csv_table_text(recorded->ops, row, recorded->columns[KIND]);
		enum op_kind kind = OP_F;
		int64_t stage, microbatch, start_ms, end_ms;
		int rc = cell(recorded, row, STAGE, &stage, err);

		rc = rc ? rc : cell(recorded, row, MICROBATCH, &microbatch, err);
		rc = rc ? rc : cell(recorded, row, START, &start_ms, err);
		rc = rc ? rc : cell(recorded, row, END, &end_ms, err);
		if (rc)
			return rc;
		if (!op_kind_parse(*letter, &kind) || letter[1] || stage < 0 ||
		    stage >= plan->n_stages || microbatch < 0 || microbatch >= plan->n_microbatches)
			return err_set(
				err, -EINVAL,
				"schedule_ops.csv, line %zu: no such op, stage or microbatch",
				csv_table_line(recorded->ops, row));
		if (start_ms < 0 || end_ms < start_ms || end_ms > FAULT_DELAY_MAX_NS / NS_PER_MS)
			return err_set(err, -EINVAL,
			               "schedule_ops.csv, line %zu: from %lld to %lld ms; wanted "
			               "times of 0 to 24 hours",
			               csv_table_line(recorded->ops, row), (long long)start_ms,
			               (long long)end_ms);
		plan->ops[row - first] =
			(struct plan_op){.kind = kind, .microbatch = (int)microbatch};
		op_ns[kind][stage] = (end_ms - start_ms) * NS_PER_MS;
	}
	return 0;
}

static bool is_equal(const struct recorded *recorded, size_t first, const struct plan *plan,
                     int64_t op_ns[OP_KINDS][TRUTH_STAGES_MAX])
{
	int per_stage = OP_KINDS * plan->n_microbatches;

	for (int i = 0; i < per_stage * plan->n_stages; i++) {
		const struct plan_op *op = &plan->ops[i];
		int64_t end_ns = op->start_ns + op_ns[op->kind][i / per_stage];
		int64_t start_ms, end_ms;
		struct err ignored = {0};

		if (cell(recorded, first + (size_t)i, START, &start_ms, &ignored) ||
		    cell(recorded, first + (size_t)i, END, &end_ms, &ignored) ||
		    start_ms * NS_PER_MS != op->start_ns || end_ms * NS_PER_MS != end_ns)
			return false;
	}
	return true;
}

static int replay_run(const struct recorded *recorded, int64_t run_id, size_t first, size_t last,
                      struct validation *out, struct err *err)
{
	int64_t op_ns[OP_KINDS][TRUTH_STAGES_MAX] = {0}, link_ns[TRUTH_STAGES_MAX], last_stage;
	struct plan_times times = {.op_ns = {op_ns[OP_F], op_ns[OP_B], op_ns[OP_W]},
	                           .link_ns = link_ns};
	struct plan plan;
	int rc = cell(recorded, last - 1, STAGE, &last_stage, err);

	if (rc)
		return rc;
	times.n_stages = (int)last_stage + 1;
	if (last_stage < 0 || last_stage >= TRUTH_STAGES_MAX ||
	    (last - first) % ((size_t)times.n_stages * OP_KINDS) != 0)
		return err_set(err, -EINVAL, "schedule_ops.csv: run %lld is not whole",
		               (long long)run_id);
	rc = plan_init(&plan, times.n_stages,
	               (int)((last - first) / ((size_t)times.n_stages * OP_KINDS)), err);
	if (rc)
		return rc;
	rc = read_plan(recorded, first, last, &plan, op_ns, err);
	rc = rc ? rc : truth_recorded_delays(recorded->truth, run_id, link_ns, err);
	rc = rc ? rc : plan_time(&plan, &times, err);
	if (rc == 0) {
		bool is_exact = is_equal(recorded, first, &plan, op_ns);

		out->n_orders++;
		out->n_exact += is_exact;
		out->n_ops += (int)(last - first);
		if (!is_exact && out->first_wrong_run < 0)
			out->first_wrong_run = (int)run_id;
	}
	plan_fini(&plan);
	return rc;
}

static bool is_excluded(int64_t run_id)
{
	for (int i = 0; i < VALIDATE_EXCLUDED; i++)
		if (excluded[i] == run_id)
			return true;
	return false;
}

static int replay_all(const struct recorded *recorded, struct validation *out, struct err *err)
{
	size_t n = csv_table_n_rows(recorded->ops), first = 0;

	while (first < n) {
		int64_t run_id, next_id = 0;
		size_t last = first;
		int rc = cell(recorded, first, RUN_ID, &run_id, err);

		do {
			last++;
			if (rc == 0 && last < n)
				rc = cell(recorded, last, RUN_ID, &next_id, err);
		} while (rc == 0 && last < n && next_id == run_id);
		if (rc == 0 && !is_excluded(run_id))
			rc = replay_run(recorded, run_id, first, last, out, err);
		if (rc)
			return rc;
		first = last;
	}
	return 0;
}

int recorded_replay(const char *folder, const struct truth *truth, struct validation *out,
                    struct err *err)
{
	struct recorded recorded = {.truth = truth};
	int rc = truth_open_file(folder, "schedule_ops.csv", &recorded.ops, err);

	if (rc == 0)
		rc = find_columns(&recorded, err);
	out->first_wrong_run = -1;
	memcpy(out->excluded, excluded, sizeof(excluded));
	if (rc == 0)
		rc = replay_all(&recorded, out, err);
	csv_table_free(recorded.ops);
	return rc;
}
