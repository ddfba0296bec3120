/* chrome_trace_internal.h - what the files of the Chrome trace's writer share. */
#ifndef ENGINE_FORMAT_CHROME_TRACE_INTERNAL_H
#define ENGINE_FORMAT_CHROME_TRACE_INTERNAL_H

#include "engine/base/json_write.h"
#include "engine/base/strbuf.h"
#include "engine/format/chrome_trace.h"

/* In the order of their numbers in the file. */
enum lane_kind { LANE_COMPUTE, LANE_SEND, LANE_RECV, LANE_DELEGATE, LANE_FAULTS, LANE_KINDS };

/* Lanes of one kind: ends_ns[i] is where the last slice of lane i ends. */
struct lanes {
	int64_t *ends_ns;
	size_t n_lanes;
	size_t capacity;
};

struct process {
	struct lanes lanes[LANE_KINDS];
};

struct chrome_trace {
	struct chrome_trace_run run;
	struct chrome_trace_target target;
	struct strbuf out;
	struct json_write json;
	struct process **processes; /* by pid; NULL: nothing was drawn there yet */
	size_t n_processes;
	int64_t n_arrows;
};

/* A piece of a lane. */
struct slice {
	bool is_drawn;
	int pid;
	enum lane_kind kind;
	int64_t tid;
	int64_t start_ns;
	int64_t end_ns;
};

/* An event's fields that all phases have. tid -1, category NULL: it has none. */
struct trace_event {
	const char *phase;
	const char *name;
	const char *category;
	int pid;
	int64_t tid;
	int64_t at_ns; /* -1: it has no time */
};

/* ---- chrome_trace_events.c */

/* Between the two, fields and arguments are added to trace->json. */
void event_open(struct chrome_trace *trace, const struct trace_event *event);
void event_close(struct chrome_trace *trace);

/* Microseconds, to the nanosecond. */
void event_add_us(struct chrome_trace *trace, const char *key, int64_t ns);

/* Hand on what has gathered once it is worth a call, or all of it. */
int trace_flush_if_due(struct chrome_trace *trace, struct err *err);
int trace_flush(struct chrome_trace *trace, struct err *err);

int trace_fail_memory(struct err *err);

/* A time as it can be drawn: not before the run, and far from overflow. */
int64_t trace_time(int64_t ns);

/* ---- chrome_trace_lanes.c */

int trace_pid(const struct chrome_trace *trace, int stage, int replica);

/* Name the process and its first lanes unless that was done. */
int process_need(struct chrome_trace *trace, int pid, struct err *err);

/* Find a lane of slice's kind that is free from its start on, take it until its end, name it if it
 * is new, and set tid. */
int lane_take(struct chrome_trace *trace, struct slice *slice, struct err *err);

void process_free(struct process *process);

/* ---- chrome_trace_counters.c */

/* How many microbatches every stage holds, wherever it changes. */
int counters_add(struct chrome_trace *trace, const struct record_iteration *iteration,
                 struct err *err);

#endif
