/* format_observed_profile.c - profiles, orders and tables say what the files they were made of say.
 */
#include "engine/format/observed_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/format/csv_table.h"
#include "engine/format/kineto.h"
#include "engine/format/observed_order.h"
#include "engine/format/observed_table.h"
#include "engine/format/op_log.h"
#include "engine/format/order_file.h"
#include "tests/kineto_sample.h"
#include "tests/tap.h"

enum { N_STAGES = 4, N_MICROBATCHES = 12 };

static void source_path(const char *name, char path[4096])
{
	const char *root = getenv("ADAPTRA_SOURCE");

	snprintf(path, 4096, "%s/tests/data/%s", root ? root : ".", name);
}

static void read_logs(const char *folder, struct observed *out)
{
	struct err err = {0};

	observed_init(out, 0);
	for (int rank = 0; rank < N_STAGES; rank++) {
		struct input *input = NULL;
		char name[64], path[4096];

		snprintf(name, sizeof(name), "op_log/%s/GPU%d_rank%d.log", folder, rank, rank);
		source_path(name, path);
		if (input_open(path, &input, &err) || op_log_read(input, out, &err))
			tap_ok(false, "%s is read: %s", name, err.text);
		input_close(input);
	}
}

static void read_traces(struct kineto_sample sample, struct observed *out)
{
	struct err err = {0};

	observed_init(out, 0);
	for (int rank = 0; rank < sample.n_ranks; rank++) {
		size_t n_bytes = 0;
		char *text = NULL;
		FILE *file = open_memstream(&text, &n_bytes);
		struct input *input = NULL;

		sample.rank = rank;
		kineto_sample_write(&sample, file);
		fclose(file);
		if (input_open_bytes("t.json", text, n_bytes, &input, &err) ||
		    kineto_read(input, NULL, out, &err))
			tap_ok(false, "the trace of rank %d is read: %s", rank, err.text);
		input_close(input);
		free(text);
	}
}

/* The re-scheduler's own times of this model, in ms (profiles_median.csv), for what the logs of one
 * iteration give. */
static void check_op_logs(void)
{
	static const double published_ms[N_STAGES][OP_KINDS] = {
		{28, 34, 16}, {36, 45, 23}, {36, 46, 23}, {33, 39, 20}};
	struct observed observed;
	struct observed_profile profile = {0};
	struct err err = {0};

	read_logs("zb", &observed);
	tap_is_int(observed_profile_make(&observed, &profile, &err), 0,
	           "a profile is made of a published run's operator logs");
	tap_ok(profile.n_stages == N_STAGES && profile.n_microbatches == N_MICROBATCHES,
	       "with its stages and microbatches");
	tap_ok(profile.n_iterations == 1 && profile.n_warmup == 0,
	       "of its only iteration, of which none is left out");
	for (int stage = 0; stage < profile.n_stages; stage++) {
		for (int kind = 0; kind < OP_KINDS; kind++) {
			const struct observed_times *times = &profile.stages[stage][kind];
			double ms = (double)times->median_ns / NS_PER_MS;

			/* W runs slower when many are flushed at an iteration's end. */
			tap_is_number(ms, published_ms[stage][kind],
			              published_ms[stage][kind] * (kind == OP_W ? 0.2 : 0.07),
			              "stage %d: %c is near the published one", stage,
			              op_kind_letter((enum op_kind)kind));
			tap_ok(times->n == N_MICROBATCHES && times->low_ns <= times->median_ns &&
			               times->median_ns <= times->high_ns,
			       "and knows its spread");
		}
	}
	tap_ok(!profile.is_halved, "backwards were split in the run");
	observed_profile_fini(&profile);
	observed_fini(&observed);
	read_logs("1f1b", &observed);
	tap_is_int(observed_profile_make(&observed, &profile, &err), 0,
	           "one is made of a run without split backwards");
	tap_ok(profile.is_halved, "which says that B and W are halves");
	tap_is_int((int64_t)profile.stages[1][OP_B].n, N_MICROBATCHES,
	           "of as many whole backwards");
	tap_is_number(
		(double)(profile.stages[1][OP_B].median_ns + profile.stages[1][OP_W].median_ns) /
			NS_PER_MS,
		67.6076, 1.5, "that add up to the published whole");
	observed_profile_fini(&profile);
	observed_fini(&observed);
}

static const struct kineto_sample sample = {.n_ranks = 3,
                                            .first_iteration = 5,
                                            .n_iterations = 4,
                                            .n_microbatches = 6,
                                            .n_kernels = 4,
                                            .base_ns = INT64_C(1700000000000000000)};

static void check_traces(void)
{
	struct observed observed;
	struct observed_profile profile = {0};
	struct err err = {0};

	read_traces(sample, &observed);
	tap_is_int(observed_profile_make(&observed, &profile, &err), 0,
	           "a profile is made of the traces of three ranks");
	tap_ok(profile.n_stages == 3 && profile.n_microbatches == 6, "with all of their stages");
	tap_ok(profile.n_iterations == 2 && profile.n_warmup == 2,
	       "the first two of four iterations are warm-up");
	for (int stage = 0; stage < 3; stage++)
		for (int kind = 0; kind < OP_KINDS; kind++)
			/* The second of three values that occur equally often. */
			tap_is_int(profile.stages[stage][kind].median_ns,
			           kineto_sample_op_ns(stage, "FIW"[kind], 1),
			           "stage %d: %c takes the median", stage,
			           op_kind_letter((enum op_kind)kind));
	tap_is_int((int64_t)profile.stages[0][OP_F].n, 12, "of both iterations' ops");
	tap_is_int(profile.message_bytes, KINETO_MESSAGE_BYTES, "messages have NCCL's size");
	observed_profile_fini(&profile);
	observed_fini(&observed);
}

static struct observed_op op_of(enum observed_kind kind, int stage, int iteration, int64_t end_ns)
{
	struct observed_op op = observed_op_of(kind);

	op.stage = (int16_t)stage;
	op.iteration = iteration;
	op.microbatch = 0;
	op.end_ns = end_ns;
	return op;
}

static void check_refused(void)
{
	struct observed observed;
	struct observed_profile profile = {0};
	struct err err = {0};

	observed_init(&observed, 0);
	observed_begin(&observed, "x", 0, 0, &err);
	tap_is_int(observed_profile_make(&observed, &profile, &err), -EINVAL,
	           "nothing makes no profile");
	tap_contains(err.text, "no forwards or backwards of any stage", "and that is said");
	observed_add(&observed, op_of(OBSERVED_FORWARD, 1, 0, 5), &err);
	observed_add(&observed, op_of(OBSERVED_BACKWARD, 1, 0, 5), &err);
	tap_is_int(observed_profile_make(&observed, &profile, &err), -EINVAL,
	           "a missing stage is no profile");
	tap_contains(err.text, "stage 0 has no forwards after warm-up; is a rank's file missing?",
	             "and the stage is named");
	observed_add(&observed, op_of(OBSERVED_FORWARD, 0, 0, 0), &err);
	observed_add(&observed, op_of(OBSERVED_BACKWARD, 0, 0, 5), &err);
	tap_is_int(observed_profile_make(&observed, &profile, &err), -EINVAL,
	           "nor is a stage that takes no time");
	tap_contains(err.text, "stage 0: the median of its forwards is 0 ns", "named as well");
	observed_add(&observed, op_of(OBSERVED_FORWARD, 1024, 0, 5), &err);
	tap_is_int(observed_profile_make(&observed, &profile, &err), -EINVAL,
	           "nor is a stage that no pipeline has");
	tap_is_str(err.text, "stage 1024; a pipeline has at most 1024", "which is told");
	observed_fini(&observed);
}

/* "FFBW…" of a stage. */
static void letters_of(const struct plan *plan, int stage, char *out)
{
	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++)
		*out++ = op_kind_letter(plan_stage(plan, stage)[i].kind);
	*out = '\0';
}

/* The order of ZB on NCCL for 4 stages and 12 microbatches, which the logged run followed. */
static void check_published_order(void)
{
	struct csv_table *table = NULL;
	struct observed observed;
	struct err err = {0};
	struct plan plan;
	char path[4096];
	int iteration = -1;

	source_path("pipemorph/zb_original_orders.csv", path);
	read_logs("zb", &observed);
	tap_is_int(csv_table_read(path, &table, &err), 0, "the published orders are there");
	tap_is_int(observed_order_make(&observed, &plan, &iteration, &err), 0,
	           "an order is made of operator logs");
	tap_is_int(iteration, 6, "of their iteration");
	for (size_t row = 0; row < csv_table_n_rows(table); row++) {
		char letters[OP_KINDS * N_MICROBATCHES + 1];
		int64_t n_stages = 0, stage = 0;

		csv_table_int(table, row, csv_table_column(table, "stages", &err), &n_stages, &err);
		csv_table_int(table, row, csv_table_column(table, "stage", &err), &stage, &err);
		if (n_stages != N_STAGES)
			continue;
		letters_of(&plan, (int)stage, letters);
		tap_is_str(letters,
		           csv_table_text(table, row, csv_table_column(table, "order", &err)),
		           "stage %d ran the published order", (int)stage);
	}
	plan_fini(&plan);
	csv_table_free(table);
	observed_fini(&observed);
}

static void check_orders(void)
{
	struct kineto_sample whole = sample;
	struct strbuf csv = {0};
	struct observed observed;
	struct err err = {0};
	struct plan plan;
	int iteration = -1;

	whole.n_microbatches = 2;
	read_traces(whole, &observed);
	tap_is_int(observed_order_make(&observed, &plan, &iteration, &err), 0,
	           "an order is made of traces");
	tap_is_int(iteration, 7, "of the first iteration behind the warm-up");
	order_file_write_csv(&plan, false, &csv, &err);
	tap_is_str(strbuf_text(&csv),
	           "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1F1,1I0,1W0,1I1,1W1\n2F0,2F1,2I0,2W0,2I1,2W1\n",
	           "as it was run");
	plan_fini(&plan);
	observed_fini(&observed);
	strbuf_clear(&csv);
	whole.has_whole_backward = true;
	read_traces(whole, &observed);
	observed_order_make(&observed, &plan, &iteration, &err);
	order_file_write_csv(&plan, false, &csv, &err);
	tap_is_str(strbuf_text(&csv), "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n2F0,2F1,2B0,2B1\n",
	           "with whole backwards where they were whole");
	plan_fini(&plan);
	for (size_t i = 0; i < observed.n_ops; i++)
		if (observed.ops[i].kind == OBSERVED_BACKWARD && observed.ops[i].microbatch == 1)
			observed.ops[i].kind = OBSERVED_OTHER;
	tap_is_int(observed_order_make(&observed, &plan, &iteration, &err), -EINVAL,
	           "an order without all its ops is refused");
	tap_contains(err.text, "iteration 8: ", "with the last iteration that was tried");
	observed_fini(&observed);
	strbuf_fini(&csv);
}

static void check_tables(void)
{
	struct kineto_sample small = sample;
	struct observed observed;
	struct observed_table table;
	struct strbuf text = {0};
	struct csv_table *back = NULL;
	struct err err = {0};

	small.n_ranks = 2;
	small.n_microbatches = 1;
	small.n_iterations = 1;
	read_traces(small, &observed);
	table = observed_table_of(&observed);
	for (size_t row = 0; row < table.n_rows; row += 3)
		observed_table_add(&table, row, 3, &text);
	tap_contains(strbuf_text(&text),
	             "run,iteration,stage,rank,kind,mb,chunk,start_ns,end_ns,clock,stream,peer,"
	             "bytes,wait_ns,busy_ns,source\n"
	             "t.json,5,0,0,FWD,0,0,0,1000000,device,,,,,994000,",
	             "ops are rows, times since the first, what is not known empty");
	tap_contains(strbuf_text(&text), ",device,7,1,1048576,,,", "a message has peer and bytes");
	tap_is_int(csv_table_parse("x", strbuf_text(&text), text.length, &back, &err), 0,
	           "and CSV readers read it");
	tap_is_int((int64_t)csv_table_n_rows(back), (int64_t)observed.n_ops, "whole");
	csv_table_free(back);
	observed_fini(&observed);
	strbuf_clear(&text);
	observed_init(&observed, 0);
	observed_begin(&observed, "a,\"b\"", 2, -1, &err);
	observed_add_iteration(
		&observed,
		(struct observed_iteration){
			.mean_ns = 7, .iteration = 20, .n_iterations = 10, .place = 3},
		&err);
	observed_add_timer(&observed,
	                   (struct observed_timer){.name = "optimizer",
	                                           .low_ns = -1,
	                                           .high_ns = 9,
	                                           .iteration = 20,
	                                           .rank = -1,
	                                           .place = 4},
	                   &err);
	table = observed_table_of(&observed);
	observed_table_add(&table, 0, 10, &text);
	tap_is_str(strbuf_text(&text),
	           "run,iteration,n_iterations,time,rank,low_ns,ns,was_skipped,source\n"
	           "\"a,\"\"b\"\"#2\",20,10,iteration,,,7,0,3\n"
	           "\"a,\"\"b\"\"#2\",20,,optimizer,,,9,,4\n",
	           "without ops iterations and timers are");
	observed_fini(&observed);
	strbuf_fini(&text);
}

int main(void)
{
	check_op_logs();
	check_traces();
	check_refused();
	check_published_order();
	check_orders();
	check_tables();
	return tap_done();
}
