/* device_contract.c - what every device does, whether it is driven or runs by itself.
 *
 * Nothing here depends on when a kernel is called, on which thread calls a host function, or on
 * reading memory of the device in any other way than by copying it. */
#include <errno.h>
#include <string.h>

#include "tests/unit/device_fixture.h"

enum { N_WORDS = 1 << 16, LOG_MAX = 64 };

/* What callbacks leave behind, in the order they were called. */
struct log {
	int n;
	int ids[LOG_MAX];
};

struct entry {
	struct log *log;
	int id;
};

static void note(void *argument)
{
	const struct entry *entry = argument;
	int at = __atomic_fetch_add(&entry->log->n, 1, __ATOMIC_ACQ_REL);

	if (at < LOG_MAX)
		__atomic_store_n(&entry->log->ids[at], entry->id, __ATOMIC_RELEASE);
}

static int log_at(struct log *log, int i)
{
	return i < __atomic_load_n(&log->n, __ATOMIC_ACQUIRE)
	               ? __atomic_load_n(&log->ids[i], __ATOMIC_ACQUIRE)
	               : -1;
}

static int count_calls(void *argument, struct err *err)
{
	(void)err;
	(void)__atomic_fetch_add((int *)argument, 1, __ATOMIC_ACQ_REL);
	return 0;
}

static int fail(void *argument, struct err *err)
{
	(void)argument;
	return err_set(err, -EDOM, "the square root of a loss");
}

static struct device_flag *new_flag(struct device *device)
{
	return device_alloc(device, sizeof(struct device_flag), true);
}

static void check_table(const struct device_ops *ops)
{
	const struct device_ops *found = NULL;

	tap_ok(ops->open && ops->close && ops->memory && ops->stream_new && ops->event_new &&
	               ops->launch && ops->copy && ops->call && ops->hold && ops->record &&
	               ops->wait && ops->query && ops->progress,
	       "%s: every member is there", ops->name);
	tap_ok(device_find(ops->name, &found, NULL) == 0 && found == ops,
	       "%s: it is found by its name", ops->name);
}

static void check_refused(const struct device_ops *ops, double speed, int n_issue_queues)
{
	const struct device_config config = {.speed = speed, .n_issue_queues = n_issue_queues};
	struct device *device = NULL;
	struct err err = {0};

	tap_is_int(ops->open(&config, &device, &err), -EINVAL,
	           "%s: speed %g with %d issue queues is refused", ops->name, speed,
	           n_issue_queues);
	tap_ok(!device && err.text[0], "%s: with a reason: %s", ops->name, err.text);
}

/* own stays allocated: closing the device frees it. */
static void check_memory(struct device *device, const char *name)
{
	unsigned char *host = device_alloc(device, 1000, true);
	void *own = device_alloc(device, 1 << 20, false), *nothing = device_alloc(device, 0, false);
	bool is_zero = true;

	tap_ok(host && own, "%s: host and device memory is given", name);
	tap_ok((uintptr_t)host % 64 == 0 && (uintptr_t)own % 64 == 0, "%s: aligned to 64", name);
	for (int i = 0; host && i < 1000; i++)
		is_zero &= host[i] == 0;
	tap_ok(is_zero, "%s: zeroed", name);
	tap_ok(!device_alloc(device, SIZE_MAX - 8, true), "%s: too much is refused", name);
	device_free(device, host, true);
	device_free(device, nothing, false);
	device_free(device, NULL, false);
}

static void check_order(struct device *device, const char *name)
{
	struct device_stream *stream = fixture_stream(device);
	struct log log = {0};
	struct entry entries[40];
	int n_calls = 0, n_right = 0;

	for (int i = 0; i < 40; i++) {
		entries[i] = (struct entry){&log, i};
		(void)device_launch(stream, count_calls, &n_calls, i % 3 * 1000, NULL);
		(void)device_call(stream, note, &entries[i], NULL);
	}
	tap_is_int(fixture_finish(fixture_record(stream)), 1, "%s: what is issued ends", name);
	for (int i = 0; i < 40; i++)
		n_right += log_at(&log, i) == i;
	tap_is_int(n_right, 40, "%s: callbacks are called in the order of the stream", name);
	tap_is_int(__atomic_load_n(&n_calls, __ATOMIC_ACQUIRE), device->runs_kernels ? 40 : 0,
	           "%s: kernels are called once each, or never", name);
}

struct copies {
	uint32_t *first, *second, *back_first, *back_second;
	bool is_seen; /* by a callback behind the copies */
};

static void look_at_copies(void *argument)
{
	struct copies *copies = argument;

	copies->is_seen = copies->back_first[N_WORDS - 1] == copies->first[N_WORDS - 1] &&
	                  copies->back_second[0] == copies->second[0];
}

/* One buffer of the device is used twice, so a copy out of turn shows. */
static void check_copies(struct device *device, const char *name)
{
	const size_t n_bytes = N_WORDS * sizeof(uint32_t);
	struct device_stream *stream = fixture_stream(device);
	struct copies copies = {
		.first = device_alloc(device, n_bytes, true),
		.second = device_alloc(device, n_bytes, true),
		.back_first = device_alloc(device, n_bytes, true),
		.back_second = device_alloc(device, n_bytes, true),
	};
	void *own = device_alloc(device, n_bytes, false);
	void *other = device_alloc(device, n_bytes, false);

	for (uint32_t i = 0; i < N_WORDS; i++) {
		copies.first[i] = i + 1;
		copies.second[i] = ~i;
	}
	(void)device_copy(stream, own, copies.first, n_bytes, NULL);
	(void)device_copy(stream, other, own, n_bytes, NULL);
	(void)device_copy(stream, own, copies.second, n_bytes, NULL);
	(void)device_copy(stream, copies.back_first, other, n_bytes, NULL);
	(void)device_copy(stream, copies.back_second, own, n_bytes, NULL);
	(void)device_copy(stream, own, copies.first, 0, NULL);
	(void)device_call(stream, look_at_copies, &copies, NULL);
	tap_is_int(fixture_finish(fixture_record(stream)), 1, "%s: copies end", name);
	tap_ok(memcmp(copies.first, copies.back_first, n_bytes) == 0,
	       "%s: bytes go to the device, over it and back", name);
	tap_ok(memcmp(copies.second, copies.back_second, n_bytes) == 0,
	       "%s: a second copy over the same buffer comes after the first", name);
	tap_ok(copies.is_seen, "%s: a callback sees what was copied before it", name);
}

static void check_hold(struct device *device, const char *name)
{
	struct device_stream *stream = fixture_stream(device);
	struct device_flag *flag = new_flag(device);
	struct log log = {0};
	struct entry entries[] = {{&log, 0}, {&log, 1}};
	struct device_event *before, *after;
	int64_t now_ns, scheduled_ns = 0;

	(void)device_call(stream, note, &entries[0], NULL);
	before = fixture_record(stream);
	(void)device_hold(stream, flag, NULL);
	(void)device_call(stream, note, &entries[1], NULL);
	after = fixture_record(stream);
	tap_is_int(fixture_finish(before), 1, "%s: what is before a hold ends", name);
	tap_ok(fixture_stands(after), "%s: what is behind a hold does not begin", name);
	tap_is_int(log_at(&log, 1), -1, "%s: nor is its callback called", name);
	now_ns = clock_monotonic_ns();
	device_flag_set(flag, now_ns);
	tap_is_int(fixture_finish(after), 1, "%s: a set flag lets the stream go on", name);
	tap_is_int(log_at(&log, 1), 1, "%s: with all that was issued", name);
	(void)device_query(after, &scheduled_ns, NULL, NULL);
	/* Moments of a GPU are translated into those of the host; 1 ms covers that. */
	tap_ok(scheduled_ns >= now_ns - NS_PER_MS, "%s: not before the flag's moment", name);
}

static void check_streams(struct device *device, const char *name, int n_issue_queues)
{
	struct device_stream *held = fixture_stream(device), *free_one = fixture_stream(device);
	struct device_flag *flag = new_flag(device);
	struct device_event *behind_hold, *beside;

	(void)device_hold(held, flag, NULL);
	behind_hold = fixture_record(held);
	(void)device_launch(free_one, NULL, NULL, 1000, NULL);
	beside = fixture_record(free_one);
	if (n_issue_queues == 1) {
		tap_ok(fixture_stands(beside),
		       "%s: with one issue queue a hold keeps other streams waiting", name);
	} else {
		tap_is_int(fixture_finish(beside), 1, "%s: with %d a stream runs beside a hold",
		           name, n_issue_queues);
		tap_is_int(device_query(behind_hold, NULL, NULL, NULL), 0, "%s: which still stands",
		           name);
	}
	device_flag_set(flag, clock_monotonic_ns());
	tap_is_int(fixture_finish(behind_hold), 1, "%s: a hold of one stream ends", name);
	tap_is_int(fixture_finish(beside), 1, "%s: and so does the other stream", name);
}

static void check_wait(struct device *device, const char *name)
{
	struct device_stream *first = fixture_stream(device), *second = fixture_stream(device);
	struct device_flag *flag = new_flag(device);
	struct log log = {0};
	struct entry entries[] = {{&log, 1}, {&log, 2}};
	struct device_event *between, *end;

	(void)device_hold(first, flag, NULL);
	(void)device_call(first, note, &entries[0], NULL);
	between = fixture_record(first);
	(void)device_wait(second, between, NULL);
	(void)device_call(second, note, &entries[1], NULL);
	end = fixture_record(second);
	tap_ok(fixture_stands(end), "%s: a stream stands until the event it waits for", name);
	device_flag_set(flag, clock_monotonic_ns());
	tap_is_int(fixture_finish(end), 1, "%s: and goes on when the event has ended", name);
	tap_is_int(log_at(&log, 0), 1, "%s: what is before the event is first", name);
	tap_is_int(log_at(&log, 1), 2, "%s: what waits for it is second", name);
}

static void check_event(struct device *device, const char *name)
{
	struct device_stream *stream = fixture_stream(device);
	struct device_event *event = fixture_event(device), *end;
	int64_t scheduled_ns = 7, real_ns = 7;
	struct err err = {0};

	tap_is_int(device_query(event, &scheduled_ns, &real_ns, &err), 1,
	           "%s: an event that was never recorded has ended", name);
	tap_ok(scheduled_ns == 0 && real_ns == 0, "%s: at no time", name);
	tap_is_int(device_wait(stream, event, &err), 0, "%s: it can be waited for", name);
	end = fixture_record(stream);
	tap_is_int(fixture_finish(end), 1, "%s: which does not stop the stream", name);
	tap_is_int(device_query(end, NULL, NULL, &err), 1, "%s: times need not be asked for", name);
}

/* Who waits for the first record does not wait for the second one. */
static void check_recorded_again(struct device *device, const char *name)
{
	struct device_stream *first = fixture_stream(device), *second = fixture_stream(device);
	struct device_flag *flag = new_flag(device), *other = new_flag(device);
	struct device_event *event = fixture_event(device), *end;

	(void)device_hold(first, flag, NULL);
	(void)device_record(event, first, NULL);
	(void)device_wait(second, event, NULL);
	end = fixture_record(second);
	(void)device_hold(first, other, NULL);
	(void)device_record(event, first, NULL);
	tap_ok(fixture_stands(end), "%s: a wait for an event's first record stands", name);
	device_flag_set(flag, clock_monotonic_ns());
	tap_is_int(fixture_finish(end), 1, "%s: the first record ends it, not the second", name);
	tap_ok(fixture_stands(event), "%s: an event recorded again has not ended", name);
	device_flag_set(other, clock_monotonic_ns());
	tap_is_int(fixture_finish(event), 1, "%s: until its second record has", name);
}

static void check_times(struct device *device, const char *name)
{
	struct device_stream *stream = fixture_stream(device);
	struct device_event *start = fixture_record(stream), *middle, *end;
	int64_t first_ns = -1, second_ns = -1, scheduled_ns = 0, real_ns = 0, both_ns = -1;

	(void)device_launch(stream, NULL, NULL, 2000000, NULL);
	middle = fixture_record(stream);
	tap_is_int(device_elapsed(start, middle, &first_ns, NULL), 0,
	           "%s: there is no time between events that have not ended", name);
	(void)device_launch(stream, NULL, NULL, 1000000, NULL);
	end = fixture_record(stream);
	tap_is_int(fixture_finish(end), 1, "%s: events at both ends of an op end", name);
	(void)device_elapsed(start, middle, &first_ns, NULL);
	(void)device_elapsed(middle, end, &second_ns, NULL);
	(void)device_elapsed(start, end, &both_ns, NULL);
	tap_ok(first_ns >= 0 && second_ns >= 0, "%s: time does not go back", name);
	tap_is_number((double)both_ns, (double)(first_ns + second_ns), 2000,
	              "%s: times between events add up", name);
	(void)device_query(end, &scheduled_ns, &real_ns, NULL);
	tap_ok(real_ns >= scheduled_ns - NS_PER_MS, "%s: nothing ends before its time", name);
}

static void check_idle(struct device *device, const char *name)
{
	struct device_stream *stream = fixture_stream(device);
	struct device_flag *flag = new_flag(device);
	struct device_state state = {0};
	struct device_event *end;

	(void)device_hold(stream, flag, NULL);
	end = fixture_record(stream);
	(void)device_progress(device, true, &state, NULL);
	tap_ok(!state.is_idle, "%s: it is not idle while a stream stands", name);
	device_flag_set(flag, clock_monotonic_ns());
	(void)fixture_finish(end);
	(void)device_progress(device, true, &state, NULL);
	tap_ok(state.is_idle, "%s: it is idle when all has ended", name);
}

static void check_bad_issue(struct device *device, const char *name)
{
	struct device *other = fixture_open(device->ops->name, 0, 1, NULL);
	struct device_stream *stream = fixture_stream(device);
	struct device_event *event = fixture_event(other);
	struct err err = {0};

	tap_is_int(device_record(event, stream, &err), -EINVAL,
	           "%s: an event of another device is not recorded", name);
	tap_is_int(device_wait(stream, event, &err), -EINVAL, "%s: nor waited for", name);
	tap_is_int(device_launch(stream, NULL, NULL, -1, &err), -EINVAL,
	           "%s: a computation of less than no time is refused", name);
	tap_is_int(device_launch(stream, NULL, NULL, INT64_MAX, &err), -EINVAL,
	           "%s: and one of centuries", name);
	tap_is_int(fixture_finish(fixture_record(stream)), 1,
	           "%s: a refusal is not an error of the device", name);
	device_close(other);
}

static void check_error(struct device *device, const char *name)
{
	struct device_stream *stream = fixture_stream(device), *other = fixture_stream(device);
	struct device_event *early = fixture_record(other), *event = fixture_event(device);
	struct device_state state;
	struct err err = {0};
	int n_calls = 0;

	(void)fixture_finish(early);
	/* A GPU knows at once, a CPU when it computes: either may be the one to say so. */
	(void)device_launch(stream, fail, NULL, 1000, NULL);
	(void)device_launch(stream, count_calls, &n_calls, 1000, NULL);
	if (device_record(event, stream, NULL) == 0)
		(void)fixture_finish(event);
	tap_is_int(device_query(event, NULL, NULL, &err), -EDOM,
	           "%s: a failing kernel is told by whoever asks", name);
	tap_contains(err.text, "the square root of a loss", "%s: with its sentence", name);
	tap_is_int(n_calls, 0, "%s: what is behind it never runs", name);
	err.text[0] = '\0';
	tap_is_int(device_progress(device, true, &state, &err), -EDOM, "%s: it stays in error",
	           name);
	tap_contains(err.text, "the square root of a loss", "%s: and goes on saying why", name);
	tap_is_int(device_query(early, NULL, NULL, NULL), -EDOM,
	           "%s: also about events that had ended", name);
	tap_is_int(device_launch(other, count_calls, &n_calls, 0, NULL), -EDOM,
	           "%s: nothing can be issued any more", name);
	tap_is_int(device_wait(other, fixture_event(device), NULL), -EDOM, "%s: not even a wait",
	           name);
	tap_is_int(n_calls, 0, "%s: and nothing was", name);
}

/* The sanitizers say what closing leaves behind. */
static void check_close(const struct device_ops *ops)
{
	struct device *device = fixture_open(ops->name, 0, 1, NULL);
	struct device_stream *stream = fixture_stream(device), *other = fixture_stream(device);
	/* A driver's queues have an end, and who issues behind a hold then would wait for ever. */
	int n_calls = device->has_own_memory ? 100 : 1000;
	struct log log = {0};
	struct entry entry = {&log, 1};
	struct device_state state;
	struct device_event *event;
	int64_t began_ns;

	(void)device_alloc(device, 100, false);
	(void)device_hold(stream, new_flag(device), NULL);
	event = fixture_record(stream);
	(void)device_record(event, stream, NULL);
	(void)device_wait(other, event, NULL);
	for (int i = 0; i < n_calls; i++)
		(void)device_call(stream, note, &entry, NULL);
	(void)device_progress(device, true, &state, NULL);
	began_ns = clock_monotonic_ns();
	device_close(device);
	tap_ok(clock_monotonic_ns() - began_ns < (int64_t)(5e9 * slowness_of_machine()),
	       "%s: closing does not wait for what has not begun", ops->name);
	device_close(NULL);
}

static void check_device(const struct device_ops *ops)
{
	static void (*const checks[])(struct device *, const char *) = {
		check_memory, check_order,          check_copies, check_hold, check_wait,
		check_event,  check_recorded_again, check_times,  check_idle, check_bad_issue,
	};
	struct device *device = fixture_open(ops->name, 0, 1, NULL);

	if (!device)
		return;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](device, ops->name);
	if (device->runs_kernels)
		check_error(device, ops->name);
	device_close(device);
	check_close(ops);
}

static void check_issue_queues(const struct device_ops *ops, int n_issue_queues)
{
	struct device *device = fixture_open(ops->name, n_issue_queues, 1, NULL);

	if (!device)
		return;
	check_streams(device, ops->name, n_issue_queues);
	device_close(device);
}

int main(void)
{
	const struct device_ops *const *list = device_list(), *none = NULL;
	struct err err = {0};

	for (int i = 0; list[i]; i++) {
		check_table(list[i]);
		check_refused(list[i], 0, 1);
		check_refused(list[i], -1, 1);
		check_refused(list[i], 1.0 / 0.0, 1);
		check_refused(list[i], 1, -1);
		check_device(list[i]);
		check_issue_queues(list[i], 0);
		check_issue_queues(list[i], 1);
		check_issue_queues(list[i], 2);
	}
	tap_is_int(device_find("pased", &none, &err), -ENOENT, "an unknown device is refused");
	tap_contains(err.text, "did you mean 'paced'", "with the nearest name");
	tap_is_int(device_find("tpu", &none, &err), -ENOENT, "and one that is like none");
	tap_contains(err.text, "paced, cpu, null", "with those there are");
	tap_ok(!none, "nothing is given then");
	return tap_done();
}
