/* device_random.c - random programs on the null device against a scheduler that only follows rules.
 *
 * The reference knows no queues that advance: items refer only to items issued before them, so
 * each one's scheduled end is worked out from the definitions in device.h in the order of issue,
 * and each one's real end is the first call of device_progress() at which its time has come and
 * all that it needs has been seen to end. */
#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "tests/unit/device_fixture.h"

enum {
	N_PROGRAMS = 1000,
	N_STEPS = 120,
	ITEMS_MAX = 600,
	STREAMS_MAX = 5,
	EVENTS_MAX = 6,
	FLAGS_MAX = 32,
	NONE = -1
};

enum issue { ISSUE_LAUNCH, ISSUE_CALL, ISSUE_HOLD, ISSUE_RECORD, ISSUE_WAIT, N_ISSUES };

/* What the reference knows of an item. */
struct known {
	enum issue issue;
	int before; /* in its queue; NONE: it is the first */
	int after;  /* the record it waits for; NONE */
	int flag;   /* that it holds for; NONE */
	int64_t issued_ns;
	int64_t duration_ns;
	int64_t scheduled_ns;
	int64_t real_ns;
	bool has_ended;
};

struct program {
	uint64_t seed;
	uint64_t n_draws;
	int64_t clock;
	int n_streams, n_queues, n_events, n_flags, n_items;
	int last_of_queue[STREAMS_MAX];
	int record_of_event[EVENTS_MAX];
	struct known items[ITEMS_MAX];
	struct device *device;
	struct device_stream *streams[STREAMS_MAX];
	struct device_event *events[EVENTS_MAX];
	struct device_flag flags[FLAGS_MAX];
	int calls[ITEMS_MAX]; /* items whose callbacks were called, in order */
	int n_calls;
	int n_calls_checked;
	int n_wrong;
	char wrong[256];
};

struct call {
	struct program *program;
	int item;
};

static int draw(struct program *program, int n)
{
	return (int)(rng_mix(program->seed, program->n_draws++) % (uint64_t)n);
}

static void complain(struct program *program, const char *what, int64_t got, int64_t want)
{
	if (program->n_wrong++ == 0)
		(void)snprintf(program->wrong, sizeof(program->wrong),
		               "seed %llu at %lld: %s is %lld, not %lld",
		               (unsigned long long)program->seed, (long long)program->clock, what,
		               (long long)got, (long long)want);
}

static void expect(struct program *program, const char *what, int64_t got, int64_t want)
{
	if (got != want)
		complain(program, what, got, want);
}

/* Its end shows in nothing but what comes after it. */
static bool is_silent(const struct known *item)
{
	return item->issue == ISSUE_HOLD || item->issue == ISSUE_WAIT;
}

static struct call calls[ITEMS_MAX];

static void note_call(void *argument)
{
	const struct call *call = argument;

	call->program->calls[call->program->n_calls++] = call->item;
}

/* The reference: the time the item ends by the rules, once all it refers to has one. */
static bool work_out(const struct program *program, struct known *item, int64_t *at_ns)
{
	*at_ns = item->issued_ns;
	for (int i = 0; i < 2; i++) {
		int other = i == 0 ? item->before : item->after;

		if (other == NONE)
			continue;
		if (!program->items[other].has_ended &&
		    program->items[other].scheduled_ns == INT64_MAX)
			return false;
		if (program->items[other].scheduled_ns > *at_ns)
			*at_ns = program->items[other].scheduled_ns;
	}
	if (item->flag != NONE) {
		if (!program->flags[item->flag].is_set)
			return false;
		if (program->flags[item->flag].at_ns > *at_ns)
			*at_ns = program->flags[item->flag].at_ns;
	}
	*at_ns += item->duration_ns;
	return true;
}

/* What a call of device_progress() now must end. Returns the next moment by itself. */
static int64_t follow_rules(struct program *program)
{
	int64_t next_ns = INT64_MAX;

	for (int i = 0; i < program->n_items; i++) {
		struct known *item = &program->items[i];
		bool is_known = item->has_ended || work_out(program, item, &item->scheduled_ns);

		if (!is_known)
			item->scheduled_ns = INT64_MAX;
		if (item->has_ended || !is_known)
			continue;
		if (item->scheduled_ns <= program->clock) {
			item->has_ended = true;
			item->real_ns = program->clock;
		} else if (!is_silent(item) && item->scheduled_ns < next_ns) {
			next_ns = item->scheduled_ns;
		}
	}
	return next_ns;
}

static void check_events(struct program *program)
{
	for (int e = 0; e < program->n_events; e++) {
		int64_t scheduled_ns = -1, real_ns = -1;
		int rc = device_query(program->events[e], &scheduled_ns, &real_ns, NULL);
		const struct known *record;

		if (program->record_of_event[e] == NONE) {
			expect(program, "query of a new event", rc, 1);
			continue;
		}
		record = &program->items[program->record_of_event[e]];
		expect(program, "query", rc, record->has_ended);
		if (rc != 1)
			continue;
		expect(program, "scheduled end", scheduled_ns, record->scheduled_ns);
		expect(program, "real end", real_ns, record->real_ns);
	}
}

/* Everything due was called, nothing else, and each call of progress in the order of time. */
static void check_calls(struct program *program)
{
	int64_t last_ns = INT64_MIN;
	int n_ended = 0;

	for (; program->n_calls_checked < program->n_calls; program->n_calls_checked++) {
		const struct known *item =
			&program->items[program->calls[program->n_calls_checked]];

		expect(program, "a callback's real time", item->real_ns, program->clock);
		if (item->scheduled_ns < last_ns)
			complain(program, "a callback after a later one", item->scheduled_ns,
			         last_ns);
		last_ns = item->scheduled_ns;
	}
	for (int i = 0; i < program->n_items; i++)
		n_ended += program->items[i].issue == ISSUE_CALL && program->items[i].has_ended;
	expect(program, "the number of callbacks", program->n_calls, n_ended);
}

static int64_t step_progress(struct program *program)
{
	struct device_state state = {0};
	int64_t next_ns = follow_rules(program);
	bool is_idle = true;

	if (device_progress(program->device, true, &state, NULL))
		complain(program, "progress", -1, 0);
	for (int i = 0; i < program->n_items; i++) {
		const struct known *item = &program->items[i];

		/* A wait or a hold is over as soon as it is known when it is. */
		is_idle &= item->has_ended || (is_silent(item) && item->scheduled_ns != INT64_MAX);
	}
	check_events(program);
	check_calls(program);
	expect(program, "the next moment", state.next_ns, next_ns);
	expect(program, "idle", state.is_idle, is_idle);
	return state.next_ns;
}

static int add_item(struct program *program, int stream, enum issue issue)
{
	int queue = program->n_queues ? stream % program->n_queues : stream;
	int i = program->n_items++;

	program->items[i] = (struct known){
		.issue = issue,
		.before = program->last_of_queue[queue],
		.after = NONE,
		.flag = NONE,
		.issued_ns = program->clock,
	};
	program->last_of_queue[queue] = i;
	return i;
}

static int issue_wait(struct program *program, int s)
{
	int e = draw(program, program->n_events), record = program->record_of_event[e];

	if (record != NONE)
		program->items[add_item(program, s, ISSUE_WAIT)].after = record;
	return device_wait(program->streams[s], program->events[e], NULL);
}

static int issue_record(struct program *program, int s)
{
	int e = draw(program, program->n_events);

	program->record_of_event[e] = add_item(program, s, ISSUE_RECORD);
	return device_record(program->events[e], program->streams[s], NULL);
}

static int issue_hold(struct program *program, int s)
{
	if (program->n_flags == FLAGS_MAX)
		return 0;
	program->items[add_item(program, s, ISSUE_HOLD)].flag = program->n_flags;
	return device_hold(program->streams[s], &program->flags[program->n_flags++], NULL);
}

static int issue(struct program *program)
{
	int s = draw(program, program->n_streams), i;

	switch ((enum issue)draw(program, N_ISSUES)) {
	case ISSUE_LAUNCH:
		i = add_item(program, s, ISSUE_LAUNCH);
		program->items[i].duration_ns = draw(program, 3) ? draw(program, 50) : 0;
		return device_launch(program->streams[s], NULL, NULL, program->items[i].duration_ns,
		                     NULL);
	case ISSUE_CALL:
		i = add_item(program, s, ISSUE_CALL);
		calls[i] = (struct call){program, i};
		return device_call(program->streams[s], note_call, &calls[i], NULL);
	case ISSUE_HOLD:
		return draw(program, 4) ? 0 : issue_hold(program, s);
	case ISSUE_RECORD:
		return issue_record(program, s);
	case ISSUE_WAIT:
	case N_ISSUES:
		break;
	}
	return issue_wait(program, s);
}

static void set_a_flag(struct program *program)
{
	int f;

	if (program->n_flags == 0)
		return;
	f = draw(program, program->n_flags);
	if (!program->flags[f].is_set)
		device_flag_set(&program->flags[f], program->clock + draw(program, 60) - 40);
}

static void step(struct program *program)
{
	switch (draw(program, 8)) {
	case 0:
	case 1:
	case 2:
	case 3:
		for (int n = draw(program, 5); n > 0 && program->n_items < ITEMS_MAX; n--)
			if (issue(program))
				complain(program, "issuing", -1, 0);
		break;
	case 4:
		set_a_flag(program);
		break;
	case 5:
		program->clock += draw(program, 100);
		break;
	default:
		(void)step_progress(program);
		break;
	}
}

/* Let everything end: the device says when something happens, and then it does. */
static void finish(struct program *program)
{
	for (int f = 0; f < program->n_flags; f++)
		if (!program->flags[f].is_set)
			device_flag_set(&program->flags[f], program->clock);
	for (int n = 0; n <= ITEMS_MAX; n++) {
		int64_t next_ns = step_progress(program);

		if (next_ns == INT64_MAX)
			break;
		program->clock = next_ns;
	}
	for (int i = 0; i < program->n_items; i++)
		if (!program->items[i].has_ended && !is_silent(&program->items[i]))
			complain(program, "an item's end", -1, program->items[i].scheduled_ns);
}

static void run_program(struct program *program, uint64_t seed)
{
	memset(program, 0, sizeof(*program));
	program->seed = seed;
	program->n_streams = 1 + draw(program, STREAMS_MAX);
	program->n_queues = draw(program, 3);
	program->n_events = 1 + draw(program, EVENTS_MAX);
	program->device = fixture_open("null", program->n_queues, 1, &program->clock);
	for (int s = 0; s < program->n_streams; s++) {
		program->streams[s] = fixture_stream(program->device);
		program->last_of_queue[s] = NONE;
	}
	for (int e = 0; e < program->n_events; e++) {
		program->events[e] = fixture_event(program->device);
		program->record_of_event[e] = NONE;
	}
	for (int i = 0; i < N_STEPS; i++)
		step(program);
	finish(program);
	device_close(program->device);
}

int main(void)
{
	static struct program program;
	int n_wrong = 0, n_items = 0, n_calls = 0;

	for (uint64_t seed = 1; seed <= N_PROGRAMS; seed++) {
		run_program(&program, seed);
		if (program.n_wrong > 0)
			tap_note("%s", program.wrong);
		n_wrong += program.n_wrong > 0;
		n_items += program.n_items;
		n_calls += program.n_calls;
	}
	tap_is_int(n_wrong, 0, "random programs run by the rules");
	tap_ok(n_items > 50 * N_PROGRAMS && n_calls > 5 * N_PROGRAMS,
	       "of %d items, %d of them callbacks", n_items, n_calls);
	return tap_done();
}
