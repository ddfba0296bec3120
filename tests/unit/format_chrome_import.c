/* format_chrome_import.c - a Chrome trace that was written here is read back as what it was made
 * of.
 */
#include "engine/format/kineto.h"
#include "engine/format/observed_order.h"
#include "engine/format/order_file.h"
#include "tests/unit/chrome_fixture.h"

enum { N_OPS = 12 };

/* Two stages, two microbatches; messages leave after F of stage 0 and B of stage 1. */
static void fill(struct record_op ops[N_OPS], int64_t origin_ns)
{
	static const struct {
		int stage;
		enum op_kind kind;
		int microbatch;
		int64_t start_us, end_us;
	} rows[N_OPS] = {
		{0, OP_F, 0, 0, 10000},     {0, OP_F, 1, 10000, 20001}, {1, OP_F, 0, 10500, 20000},
		{1, OP_B, 0, 20000, 31000}, {1, OP_F, 1, 31000, 40000}, {0, OP_B, 0, 32000, 43000},
		{1, OP_B, 1, 40000, 51000}, {1, OP_W, 0, 51000, 56000}, {1, OP_W, 1, 56000, 61000},
		{0, OP_W, 0, 43000, 48000}, {0, OP_B, 1, 52000, 63000}, {0, OP_W, 1, 63000, 68000},
	};

	for (int i = 0; i < N_OPS; i++) {
		int64_t start_ns = origin_ns + rows[i].start_us * 1000 + i;
		int64_t end_ns = origin_ns + rows[i].end_us * 1000 + 7;

		ops[i] = op_of(rows[i].stage, rows[i].kind, rows[i].microbatch, start_ns, end_ns);
		if (rows[i].kind != (rows[i].stage == 0 ? OP_F : OP_B))
			continue;
		ops[i].message_request_ns = end_ns;
		ops[i].message_start_ns = end_ns + 1234;
		ops[i].message_end_ns = end_ns + 200000;
		ops[i].message_arrive_ns = end_ns + 300001;
	}
}

static const struct observed_op *find(const struct observed *observed, enum observed_kind kind,
                                      int iteration, int stage, int microbatch)
{
	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];

		if (op->kind == kind && op->iteration == iteration && op->stage == stage &&
		    op->microbatch == microbatch)
			return op;
	}
	return NULL;
}

static bool is_equal(const struct observed_op *op, int64_t start_ns, int64_t end_ns)
{
	return op != NULL && op->start_ns == start_ns && op->end_ns == end_ns &&
	       op->clock == CLOCK_HOST_MONOTONIC;
}

/* An op and its message, as they were observed. */
static int n_equal(const struct observed *observed, int iteration, const struct record_op *op)
{
	static const enum observed_kind kinds[OP_KINDS] = {
		OBSERVED_FORWARD, OBSERVED_BACKWARD_INPUT, OBSERVED_BACKWARD_WEIGHT};
	bool is_forward = op->kind == OP_F;
	const struct observed_op *send, *receive;
	int n = is_equal(find(observed, kinds[op->kind], iteration, op->stage, op->microbatch),
	                 op->start_ns, op->end_ns);

	if (op->message_start_ns < 0)
		return n + 2;
	send = find(observed, is_forward ? OBSERVED_SEND_FORWARD : OBSERVED_SEND_BACKWARD,
	            iteration, op->stage, op->microbatch);
	receive = find(observed, is_forward ? OBSERVED_RECEIVE_FORWARD : OBSERVED_RECEIVE_BACKWARD,
	               iteration, 1 - op->stage, op->microbatch);
	n += is_equal(send, op->message_start_ns, op->message_end_ns) && send->bytes == 4096 &&
	     send->peer == 1 - op->stage && send->wait_ns == 1234;
	return n + (is_equal(receive, op->message_start_ns, op->message_arrive_ns) &&
	            receive->peer == op->stage);
}

/* Two iterations, the second one begun twice, with this many replicas. */
static void read_back(int n_replicas, struct observed *out)
{
	struct chrome_trace_run run = two_stages();
	struct record_op ops[N_OPS];
	struct record_iteration iteration = {.ops = ops, .duration_ns = 70 * MS};
	struct chrome_trace *trace;
	struct input *input = NULL;
	struct sink sink;
	struct err err = {0};

	run.message_bytes = 4096;
	run.n_replicas = n_replicas;
	trace = begin(&run, &sink);
	for (int i = 0; i < 3; i++) {
		iteration.iteration = i < 2 ? i : 1;
		iteration.attempt = i == 2;
		iteration.is_complete = i != 1;
		iteration.start_ns = i * (int64_t)100 * MS;
		iteration.n_ops = i == 1 ? 3 : N_OPS;
		for (int replica = 0; replica < n_replicas; replica++) {
			fill(ops, iteration.start_ns);
			for (int k = 0; k < N_OPS; k++)
				ops[k].replica = replica;
			if (chrome_trace_iteration(trace, &iteration, true, &err))
				tap_ok(false, "an iteration is drawn: %s", err.text);
		}
	}
	end(trace, &sink);
	observed_init(out, 0);
	input_open_bytes("run.json", strbuf_text(&sink.text), sink.text.length, &input, &err);
	tap_is_int(kineto_read(input, NULL, out, &err), 0, "the trace is read %s", err.text);
	input_close(input);
	strbuf_fini(&sink.text);
}

static void check_equal(void)
{
	struct record_op ops[N_OPS];
	struct observed observed;
	int n = 0;

	read_back(1, &observed);
	fill(ops, 0);
	for (int i = 0; i < N_OPS; i++)
		n += n_equal(&observed, 0, &ops[i]);
	tap_is_int(n, 3 * N_OPS, "every op and message is there, to the nanosecond");
	tap_is_int((int64_t)observed.n_ops, 2 * (N_OPS + 8) + 3 + 4, "and nothing else");
	tap_ok(observed.n_sources == 2 && observed.sources[1].segment == 1,
	       "an iteration that was repeated is another run's");
	tap_is_int((int64_t)observed_n_rejected(&observed), 0, "nothing was rejected");
	observed_fini(&observed);
}

static void check_order(void)
{
	struct observed observed;
	struct strbuf csv = {0};
	struct err err = {0};
	struct plan plan;
	int iteration = -1;

	read_back(2, &observed);
	tap_ok(observed_n_skipped(&observed) > 50, "other replicas are skipped");
	tap_is_int(observed_order_make(&observed, &plan, &iteration, &err), 0, "it has an order %s",
	           err.text);
	order_file_write_csv(&plan, false, &csv, &err);
	tap_is_str(strbuf_text(&csv), "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n",
	           "which is that of the run");
	strbuf_fini(&csv);
	plan_fini(&plan);
	observed_fini(&observed);
}

int main(void)
{
	check_equal();
	check_order();
	return tap_done();
}
