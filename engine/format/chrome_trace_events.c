/* chrome_trace_events.c - writes the fields of an event, and hands the text on in pieces. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "engine/format/chrome_trace_internal.h"

enum { PIECE_BYTES = 64 << 10, NUMBER_BYTES = 32 };

/* 73 years: sums of a few such times are far from the end of int64_t. */
static const int64_t time_max_ns = INT64_C(1) << 61;

int64_t trace_time(int64_t ns)
{
	if (ns < 0)
		return 0;
	return ns < time_max_ns ? ns : time_max_ns;
}

void event_add_us(struct chrome_trace *trace, const char *key, int64_t ns)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof(text), "%" PRId64 ".%03d", ns / NS_PER_US, (int)(ns % NS_PER_US));
	json_raw(&trace->json, key, text);
}

void event_open(struct chrome_trace *trace, const struct trace_event *event)
{
	struct json_write *json = &trace->json;

	/* A line an event, for grep and diff. */
	strbuf_add_char(&trace->out, '\n');
	json_open_object(json, NULL);
	json_string(json, "ph", event->phase);
	json_string(json, "name", event->name);
	if (event->category)
		json_string(json, "cat", event->category);
	json_int(json, "pid", event->pid);
	if (event->tid >= 0)
		json_int(json, "tid", event->tid);
	if (event->at_ns >= 0)
		event_add_us(trace, "ts", event->at_ns);
}

void event_close(struct chrome_trace *trace)
{
	json_close(&trace->json);
}

int trace_fail_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory for the trace");
}

int trace_flush(struct chrome_trace *trace, struct err *err)
{
	int rc;

	if (trace->out.is_failed)
		return trace_fail_memory(err);
	rc = trace->target.write(trace->target.context, strbuf_text(&trace->out), trace->out.length,
	                         err);
	strbuf_clear(&trace->out);
	return rc;
}

int trace_flush_if_due(struct chrome_trace *trace, struct err *err)
{
	if (trace->out.length < PIECE_BYTES && !trace->out.is_failed)
		return 0;
	return trace_flush(trace, err);
}
