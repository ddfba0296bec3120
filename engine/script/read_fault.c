/* read_fault.c - ab.delay, ab.rate, ab.loss, ab.slow and ab.down. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "engine/schedule/schedule.h"
#include "engine/script/flap.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { PUBLISHED_MAX = 64 };

/* What a statement says before it is spread over its targets; -1 in what it need not say. */
struct fault_input {
	struct fault fault;
	struct moment at;
	struct moment lasts;
	int model;
	int distribution;
	int rail;
	struct flap flap;
};

static const char *const models[] = {"latency", "rate", "occupancy", NULL};
static const char *const distributions[] = {"uniform", "normal", "pareto", "paretonormal", NULL};

struct event *event_add(struct script *script)
{
	struct scenario *scenario = &script->scenario;

	if (!keep_room(script, (void **)&scenario->events, &script->event_capacity,
	               scenario->n_events + 1, sizeof(*scenario->events)))
		return NULL;
	scenario->events[scenario->n_events] = (struct event){0};
	return &scenario->events[scenario->n_events++];
}

bool fault_add(struct script *script, const struct fault *fault)
{
	struct scenario *scenario = &script->scenario;

	if (scenario->n_faults == SCRIPT_FAULTS_MAX)
		luaL_error(script->lua, "a scenario has at most %d faults", SCRIPT_FAULTS_MAX);
	if (!keep_room(script, (void **)&scenario->faults, &script->fault_capacity,
	               scenario->n_faults + 1, sizeof(*scenario->faults)))
		return false;
	scenario->faults[scenario->n_faults++] = *fault;
	return true;
}

static struct event *last_event(struct script *script)
{
	return &script->scenario.events[script->scenario.n_events - 1];
}

static void read_label(struct script *script, const struct part *part, const struct field *field,
                       void *target)
{
	(void)target;
	read_text(script, part, field, &last_event(script)->label);
}

static int compare_published(const void *a, const void *b)
{
	return strcmp(((const struct published *)a)->schedule,
	              ((const struct published *)b)->schedule);
}

/* Key and value are on top of the stack. */
static void add_published(struct script *script, const struct part *part, const struct field *field)
{
	struct event *event = last_event(script);
	struct field duration = *field;
	struct err err = {0};
	int64_t p50_ns;

	duration.kind = FIELD_DURATION;
	duration.high = FAULT_DELAY_MAX_NS;
	if (lua_type(script->lua, -2) != LUA_TSTRING) {
		complain_field(script, part, field->name, "published is a list; write %s",
		               field->example);
		return;
	}
	if (!schedule_find(lua_tostring(script->lua, -2), &err)) {
		complain_field(script, part, field->name, "published: %s", err.text);
		return;
	}
	if (!read_quantity(script, part, &duration, lua_tostring(script->lua, -2), &p50_ns))
		return;
	if (event->n_published == PUBLISHED_MAX)
		luaL_error(script->lua, "published has more than %d schedules", PUBLISHED_MAX);
	event->published[event->n_published] = (struct published){
		.schedule = keep_text(script, lua_tostring(script->lua, -2)),
		.p50_ns = p50_ns,
	};
	if (event->published[event->n_published].schedule)
		event->n_published++;
}

static void read_published(struct script *script, const struct part *part,
                           const struct field *field, void *target)
{
	struct event *event = last_event(script);
	lua_State *lua = script->lua;
	char found[DESCRIBED_BYTES];

	(void)target;
	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		complain_field(script, part, field->name, "published is %s; write %s",
		               describe_value(lua, -1, found), field->example);
		return;
	}
	event->published = calloc(PUBLISHED_MAX, sizeof(*event->published));
	if (!event->published)
		luaL_error(lua, "out of memory");
	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		add_published(script, part, field);
		lua_pop(lua, 1);
	}
	qsort(event->published, event->n_published, sizeof(*event->published), compare_published);
}

#define INPUT(member) .offset = offsetof(struct fault_input, member)

/* Every fault has these. */
#define COMMON_ROWS                                                                        \
	{.name = "at", .kind = FIELD_OTHER, .read = read_moment, INPUT(at)},               \
		{.name = "lasts", .kind = FIELD_OTHER, .read = read_moment, INPUT(lasts)}, \
		{.name = "label",                                                          \
	         .kind = FIELD_OTHER,                                                      \
	         .read = read_label,                                                       \
	         .example = "\"the spike\""},                                              \
	{                                                                                  \
		.name = "published", .kind = FIELD_OTHER, .read = read_published,          \
		.example = "{ [\"1f1b\"] = \"2675.3ms\" }"                                 \
	}

#define LINK_ROW                                                                               \
	{                                                                                      \
		.name = "link", .kind = FIELD_OTHER, .read = read_links, .example = "\"2-3\"", \
		.is_required = true                                                            \
	}

static const struct field delay_rows[] = {
	LINK_ROW,
	{.name = "delay",
         .kind = FIELD_DURATION,
         .high = FAULT_DELAY_MAX_NS,
         INPUT(fault.delay_ns),
         .example = "\"30ms\"",
         .is_required = true},
	{.name = "jitter",
         .kind = FIELD_DURATION,
         .low = 1,
         .high = FAULT_DELAY_MAX_NS,
         INPUT(fault.jitter_ns),
         .example = "\"5ms\""},
	{.name = "distribution",
         .kind = FIELD_CHOICE,
         .choices = distributions,
         INPUT(distribution)},
	{.name = "reordering",
         .kind = FIELD_BOOL,
         INPUT(fault.allows_reordering),
         .example = "true"},
	{.name = "model", .kind = FIELD_CHOICE, .choices = models, INPUT(model)},
	COMMON_ROWS,
};

static const struct field rate_rows[] = {
	LINK_ROW,
	{.name = "rate",
         .kind = FIELD_RATE,
         .low = 1,
         .high = INT64_C(1) << 60,
         INPUT(fault.rate_bits_per_s),
         .example = "\"10Gbit\"",
         .is_required = true},
	COMMON_ROWS,
};

static const struct field loss_rows[] = {
	LINK_ROW,
	{.name = "loss",
         .kind = FIELD_RATIO,
         INPUT(fault.loss_ratio),
         .example = "\"0.1%\"",
         .is_required = true},
	{.name = "correlation",
         .kind = FIELD_RATIO,
         INPUT(fault.loss_correlation_ratio),
         .example = "\"25%\""},
	COMMON_ROWS,
};

static const struct field slow_rows[] = {
	{.name = "stage",
         .kind = FIELD_OTHER,
         .read = read_stages,
         .example = "3",
         .is_required = true},
	{.name = "factor",
         .kind = FIELD_FACTOR,
         .low = 1,
         .high = FAULT_SLOWDOWN_MAX,
         INPUT(fault.slowdown),
         .example = "1.5",
         .is_required = true},
	COMMON_ROWS,
};

static const struct field down_rows[] = {
	{.name = "stage", .kind = FIELD_OTHER, .read = read_stages, .example = "3"},
	{.name = "rnic", .kind = FIELD_OTHER, .read = read_rnic, .example = "\"host1/mlx5_0\""},
	{.name = "rail",
         .kind = FIELD_COUNT,
         .high = TOPOLOGY_RAILS_MAX - 1,
         INPUT(rail),
         .example = "0"},
	{.name = "period", .kind = FIELD_OTHER, .read = read_moment, INPUT(flap.period)},
	{.name = "duty", .kind = FIELD_RATIO, INPUT(flap.duty_ratio), .example = "\"50%\""},
	{.name = "permanent", .kind = FIELD_BOOL, INPUT(fault.is_permanent), .example = "true"},
	COMMON_ROWS,
};

struct fault_word {
	const char *kind;
	enum fault_kind fault_kind;
	const struct field *rows;
	size_t n_rows;
};

static const struct fault_word fault_words[] = {
	{"delay", FAULT_DELAY, delay_rows, COUNT_OF(delay_rows)},
	{"rate", FAULT_RATE, rate_rows, COUNT_OF(rate_rows)},
	{"loss", FAULT_LOSS, loss_rows, COUNT_OF(loss_rows)},
	{"slow", FAULT_SLOW_STAGE, slow_rows, COUNT_OF(slow_rows)},
	{"down", FAULT_DOWN, down_rows, COUNT_OF(down_rows)},
};

static bool has_field(struct script *script, const struct part *part, const char *name)
{
	bool is_there;

	lua_pushstring(script->lua, name);
	is_there = lua_rawget(script->lua, part->table) != LUA_TNIL;
	lua_pop(script->lua, 1);
	return is_there;
}

/* What no single field can be blamed for. */
static void check_delay(struct script *script, const struct part *part,
                        const struct fault_input *input)
{
	bool has_jitter = has_field(script, part, "jitter");
	bool has_distribution = has_field(script, part, "distribution");

	if (has_jitter && !has_distribution)
		complain_field(script, part, "jitter",
		               "jitter needs its distribution: \"uniform\", \"normal\", \"pareto\" "
		               "or \"paretonormal\"");
	if (!has_jitter && has_distribution)
		complain_field(
			script, part, "distribution",
			"distribution has an effect only with jitter, as in jitter = \"5ms\"");
	if (input->fault.allows_reordering && (!has_jitter || input->model != DELAY_LATENCY))
		complain_field(
			script, part, "reordering",
			"reordering has an effect only with jitter of a path, as in jitter = "
			"\"5ms\" and model = \"latency\"");
}

static void check_down(struct script *script, const struct part *part,
                       const struct fault_input *input)
{
	bool has_stage = has_field(script, part, "stage"),
	     has_rnic = has_field(script, part, "rnic");

	if (!has_stage && !has_rnic)
		script_complain(script, &part->place,
		                "ab.down needs stage = 3 or rnic = \"host1/mlx5_0\"");
	if (has_stage && has_rnic)
		complain_field(script, part, "rnic", "ab.down takes stage or rnic, not both");
	if (has_rnic && input->rail >= 0)
		complain_field(script, part, "rail",
		               "rail goes with stage; an rnic is rail 0 of its stage");
	if (has_field(script, part, "period") != has_field(script, part, "duty"))
		complain_field(script, part, has_field(script, part, "duty") ? "duty" : "period",
		               "period and duty go together, as in period = ab.time \"2s\", duty = "
		               "\"50%%\"");
}

/* What may follow a start of its kind, as a person would write it. */
static void complain_lasts(struct script *script, const struct part *part,
                           const struct fault *fault)
{
	if (fault->start.kind == MOMENT_TIME)
		complain_field(script, part, "lasts",
		               "a fault that starts at a time lasts for a time; write "
		               "lasts = ab.time \"2s\"");
	else
		complain_field(script, part, "lasts",
		               "a fault that starts at an iteration lasts for iterations; write "
		               "lasts = ab.iter(70)");
}

/* From at and lasts to [start, end). */
static void set_interval(struct script *script, const struct part *part, struct fault_input *input)
{
	struct fault *fault = &input->fault;
	enum moment_kind start, end = input->lasts.kind;

	fault->start = input->at;
	if (input->at.kind == MOMENT_NEVER)
		fault->start.kind = end == MOMENT_TIME ? MOMENT_TIME : MOMENT_ITERATION;
	fault->end = input->lasts;
	start = fault->start.kind;
	if (end == MOMENT_NEVER || (end == MOMENT_OP && start != MOMENT_TIME))
		return;
	if (end != MOMENT_OP && input->lasts.value == 0)
		complain_field(script, part, "lasts", "lasts is 0; such a fault has no effect");
	else if (start == end || (start == MOMENT_OP && end == MOMENT_ITERATION))
		fault->end.value += fault->start.value;
	else if (end != MOMENT_TIME || (start != MOMENT_OP && fault->kind != FAULT_DOWN))
		complain_lasts(script, part, fault);
}

/* An iteration in which an op is a fault's end is its last. */
static int last_iteration(const struct fault *fault)
{
	if (fault->start.kind == MOMENT_TIME)
		return -1;
	if (fault->end.kind == MOMENT_OP)
		return (int)fault->end.value;
	return fault->end.kind == MOMENT_ITERATION ? (int)fault->end.value - 1 : -1;
}

static void finish_event(struct script *script, const struct fault_input *input)
{
	const struct fault *fault = &input->fault;
	struct event *event = last_event(script);

	event->first_iteration = fault->start.kind == MOMENT_TIME ? -1 : (int)fault->start.value;
	event->last_iteration = last_iteration(fault);
	if (!event->label) {
		event->label = fault_label(fault, &input->flap, script->targets, script->n_targets);
		if (!event->label)
			luaL_error(script->lua, "out of memory");
	}
}

static void add_target(struct script *script, const struct fault_input *input,
                       const struct target *target)
{
	struct fault fault;

	for (int64_t i = 0; flap_part(&input->flap, &input->fault, i, &fault); i++) {
		fault.from_stage = target->from_stage;
		fault.to_stage = target->to_stage;
		if (!fault_add(script, &fault))
			luaL_error(script->lua, "out of memory");
	}
}

static void add_faults(struct script *script, struct fault_input *input)
{
	input->fault.event = (int)script->scenario.n_events - 1;
	finish_event(script, input);
	for (size_t i = 0; i < script->n_targets; i++)
		add_target(script, input, &script->targets[i]);
}

/* The statement is on top of the stack. */
static void read_fault(struct script *script, const struct part *outer,
                       const struct fault_word *word)
{
	size_t n_before = script->mistakes->n_sentences;
	struct fault_input input = {
		.fault = {.kind = word->fault_kind, .slowdown = 1},
		.at = {.kind = MOMENT_NEVER, .value = 0},
		.lasts = {.kind = MOMENT_NEVER, .value = 0},
		.model = DELAY_LATENCY,
		.distribution = -1,
		.rail = -1,
		.flap = {.period = {.kind = MOMENT_NEVER}},
	};
	struct part part;

	if (!part_open(script, outer, "faults", word->kind, &part))
		return;
	script->n_targets = 0;
	if (!event_add(script))
		luaL_error(script->lua, "out of memory");
	read_fields(script, &part, word->rows, word->n_rows, &input);
	if (word->fault_kind == FAULT_DELAY)
		check_delay(script, &part, &input);
	if (word->fault_kind == FAULT_DOWN)
		check_down(script, &part, &input);
	if (script->mistakes->n_sentences == n_before)
		set_interval(script, &part, &input);
	if (script->mistakes->n_sentences == n_before && flap_is_one(&input.flap))
		flap_check(script, &part, &input.flap, &input.fault);
	input.fault.script_line = part.place.line;
	input.fault.model = (enum delay_model)input.model;
	if (input.distribution >= 0)
		input.fault.distribution = (enum distribution)input.distribution;
	input.fault.rail = input.rail > 0 ? input.rail : 0;
	if (script->mistakes->n_sentences == n_before)
		add_faults(script, &input);
	lua_pop(script->lua, 1);
}

static void read_item(struct script *script, const struct part *part, size_t position)
{
	const char *kind = statement_kind(script->lua, -1);
	char found[DESCRIBED_BYTES];

	for (size_t i = 0; kind && i < COUNT_OF(fault_words); i++)
		if (strcmp(kind, fault_words[i].kind) == 0) {
			read_fault(script, part, &fault_words[i]);
			return;
		}
	if (kind && strcmp(kind, "trace") == 0) {
		read_trace(script, part);
		return;
	}
	complain_field(
		script, part, "faults",
		"faults[%zu] is %s; a fault is ab.delay, ab.rate, ab.loss, ab.slow, ab.down or "
		"ab.trace",
		position, describe_value(script->lua, -1, found));
}

void read_faults(struct script *script, const struct part *part, const struct field *field,
                 void *target)
{
	size_t n;

	(void)target;
	if (!read_list(script, part, field, &n))
		return;
	for (size_t i = 1; i <= n; i++) {
		lua_rawgeti(script->lua, -1, (lua_Integer)i);
		read_item(script, part, i);
		lua_pop(script->lua, 1);
	}
}
