/* device_fixture.h - driving a device until something has ended, for the tests of devices. */
#ifndef TESTS_UNIT_DEVICE_FIXTURE_H
#define TESTS_UNIT_DEVICE_FIXTURE_H

#include <errno.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/device.h"
#include "tests/slowness.h"
#include "tests/tap.h"

/* A clock that stands until somebody moves it; context is an int64_t. */
static inline int64_t fixture_clock_ns(void *context)
{
	return *(const int64_t *)context;
}

/* NULL and a failed check when it cannot be opened, or a skipped one where its hardware is missing.
 * clock: NULL for real time. */
static inline struct device *fixture_open(const char *name, int n_issue_queues, double speed,
                                          int64_t *clock)
{
	const struct device_config config = {
		.n_issue_queues = n_issue_queues,
		.speed = speed,
		.clock_ns = clock ? fixture_clock_ns : NULL,
		.clock_context = clock,
	};
	const struct device_ops *ops;
	struct device *device;
	struct err err = {0};
	int rc = device_find(name, &ops, &err);

	rc = rc ? rc : ops->open(&config, &device, &err);
	if (rc == -ENODEV) {
		tap_skip("device %s: %s", name, err.text);
		return NULL;
	}
	if (rc) {
		tap_ok(false, "device %s opens: %s", name, err.text);
		return NULL;
	}
	return device;
}

static inline struct device_stream *fixture_stream(struct device *device)
{
	struct device_stream *stream = NULL;
	struct err err = {0};

	if (device_stream_new(device, &stream, &err))
		tap_ok(false, "a stream is made: %s", err.text);
	return stream;
}

static inline struct device_event *fixture_event(struct device *device)
{
	struct device_event *event = NULL;
	struct err err = {0};

	if (device_event_new(device, &event, &err))
		tap_ok(false, "an event is made: %s", err.text);
	return event;
}

/* A new event, recorded. */
static inline struct device_event *fixture_record(struct device_stream *stream)
{
	struct device_event *event = fixture_event(stream->device);
	struct err err = {0};

	if (event && device_record(event, stream, &err))
		tap_ok(false, "an event is recorded: %s", err.text);
	return event;
}

/* Make progress in real time until the event has ended: 1, or its error, or 0 after limit_ns. */
static inline int fixture_drive(struct device_event *event, int64_t limit_ns)
{
	int64_t end_ns = clock_monotonic_ns() + limit_ns;
	struct device_state state;
	int rc;

	do {
		(void)device_progress(event->device, true, &state, NULL); /* query() says it too */
		rc = device_query(event, NULL, NULL, NULL);
	} while (rc == 0 && clock_monotonic_ns() < end_ns);
	return rc;
}

/* Until it has ended; 20 s is long enough for anything here. */
static inline int fixture_finish(struct device_event *event)
{
	return fixture_drive(event, (int64_t)(20e9 * slowness_of_machine()));
}

/* Whether it has not ended after a while. Something else has to show that the device works. */
static inline bool fixture_stands(struct device_event *event)
{
	return fixture_drive(event, 10 * NS_PER_MS) == 0;
}

#endif
