/* device_progress.c - what one call of device_progress() does and does not, and what callbacks may.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "tests/unit/device_fixture.h"

enum { MANY = 1000 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool has_own_allocator = false;
#else
static const bool has_own_allocator = true;
#endif

static int count(void *argument, struct err *err)
{
	(void)err;
	++*(int *)argument;
	return 0;
}

static struct device_state progress(struct device *device, bool may_compute)
{
	struct device_state state = {0};
	struct err err = {0};

	if (device_progress(device, may_compute, &state, &err))
		tap_ok(false, "progress is made: %s", err.text);
	return state;
}

static int64_t scheduled_ns(struct device_event *event)
{
	int64_t at_ns = -1;

	return device_query(event, &at_ns, NULL, NULL) == 1 ? at_ns : -1;
}

static void check_leave_to_compute(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 1, &clock);
	struct device_stream *first = fixture_stream(device), *second = fixture_stream(device);
	struct device_event *beside;
	int n_first = 0, n_second = 0;
	struct device_state state;

	device_issue_as_of(device, 20);
	(void)device_launch(first, count, &n_first, 100, NULL);
	device_issue_as_of(device, 10);
	(void)device_launch(second, count, &n_second, 100, NULL);
	beside = fixture_record(fixture_stream(device));
	clock = 50;
	state = progress(device, false);
	tap_ok(n_first + n_second == 0, "without leave nothing is computed");
	tap_is_int(scheduled_ns(beside), 10, "but other streams go on");
	tap_is_int(state.ready_ns, 10, "the computation that comes first is told");
	tap_is_int(state.next_ns, 10, "and is due");
	state = progress(device, true);
	tap_ok(n_first == 0 && n_second == 1, "with leave one is computed, the first by schedule");
	tap_is_int(state.ready_ns, 20, "the other comes next");
	state = progress(device, true);
	tap_ok(n_first == 1 && n_second == 1, "and is computed by the next call");
	tap_is_int(state.ready_ns, INT64_MAX, "then there is none");
	tap_is_int(state.next_ns, 110, "the next moment is the first end");
	device_close(device);
}

static void check_large_copies(const char *name)
{
	int64_t clock = 0;
	struct device *device = fixture_open(name, 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	char *from = device_alloc(device, DEVICE_COPY_SMALL_BYTES + 1, true);
	char *to = device_alloc(device, DEVICE_COPY_SMALL_BYTES + 1, true);
	struct device_event *small, *large;

	from[DEVICE_COPY_SMALL_BYTES] = 1;
	(void)device_copy(stream, to, from, DEVICE_COPY_SMALL_BYTES, NULL);
	small = fixture_record(stream);
	(void)device_copy(stream, to, from, DEVICE_COPY_SMALL_BYTES + 1, NULL);
	large = fixture_record(stream);
	(void)progress(device, false);
	tap_is_int(scheduled_ns(small), 0, "%s: a small copy needs no leave to compute", name);
	tap_is_int(scheduled_ns(large), -1, "%s: a large one does", name);
	tap_is_int(to[DEVICE_COPY_SMALL_BYTES], 0, "%s: and is not begun without", name);
	(void)progress(device, true);
	tap_is_int(scheduled_ns(large), 0, "%s: it is made with leave", name);
	tap_is_int(to[DEVICE_COPY_SMALL_BYTES], 1, "%s: to its last byte", name);
	device_close(device);
}

/* What a callback does, and what came of it. */
struct issuer {
	struct device *device;
	struct device_stream *stream;
	struct device_event *end;
	struct device_flag flag;
	int n_left;
	int rc;
	struct err err;
};

/* Issues an op and itself again behind it: a chain as long as n_left. */
static void issue_again(void *argument)
{
	struct issuer *issuer = argument;

	if (issuer->n_left-- == 0)
		return;
	(void)device_launch(issuer->stream, NULL, NULL, 10, NULL);
	(void)device_call(issuer->stream, issue_again, issuer, NULL);
	(void)device_record(issuer->end, issuer->stream, NULL);
}

static void check_chain(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("null", 0, 1, &clock);
	struct issuer issuer = {.device = device, .n_left = MANY};

	issuer.stream = fixture_stream(device);
	issuer.end = fixture_event(device);
	(void)device_call(issuer.stream, issue_again, &issuer, NULL);
	clock = 1000000;
	(void)progress(device, true);
	tap_is_int(issuer.n_left, -1, "callbacks issue callbacks, all in one call when due");
	tap_is_int(scheduled_ns(issuer.end), 10 * MANY, "as of the moment they belong to");
	device_close(device);
}

/* Grows the ring its own item came from, and the list of queues. */
static void issue_many(void *argument)
{
	struct issuer *issuer = argument;

	for (int i = 0; i < MANY; i++) {
		struct device_stream *stream = fixture_stream(issuer->device);

		(void)device_launch(issuer->stream, NULL, NULL, 1, NULL);
		(void)device_wait(stream, issuer->end, NULL);
		(void)device_record(issuer->end, stream, NULL);
	}
	(void)device_record(issuer->end, issuer->stream, NULL);
}

static void check_growth(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("null", 0, 1, &clock);
	struct issuer issuer = {.device = device};

	issuer.stream = fixture_stream(device);
	issuer.end = fixture_event(device);
	(void)device_call(issuer.stream, issue_many, &issuer, NULL);
	(void)progress(device, true);
	clock = MANY;
	(void)progress(device, true);
	tap_is_int(scheduled_ns(issuer.end), MANY, "a callback issues more than there is room for");
	device_close(device);
}

static void call_progress(void *argument)
{
	struct issuer *issuer = argument;
	struct device_state state;

	issuer->rc = device_progress(issuer->device, true, &state, &issuer->err);
}

static void check_nested(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("cpu", 0, 1, &clock);
	struct issuer issuer = {.device = device};
	struct device_event *end;

	issuer.stream = fixture_stream(device);
	(void)device_call(issuer.stream, call_progress, &issuer, NULL);
	end = fixture_record(issuer.stream);
	(void)progress(device, true);
	tap_is_int(issuer.rc, -EBUSY, "progress within progress is refused");
	tap_ok(issuer.err.text[0], "with a reason: %s", issuer.err.text);
	tap_is_int(scheduled_ns(end), 0, "and hurts nothing");
	device_close(device);
}

static void set_flag(void *argument)
{
	struct issuer *issuer = argument;

	device_flag_set(&issuer->flag, 70);
}

static void check_flag_from_callback(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 1, &clock);
	struct device_stream *held = fixture_stream(device), *other = fixture_stream(device);
	struct issuer issuer = {.device = device};
	struct device_event *end;

	(void)device_hold(held, &issuer.flag, NULL);
	end = fixture_record(held);
	(void)device_call(other, set_flag, &issuer, NULL);
	clock = 100;
	(void)progress(device, false);
	tap_is_int(scheduled_ns(end), 70, "a flag that a callback sets is seen in the same call");
	device_close(device);
}

struct moments {
	int64_t order[MANY];
	int n;
};

struct moment {
	struct moments *moments;
	int64_t at_ns;
};

static void note_moment(void *argument)
{
	const struct moment *moment = argument;

	moment->moments->order[moment->moments->n++] = moment->at_ns;
}

/* Streams are looked at in the order they were made; what they do comes in the order of time. */
static void check_order_of_time(void)
{
	static struct moments moments;
	static struct moment all[MANY];
	int64_t clock = 0;
	struct device *device = fixture_open("null", 0, 1, &clock);
	struct device_stream *streams[5];
	int n_sorted = 0, n = 0;

	for (int s = 0; s < 5; s++)
		streams[s] = fixture_stream(device);
	for (int i = 0; i < MANY / 5; i++)
		for (int s = 0; s < 5; s++) {
			all[n] = (struct moment){&moments, (int64_t)(i + 1) * (7 - s)};
			(void)device_launch(streams[s], NULL, NULL, 7 - s, NULL);
			(void)device_call(streams[s], note_moment, &all[n++], NULL);
		}
	clock = 1000000;
	(void)progress(device, true);
	for (int i = 1; i < moments.n; i++)
		n_sorted += moments.order[i - 1] <= moments.order[i];
	tap_is_int(moments.n, MANY, "one call makes up for a long silence");
	tap_is_int(n_sorted, MANY - 1, "in the order of time over all streams");
	device_close(device);
}

struct counting_clock {
	int64_t at_ns;
	int n_reads;
};

static int64_t counting_ns(void *context)
{
	struct counting_clock *clock = context;

	clock->n_reads++;
	return clock->at_ns;
}

static void check_idle(void)
{
	struct counting_clock clock = {0};
	const struct device_config config = {
		.speed = 1, .clock_ns = counting_ns, .clock_context = &clock};
	const struct device_ops *ops;
	struct device *device;
	struct device_flag flag = {0};
	struct device_state state;

	if (device_find("paced", &ops, NULL) || ops->open(&config, &device, NULL)) {
		tap_ok(false, "a device on a counting clock opens");
		return;
	}
	state = progress(device, true);
	tap_ok(state.is_idle && state.next_ns == INT64_MAX, "a device without streams is idle");
	(void)device_hold(fixture_stream(device), &flag, NULL);
	state = progress(device, true);
	tap_ok(!state.is_idle && state.next_ns == INT64_MAX, "one that stands has no next moment");
	clock.n_reads = 0;
	for (int i = 0; i < 10; i++)
		(void)progress(device, true);
	tap_is_int(clock.n_reads, 0, "and does not even ask for the time");
	device_flag_set(&flag, 5);
	state = progress(device, true);
	tap_ok(state.is_idle, "until its flag is set");
	device_close(device);
}

static int fail(void *argument, struct err *err)
{
	(void)err;
	return *(int *)argument;
}

static void check_kernel_without_words(int rc, int want)
{
	int64_t clock = 0;
	struct device *device = fixture_open("cpu", 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device);
	struct device_state state = {.next_ns = 77};
	struct err err = {0};
	int n_calls = 0;

	(void)device_launch(stream, fail, &rc, 0, NULL);
	(void)device_launch(stream, count, &n_calls, 0, NULL);
	tap_is_int(device_progress(device, true, &state, &err), want,
	           "a kernel that returns %d is an error", rc);
	tap_contains(err.text, "no reason", "that has a sentence all the same");
	tap_is_int(state.next_ns, 77, "no state is given then");
	err.text[0] = '\0';
	tap_is_int(device_call(stream, set_flag, NULL, &err), want, "nothing more is issued");
	tap_is_int(device_progress(device, true, &state, &err), want, "no more progress is made");
	tap_is_int(n_calls, 0, "and nothing more runs");
	device_close(device);
}

static void issue_round(struct device_stream *stream, struct device_stream *other,
                        struct device_event *event, char *buffer)
{
	(void)device_launch(stream, NULL, NULL, 10, NULL);
	(void)device_record(event, stream, NULL);
	(void)device_wait(other, event, NULL);
	(void)device_copy(other, buffer, buffer + 8, 8, NULL);
	(void)device_record(event, other, NULL);
}

static void check_no_allocation(void)
{
	int64_t clock = 0;
	struct device *device = fixture_open("paced", 0, 1, &clock);
	struct device_stream *stream = fixture_stream(device), *other = fixture_stream(device);
	struct device_event *event = fixture_event(device);
	char buffer[16] = "";
	size_t used_bytes = 0;

	for (int round = 0; round < 20 * MANY; round++) {
		if (round == 100)
			used_bytes = mallinfo2().uordblks;
		issue_round(stream, other, event, buffer);
		while (!progress(device, true).is_idle)
			clock += 10;
	}
	if (has_own_allocator)
		tap_is_int((int64_t)(mallinfo2().uordblks - used_bytes), 0,
		           "once warm, issuing and ending allocate nothing");
	else
		tap_skip("a sanitizer's allocator does not say what is in use");
	tap_is_int(device_query(event, NULL, NULL, NULL), 1, "one event serves for many rounds");
	device_close(device);
}

int main(void)
{
	check_leave_to_compute();
	check_large_copies("paced");
	check_large_copies("null");
	check_chain();
	check_growth();
	check_nested();
	check_flag_from_callback();
	check_order_of_time();
	check_idle();
	check_kernel_without_words(-EPROTO, -EPROTO);
	check_kernel_without_words(3, -EIO);
	check_no_allocation();
	return tap_done();
}
