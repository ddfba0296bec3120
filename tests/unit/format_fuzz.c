/* format_fuzz.c - no reader crashes on a damaged file, and what a reader still accepts is sound.
 *
 * Valid texts are damaged by a few random edits, the same in every run. The sanitizers watch the
 * readers; the checks here are that a refusal has a sentence and sets nothing, and that an accepted
 * order verifies, is written and reads back. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/strbuf.h"
#include "engine/format/csv_table.h"
#include "engine/format/flight_recorder.h"
#include "engine/format/import_format.h"
#include "engine/format/observed_order.h"
#include "engine/format/observed_profile.h"
#include "engine/format/observed_table.h"
#include "engine/format/order_file.h"
#include "engine/format/slow_link_trace.h"
#include "tests/packed.h"
#include "tests/tap.h"

enum { ROUNDS = 4000, EDITS_MAX = 6, TEXT_BYTES = 4096, LINKS = 3 };

static const char *const orders[] = {
	"0F0,0F1,,0B0,0F2,0B1,,0B2\r\n,1F0,1B0,1F1,1B1,1F2,1B2,\r\n",
	"0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n",
	"0F0,(0F1;0B0)OVERLAP_F_B,0B1\n\"1F0\",1B0,1F1,1B1\n",
	"0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0I0,0W0,0RECV_B1,0I1,0W1\n"
	"1RECV_F0,1F0,1I0,1SEND_B0,1RECV_F1,1F1,1I1,1SEND_B1,1W0,1W1,1REDUCE_GRAD\n",
	"FFFBWBWBW\n.FFBFBWBWW\n",
	"ffbb\n.fbfb\n",
	"F0 F1 Bi0 Bw0 Bi1 Bw1\nF0 Bi0 F1 Bi1 Bw0 Bw1\n",
	"0, F, 0, 10\n0, B, 30, 40.5\n0, W, 40.5, 50\n1,F,10,20\n1,B,20,30\n1,W,30,31\n",
};

static const char *const traces[] = {
	"10;1_2;0.030\n40;1_2;0.00\n60;0_1,2_3;0.045\n90;;inf\n",
	"0.125;0_1,1_2;0.020,0.035\n0.310;0_1,1_2;0.020,0.000\n",
	"1;;0\n5;2_1;1.5\r\n\r\n7;;0.00",
};

static const char *const tables[] = {
	"name,ms,n\r\n\"a, \"\"b\"\"\",1.5,-7\r\n\"two\nlines\",2e3,0\r\n,-.25,12\n",
};

/* What happened, and dumps of hangs: each way in that import_format.h knows. */
static const char *const imports[] = {
	"{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":1},\"baseTimeNanoseconds\":"
	"1700000000,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
	"\"ProfilerStep#4\",\"pid\":9,\"tid\":9,\"ts\":1.5,\"dur\":500},{\"ph\":\"X\",\"cat\":"
	"\"gpu_user_annotation\",\"name\":\"PP:0F0\",\"pid\":1,\"tid\":7,\"ts\":2,\"dur\":"
	"3.002},{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"PP:0B0\",\"pid\":"
	"1,\"tid\":7,\"ts\":6,\"dur\":3.002},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
	"\"ncclKernel_SendRecv\",\"pid\":1,\"tid\":23,\"ts\":5e0,\"dur\":1,\"args\":{\"Collective "
	"name\":\"send\",\"In msg nelems\":8,\"dtype\":\"Half\",\"Src Rank\":0,\"Dst Rank\":"
	"1}}]}",
	"[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"PP:0F0\",\"pid\":9,\"tid\":"
	"9,\"ts\":1,\"dur\":5},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
	"\"cudaLaunchKernel\","
	"\"pid\":9,\"tid\":9,\"ts\":2,\"dur\":1,\"args\":{\"correlation\":3}},{\"ph\":\"X\","
	"\"cat\":\"kernel\",\"name\":\"k \\u00e9\\n\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":"
	"2,\"args\":{\"correlation\":3,\"grid\":[1,[2,{}]],\"x\":null,\"y\":true}}]",
	"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"0F0\",\"cat\":\"compute\",\"pid\":0,\"tid\":0,"
	"\"ts\":1.5,\"dur\":2,\"args\":{\"iteration\":0,\"attempt\":0,\"measured_by\":\"host\"}},"
	"{\"ph\":\"X\",\"name\":\"0B0\",\"cat\":\"compute\",\"pid\":0,\"tid\":0,\"ts\":4,\"dur\":2,"
	"\"args\":{\"iteration\":0,\"attempt\":1,\"peer\":1,\"bytes\":8,\"wait_us\":0.5}}]}",
	"[RANK0] Iteration 1\n[RANK0] F @ 1.5 (ms) to 2 (ms), cudaEventElapsed = 0.4 (ms)\n"
	"[RANK0] B @ 2 (ms) to 4 (ms), cudaEventElapsed = 1.9 (ms)\n"
	"[RANK0] 1W @ 5 (ms) to 7 (ms), cudaEventElapsed = 1e0 (ms)\n"
	"[RANK0] Iteration 2\n[RANK0] F @ 1.5 (ms) to 2 (ms), cudaEventElapsed = 0.4 (ms)\n"
	"[RANK0] B @ 2 (ms) to 4 (ms), cudaEventElapsed = 1.9 (ms)\n",
	"0, F, 0, 10\n0, B, 30, 40.5\n0, W, 40.5, 50\n"
	"1,F,10,20\n1,B,20,30\n1,W,30,31\n",
	"3: [2026-01-31 08:00:05] iteration 1/ 9 | elapsed time per iteration (ms): 752.8 "
	"| number of skipped iterations: 1 |\n(min, max) time across ranks (ms):\n"
	"    optimizer ....: (1.5, 2)\n iteration 3/ 9 | elapsed time per iteration (ms):"
	" 7.5E+02 |\ntimes across ranks (ms):\n  optimizer:\n"
	"     rank  0: 3\ntime (ms) | optimizer: 5\n"
	"| MnRtt/Rnk: 3.5ms/8 |\n",
	"{\"version\":\"2.10\",\"pg_config\":{\"0\":{\"name\":\"0\",\"ranks\":\"[0, 1]\"}},"
	"\"entries\":[{\"record_id\":0,\"process_group\":[\"0\",\"pp\"],\"p2p_seq_id\":"
	"4,\"profiling_name\":\"nccl:send 0->1\",\"state\":\"started\"},{\"process_group\":"
	"[\"0\"],\"profiling_name\":\"nccl:recv 0<-1\",\"state\":\"completed\"}]}",
};

/* What edits put in: what the grammars are made of, and what they are not. */
static const char alphabet[] =
	"0123456789FBWIifbw.,;_()\"\r\n \tSENDRCV-+eEx\xef\xff\x01{}[]:\\|@/<>uNn";

struct damaged {
	char text[TEXT_BYTES];
	size_t n_bytes;
	uint64_t state;
};

static size_t draw(struct damaged *d, size_t n)
{
	d->state = rng_mix(d->state, 1);
	return n > 0 ? (size_t)(d->state % n) : 0;
}

/* Put n_bytes from a place of the text to another place, over what is there or in between. */
static void edit(struct damaged *d)
{
	size_t at = draw(d, d->n_bytes + 1);
	size_t kind = draw(d, 4);
	size_t n = draw(d, 12);
	size_t from = draw(d, d->n_bytes + 1);

	if (kind == 0 && at < d->n_bytes) {
		d->text[at] = alphabet[draw(d, sizeof(alphabet))];
	} else if (kind == 1 && d->n_bytes < TEXT_BYTES) {
		memmove(d->text + at + 1, d->text + at, d->n_bytes - at);
		d->text[at] = alphabet[draw(d, sizeof(alphabet))];
		d->n_bytes++;
	} else if (kind == 2) {
		n = n < d->n_bytes - at ? n : d->n_bytes - at;
		memmove(d->text + at, d->text + at + n, d->n_bytes - at - n);
		d->n_bytes -= n;
	} else if (kind == 3) {
		n = n < d->n_bytes - at ? n : d->n_bytes - at;
		n = n < d->n_bytes - from ? n : d->n_bytes - from;
		memmove(d->text + at, d->text + from, n);
	}
}

static void damage(struct damaged *d, const char *text, uint64_t seed)
{
	size_t n_edits;

	*d = (struct damaged){.n_bytes = strlen(text), .state = seed};
	memcpy(d->text, text, d->n_bytes);
	n_edits = draw(d, EDITS_MAX);
	for (size_t i = 0; i < n_edits; i++)
		edit(d);
}

/* An exact copy on the heap, so that one byte read too far is seen. */
static char *exact_copy(const struct damaged *d)
{
	char *copy = malloc(d->n_bytes > 0 ? d->n_bytes : 1);

	memcpy(copy, d->text, d->n_bytes);
	return copy;
}

static bool is_sound_order(const struct plan *plan, bool has_transfers)
{
	struct strbuf text = {0};
	struct plan back;
	struct err err = {0};
	bool is_sound = plan_verify(plan, NULL, NULL, &err) == 0 &&
	                order_file_write_csv(plan, has_transfers, &text, &err) == 0 &&
	                order_file_parse("o", strbuf_text(&text), text.length, &back, &err) == 0;

	strbuf_fini(&text);
	if (!is_sound)
		return false;
	for (int i = 0; i < plan->n_stages * OP_KINDS * plan->n_microbatches && is_sound; i++)
		is_sound = plan->ops[i].kind == back.ops[i].kind &&
		           plan->ops[i].microbatch == back.ops[i].microbatch;
	plan_fini(&back);
	return is_sound;
}

static bool is_order_handled(const struct damaged *d, int *n_accepted)
{
	char *text = exact_copy(d);
	struct plan plan = {.n_stages = -1};
	struct err err = {0};
	int rc = order_file_parse("o", text, d->n_bytes, &plan, &err);
	bool is_handled = rc < 0 && err.text[0] != '\0' && plan.n_stages == -1;

	free(text);
	if (rc == 0) {
		is_handled = is_sound_order(&plan, d->state & 1);
		plan_fini(&plan);
		++*n_accepted;
	}
	return is_handled;
}

static bool is_trace_handled(const struct damaged *d, int *n_accepted)
{
	char *text = exact_copy(d);
	struct slow_link_trace trace = {.n_links = -1};
	struct strbuf written = {0};
	struct fault *faults = NULL;
	size_t n_faults = 0;
	struct err err = {0};
	int rc = slow_link_trace_parse("t", text, d->n_bytes,
	                               (struct trace_rules){LINKS, TRACE_DETECT}, &trace, &err);
	bool is_handled = rc < 0 && err.text[0] != '\0' && trace.n_links == -1;

	free(text);
	if (rc == 0) {
		is_handled = slow_link_trace_faults(&trace, 0, 0, &faults, &n_faults, &err) == 0;
		if (is_handled && trace.kind == TRACE_BY_ITERATION)
			is_handled = slow_link_trace_write(faults, n_faults, &written, &err) == 0;
		free(faults);
		strbuf_fini(&written);
		slow_link_trace_fini(&trace);
		++*n_accepted;
	}
	return is_handled;
}

static bool is_table_handled(const struct damaged *d, int *n_accepted)
{
	char *text = exact_copy(d);
	struct csv_table *table = NULL;
	struct err err = {0};
	int rc = csv_table_parse("c", text, d->n_bytes, &table, &err);
	bool is_handled = rc < 0 ? err.text[0] != '\0' && table == NULL : true;
	int column = rc == 0 ? csv_table_column(table, "n", &err) : -1;
	int64_t whole;
	double number;

	free(text);
	for (size_t row = 0; rc == 0 && row < csv_table_n_rows(table) && column >= 0; row++) {
		(void)csv_table_int(table, row, column, &whole, &err);
		(void)csv_table_number(table, row, 0, &number, &err);
	}
	*n_accepted += rc == 0;
	csv_table_free(table);
	return is_handled;
}

/* What an import is made into must hold together, whatever was read. */
static bool is_sound_import(const struct observed *observed)
{
	struct observed_table table = observed_table_of(observed);
	struct observed_profile profile;
	struct strbuf text = {0};
	struct csv_table *back = NULL;
	struct err err = {0};
	struct plan plan;
	int iteration;
	bool is_sound = true;

	if (observed_profile_make(observed, &profile, &err) == 0)
		observed_profile_fini(&profile);
	else
		is_sound = err.text[0] != '\0';
	if (is_sound && observed_order_make(observed, &plan, &iteration, &err) == 0) {
		is_sound = is_sound_order(&plan, true);
		plan_fini(&plan);
	}
	observed_table_add(&table, 0, table.n_rows, &text);
	is_sound = is_sound &&
	           csv_table_parse("c", strbuf_text(&text), text.length, &back, &err) == 0 &&
	           csv_table_n_rows(back) == table.n_rows;
	csv_table_free(back);
	strbuf_fini(&text);
	return is_sound;
}

static int read_import(struct input *input, struct observed *observed, struct err *err)
{
	const struct import_rules rules = {.n_microbatches = 3};
	struct flight_recorder recorder = {0};
	enum import_format format;
	struct hang hang;
	int rc = import_format_detect(input, &format, err);

	if (rc == 0 && format != IMPORT_FLIGHT_RECORDER)
		return import_format_read(format, input, &rules, observed, err);
	if (rc == 0)
		rc = flight_recorder_read(input, &recorder, observed, err);
	if (rc == 0)
		rc = flight_recorder_find_hang(&recorder, &hang, err);
	if (rc == 0)
		hang_fini(&hang);
	flight_recorder_fini(&recorder);
	return rc;
}

static bool is_import_handled(const struct damaged *d, int *n_accepted)
{
	char *text = exact_copy(d);
	struct observed observed;
	struct input *input = NULL;
	struct err err = {0};
	bool is_handled;
	int rc;

	observed_init(&observed, 100000);
	rc = input_open_bytes("i", text, d->n_bytes, &input, &err);
	if (rc == 0)
		rc = read_import(input, &observed, &err);
	is_handled = rc == 0 ? is_sound_import(&observed) : err.text[0] != '\0';
	*n_accepted += rc == 0;
	input_close(input);
	observed_fini(&observed);
	free(text);
	return is_handled;
}

/* The same, compressed before it is damaged. */
static void check_packed(void)
{
	struct damaged *d = malloc(sizeof(*d));
	int n_handled = 0, n_accepted = 0;

	for (int round = 0; round < ROUNDS; round++) {
		const char *text = imports[(size_t)round % (sizeof(imports) / sizeof(*imports))];
		size_t n_packed;
		char *zip = packed(text, strlen(text), &n_packed);

		*d = (struct damaged){.n_bytes = n_packed, .state = (uint64_t)round};
		memcpy(d->text, zip, n_packed);
		for (size_t i = draw(d, 3); i > 0; i--)
			edit(d);
		n_handled += is_import_handled(d, &n_accepted);
		free(zip);
	}
	tap_is_int(n_handled, ROUNDS,
	           "damaged compressed files are refused with a sentence or sound");
	tap_ok(n_accepted > ROUNDS / 20 && n_accepted < ROUNDS, "some of each are met");
	tap_note("%d of %d compressed files were accepted", n_accepted, ROUNDS);
	free(d);
}

static void check_all(const char *const *texts, size_t n_texts, const char *what,
                      bool (*is_handled)(const struct damaged *d, int *n_accepted))
{
	struct damaged *d = malloc(sizeof(*d));
	int n_handled = 0;
	int n_accepted = 0;

	for (int round = 0; round < ROUNDS; round++) {
		damage(d, texts[(size_t)round % n_texts], (uint64_t)round);
		if (is_handled(d, &n_accepted))
			n_handled++;
		else
			tap_note("round %d: %.*s", round, (int)d->n_bytes, d->text);
	}
	tap_is_int(n_handled, ROUNDS, "damaged %s are refused with a sentence or sound", what);
	tap_ok(n_accepted > ROUNDS / 20 && n_accepted < ROUNDS, "some %s of each are met", what);
	tap_note("%d of %d %s were accepted", n_accepted, ROUNDS, what);
	free(d);
}

int main(void)
{
	check_all(orders, sizeof(orders) / sizeof(*orders), "orders", is_order_handled);
	check_all(traces, sizeof(traces) / sizeof(*traces), "traces", is_trace_handled);
	check_all(tables, sizeof(tables) / sizeof(*tables), "tables", is_table_handled);
	check_all(imports, sizeof(imports) / sizeof(*imports), "imports", is_import_handled);
	check_packed();
	return tap_done();
}
