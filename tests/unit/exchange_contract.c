/* exchange_contract.c - what every exchange does, over every device that it takes.
 *
 * Both ends of a link, or of two, are in this one thread: nothing here may wait for the other end.
 * What is sent and received is looked at after it was copied to the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/exchange_case.h"
#include "tests/unit/device_fixture.h"

enum { SMALL_BYTES = 1000, LARGE_BYTES = EXCHANGE_CASE_BYTES / 2, N_POSTS = 20 };

static void check_meeting(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open(exchanges, devices, 2);
	struct exchange_case_stage *low = &c.stages[0], *high = &c.stages[1];
	const struct exchange_part part = {.is_send = true, .memory = low->own, .n_bytes = 1};
	const struct exchange_part parts[EXCHANGE_PARTS_MAX + 1] = {{0}};
	struct err err = {0};

	tap_is_int(exchange_post(low->behind, low->stream, &part, 1, &err), -EAGAIN,
	           "nothing can be posted before both ends have met: %s", err.text);
	exchange_case_meet(&c);
	tap_is_int(exchange_progress(low->behind, &err), 1, "who has met stays so");
	tap_is_int(exchange_progress(high->before, &err), 1, "at both ends");
	tap_is_int(exchange_post(low->behind, low->stream, parts, 0, &err), -EINVAL,
	           "a post of nothing is refused: %s", err.text);
	tap_is_int(exchange_post(low->behind, low->stream, parts, EXCHANGE_PARTS_MAX + 1, &err),
	           -EINVAL, "so is one of too many parts: %s", err.text);
	exchange_case_close(&c);
}

static void check_way(const struct exchange_ops *exchanges, const struct device_ops *devices,
                      size_t n_bytes, bool is_up)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_case_stage *from = &c.stages[!is_up], *to = &c.stages[is_up];

	exchange_case_put(from, 0, n_bytes, 1);
	exchange_case_send(is_up ? from->behind : from->before, from, 0, n_bytes);
	exchange_case_receive(is_up ? to->before : to->behind, to, 0, n_bytes);
	tap_ok(exchange_case_finish(&c, exchange_case_get(to, 0, n_bytes)), "%zu bytes go %s",
	       n_bytes, is_up ? "to the stage behind" : "back");
	tap_ok(exchange_case_holds(to, 0, n_bytes, 1), "and are the same there");
	exchange_case_close(&c);
}

/* Both ways, some parts large, in one post. */
static void check_both_ways(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	static const size_t part_bytes[] = {LARGE_BYTES / 4, 1, LARGE_BYTES / 8, 4096};
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_part parts[2][EXCHANGE_PARTS_MAX];
	size_t at = 0;
	bool is_right = true;

	for (int k = 0; k < 4; k++, at += LARGE_BYTES / 4)
		for (int i = 0; i < 2; i++) {
			struct exchange_case_stage *stage = &c.stages[i];

			exchange_case_put(stage, at, part_bytes[k], 10 * i + k);
			parts[i][k] = (struct exchange_part){true, stage->own + at, part_bytes[k]};
			parts[i][4 + k] = (struct exchange_part){
				false, stage->own + LARGE_BYTES + at, part_bytes[k]};
		}
	exchange_case_post(c.stages[0].behind, c.stages[0].stream, parts[0], 8);
	exchange_case_post(c.stages[1].before, c.stages[1].stream, parts[1], 8);
	for (int i = 0; i < 2; i++)
		tap_ok(exchange_case_finish(&c, exchange_case_get(&c.stages[i], LARGE_BYTES,
		                                                  LARGE_BYTES)),
		       "stage %d sends and receives in one post", i);
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 2; i++)
			is_right &= exchange_case_holds(&c.stages[i],
			                                LARGE_BYTES + (size_t)k * (LARGE_BYTES / 4),
			                                part_bytes[k], 10 * !i + k);
	tap_ok(is_right, "every part is where it belongs");
	exchange_case_close(&c);
}

/* A stream stands at a post until the other end posts; others go on. */
static void check_standing(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_case_stage *low = &c.stages[0], *high = &c.stages[1];
	struct device_stream *other = fixture_stream(high->device);
	struct device_event *received;

	exchange_case_receive(high->before, high, 0, SMALL_BYTES);
	received = fixture_record(high->stream);
	tap_ok(fixture_stands(received), "a stream stands until the other end posts");
	tap_ok(exchange_case_finish(&c, fixture_record(other)), "another stream goes on");
	exchange_case_put(low, 0, SMALL_BYTES, 3);
	exchange_case_send(low->behind, low, 0, SMALL_BYTES);
	tap_ok(exchange_case_finish(&c, received), "and it goes on as well when that has posted");
	exchange_case_close(&c);
}

/* Posts meet in their order, on whichever streams; each sends what was there before it. */
static void check_order(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_case_stage *low = &c.stages[0], *high = &c.stages[1];
	struct device_stream *streams[2] = {high->stream, fixture_stream(high->device)};
	struct device_event *received[2];
	bool is_right = true;

	for (int k = 0; k < N_POSTS; k++) {
		exchange_case_put(low, (size_t)k * SMALL_BYTES, SMALL_BYTES, k);
		exchange_case_send(low->behind, low, (size_t)k * SMALL_BYTES, SMALL_BYTES);
	}
	for (int k = 0; k < N_POSTS; k++) {
		high->stream = streams[k % 2];
		exchange_case_receive(high->before, high, (size_t)k * SMALL_BYTES, SMALL_BYTES);
		received[k % 2] = exchange_case_get(high, (size_t)k * SMALL_BYTES, SMALL_BYTES);
	}
	for (int i = 0; i < 2; i++)
		tap_ok(exchange_case_finish(&c, received[i]),
		       "stream %d has received all of its posts", i);
	for (int k = 0; k < N_POSTS; k++)
		is_right &= exchange_case_holds(high, (size_t)k * SMALL_BYTES, SMALL_BYTES, k);
	tap_ok(is_right, "the k-th post has met the k-th");
	exchange_case_close(&c);
}

/* A stage in the middle hands on what it receives; its exchanges are used side by side. */
static void check_chain(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 3);
	struct exchange_case_stage *first = &c.stages[0], *middle = &c.stages[1];
	struct exchange_case_stage *last = &c.stages[2];

	exchange_case_receive(middle->before, middle, 0, LARGE_BYTES);
	exchange_case_send(middle->behind, middle, 0, LARGE_BYTES);
	exchange_case_receive(last->before, last, 0, LARGE_BYTES);
	exchange_case_put(first, 0, LARGE_BYTES, 7);
	exchange_case_send(first->behind, first, 0, LARGE_BYTES);
	tap_ok(exchange_case_finish(&c, exchange_case_get(last, 0, LARGE_BYTES)),
	       "a tensor goes through three stages");
	tap_ok(exchange_case_holds(last, 0, LARGE_BYTES, 7), "and is the same behind them");
	exchange_abort(middle->before);
	exchange_case_receive(last->before, last, 0, SMALL_BYTES);
	exchange_case_put(middle, 0, SMALL_BYTES, 8);
	exchange_case_send(middle->behind, middle, 0, SMALL_BYTES);
	tap_ok(exchange_case_finish(&c, exchange_case_get(last, 0, SMALL_BYTES)),
	       "one exchange of a stage goes on when the other is aborted");
	tap_ok(exchange_case_holds(last, 0, SMALL_BYTES, 8), "as before");
	exchange_case_close(&c);
}

/* Who has aborted is told when that is over. */
static bool sees_over(struct exchange *exchange)
{
	int64_t end_ns = exchange_case_deadline_ns();
	int rc;

	while ((rc = exchange_progress(exchange, NULL)) == 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	return rc == 1;
}

static void check_abort(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_case_stage *low = &c.stages[0], *high = &c.stages[1];
	struct device_event *events[2];
	struct err err = {0}, again = {0};
	const struct exchange_part part = {.is_send = true, .memory = low->own, .n_bytes = 1};

	exchange_case_receive(high->before, high, 0, SMALL_BYTES);
	events[1] = fixture_record(high->stream);
	exchange_abort(high->before);
	tap_ok(exchange_case_finish(&c, events[1]),
	       "what stands ends when its exchange is aborted");
	tap_ok(sees_over(high->before), "which is over some time");
	tap_is_int(exchange_case_see_end(low->behind, &err), -ENETDOWN, "the other end sees it: %s",
	           err.text);
	tap_contains(err.text, "stage 0", "and names itself");
	tap_contains(err.text, "stage 1", "and the stage that is gone");
	tap_is_int(exchange_post(low->behind, low->stream, &part, 1, &again), -ENETDOWN,
	           "it takes no post any more");
	tap_is_str(again.text, err.text, "for the same reason");
	exchange_case_close(&c);
}

/* A stream that stands before a post does not keep who aborts. */
static void check_late_abort(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_case_stage *high = &c.stages[1];
	struct device_flag *flag = device_alloc(high->device, sizeof(*flag), true);
	struct device_event *event;
	struct err err = {0};

	tap_is_int(device_hold(high->stream, flag, &err), 0, "a stream is held: %s", err.text);
	exchange_case_receive(high->before, high, 0, SMALL_BYTES);
	event = fixture_record(high->stream);
	exchange_abort(high->before);
	tap_ok(fixture_stands(event), "who aborts does not wait for a stream that is held");
	tap_ok(sees_over(high->before), "for that nobody is to wait, either");
	device_flag_set(flag, clock_monotonic_ns());
	tap_ok(exchange_case_finish(&c, event), "which later passes what was aborted");
	exchange_case_close(&c);
}

static void check_closing(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = exchange_case_open_met(exchanges, devices, 2);
	struct exchange_case_stage *high = &c.stages[1];
	struct device_event *event;

	exchange_case_receive(high->before, high, 0, SMALL_BYTES);
	event = fixture_record(high->stream);
	exchange_close(high->before);
	high->before = NULL;
	tap_ok(exchange_case_finish(&c, event), "what stands ends when its exchange is closed");
	exchange_case_close(&c);
}

static void check_nobody(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct exchange_case c = {exchanges, devices, 2, {{0}}};
	struct exchange_id id = exchange_case_make_id(&c), other = exchange_case_make_id(&c);
	int64_t end_ns = clock_monotonic_ns() + 10 * NS_PER_MS;
	struct err err = {0};
	int rc;

	tap_ok(memcmp(&id, &other, sizeof(id)) != 0, "two ids are not the same");
	for (int i = 0; i < 2; i++)
		(void)exchange_case_open_stage(&c, i);
	c.stages[0].behind = exchange_case_open_end(&c, 0, 1, &id);
	while ((rc = exchange_progress(c.stages[0].behind, &err)) == 0 &&
	       clock_monotonic_ns() < end_ns)
		;
	tap_is_int(rc, 0, "who is alone waits: %s", err.text);
	exchange_abort(c.stages[0].behind);
	c.stages[1].before = exchange_case_open_end(&c, 1, 0, &other);
	exchange_case_close(&c);
}

static void check_pair(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	check_meeting(exchanges, devices);
	for (int is_up = 0; is_up < 2; is_up++) {
		check_way(exchanges, devices, 1, is_up);
		check_way(exchanges, devices, LARGE_BYTES, is_up);
	}
	check_both_ways(exchanges, devices);
	check_standing(exchanges, devices);
	check_order(exchanges, devices);
	check_abort(exchanges, devices);
	check_late_abort(exchanges, devices);
	check_closing(exchanges, devices);
	check_nobody(exchanges, devices);
}

/* The device decides, and the reason is said. */
static bool can(const struct exchange_ops *exchanges, struct device *device, int n_stages)
{
	struct err err = {0};
	int rc = exchanges->check(device, n_stages, &err);

	if (rc == 0)
		return true;
	tap_is_int(rc, -ENODEV, "%s over %s, %d stages: %s", exchanges->name, device->ops->name,
	           n_stages, err.text);
	tap_skip("%s over %s, %d stages: %s", exchanges->name, device->ops->name, n_stages,
	         err.text);
	return false;
}

static void check_over(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct err err = {0};
	struct device *device = exchange_case_open_device(devices, 0, &err);
	bool can_two, can_three;

	if (!device) {
		tap_skip("%s over %s: %s", exchanges->name, devices->name, err.text);
		return;
	}
	can_two = can(exchanges, device, 2);
	can_three = can_two && can(exchanges, device, 3);
	device_close(device);
	if (can_two)
		check_pair(exchanges, devices);
	if (can_three)
		check_chain(exchanges, devices);
}

static void check_exchanges(const struct exchange_ops *exchanges)
{
	const struct exchange_ops *found = NULL;
	char version[EXCHANGE_VERSION_BYTES];
	struct err err = {0};
	int rc = exchanges->version(version, &err);

	tap_ok(rc == 0 || rc == -ENODEV, "%s is %s", exchanges->name, rc ? err.text : version);
	tap_is_int(exchange_find(exchanges->name, &found, &err), 0, "it is found");
	tap_ok(found == exchanges, "by its name");
	for (const struct device_ops *const *devices = device_list(); *devices; devices++)
		check_over(exchanges, *devices);
}

int main(void)
{
	const struct exchange_ops *found;
	struct err err = {0};

	/* Where the double of CUDA stands for it, it has so many GPUs. */
	(void)setenv("CUDA_DOUBLE_GPUS", "4", 0);
	tap_is_int(exchange_find("pigeon", &found, &err), -ENOENT, "an exchange that is not: %s",
	           err.text);
	if (!*exchange_list())
		tap_is_int(exchange_find("nccl", &found, &err), -ENOTSUP, "left out: %s", err.text);
	for (const struct exchange_ops *const *ops = exchange_list(); *ops; ops++)
		check_exchanges(*ops);
	return tap_done();
}
