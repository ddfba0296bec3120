/* exchange_case.c - stages with devices and exchanges, in one thread. */
#include "tests/exchange_case.h"

#include "tests/tap.h"
#include "tests/unit/device_fixture.h"

int64_t exchange_case_deadline_ns(void)
{
	return clock_monotonic_ns() + (int64_t)(20e9 * slowness_of_machine());
}

struct device *exchange_case_open_device(const struct device_ops *ops, int unit, struct err *err)
{
	const struct device_config config = {.speed = 1, .unit = unit};
	struct device *device = NULL;

	return ops->open(&config, &device, err) ? NULL : device;
}

bool exchange_case_open_stage(struct exchange_case *c, int i)
{
	struct exchange_case_stage *stage = &c->stages[i];
	struct err err = {0};

	stage->device = exchange_case_open_device(c->devices, i, &err);
	if (!stage->device)
		return tap_ok(false, "a device opens: %s", err.text);
	stage->stream = fixture_stream(stage->device);
	stage->host = device_alloc(stage->device, EXCHANGE_CASE_BYTES, true);
	stage->own = device_alloc(stage->device, EXCHANGE_CASE_BYTES, false);
	return true;
}

struct exchange *exchange_case_open_end(struct exchange_case *c, int stage, int peer,
                                        const struct exchange_id *id)
{
	const struct exchange_config config = {c->stages[stage].device, stage, peer, *id};
	struct exchange *exchange = NULL;
	struct err err = {0};

	if (c->exchanges->open(&config, &exchange, &err))
		tap_ok(false, "an exchange opens: %s", err.text);
	return exchange;
}

struct exchange_id exchange_case_make_id(const struct exchange_case *c)
{
	struct exchange_id id = {0};
	struct err err = {0};

	if (c->exchanges->make_id(&id, &err))
		tap_ok(false, "an id is made: %s", err.text);
	return id;
}

/* 1: every exchange says so; an error: one has it. */
static int progress_all(struct exchange_case *c, struct err *err)
{
	int n_ready = 0, n_all = 0;

	for (int i = 0; i < c->n_stages; i++) {
		struct exchange *ends[] = {c->stages[i].before, c->stages[i].behind};

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

void exchange_case_meet(struct exchange_case *c)
{
	int64_t end_ns = exchange_case_deadline_ns();
	struct err err = {0};
	int rc;

	while ((rc = progress_all(c, &err)) == 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	if (rc != 1)
		tap_ok(false, "all meet: %s", err.text);
}

struct exchange_case exchange_case_open(const struct exchange_ops *exchanges,
                                        const struct device_ops *devices, int n_stages)
{
	struct exchange_case c = {exchanges, devices, n_stages, {{0}}};

	for (int i = 0; i < n_stages; i++)
		(void)exchange_case_open_stage(&c, i);
	for (int i = 0; i + 1 < n_stages; i++) {
		struct exchange_id id = exchange_case_make_id(&c);

		c.stages[i].behind = exchange_case_open_end(&c, i, i + 1, &id);
		c.stages[i + 1].before = exchange_case_open_end(&c, i + 1, i, &id);
	}
	return c;
}

struct exchange_case exchange_case_open_met(const struct exchange_ops *exchanges,
                                            const struct device_ops *devices, int n_stages)
{
	struct exchange_case c = exchange_case_open(exchanges, devices, n_stages);

	exchange_case_meet(&c);
	return c;
}

void exchange_case_close(struct exchange_case *c)
{
	for (int i = 0; i < c->n_stages; i++) {
		exchange_close(c->stages[i].before);
		exchange_close(c->stages[i].behind);
	}
	for (int i = 0; i < c->n_stages; i++)
		device_close(c->stages[i].device);
}

/* Whether it ends within the usual limit, while all devices go on. */
bool exchange_case_finish(struct exchange_case *c, struct device_event *event)
{
	int64_t end_ns = exchange_case_deadline_ns();
	struct device_state state;
	int rc;

	do {
		for (int i = 0; i < c->n_stages; i++)
			if (c->stages[i].device)
				(void)device_progress(c->stages[i].device, true, &state, NULL);
		rc = device_query(event, NULL, NULL, NULL);
	} while (rc == 0 && clock_monotonic_ns() < end_ns);
	return rc == 1;
}

int exchange_case_see_end(struct exchange *exchange, struct err *err)
{
	int64_t end_ns = exchange_case_deadline_ns();
	int rc;

	while ((rc = exchange_progress(exchange, err)) >= 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	return rc;
}

static unsigned char byte_at(size_t i, int seed)
{
	return (unsigned char)(i * 31 + i / 256 + (size_t)seed);
}

/* From the host's memory to the device's, at the same place; ends in stream order. */
void exchange_case_put(struct exchange_case_stage *stage, size_t at, size_t n_bytes, int seed)
{
	struct err err = {0};

	for (size_t i = 0; i < n_bytes; i++)
		stage->host[at + i] = byte_at(i, seed);
	if (device_copy(stage->stream, stage->own + at, stage->host + at, n_bytes, &err))
		tap_ok(false, "what is sent is copied: %s", err.text);
}

struct device_event *exchange_case_get(struct exchange_case_stage *stage, size_t at, size_t n_bytes)
{
	struct err err = {0};

	if (device_copy(stage->stream, stage->host + at, stage->own + at, n_bytes, &err))
		tap_ok(false, "what was received is copied: %s", err.text);
	return fixture_record(stage->stream);
}

bool exchange_case_holds(const struct exchange_case_stage *stage, size_t at, size_t n_bytes,
                         int seed)
{
	size_t i = 0;

	while (i < n_bytes && stage->host[at + i] == byte_at(i, seed))
		i++;
	return i == n_bytes;
}

void exchange_case_post(struct exchange *exchange, struct device_stream *stream,
                        const struct exchange_part *parts, size_t n)
{
	struct err err = {0};

	if (exchange_post(exchange, stream, parts, n, &err))
		tap_ok(false, "a post is taken: %s", err.text);
}

void exchange_case_send(struct exchange *exchange, struct exchange_case_stage *stage, size_t at,
                        size_t n_bytes)
{
	const struct exchange_part part = {
		.is_send = true, .memory = stage->own + at, .n_bytes = n_bytes};

	exchange_case_post(exchange, stage->stream, &part, 1);
}

void exchange_case_receive(struct exchange *exchange, struct exchange_case_stage *stage, size_t at,
                           size_t n_bytes)
{
	const struct exchange_part part = {.memory = stage->own + at, .n_bytes = n_bytes};

	exchange_case_post(exchange, stage->stream, &part, 1);
}
