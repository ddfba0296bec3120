/* kineto.c - reads traces of the PyTorch profiler: the document around the events. */
#include "engine/format/kineto.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/format/json_read.h"
#include "engine/format/kineto_internal.h"

enum seen { SEEN_EVENTS, SEEN_BASE, SEEN_DISTRIBUTED };

int kineto_fail(const struct kineto_trace *trace, int code, struct err *err, const char *format,
                ...)
{
	char text[ERR_TEXT_BYTES / 4];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return json_fail(trace->json, code, err, "event %llu: %s",
	                 (unsigned long long)trace->n_events, text);
}

/* The array that was opened by the last item. */
static int read_events(struct kineto_trace *trace, struct err *err)
{
	struct kineto_event event;
	struct json_item item;
	int rc;

	while ((rc = json_next(trace->json, &item, err)) == 0 && item.kind != JSON_ARRAY_END) {
		trace->n_events++;
		if (item.kind != JSON_OBJECT)
			return kineto_fail(trace, -EINVAL, err, "wanted an object");
		rc = kineto_event_read(trace->json, &event, err);
		if (rc == 0)
			rc = kineto_collect(trace, &event, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int read_rank(struct kineto_trace *trace, const struct json_item *item, struct err *err)
{
	int64_t rank;

	if (item->kind != JSON_NUMBER || !json_whole(item, &rank) || rank < 0 || rank > INT16_MAX)
		return json_fail(trace->json, -EINVAL, err, "'rank'; wanted a number from 0 to %d",
		                 INT16_MAX);
	trace->rank = (int)rank;
	return 0;
}

/* "distributedInfo": only the rank matters. */
static int read_distributed(struct kineto_trace *trace, struct err *err)
{
	struct json_item key, value;
	uint32_t seen = 0;
	int rc;

	while ((rc = json_next(trace->json, &key, err)) == 0 && key.kind == JSON_KEY) {
		bool is_rank = json_is(&key, "rank");

		rc = is_rank ? json_once(trace->json, &seen, 0, "rank", err) : 0;
		if (rc == 0)
			rc = json_next(trace->json, &value, err);
		if (rc == 0)
			rc = is_rank ? read_rank(trace, &value, err)
			             : json_skip(trace->json, &value, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int read_base(struct kineto_trace *trace, const struct json_item *item, struct err *err)
{
	if (item->kind != JSON_NUMBER || !json_whole(item, &trace->base_ns) || trace->base_ns < 0 ||
	    trace->base_ns > OBSERVED_TIME_MAX_NS)
		return json_fail(trace->json, -EINVAL, err,
		                 "'baseTimeNanoseconds'; wanted a number of nanoseconds");
	return 0;
}

static int read_member(struct kineto_trace *trace, int bit, struct err *err)
{
	struct json_item value;
	int rc = json_next(trace->json, &value, err);

	if (rc < 0)
		return rc;
	if (bit == SEEN_EVENTS && value.kind != JSON_ARRAY)
		return json_fail(trace->json, -EINVAL, err, "'traceEvents'; wanted an array");
	if (bit == SEEN_EVENTS)
		return read_events(trace, err);
	if (bit == SEEN_BASE)
		return read_base(trace, &value, err);
	if (bit == SEEN_DISTRIBUTED && value.kind == JSON_OBJECT)
		return read_distributed(trace, err);
	return json_skip(trace->json, &value, err);
}

/* The object that was opened by the last item. */
static int read_document(struct kineto_trace *trace, struct err *err)
{
	static const char *const keys[] = {"traceEvents", "baseTimeNanoseconds", "distributedInfo"};
	struct json_item key;
	uint32_t seen = 0;
	int rc;

	while ((rc = json_next(trace->json, &key, err)) == 0 && key.kind == JSON_KEY) {
		int bit = SEEN_DISTRIBUTED;

		while (bit >= 0 && !json_is(&key, keys[bit]))
			bit--;
		if (bit >= 0)
			rc = json_once(trace->json, &seen, bit, keys[bit], err);
		if (rc == 0)
			rc = read_member(trace, bit, err);
		if (rc < 0)
			return rc;
	}
	if (rc == 0 && !(seen & 1U << SEEN_EVENTS))
		return json_fail(trace->json, -EINVAL, err,
		                 "no 'traceEvents'; is it a trace of the PyTorch profiler?");
	return rc;
}

static int read_trace(struct kineto_trace *trace, struct err *err)
{
	struct json_item item;
	int rc = json_next(trace->json, &item, err);

	if (rc < 0)
		return rc;
	if (item.kind == JSON_ARRAY)
		rc = read_events(trace, err);
	else if (item.kind == JSON_OBJECT)
		rc = read_document(trace, err);
	else
		return json_fail(trace->json, -EINVAL, err, "wanted an object with 'traceEvents'");
	if (rc == 0)
		rc = json_expect(trace->json, JSON_END, "the end of the file", &item, err);
	return rc;
}

int kineto_read(struct input *input, const struct name_pattern *names, struct observed *out,
                struct err *err)
{
	struct kineto_trace trace = {
		.input = input, .out = out, .names = names, .rank = -1, .clock = CLOCK_SIMULATED};
	int rc = observed_begin(out, input_name(input), 0, -1, err);

	if (rc == 0)
		rc = json_read_open(input, &trace.json, err);
	if (rc < 0)
		return rc;
	rc = read_trace(&trace, err);
	if (rc == 0) {
		out->sources[out->n_sources - 1].rank = trace.rank;
		out->n_bytes += input_n_bytes(input);
		rc = kineto_add_ops(&trace, err);
	}
	free(trace.host_ranges.items);
	free(trace.device_ranges.items);
	free(trace.steps.items);
	free(trace.launches.items);
	free(trace.kernels.items);
	free(trace.messages.items);
	json_read_close(trace.json);
	return rc;
}
