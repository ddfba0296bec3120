/* exchange_contract.c - what every exchange does, over every device that it takes.
 *
 * Both ends of a link, or of two, are in this one thread: nothing here may wait for the other end.
 * What is sent and received is looked at after it was copied to the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/transport/exchange.h"
#include "tests/unit/device_fixture.h"

enum { STAGES_MAX = 3, SMALL_BYTES = 1000, LARGE_BYTES = 3 << 20, N_POSTS = 20 };

/* A stage, with the exchange with the stage before it and with the one behind it. */
struct stage {
	struct device *device;
	struct device_stream *stream;
	struct exchange *before, *behind;
	unsigned char *host, *own;
};

struct bench {
	const struct exchange_ops *exchanges;
	const struct device_ops *devices;
	int n_stages;
	struct stage stages[STAGES_MAX];
};

static int64_t deadline_ns(void)
{
	return clock_monotonic_ns() + (int64_t)(20e9 * slowness_of_machine());
}

static struct device *open_device(const struct device_ops *ops, int unit, struct err *err)
{
	const struct device_config config = {.speed = 1, .unit = unit};
	struct device *device = NULL;

	return ops->open(&config, &device, err) ? NULL : device;
}

static bool open_stage(struct bench *bench, int i)
{
	struct stage *stage = &bench->stages[i];
	struct err err = {0};

	stage->device = open_device(bench->devices, i, &err);
	if (!stage->device)
		return tap_ok(false, "a device opens: %s", err.text);
	stage->stream = fixture_stream(stage->device);
	stage->host = device_alloc(stage->device, 2 * (size_t)LARGE_BYTES, true);
	stage->own = device_alloc(stage->device, 2 * (size_t)LARGE_BYTES, false);
	return true;
}

static struct exchange *open_end(struct bench *bench, int stage, int peer,
                                 const struct exchange_id *id)
{
	const struct exchange_config config = {bench->stages[stage].device, stage, peer, *id};
	struct exchange *exchange = NULL;
	struct err err = {0};

	if (bench->exchanges->open(&config, &exchange, &err))
		tap_ok(false, "an exchange opens: %s", err.text);
	return exchange;
}

static struct exchange_id make_id(const struct bench *bench)
{
	struct exchange_id id = {0};
	struct err err = {0};

	if (bench->exchanges->make_id(&id, &err))
		tap_ok(false, "an id is made: %s", err.text);
	return id;
}

/* Every exchange says 1, or one its error. */
static int progress_all(struct bench *bench, struct err *err)
{
	int n_ready = 0, n_all = 0;

	for (int i = 0; i < bench->n_stages; i++) {
		struct exchange *ends[] = {bench->stages[i].before, bench->stages[i].behind};

		for (int k = 0; k < 2; k++) {
			int rc = ends[k] ? exchange_progress(ends[k], err) : 0;

			if (rc < 0)
				return rc;
			n_all += ends[k] != NULL;
			n_ready += rc;
		}
	}
	return n_ready == n_all;
}

static void meet(struct bench *bench)
{
	int64_t end_ns = deadline_ns();
	struct err err = {0};
	int rc;

	while ((rc = progress_all(bench, &err)) == 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	if (rc != 1)
		tap_ok(false, "all meet: %s", err.text);
}

static struct bench open_bench(const struct exchange_ops *exchanges,
                               const struct device_ops *devices, int n_stages)
{
	struct bench bench = {exchanges, devices, n_stages, {{0}}};

	for (int i = 0; i < n_stages; i++)
		(void)open_stage(&bench, i);
	for (int i = 0; i + 1 < n_stages; i++) {
		struct exchange_id id = make_id(&bench);

		bench.stages[i].behind = open_end(&bench, i, i + 1, &id);
		bench.stages[i + 1].before = open_end(&bench, i + 1, i, &id);
	}
	return bench;
}

static struct bench open_met(const struct exchange_ops *exchanges, const struct device_ops *devices,
                             int n_stages)
{
	struct bench bench = open_bench(exchanges, devices, n_stages);

	meet(&bench);
	return bench;
}

static void close_bench(struct bench *bench)
{
	for (int i = 0; i < bench->n_stages; i++) {
		exchange_close(bench->stages[i].before);
		exchange_close(bench->stages[i].behind);
	}
	for (int i = 0; i < bench->n_stages; i++)
		device_close(bench->stages[i].device);
}

/* Whether it ends within the usual limit, while all devices go on. */
static bool finish(struct bench *bench, struct device_event *event)
{
	int64_t end_ns = deadline_ns();
	struct device_state state;
	int rc;

	do {
		for (int i = 0; i < bench->n_stages; i++)
			(void)device_progress(bench->stages[i].device, true, &state, NULL);
		rc = device_query(event, NULL, NULL, NULL);
	} while (rc == 0 && clock_monotonic_ns() < end_ns);
	return rc == 1;
}

static unsigned char byte_at(size_t i, int seed)
{
	return (unsigned char)(i * 31 + i / 256 + (size_t)seed);
}

/* From the host's memory to the device's, at the same place; ends in stream order. */
static void put(struct stage *stage, size_t at, size_t n_bytes, int seed)
{
	struct err err = {0};

	for (size_t i = 0; i < n_bytes; i++)
		stage->host[at + i] = byte_at(i, seed);
	if (device_copy(stage->stream, stage->own + at, stage->host + at, n_bytes, &err))
		tap_ok(false, "what is sent is copied: %s", err.text);
}

static struct device_event *get(struct stage *stage, size_t at, size_t n_bytes)
{
	struct err err = {0};

	if (device_copy(stage->stream, stage->host + at, stage->own + at, n_bytes, &err))
		tap_ok(false, "what was received is copied: %s", err.text);
	return fixture_record(stage->stream);
}

static bool holds(const struct stage *stage, size_t at, size_t n_bytes, int seed)
{
	size_t i = 0;

	while (i < n_bytes && stage->host[at + i] == byte_at(i, seed))
		i++;
	return i == n_bytes;
}

static void post(struct exchange *exchange, struct device_stream *stream,
                 const struct exchange_part *parts, size_t n)
{
	struct err err = {0};

	if (exchange_post(exchange, stream, parts, n, &err))
		tap_ok(false, "a post is taken: %s", err.text);
}

static void send_bytes(struct exchange *exchange, struct stage *stage, size_t at, size_t n_bytes)
{
	const struct exchange_part part = {
		.is_send = true, .memory = stage->own + at, .n_bytes = n_bytes};

	post(exchange, stage->stream, &part, 1);
}

static void receive_bytes(struct exchange *exchange, struct stage *stage, size_t at, size_t n_bytes)
{
	const struct exchange_part part = {.memory = stage->own + at, .n_bytes = n_bytes};

	post(exchange, stage->stream, &part, 1);
}

static void check_meeting(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = open_bench(exchanges, devices, 2);
	struct stage *low = &bench.stages[0], *high = &bench.stages[1];
	const struct exchange_part part = {.is_send = true, .memory = low->own, .n_bytes = 1};
	const struct exchange_part parts[EXCHANGE_PARTS_MAX + 1] = {{0}};
	struct err err = {0};

	tap_is_int(exchange_post(low->behind, low->stream, &part, 1, &err), -EAGAIN,
	           "nothing can be posted before both ends have met: %s", err.text);
	meet(&bench);
	tap_is_int(exchange_progress(low->behind, &err), 1, "who has met stays so");
	tap_is_int(exchange_progress(high->before, &err), 1, "at both ends");
	tap_is_int(exchange_post(low->behind, low->stream, parts, 0, &err), -EINVAL,
	           "a post of nothing is refused: %s", err.text);
	tap_is_int(exchange_post(low->behind, low->stream, parts, EXCHANGE_PARTS_MAX + 1, &err),
	           -EINVAL, "so is one of too many parts: %s", err.text);
	close_bench(&bench);
}

static void check_way(const struct exchange_ops *exchanges, const struct device_ops *devices,
                      size_t n_bytes, bool is_up)
{
	struct bench bench = open_met(exchanges, devices, 2);
	struct stage *from = &bench.stages[!is_up], *to = &bench.stages[is_up];

	put(from, 0, n_bytes, 1);
	send_bytes(is_up ? from->behind : from->before, from, 0, n_bytes);
	receive_bytes(is_up ? to->before : to->behind, to, 0, n_bytes);
	tap_ok(finish(&bench, get(to, 0, n_bytes)), "%zu bytes go %s", n_bytes,
	       is_up ? "to the stage behind" : "back");
	tap_ok(holds(to, 0, n_bytes, 1), "and are the same there");
	close_bench(&bench);
}

/* Both ways, some parts large, in one post. */
static void check_both_ways(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	static const size_t part_bytes[] = {LARGE_BYTES / 4, 1, LARGE_BYTES / 8, 4096};
	struct bench bench = open_met(exchanges, devices, 2);
	struct exchange_part parts[2][EXCHANGE_PARTS_MAX];
	size_t at = 0;
	bool is_right = true;

	for (int k = 0; k < 4; k++, at += LARGE_BYTES / 4)
		for (int i = 0; i < 2; i++) {
			struct stage *stage = &bench.stages[i];

			put(stage, at, part_bytes[k], 10 * i + k);
			parts[i][k] = (struct exchange_part){true, stage->own + at, part_bytes[k]};
			parts[i][4 + k] = (struct exchange_part){
				false, stage->own + LARGE_BYTES + at, part_bytes[k]};
		}
	post(bench.stages[0].behind, bench.stages[0].stream, parts[0], 8);
	post(bench.stages[1].before, bench.stages[1].stream, parts[1], 8);
	for (int i = 0; i < 2; i++)
		tap_ok(finish(&bench, get(&bench.stages[i], LARGE_BYTES, LARGE_BYTES)),
		       "stage %d sends and receives in one post", i);
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 2; i++)
			is_right &=
				holds(&bench.stages[i], LARGE_BYTES + (size_t)k * (LARGE_BYTES / 4),
			              part_bytes[k], 10 * !i + k);
	tap_ok(is_right, "every part is where it belongs");
	close_bench(&bench);
}

/* A stream stands at a post until the other end posts; others go on. */
static void check_standing(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = open_met(exchanges, devices, 2);
	struct stage *low = &bench.stages[0], *high = &bench.stages[1];
	struct device_stream *other = fixture_stream(high->device);
	struct device_event *received;

	receive_bytes(high->before, high, 0, SMALL_BYTES);
	received = fixture_record(high->stream);
	tap_ok(fixture_stands(received), "a stream stands until the other end posts");
	tap_ok(finish(&bench, fixture_record(other)), "another stream goes on");
	put(low, 0, SMALL_BYTES, 3);
	send_bytes(low->behind, low, 0, SMALL_BYTES);
	tap_ok(finish(&bench, received), "and it goes on as well when that has posted");
	close_bench(&bench);
}

/* Posts meet in their order, on whichever streams; each sends what was there before it. */
static void check_order(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = open_met(exchanges, devices, 2);
	struct stage *low = &bench.stages[0], *high = &bench.stages[1];
	struct device_stream *streams[2] = {high->stream, fixture_stream(high->device)};
	struct device_event *received[2];
	bool is_right = true;

	for (int k = 0; k < N_POSTS; k++) {
		put(low, (size_t)k * SMALL_BYTES, SMALL_BYTES, k);
		send_bytes(low->behind, low, (size_t)k * SMALL_BYTES, SMALL_BYTES);
	}
	for (int k = 0; k < N_POSTS; k++) {
		high->stream = streams[k % 2];
		receive_bytes(high->before, high, (size_t)k * SMALL_BYTES, SMALL_BYTES);
		received[k % 2] = get(high, (size_t)k * SMALL_BYTES, SMALL_BYTES);
	}
	for (int i = 0; i < 2; i++)
		tap_ok(finish(&bench, received[i]), "stream %d has received all of its posts", i);
	for (int k = 0; k < N_POSTS; k++)
		is_right &= holds(high, (size_t)k * SMALL_BYTES, SMALL_BYTES, k);
	tap_ok(is_right, "the k-th post has met the k-th");
	close_bench(&bench);
}

/* A stage in the middle hands on what it receives; its exchanges are used side by side. */
static void check_chain(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = open_met(exchanges, devices, 3);
	struct stage *first = &bench.stages[0], *middle = &bench.stages[1];
	struct stage *last = &bench.stages[2];

	receive_bytes(middle->before, middle, 0, LARGE_BYTES);
	send_bytes(middle->behind, middle, 0, LARGE_BYTES);
	receive_bytes(last->before, last, 0, LARGE_BYTES);
	put(first, 0, LARGE_BYTES, 7);
	send_bytes(first->behind, first, 0, LARGE_BYTES);
	tap_ok(finish(&bench, get(last, 0, LARGE_BYTES)), "a tensor goes through three stages");
	tap_ok(holds(last, 0, LARGE_BYTES, 7), "and is the same behind them");
	close_bench(&bench);
}

/* What progress() says in the end, when the other end has gone. */
static int see_end(struct exchange *exchange, struct err *err)
{
	int64_t end_ns = deadline_ns();
	int rc;

	while ((rc = exchange_progress(exchange, err)) >= 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	return rc;
}

static void check_abort(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = open_met(exchanges, devices, 2);
	struct stage *low = &bench.stages[0], *high = &bench.stages[1];
	struct device_event *events[2];
	struct err err = {0}, again = {0};
	const struct exchange_part part = {.is_send = true, .memory = low->own, .n_bytes = 1};

	receive_bytes(high->before, high, 0, SMALL_BYTES);
	events[1] = fixture_record(high->stream);
	exchange_abort(high->before);
	tap_ok(finish(&bench, events[1]), "what stands ends when its exchange is aborted");
	tap_is_int(see_end(low->behind, &err), -ENETDOWN, "the other end sees it: %s", err.text);
	tap_contains(err.text, "stage 0", "and names itself");
	tap_contains(err.text, "stage 1", "and the stage that is gone");
	tap_is_int(exchange_post(low->behind, low->stream, &part, 1, &again), -ENETDOWN,
	           "it takes no post any more");
	tap_is_str(again.text, err.text, "for the same reason");
	close_bench(&bench);
}

static void check_closing(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = open_met(exchanges, devices, 2);
	struct stage *high = &bench.stages[1];
	struct device_event *event;

	receive_bytes(high->before, high, 0, SMALL_BYTES);
	event = fixture_record(high->stream);
	exchange_close(high->before);
	high->before = NULL;
	tap_ok(finish(&bench, event), "what stands ends when its exchange is closed");
	close_bench(&bench);
}

static void check_nobody(const struct exchange_ops *exchanges, const struct device_ops *devices)
{
	struct bench bench = {exchanges, devices, 2, {{0}}};
	struct exchange_id id = make_id(&bench), other = make_id(&bench);
	int64_t end_ns = clock_monotonic_ns() + 10 * NS_PER_MS;
	struct err err = {0};
	int rc;

	tap_ok(memcmp(&id, &other, sizeof(id)) != 0, "two ids are not the same");
	for (int i = 0; i < 2; i++)
		(void)open_stage(&bench, i);
	bench.stages[0].behind = open_end(&bench, 0, 1, &id);
	while ((rc = exchange_progress(bench.stages[0].behind, &err)) == 0 &&
	       clock_monotonic_ns() < end_ns)
		;
	tap_is_int(rc, 0, "who is alone waits: %s", err.text);
	exchange_abort(bench.stages[0].behind);
	bench.stages[1].before = open_end(&bench, 1, 0, &other);
	close_bench(&bench);
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
	struct device *device = open_device(devices, 0, &err);
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
