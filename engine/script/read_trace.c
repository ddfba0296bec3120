/* read_trace.c - ab.trace: the faults of a slow-link trace file. */
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/format/slow_link_trace.h"
#include "engine/scenario/digest.h"
#include "engine/script/reader.h"

enum { TRACE_BYTES = 64 << 20, PATH_BYTES = 4096, STAGES_MAX = TOPOLOGY_STAGES_MAX };

struct trace_input {
	struct moment at;
	int model;
	int by;
	int stage;
};

static const char *const models[] = {"latency", "rate", "occupancy", NULL};
/* In the order of enum trace_kind, after TRACE_DETECT. */
static const char *const kinds[] = {"iteration", "time", NULL};

static void read_file_name(struct script *script, const struct part *part,
                           const struct field *field, void *target)
{
	(void)target;
	read_text(script, part, field, &script->trace_file);
	if (script->trace_file &&
	    (script->trace_file[0] == '/' || strstr(script->trace_file, ".."))) {
		complain_field(script, part, field->name,
		               "file is \"%.60s\"; write a path below the script's folder",
		               script->trace_file);
		free(script->trace_file);
		script->trace_file = NULL;
	}
}

#define INPUT(member) .offset = offsetof(struct trace_input, member)

static const struct field trace_rows[] = {
	{.name = "file",
         .kind = FIELD_OTHER,
         .read = read_file_name,
         .example = "\"traces/week.trace\"",
         .is_required = true},
	{.name = "at", .kind = FIELD_OTHER, .read = read_moment, INPUT(at)},
	{.name = "by", .kind = FIELD_CHOICE, .choices = kinds, INPUT(by)},
	{.name = "model", .kind = FIELD_CHOICE, .choices = models, INPUT(model)},
	{.name = "stage",
         .kind = FIELD_COUNT,
         .high = STAGES_MAX - 1,
         INPUT(stage),
         .example = "3"},
};

/* No call into Lua: nothing here may be left behind by one. */
static int load_faults(const struct script *script, const struct trace_input *input,
                       struct fault **faults, size_t *n, uint64_t *digest, struct err *err)
{
	const struct topology *topology = &script->scenario.topology;
	struct slow_link_trace trace = {0};
	char path[PATH_BYTES], *text;
	size_t n_bytes;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", script->folder, script->trace_file);
	rc = file_read(path, TRACE_BYTES, &text, &n_bytes, err);
	if (rc)
		return rc;
	*digest = digest_bytes(*digest, text, n_bytes);
	rc = slow_link_trace_parse(script->trace_file, text, n_bytes,
	                           (struct trace_rules){topology->n_stages - 1,
	                                                (enum trace_kind)(input->by + 1)},
	                           &trace, err);
	free(text);
	if (rc)
		return rc;
	if (trace.kind == TRACE_BY_ITERATION && input->at.kind != MOMENT_NEVER)
		rc = err_set(err, -EINVAL, "at shifts a trace by time, and %s is by iteration",
		             script->trace_file);
	else if (input->at.kind != MOMENT_NEVER && input->at.kind != MOMENT_TIME)
		rc = err_set(err, -EINVAL,
		             "a trace by time starts at a time, such as ab.time \"3s\"");
	if (rc == 0)
		rc = slow_link_trace_faults(&trace, input->stage,
		                            input->at.kind == MOMENT_TIME ? input->at.value : 0,
		                            faults, n, err);
	slow_link_trace_fini(&trace);
	if (rc == 0 && *n > SCRIPT_FAULTS_MAX - script->scenario.n_faults)
		rc = err_set(err, -E2BIG, "a scenario has at most %d faults; %s adds %zu",
		             SCRIPT_FAULTS_MAX, script->trace_file, *n);
	return rc;
}

/* By event, and in it both directions of a link next to each other, as fault_label() wants them. */
static int compare_faults(const void *left, const void *right)
{
	const struct fault *a = left, *b = right;
	int a_low = a->from_stage < a->to_stage ? a->from_stage : a->to_stage;
	int b_low = b->from_stage < b->to_stage ? b->from_stage : b->to_stage;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a_low != b_low)
		return a_low < b_low ? -1 : 1;
	return (a->from_stage > b->from_stage) - (a->from_stage < b->from_stage);
}

static char *label_of(struct script *script, const struct fault *faults, size_t n)
{
	script->n_targets = 0;
	for (size_t i = 0; i < n; i++) {
		if (!keep_room(script, (void **)&script->targets, &script->target_capacity, i + 1,
		               sizeof(*script->targets)))
			return NULL;
		script->targets[i] = (struct target){faults[i].from_stage, faults[i].to_stage};
	}
	return fault_label(&faults[0], NULL, script->targets, n);
}

/* n faults become one event. */
static bool add_event(struct script *script, struct fault *faults, size_t n, char *label)
{
	bool is_by_iteration = faults[0].start.kind == MOMENT_ITERATION;
	struct event *event = label ? event_add(script) : NULL;

	if (!event) {
		free(label);
		return false;
	}
	*event = (struct event){.label = label, .first_iteration = -1, .last_iteration = -1};
	if (is_by_iteration)
		event->first_iteration = (int)faults[0].start.value;
	if (is_by_iteration && faults[0].end.kind == MOMENT_ITERATION)
		event->last_iteration = (int)faults[0].end.value - 1;
	for (size_t i = 0; i < n; i++) {
		faults[i].event = (int)script->scenario.n_events - 1;
		if (!fault_add(script, &faults[i]))
			return false;
	}
	return true;
}

/* By time a trace is one event, since it may change many times in an iteration; by iteration, what
 * starts and ends together is one. */
static bool add_trace(struct script *script, const struct part *part,
                      const struct trace_input *input, struct fault *faults, size_t n)
{
	size_t n_together;

	for (size_t i = 0; i < n; i++) {
		faults[i].script_line = part->place.line;
		if (faults[i].kind == FAULT_DELAY)
			faults[i].model = (enum delay_model)input->model;
	}
	if (n > 0 && faults[0].start.kind == MOMENT_TIME)
		return add_event(script, faults, n, keep_text(script, script->trace_file));
	qsort(faults, n, sizeof(*faults), compare_faults);
	for (size_t i = 0; i < n; i += n_together) {
		for (n_together = 1; i + n_together < n; n_together++)
			if (faults[i + n_together].event != faults[i].event)
				break;
		if (!add_event(script, &faults[i], n_together,
		               label_of(script, &faults[i], n_together)))
			return false;
	}
	return true;
}

void read_trace(struct script *script, const struct part *outer)
{
	struct trace_input input = {
		.at = {.kind = MOMENT_NEVER, .value = 0},
		.model = DELAY_OCCUPANCY,
		.by = -1,
	};
	struct fault *faults = NULL;
	struct err err = {0};
	struct part part;
	size_t n = 0;
	bool is_kept;

	if (!part_open(script, outer, "faults", "trace", &part))
		return;
	if (read_fields(script, &part, trace_rows, sizeof(trace_rows) / sizeof(trace_rows[0]),
	                &input) &&
	    script->has_topology) {
		if (load_faults(script, &input, &faults, &n, &script->digest, &err)) {
			script_complain(script, &part.place, "%s", err.text);
			is_kept = true;
		} else {
			is_kept = add_trace(script, &part, &input, faults, n);
		}
		free(faults);
		if (!is_kept)
			luaL_error(script->lua, "out of memory");
	}
	lua_pop(script->lua, 1);
}
