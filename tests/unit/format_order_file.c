/* format_order_file.c - orders are read from every format, and written orders read back as they
 * were. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/format/order_file.h"
#include "tests/tap.h"

static bool read_order(const char *text, struct order_notes *notes, struct plan *plan)
{
	struct err err = {0};
	int rc = order_file_parse_noted("o", text, strlen(text), notes, plan, &err);

	return tap_is_str(rc < 0 ? err.text : "", "", "it is read: %.24s", text);
}

static void is_stage(const struct plan *plan, int stage, const char *want)
{
	char *text = plan_order_text(plan, stage);

	tap_is_str(text, want, "stage %d has its order", stage);
	free(text);
}

static void check_whole_backward(void)
{
	struct order_notes notes = {0};
	struct plan plan;

	if (!read_order("0F0,0F1,,0B0,0F2,0B1,,0B2\r\n"
	                ",1F0,1B0,1F1,1B1,1F2,1B2,\r\n",
	                &notes, &plan))
		return;
	tap_is_str(notes.format, "PyTorch pipelining CSV", "the format is told by the content");
	tap_ok(!notes.has_transfers, "the dialect is compute_only");
	tap_is_int((int64_t)notes.n_actions, 12, "empty slots are no actions");
	tap_is_int(plan.n_stages, 2, "rows are stages");
	tap_is_int(plan.n_microbatches, 3, "forwards are microbatches");
	tap_ok(plan.merges_backward, "whole backwards make a plan that merges them");
	is_stage(&plan, 0, "F0 F1 B0 W0 F2 B1 W1 B2 W2");
	is_stage(&plan, 1, "F0 B0 W0 F1 B1 W1 F2 B2 W2");
	tap_is_int(plan.warmups[0], 2, "the warm-up of stage 0 is counted");
	tap_is_int(plan.warmups[1], 1, "the warm-up of stage 1 is counted");
	plan_fini(&plan);
}

static void check_split_backward(void)
{
	struct order_notes notes = {0};
	struct plan plan;

	if (!read_order("0F0, 0F1 ,0I0,\"0W0\",0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1", &notes, &plan))
		return;
	tap_ok(!plan.merges_backward, "I and W make a plan that splits backwards");
	tap_contains(notes.warning, "buffer",
	             "an order without transfers has plan_verify's warning");
	is_stage(&plan, 0, "F0 F1 B0 W0 B1 W1");
	is_stage(&plan, 1, "F0 B0 F1 B1 W0 W1");
	plan_fini(&plan);
	if (!read_order("0F0,0F1,0B0,0I1,0W1\n1F0,1B0,1F1,1B1", NULL, &plan))
		return;
	tap_ok(!plan.merges_backward, "one split backward is enough for a plan that splits them");
	is_stage(&plan, 0, "F0 F1 B0 W0 B1 W1");
	plan_fini(&plan);
}

static void check_other_cells(void)
{
	struct order_notes notes = {0};
	struct plan plan;

	if (read_order("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,1B0,( 1F1 ; 1B1 ) OVERLAP_F_B", NULL,
	               &plan)) {
		is_stage(&plan, 0, "F0 F1 B0 W0 B1 W1");
		is_stage(&plan, 1, "F0 B0 W0 F1 B1 W1");
		plan_fini(&plan);
	}
	if (read_order("0UNSHARD,0F0,0B0,0RESHARD,0REDUCE_GRAD", &notes, &plan)) {
		tap_is_int((int64_t)notes.n_skipped, 3, "FSDP actions are skipped and counted");
		plan_fini(&plan);
	}
	if (read_order("1F0,1B0\n0F0,0B0", NULL, &plan)) {
		is_stage(&plan, 0, "F0 B0 W0");
		plan_fini(&plan);
	}
	if (read_order("\"0F1\",0F0,0B1,0B0\n\n\n", NULL, &plan)) {
		is_stage(&plan, 0, "F1 F0 B1 W1 B0 W0");
		plan_fini(&plan);
	}
}

static void check_transfers(void)
{
	struct order_notes notes = {0};
	struct plan plan;

	if (!read_order("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0I0,0W0,0RECV_B1,0I1,0W1,,\n"
	                "1RECV_F0,1F0,1I0,1SEND_B0,1RECV_F1,1F1,1I1,1SEND_B1,1W0,1W1\n",
	                &notes, &plan))
		return;
	tap_ok(notes.has_transfers, "the dialect is compute_comms");
	is_stage(&plan, 0, "F0 F1 B0 W0 B1 W1");
	is_stage(&plan, 1, "F0 B0 F1 B1 W0 W1");
	tap_contains(notes.warning, "0SEND_F1 in row 1, column 4",
	             "what would deadlock without buffers is a warning");
	plan_fini(&plan);
	if (!read_order("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", &notes, &plan))
		return;
	tap_is_str(notes.warning, "", "an order that needs no buffers has no warning");
	plan_fini(&plan);
}

static void check_grids(void)
{
	struct order_notes notes = {0};
	struct plan plan;

	if (read_order("FFFBWBWBW\n.FFBFBWBWW\n", &notes, &plan)) {
		tap_is_str(notes.format, "letter grid", "a letter grid is told by its letters");
		is_stage(&plan, 0, "F0 F1 F2 B0 W0 B1 W1 B2 W2");
		is_stage(&plan, 1, "F0 F1 B0 F2 B1 W0 B2 W1 W2");
		tap_ok(!plan.merges_backward, "B of a stage with W is the half backward");
		plan_fini(&plan);
	}
	if (read_order("\nffb.b..  \r\n\r\n.fbfb", NULL, &plan)) {
		is_stage(&plan, 0, "F0 F1 B0 W0 B1 W1");
		is_stage(&plan, 1, "F0 B0 W0 F1 B1 W1");
		tap_ok(plan.merges_backward, "B of a grid without W is the whole backward");
		plan_fini(&plan);
	}
	if (read_order("FBW\nFB\n", NULL, &plan)) {
		is_stage(&plan, 1, "F0 B0 W0");
		tap_ok(!plan.merges_backward, "the letter rule is applied stage by stage");
		plan_fini(&plan);
	}
}

static void check_other_texts(void)
{
	struct order_notes notes = {0};
	struct plan plan;

	if (read_order("F0 F1 Bi0 Bw0  Bi1\tBw1\nF0 Bi0 F1 Bi1 Bw0 Bw1\n", &notes, &plan)) {
		tap_is_str(notes.format, "Adaptra schedule text",
		           "schedule text is told by its words");
		is_stage(&plan, 0, "F0 F1 B0 W0 B1 W1");
		is_stage(&plan, 1, "F0 B0 F1 B1 W0 W1");
		plan_fini(&plan);
	}
	if (read_order("0, F, 0, 10\n0, B, 30, 40.5\n0, W, 40.5, "
	               "50\n1,F,10,20\n1,B,20,30\n1,W,30,31\n",
	               &notes, &plan)) {
		tap_is_str(notes.format, "simulator dump", "a dump is told by its second field");
		is_stage(&plan, 0, "F0 B0 W0");
		is_stage(&plan, 1, "F0 B0 W0");
		plan_fini(&plan);
	}
}

static bool is_same_plan(const struct plan *a, const struct plan *b)
{
	size_t n_ops = (size_t)a->n_stages * OP_KINDS * (size_t)a->n_microbatches;

	if (a->n_stages != b->n_stages || a->n_microbatches != b->n_microbatches ||
	    a->merges_backward != b->merges_backward)
		return false;
	for (size_t i = 0; i < n_ops; i++)
		if (a->ops[i].kind != b->ops[i].kind ||
		    a->ops[i].microbatch != b->ops[i].microbatch)
			return false;
	return memcmp(a->warmups, b->warmups, (size_t)a->n_stages * sizeof(*a->warmups)) == 0;
}

/* Warm-up forwards, then B (and W, at once or held back by one backward) and F in turn. */
static void make_plan(int n_stages, int n_microbatches, bool merges_backward, struct plan *plan)
{
	struct err err = {0};

	plan_init(plan, n_stages, n_microbatches, &err);
	plan->merges_backward = merges_backward;
	for (int stage = 0; stage < n_stages; stage++) {
		struct plan_op *op = plan_stage(plan, stage);
		int lead = n_stages - stage < n_microbatches ? n_stages - stage : n_microbatches;
		int held = !merges_backward && stage % 2 == 0;

		plan->warmups[stage] = lead;
		for (int m = 0; m < lead; m++)
			*op++ = (struct plan_op){.kind = OP_F, .microbatch = m};
		for (int m = 0; m < n_microbatches; m++) {
			*op++ = (struct plan_op){.kind = OP_B, .microbatch = m};
			if (m >= held)
				*op++ = (struct plan_op){.kind = OP_W, .microbatch = m - held};
			if (m + lead < n_microbatches)
				*op++ = (struct plan_op){.kind = OP_F, .microbatch = m + lead};
		}
		if (held)
			*op++ = (struct plan_op){.kind = OP_W, .microbatch = n_microbatches - 1};
	}
}

static void check_round_trip(int n_stages, int n_microbatches, bool merges_backward,
                             bool has_transfers)
{
	struct order_notes notes = {0};
	struct strbuf text = {0};
	struct plan plan;
	struct plan back;
	struct err err = {0};
	int rc;

	make_plan(n_stages, n_microbatches, merges_backward, &plan);
	rc = order_file_write_csv(&plan, has_transfers, &text, &err);
	if (rc == 0)
		rc = order_file_parse_noted("o", strbuf_text(&text), text.length, &notes, &back,
		                            &err);
	if (tap_is_str(rc < 0 ? err.text : "", "",
	               "%d stages and %d microbatches are written and read, %s, %s", n_stages,
	               n_microbatches, merges_backward ? "whole" : "split",
	               has_transfers ? "with transfers" : "without")) {
		tap_ok(is_same_plan(&plan, &back), "and the plan is the same");
		tap_ok(notes.has_transfers == (has_transfers && n_stages > 1),
		       "and so is the dialect");
		plan_fini(&back);
	}
	strbuf_fini(&text);
	plan_fini(&plan);
}

static void check_round_trips(void)
{
	static const int shapes[][2] = {{1, 1}, {1, 5}, {2, 1}, {2, 3}, {4, 12}, {8, 3}, {16, 64}};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (int variant = 0; variant < 4; variant++)
			check_round_trip(shapes[i][0], shapes[i][1], variant & 1, variant & 2);
}

static void check_written_text(void)
{
	struct strbuf text = {0};
	struct plan plan;
	struct err err = {0};

	make_plan(2, 2, true, &plan);
	order_file_write_csv(&plan, false, &text, &err);
	tap_is_str(strbuf_text(&text), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
	           "whole backwards are written with B");
	strbuf_clear(&text);
	order_file_write_csv(&plan, true, &text, &err);
	tap_is_str(strbuf_text(&text),
	           "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
	           "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n",
	           "transfers stand where the visits put them");
	strbuf_clear(&text);
	plan.merges_backward = false;
	order_file_write_csv(&plan, false, &text, &err);
	tap_is_str(strbuf_text(&text), "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1W0,1F1,1I1,1W1\n",
	           "split backwards are written with I and W");
	plan_fini(&plan);
	strbuf_clear(&text);

	make_plan(2, 2, false, &plan);
	plan.merges_backward = true;
	tap_is_int(order_file_write_csv(&plan, false, &text, &err), -EINVAL,
	           "a plan that claims whole backwards and has none is refused");
	tap_contains(err.text, "stage 0: B0", "and the first split backward is named");
	tap_is_str(strbuf_text(&text), "", "and nothing is written");
	plan.merges_backward = false;
	plan_stage(&plan, 1)[0] = (struct plan_op){.kind = OP_W, .microbatch = 0};
	tap_ok(order_file_write_csv(&plan, true, &text, &err) < 0,
	       "transfers of an order that cannot run are refused");
	plan_fini(&plan);
	strbuf_fini(&text);
}

int main(void)
{
	check_whole_backward();
	check_split_backward();
	check_other_cells();
	check_transfers();
	check_grids();
	check_other_texts();
	check_round_trips();
	check_written_text();
	return tap_done();
}
