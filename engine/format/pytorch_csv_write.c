/* pytorch_csv_write.c - writes a plan as PyTorch pipelining's schedule CSV, both dialects.
 *
 * With transfers the rows grow together: stages are visited in order, again and again, each placing
 * at most one computation whose input has been placed; a send and its receive are placed right
 * after the computation. So the visiting order fixes where receives stand (FORMATS.md 4.4). FSDP
 * actions are not written. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/order_file.h"

/* Arrays by stage; has_arrived by kind (F, B), stage and microbatch. */
struct csv_writer {
	const struct plan *plan;
	size_t *next;
	struct strbuf *rows;
	bool *has_arrived;
};

static size_t n_stage_ops(const struct plan *plan)
{
	return OP_KINDS * (size_t)plan->n_microbatches;
}

static void add_cell(struct strbuf *row, int stage, const char *type, int microbatch)
{
	strbuf_addf(row, "%s%d%s%d", row->length > 0 ? "," : "", stage, type, microbatch);
}

/* Add the computation that is next on the stage; a merged W is part of its B. */
static void add_computation(struct csv_writer *writer, int stage)
{
	const struct plan *plan = writer->plan;
	const struct plan_op *op = &plan_stage(plan, stage)[writer->next[stage]];
	const char *type = "F";

	if (op->kind == OP_B)
		type = plan->merges_backward ? "B" : "I";
	else if (op->kind == OP_W)
		type = "W";
	add_cell(&writer->rows[stage], stage, type, op->microbatch);
	writer->next[stage] += op->kind == OP_B && plan->merges_backward ? 2 : 1;
}

static bool *arrival(const struct csv_writer *writer, enum op_kind kind, int stage, int microbatch)
{
	size_t row = (size_t)stage + (kind == OP_B ? (size_t)writer->plan->n_stages : 0);

	return &writer->has_arrived[row * (size_t)writer->plan->n_microbatches +
	                            (size_t)microbatch];
}

static bool is_ready(const struct csv_writer *writer, const struct plan_op *op, int stage)
{
	if (op->kind == OP_W || stage == (op->kind == OP_F ? 0 : writer->plan->n_stages - 1))
		return true;
	return *arrival(writer, op->kind, stage, op->microbatch);
}

static void add_transfer(struct csv_writer *writer, const struct plan_op *op, int stage)
{
	bool is_forward = op->kind == OP_F;
	int peer = is_forward ? stage + 1 : stage - 1;

	if (op->kind == OP_W || peer < 0 || peer == writer->plan->n_stages)
		return;
	add_cell(&writer->rows[stage], stage, is_forward ? "SEND_F" : "SEND_B", op->microbatch);
	add_cell(&writer->rows[peer], peer, is_forward ? "RECV_F" : "RECV_B", op->microbatch);
	*arrival(writer, op->kind, peer, op->microbatch) = true;
}

/* Visit all stages once; whether any placed something. */
static bool visit_stages(struct csv_writer *writer)
{
	bool has_placed = false;

	for (int stage = 0; stage < writer->plan->n_stages; stage++) {
		const struct plan_op *op = &plan_stage(writer->plan, stage)[writer->next[stage]];

		if (writer->next[stage] == n_stage_ops(writer->plan) ||
		    !is_ready(writer, op, stage))
			continue;
		add_computation(writer, stage);
		add_transfer(writer, op, stage);
		has_placed = true;
	}
	return has_placed;
}

static int check_merged(const struct plan *plan, struct err *err)
{
	for (int stage = 0; stage < plan->n_stages && plan->merges_backward; stage++) {
		const struct plan_op *ops = plan_stage(plan, stage);

		for (size_t i = 0; i < n_stage_ops(plan); i++) {
			if (ops[i].kind != OP_B)
				continue;
			if (i + 1 == n_stage_ops(plan) || ops[i + 1].kind != OP_W ||
			    ops[i + 1].microbatch != ops[i].microbatch)
				return err_set(
					err, -EINVAL,
					"stage %d: B%d isn't directly followed by its W, so it "
					"cannot be written as a whole backward",
					stage, ops[i].microbatch);
		}
	}
	return 0;
}

static void write_rows(struct csv_writer *writer, bool has_transfers, struct strbuf *out)
{
	const struct plan *plan = writer->plan;

	if (has_transfers)
		while (visit_stages(writer))
			;
	for (int stage = 0; stage < plan->n_stages; stage++) {
		while (!has_transfers && writer->next[stage] < n_stage_ops(plan))
			add_computation(writer, stage);
		/* plan_verify() said that the order runs, so the visits came to its end. */
		assert(writer->next[stage] == n_stage_ops(plan));
		strbuf_add(out, strbuf_text(&writer->rows[stage]));
		strbuf_add_char(out, '\n');
		out->is_failed |= writer->rows[stage].is_failed;
		strbuf_fini(&writer->rows[stage]);
	}
}

int order_file_write_csv(const struct plan *plan, bool has_transfers, struct strbuf *out,
                         struct err *err)
{
	struct csv_writer writer = {.plan = plan};
	int rc = check_merged(plan, err);

	if (rc == 0 && has_transfers)
		rc = plan_verify(plan, NULL, NULL, err);
	if (rc < 0)
		return rc;
	writer.next = array_new((size_t)plan->n_stages, sizeof(*writer.next));
	writer.rows = array_new((size_t)plan->n_stages, sizeof(*writer.rows));
	writer.has_arrived = array_new(2 * (size_t)plan->n_stages * (size_t)plan->n_microbatches,
	                               sizeof(*writer.has_arrived));
	if (writer.next != NULL && writer.rows != NULL && writer.has_arrived != NULL)
		write_rows(&writer, has_transfers, out);
	else
		out->is_failed = 1;
	free(writer.has_arrived);
	free(writer.rows);
	free(writer.next);
	return out->is_failed ? err_set(err, -ENOMEM, "out of memory for the order") : 0;
}
