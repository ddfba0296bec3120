/* device_pacing.c - exact times of paced, null and cpu devices on a clock that the test moves. */
#include <errno.h>

#include "tests/unit/device_fixture.h"

/* A kernel that takes its time: it moves the clock. */
struct work {
	int64_t *clock;
	int64_t takes_ns;
};

static int take_time(void *argument, struct err *err)
{
	const struct work *work = argument;

	(void)err;
	*work->clock += work->takes_ns;
	return 0;
}

static struct device_state progress(struct device *device)
{
	struct device_state state = {0};
	struct err err = {0};

	if (device_progress(device, true, &state, &err))
		tap_ok(false, "progress is made: %s", err.text);
	return state;
}

/* Move the clock to each next moment, late_ns late, until nothing is left to do. */
static void run_late(struct device *device, int64_t *clock, int64_t late_ns)
{
	struct device_state state = progress(device);

	while (state.next_ns != INT64_MAX) {
		if (state.next_ns + late_ns > *clock)
			*clock = state.next_ns + late_ns;
		state = progress(device);
	}
}

static int64_t scheduled_ns(struct device_event *event)
{
	int64_t at_ns = -1;

	return device_query(event, &at_ns, NULL, NULL) == 1 ? at_ns : -1;
}

static int64_t real_ns(struct device_event *event)
{
	int64_t at_ns = -1;

	return device_query(event, NULL, &at_ns, NULL) == 1 ? at_ns : -1;
}

static void check_null(void)
{
	int64_t clock = 100;
	struct device *device = fixture_open("null", 0, 2.5, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct work never = {&clock, 1};
	struct device_event *first, *second, *third;
	struct device_state state;

	(void)device_launch(stream, take_time, &never, 1000, NULL);
	first = fixture_record(stream);
	(void)device_launch(stream, take_time, &never, 4, NULL);
	second = fixture_record(stream);
	state = progress(device);
	tap_is_int(state.next_ns, 500, "null: the next moment is the first op's end");
	clock = 499;
	(void)progress(device);
	tap_is_int(scheduled_ns(first), -1, "null: an op has not ended 1 ns before its time");
	clock = 2000;
	state = progress(device);
	tap_is_int(scheduled_ns(first), 500, "null: it takes its duration by speed");
	tap_is_int(scheduled_ns(second), 502, "null: rounded, from the end before it");
	tap_is_int(real_ns(second), 2000, "null: seen when the clock had got there");
	tap_ok(state.is_idle && state.next_ns == INT64_MAX, "null: one call does all that is due");
	(void)device_launch(stream, take_time, &never, 0, NULL);
	third = fixture_record(stream);
	(void)progress(device);
	tap_is_int(scheduled_ns(third), 2000, "null: what is issued later starts later");
	tap_is_int(clock, 2000, "null: no kernel is called");
	device_close(device);
}

/* What it is asked, and what it answers. */
struct asked {
	struct work work; /* the kernel's argument, too */
	int n_times;
	int64_t start_ns, answer_ns;
};

static int64_t answer(void *argument, int64_t start_ns)
{
	struct asked *asked = argument;

	asked->n_times++;
	asked->start_ns = start_ns;
	return asked->answer_ns;
}

/* Issued early, and after something that takes until 1000: its duration is that of its start. */
static void check_asking(const char *name)
{
	int64_t clock = 0;
	struct device *device = fixture_open(name, 0, 2, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct device_flag *flag = device_alloc(device, sizeof(*flag), true);
	struct asked asked = {{&clock, 10}, 0, -1, 100};
	struct device_event *first, *second, *third;

	(void)device_hold(stream, flag, NULL);
	(void)device_launch_asking(stream, take_time, &asked, answer, NULL);
	first = fixture_record(stream);
	(void)progress(device);
	clock = 1000;
	asked.answer_ns = 3000;
	(void)progress(device);
	tap_is_int(asked.n_times, 0, "%s: nothing is asked before the start is known", name);
	clock = 1200;
	device_flag_set(flag, 1100);
	run_late(device, &clock, 7);
	tap_is_int(asked.start_ns, 1100, "%s: asked for the moment at which it starts", name);
	tap_is_int(scheduled_ns(first), 1100 + 1500, "%s: the answer is divided by speed", name);
	asked.answer_ns = -5;
	(void)device_launch_asking(stream, take_time, &asked, answer, NULL);
	second = fixture_record(stream);
	run_late(device, &clock, 0);
	tap_ok(scheduled_ns(second) <= clock && real_ns(second) == clock,
	       "%s: less than nothing is nothing", name);
	asked.answer_ns = INT64_MAX;
	(void)device_launch_asking(stream, take_time, &asked, answer, NULL);
	third = fixture_record(stream);
	clock += INT64_C(1) << 58;
	(void)progress(device);
	tap_is_int(scheduled_ns(third), -1, "%s: a very long one has not ended after years", name);
	tap_is_int(asked.n_times, 3, "%s: each is asked once", name);
	device_close(device);
}

static void check_lateness(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct work work = {&clock, 100};
	struct device_event *events[100];
	int n_exact = 0, n_late = 0;

	for (int i = 0; i < 100; i++) {
		(void)device_launch(stream, take_time, &work, 1000, NULL);
		events[i] = fixture_record(stream);
	}
	run_late(device, &clock, 77);
	for (int i = 0; i < 100; i++) {
		n_exact += scheduled_ns(events[i]) == 1000 * (i + 1);
		n_late += real_ns(events[i]) == 1000 * (i + 1) + 77;
	}
	tap_is_int(n_exact, 100, "paced: being late does not add up");
	tap_is_int(n_late, 100, "paced: and is seen in every op");
	tap_is_int(device->stats.n_ops, 100, "paced: ops are counted");
	tap_is_int(device->stats.late_ns_sum, 7700, "paced: lateness is summed");
	tap_is_int(device->stats.late_ns_max, 77, "paced: and its largest kept");
	tap_is_int(device->stats.n_overruns, 0, "paced: being late is no overrun");
	device_close(device);
}

/* After a long silence every op whose time is over ends at its own time, one kernel a call. */
static void check_catching_up(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct work work = {&clock, 100};
	struct device_event *first, *second;
	struct device_state state;

	(void)device_launch(stream, take_time, &work, 1000, NULL);
	first = fixture_record(stream);
	(void)device_launch(stream, take_time, &work, 1000, NULL);
	second = fixture_record(stream);
	clock = 5000;
	state = progress(device);
	tap_is_int(scheduled_ns(first), 1000, "paced: an op begun late ends by the schedule");
	tap_is_int(real_ns(first), 5100, "paced: and really when its kernel has ended");
	tap_is_int(scheduled_ns(second), -1, "paced: a call computes once");
	tap_is_int(state.ready_ns, 1000, "paced: the next computation should have begun");
	(void)progress(device);
	tap_is_int(scheduled_ns(second), 2000, "paced: the next call computes the next");
	tap_is_int(real_ns(second), 5200, "paced: when it gets to it");
	device_close(device);
}

static void check_overrun(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 2, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct work slow = {&clock, 700}, quick = {&clock, 10};
	struct device_event *events[3];

	(void)device_launch(stream, take_time, &slow, 1000, NULL);
	events[0] = fixture_record(stream);
	(void)device_launch(stream, take_time, &quick, 1000, NULL);
	events[1] = fixture_record(stream);
	(void)device_launch(stream, take_time, &quick, 0, NULL);
	events[2] = fixture_record(stream);
	run_late(device, &clock, 0);
	tap_is_int(scheduled_ns(events[0]), 700, "paced: a kernel slower than its time ends late");
	tap_is_int(scheduled_ns(events[1]), 1200, "paced: what follows starts at that end");
	tap_is_int(scheduled_ns(events[2]), 1210, "paced: an op without a time takes its own");
	tap_is_int(device->stats.n_overruns, 1, "paced: only what had a time can overrun");
	tap_is_int(device->stats.overrun_ns_sum, 200, "paced: by so much");
	device_close(device);
}

static void check_cpu(void)
{
	int64_t clock = 1000;
	struct device *device = fixture_open("cpu", 0, 20, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct work work = {&clock, 40};
	struct device_event *start = fixture_record(stream), *end;

	(void)device_launch(stream, take_time, &work, 1000000, NULL);
	end = fixture_record(stream);
	clock = 1500;
	(void)progress(device);
	tap_is_int(scheduled_ns(start), 1500, "cpu: an event ends when the stream gets to it");
	tap_is_int(scheduled_ns(end), 1540, "cpu: an op takes as long as its kernel");
	tap_is_int(real_ns(end), 1540, "cpu: and not only on paper");
	tap_is_int(device->stats.n_overruns, 0, "cpu: there is nothing to overrun");
	device_close(device);
}

static void check_hold(const char *name)
{
	int64_t clock = 0;
	struct device *device = fixture_open(name, 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct device_flag past = {0}, coming = {0};
	struct device_event *events[3];

	(void)device_launch(stream, NULL, NULL, 1000, NULL);
	(void)device_hold(stream, &past, NULL);
	events[0] = fixture_record(stream);
	(void)device_launch(stream, NULL, NULL, 1000, NULL);
	events[1] = fixture_record(stream);
	(void)device_hold(stream, &coming, NULL);
	events[2] = fixture_record(stream);
	clock = 1600;
	(void)progress(device);
	device_flag_set(&past, 1500);
	clock = 1700;
	(void)progress(device);
	tap_is_int(scheduled_ns(events[0]), 1500, "%s: a hold ends at its flag's moment", name);
	device_flag_set(&coming, 4000);
	clock = 3999;
	tap_is_int(progress(device).next_ns, 4000, "%s: a flag's moment may be to come", name);
	tap_is_int(scheduled_ns(events[1]), 2500, "%s: an op behind a hold starts there", name);
	tap_is_int(scheduled_ns(events[2]), -1, "%s: nothing goes on before it", name);
	clock = 4000;
	(void)progress(device);
	tap_is_int(scheduled_ns(events[2]), 4000, "%s: and all goes on at it", name);
	device_close(device);
}

static void check_hold_in_the_past(const char *name)
{
	int64_t clock = 0;
	struct device *device = fixture_open(name, 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct device_flag flag = {0};
	struct device_event *end;

	(void)device_launch(stream, NULL, NULL, 1000, NULL);
	(void)device_hold(stream, &flag, NULL);
	(void)device_launch(stream, NULL, NULL, 1000, NULL);
	end = fixture_record(stream);
	device_flag_set(&flag, INT64_MIN);
	run_late(device, &clock, 0);
	tap_is_int(scheduled_ns(end), 2000, "%s: a flag set long ago delays nothing", name);
	(void)device_hold(stream, &flag, NULL);
	device_flag_set(&flag, INT64_MAX);
	(void)device_launch(stream, NULL, NULL, 1000, NULL);
	end = fixture_record(stream);
	(void)progress(device);
	tap_is_int(scheduled_ns(end), -1, "%s: a flag of the end of time holds until then", name);
	device_close(device);
}

/* What waits starts at the event's scheduled end, though it is seen later. */
static void check_wait(const char *name)
{
	int64_t clock = 0;
	struct device *device = fixture_open(name, 0, 1, &clock);
	struct device_stream *first = fixture_stream(device), *second = fixture_stream(device);
	struct device_event *event, *end;

	(void)device_launch(second, NULL, NULL, 500, NULL);
	(void)device_launch(first, NULL, NULL, 1000, NULL);
	event = fixture_record(first);
	(void)device_wait(second, event, NULL);
	(void)device_launch(second, NULL, NULL, 1000, NULL);
	end = fixture_record(second);
	run_late(device, &clock, 30);
	tap_is_int(scheduled_ns(end), 2000, "%s: a wait ends at the event's scheduled end", name);
	tap_is_int(real_ns(end), 2030, "%s: seen when it was looked for", name);
	(void)device_launch(first, NULL, NULL, 10000, NULL);
	(void)device_record(event, first, NULL);
	clock = 50000;
	(void)device_wait(second, event, NULL);
	(void)device_record(event, first, NULL);
	end = fixture_record(second);
	(void)progress(device);
	tap_is_int(scheduled_ns(end), 50000, "%s: one in the past does not move the present", name);
	device_close(device);
}

/* The waiter comes to its wait when the event has been recorded again and has ended again. */
static void check_old_mark(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("null", 0, 1, &clock);
	struct device_stream *first = fixture_stream(device), *second = fixture_stream(device);
	struct device_flag flag = {0};
	struct device_event *event, *end;

	(void)device_launch(first, NULL, NULL, 1000, NULL);
	event = fixture_record(first);
	(void)device_hold(second, &flag, NULL);
	(void)device_wait(second, event, NULL);
	end = fixture_record(second);
	(void)device_launch(first, NULL, NULL, 1000, NULL);
	(void)device_record(event, first, NULL);
	clock = 5000;
	(void)progress(device);
	tap_is_int(scheduled_ns(event), 2000, "null: the second record has ended");
	device_flag_set(&flag, 300);
	(void)progress(device);
	tap_is_int(scheduled_ns(end), 1000, "null: the wait was for the first one");
	device_close(device);
}

static void check_issue_queue(const char *name)
{
	int64_t clock = 0;
	struct device *device = fixture_open(name, 1, 1, &clock);
	struct device_stream *first = fixture_stream(device), *second = fixture_stream(device);
	struct device_event *end;

	(void)device_launch(first, NULL, NULL, 1000, NULL);
	(void)device_launch(second, NULL, NULL, 1000, NULL);
	(void)device_launch(first, NULL, NULL, 1000, NULL);
	end = fixture_record(second);
	run_late(device, &clock, 5);
	tap_is_int(scheduled_ns(end), 3000, "%s: one issue queue runs all in order of issue", name);
	device_close(device);
}

/* A caller that reacts to an event issues as of that event, and its lateness does not add up. */
static void check_as_of(bool is_stated)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct device_event *event = NULL;

	for (int i = 0; i < 10; i++) {
		if (is_stated && event)
			device_issue_as_of(device, scheduled_ns(event));
		(void)device_launch(stream, NULL, NULL, 1000, NULL);
		event = fixture_record(stream);
		run_late(device, &clock, 50);
	}
	tap_is_int(scheduled_ns(event), is_stated ? 10000 : 10450,
	           "paced: issued as of %s, lateness %s", is_stated ? "an event" : "the call",
	           is_stated ? "does not add up" : "is part of the schedule");
	(void)progress(device);
	clock = 20000;
	event = fixture_record(stream);
	(void)progress(device);
	tap_is_int(scheduled_ns(event), 20000, "paced: a stated moment lasts until progress");
	device_close(device);
}

/* A clock that goes on by 3 ns whenever it is read, so that a copy takes 3. */
static int64_t ticking_ns(void *context)
{
	int64_t *clock = context;

	return *clock += 3;
}

static void check_copy(void)
{
	int64_t clock = 0;
	const struct device_config config = {
		.speed = 1, .clock_ns = ticking_ns, .clock_context = &clock};
	const struct device_ops *ops;
	struct device *device;
	struct device_stream *stream;
	struct device_event *end;
	char from = 7, to = 0;

	if (device_find("paced", &ops, NULL) || ops->open(&config, &device, NULL)) {
		tap_ok(false, "a device on a ticking clock opens");
		return;
	}
	stream = fixture_stream(device);
	device_issue_as_of(device, 10);
	(void)device_copy(stream, &to, &from, 1, NULL);
	end = fixture_record(stream);
	clock = 1000;
	(void)progress(device);
	tap_is_int(to, 7, "paced: a copy copies");
	tap_is_int(scheduled_ns(end), 13, "paced: it takes as long as it took, from its start");
	device_close(device);
}

int main(void)
{
	static const char *const held[] = {"paced", "null"};

	check_null();
	check_asking("null");
	check_asking("paced");
	check_lateness();
	check_catching_up();
	check_overrun();
	check_cpu();
	for (int i = 0; i < 2; i++) {
		check_hold(held[i]);
		check_hold_in_the_past(held[i]);
		check_wait(held[i]);
		check_issue_queue(held[i]);
	}
	check_old_mark();
	check_as_of(true);
	check_as_of(false);
	check_copy();
	return tap_done();
}
