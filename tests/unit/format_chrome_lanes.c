/* format_chrome_lanes.c - slices of a Chrome trace never overlap, whatever the times of the record,
 * and its text leaves in pieces. */
#include <inttypes.h>

#include "engine/base/rng.h"
#include "tests/unit/chrome_fixture.h"

/* Slices of a file by lane, read line by line. */
struct seen {
	int pid;
	int64_t tid, start_ns, end_ns;
};

static int64_t ns_behind(const char *line, const char *key)
{
	const char *at = strstr(line, key);
	int64_t us = 0, ns = 0;

	return at && sscanf(at + strlen(key), "%" SCNd64 ".%3" SCNd64, &us, &ns) == 2
	               ? us * 1000 + ns
	               : -1;
}

static int64_t number_behind(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* How many slices begin in their lane before the one in front of them has ended. */
static int overlaps(char *text, struct seen *seen, size_t *n_out)
{
	size_t n = 0;
	int n_overlaps = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "\"ph\":\"X\""))
			continue;
		seen[n] = (struct seen){.pid = (int)number_behind(line, "\"pid\":"),
		                        .tid = number_behind(line, "\"tid\":"),
		                        .start_ns = ns_behind(line, "\"ts\":")};
		seen[n].end_ns = seen[n].start_ns + ns_behind(line, "\"dur\":");
		n++;
	}
	qsort(seen, n, sizeof(*seen), compare_seen);
	for (size_t i = 1; i < n; i++)
		n_overlaps += seen[i].pid == seen[i - 1].pid && seen[i].tid == seen[i - 1].tid &&
		              seen[i].start_ns < seen[i - 1].end_ns;
	*n_out = n;
	return n_overlaps;
}

static uint64_t draw_bits(uint64_t *n_draws)
{
	return rng_mix(7, (*n_draws)++);
}

/* Times as no engine makes them, among them negative and huge ones. */
static int64_t wild_ns(uint64_t *n_draws)
{
	switch (draw_bits(n_draws) % 12) {
	case 0:
		return -1;
	case 1:
		return (int64_t)draw_bits(n_draws);
	default:
		return (int64_t)(draw_bits(n_draws) % 200);
	}
}

static void fill_wildly(uint64_t *n_draws, struct record_op ops[OPS_MOST])
{
	for (int i = 0; i < OPS_MOST; i++) {
		bool is_first = draw_bits(n_draws) % 2 == 0;

		ops[i] = op_of(is_first ? 0 : 1, is_first ? OP_F : OP_B, i, wild_ns(n_draws),
		               wild_ns(n_draws));
		ops[i].message_request_ns = wild_ns(n_draws);
		ops[i].message_start_ns = wild_ns(n_draws);
		ops[i].message_end_ns = wild_ns(n_draws);
		ops[i].message_arrive_ns = wild_ns(n_draws);
	}
}

static void test_lanes(void)
{
	const struct chrome_trace_run run = two_stages();
	struct record_op ops[OPS_MOST];
	struct record_iteration iteration = iteration_of(ops, OPS_MOST);
	struct seen *seen = calloc(3 * 50 * OPS_MOST, sizeof(*seen));
	struct sink sink;
	struct chrome_trace *trace = begin(&run, &sink);
	uint64_t n_draws = 0;
	struct err err = {0};
	size_t n = 0;
	int n_drawn = 0;

	for (int i = 0; i < 50; i++) {
		fill_wildly(&n_draws, ops);
		iteration.plane = i % 2 ? PLANE_DELEGATE : PLANE_STREAM;
		iteration.duration_ns = wild_ns(&n_draws);
		n_drawn += chrome_trace_iteration(trace, &iteration, true, &err) == 0;
	}
	tap_is_int(n_drawn, 50, "iterations of any times are drawn %s", err.text);
	(void)end(trace, &sink);
	tap_is_int(count(strbuf_text(&sink.text), "\"ph\":\"s\""),
	           count(strbuf_text(&sink.text), "\"ph\":\"f\""), "arrows have two ends");
	tap_ok(!strstr(strbuf_text(&sink.text), ":-"), "no number is negative");
	tap_is_int(seen ? overlaps(sink.text.text, seen, &n) : -1, 0,
	           "no slices of a lane overlap");
	tap_ok(n > 50 * OPS_MOST, "of %zu slices", n);
	free(seen);
	strbuf_fini(&sink.text);
}

/* Two messages at a time: the third finds a lane that is free again. */
static void test_fewest_lanes(void)
{
	struct record_op ops[OPS_MOST];
	const struct record_iteration iteration = iteration_of(ops, OPS_MOST);
	const struct chrome_trace_run run = two_stages();
	struct sink sink;
	const char *text;

	for (int i = 0; i < OPS_MOST; i++)
		ops[i] = sends(op_of(0, OP_F, i, i * MS, (i + 1) * MS), i * MS, (i + 2) * MS,
		               (i + 2) * MS);
	text = draw(&run, &iteration, &sink);
	tap_contains(text, "{\"name\":\"send 2\"}", "what overlaps takes a second lane");
	tap_ok(!strstr(text, "send 3") && !strstr(text, "recv 3") && !strstr(text, "compute 2"),
	       "and no more than it needs");
	strbuf_fini(&sink.text);
}

static void test_pieces(void)
{
	struct record_op ops[OPS_MOST];
	const struct record_iteration iteration = iteration_of(ops, OPS_MOST);
	const struct chrome_trace_run run = two_stages();
	struct sink sink;
	struct chrome_trace *trace = begin(&run, &sink);
	struct err err = {0};
	int rc = 0;

	for (int i = 0; i < OPS_MOST; i++)
		ops[i] = sends(op_of(0, OP_F, i, i * MS, i * MS + 1), i * MS, i * MS, i * MS);
	sink.keeps = false;
	for (int i = 0; i < 200 && !rc; i++)
		rc = chrome_trace_iteration(trace, &iteration, false, &err);
	tap_is_int(rc, 0, "a long trace is drawn %s", err.text);
	tap_ok(sink.n_pieces > 10, "it leaves in pieces: %zu", sink.n_pieces);
	tap_ok(sink.longest < 1 << 17, "of which the longest has %zu bytes", sink.longest);
	sink.n_until_full = sink.n_pieces;
	for (int i = 0; i < 20 && !rc; i++)
		rc = chrome_trace_iteration(trace, &iteration, false, &err);
	tap_is_int(rc, -ENOSPC, "who takes the text may refuse it");
	tap_is_str(err.text, "no space is left", "and says why");
	chrome_trace_free(trace);
}

int main(void)
{
	test_lanes();
	test_fewest_lanes();
	test_pieces();
	return tap_done();
}
