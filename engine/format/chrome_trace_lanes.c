/* chrome_trace_lanes.c - names processes, and spreads slices over lanes so that none overlap.
 *
 * Viewers want the slices of a lane to nest or to be disjoint; here they are disjoint. A slice goes
 * to the first lane of its kind whose last slice is over. When slices come in the order of their
 * starts, as those of an iteration do, these are as few lanes as there can be. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/chrome_trace_internal.h"
#include "engine/scenario/topology.h"

enum { NAME_BYTES = 96 };

int trace_pid(const struct chrome_trace *trace, int stage, int replica)
{
	return replica * trace->run.n_stages + stage;
}

static void add_name(struct chrome_trace *trace, const char *what, int pid, int64_t tid,
                     const char *name)
{
	event_open(trace, &(struct trace_event){"M", what, NULL, pid, tid, -1});
	json_open_object(&trace->json, "args");
	json_string(&trace->json, "name", name);
	json_close(&trace->json);
	event_close(trace);
}

static void add_sort_index(struct chrome_trace *trace, const char *what, int pid, int64_t tid,
                           int64_t index)
{
	event_open(trace, &(struct trace_event){"M", what, NULL, pid, tid, -1});
	json_open_object(&trace->json, "args");
	json_int(&trace->json, "sort_index", index);
	json_close(&trace->json);
	event_close(trace);
}

static void name_process(struct chrome_trace *trace, int pid)
{
	const struct chrome_trace_run *run = &trace->run;
	struct topology topology = {.n_stages = run->n_stages, .n_hosts = run->n_hosts};
	int stage = pid % run->n_stages, replica = pid / run->n_stages;
	char host[NAME_BYTES] = "", copy[NAME_BYTES] = "", name[NAME_BYTES * 3];

	if (run->n_hosts > 0)
		snprintf(host, sizeof(host), ", host%d", topology_host_of_stage(&topology, stage));
	if (run->n_replicas > 1)
		snprintf(copy, sizeof(copy), ", replica %d", replica);
	snprintf(name, sizeof(name), "stage %d (rank %d%s%s)", stage, pid, host, copy);
	add_name(trace, "process_name", pid, 0, name);
	add_sort_index(trace, "process_sort_index", pid, 0, pid);
}

/* The first lane of each kind has its kind's number; more lanes follow in rounds of all kinds. */
static int64_t lane_tid(enum lane_kind kind, size_t lane)
{
	return (int64_t)kind + LANE_KINDS * (int64_t)lane;
}

static void name_lane(struct chrome_trace *trace, int pid, enum lane_kind kind, size_t lane)
{
	static const char *const names[LANE_KINDS] = {
		[LANE_COMPUTE] = "compute",        [LANE_SEND] = "send",     [LANE_RECV] = "recv",
		[LANE_DELEGATE] = "host/delegate", [LANE_FAULTS] = "faults",
	};
	int64_t tid = lane_tid(kind, lane);
	char name[NAME_BYTES];

	if (lane == 0)
		snprintf(name, sizeof(name), "%s", names[kind]);
	else
		snprintf(name, sizeof(name), "%s %zu", names[kind], lane + 1);
	add_name(trace, "thread_name", pid, tid, name);
	add_sort_index(trace, "thread_sort_index", pid, tid, tid);
}

static int add_lane(struct chrome_trace *trace, int pid, enum lane_kind kind, struct err *err)
{
	struct lanes *lanes = &trace->processes[pid]->lanes[kind];
	int64_t *grown =
		array_grow(lanes->ends_ns, &lanes->capacity, lanes->n_lanes + 1, sizeof(*grown));

	if (!grown)
		return trace_fail_memory(err);
	lanes->ends_ns = grown;
	grown[lanes->n_lanes] = 0;
	name_lane(trace, pid, kind, lanes->n_lanes++);
	return 0;
}

int process_need(struct chrome_trace *trace, int pid, struct err *err)
{
	int rc = 0;

	if (trace->processes[pid])
		return 0;
	trace->processes[pid] = calloc(1, sizeof(struct process));
	if (!trace->processes[pid])
		return trace_fail_memory(err);
	name_process(trace, pid);
	for (int kind = 0; kind < LANE_KINDS && !rc; kind++)
		rc = add_lane(trace, pid, (enum lane_kind)kind, err);
	return rc;
}

int lane_take(struct chrome_trace *trace, struct slice *slice, struct err *err)
{
	int rc = process_need(trace, slice->pid, err);
	struct lanes *lanes;
	size_t lane = 0;

	if (rc)
		return rc;
	lanes = &trace->processes[slice->pid]->lanes[slice->kind];
	while (lane < lanes->n_lanes && lanes->ends_ns[lane] > slice->start_ns)
		lane++;
	if (lane == lanes->n_lanes)
		rc = add_lane(trace, slice->pid, slice->kind, err);
	if (rc)
		return rc;
	lanes->ends_ns[lane] = slice->end_ns;
	slice->tid = lane_tid(slice->kind, lane);
	return 0;
}

void process_free(struct process *process)
{
	if (!process)
		return;
	for (int kind = 0; kind < LANE_KINDS; kind++)
		free(process->lanes[kind].ends_ns);
	free(process);
}
