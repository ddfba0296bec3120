/* chrome_fixture.h - records to draw, and a place for the Chrome traces that are made of them. */
#ifndef TESTS_UNIT_CHROME_FIXTURE_H
#define TESTS_UNIT_CHROME_FIXTURE_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/format/chrome_trace.h"
#include "tests/tap.h"

enum { MS = 1000000, OPS_MOST = 64 };

/* What a trace was written into. */
struct sink {
	struct strbuf text;
	size_t n_pieces;
	size_t longest;
	size_t n_until_full; /* pieces; 0: never */
	bool keeps;
};

static inline int take(void *context, const char *bytes, size_t n_bytes, struct err *err)
{
	struct sink *sink = context;

	if (sink->n_until_full > 0 && sink->n_pieces == sink->n_until_full)
		return err_set(err, -ENOSPC, "no space is left");
	sink->n_pieces++;
	sink->longest = n_bytes > sink->longest ? n_bytes : sink->longest;
	if (sink->keeps)
		strbuf_add_bytes(&sink->text, bytes, n_bytes);
	return 0;
}

static inline struct chrome_trace_run two_stages(void)
{
	return (struct chrome_trace_run){.n_stages = 2, .n_replicas = 1, .timer = TIMER_HOST};
}

static inline struct chrome_trace *begin(const struct chrome_trace_run *run, struct sink *sink)
{
	struct chrome_trace *trace = NULL;
	struct err err = {0};

	*sink = (struct sink){.keeps = true};
	if (chrome_trace_new(run, (struct chrome_trace_target){take, sink}, &trace, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return trace;
}

static inline const char *end(struct chrome_trace *trace, struct sink *sink)
{
	struct err err = {0};

	tap_ok(!chrome_trace_end(trace, &err), "the trace ends %s", err.text);
	chrome_trace_free(trace);
	return strbuf_text(&sink->text);
}

/* An op without a message. */
static inline struct record_op op_of(int stage, enum op_kind kind, int microbatch, int64_t start_ns,
                                     int64_t end_ns)
{
	return (struct record_op){.stage = stage,
	                          .kind = kind,
	                          .microbatch = microbatch,
	                          .start_ns = start_ns,
	                          .end_ns = end_ns,
	                          .message_request_ns = -1,
	                          .message_start_ns = -1,
	                          .message_end_ns = -1,
	                          .message_arrive_ns = -1,
	                          .message_rail = -1,
	                          .message_queue = -1};
}

static inline struct record_op sends(struct record_op op, int64_t start_ns, int64_t end_ns,
                                     int64_t arrive_ns)
{
	op.message_request_ns = op.end_ns;
	op.message_start_ns = start_ns;
	op.message_end_ns = end_ns;
	op.message_arrive_ns = arrive_ns;
	return op;
}

static inline struct record_iteration iteration_of(const struct record_op *ops, size_t n_ops)
{
	return (struct record_iteration){.iteration = 3,
	                                 .is_complete = true,
	                                 .plane = PLANE_STREAM,
	                                 .duration_ns = 100 * MS,
	                                 .loss = NAN,
	                                 .ops = ops,
	                                 .n_ops = n_ops};
}

/* One iteration as a whole file; the caller frees *out. */
static inline const char *draw(const struct chrome_trace_run *run,
                               const struct record_iteration *iteration, struct sink *sink)
{
	struct chrome_trace *trace = begin(run, sink);
	struct err err = {0};

	tap_ok(!chrome_trace_iteration(trace, iteration, true, &err), "an iteration is drawn %s",
	       err.text);
	return end(trace, sink);
}

/* How often what is in text. */
static inline int count(const char *text, const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

#endif
