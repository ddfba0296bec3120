/* checks.c - what every device refuses, in the same words, and how it divides durations. */
#include <errno.h>
#include <math.h>

#include "engine/device/checks_internal.h"

int device_check_config(const struct device_config *config, struct err *err)
{
	if (!isfinite(config->speed) || config->speed <= 0)
		return err_set(err, -EINVAL, "a device of speed %g; it must be more than 0",
		               config->speed);
	if (config->n_issue_queues < 0)
		return err_set(err, -EINVAL,
		               "a device with %d issue queues; give 1 or more, or 0 for one a "
		               "stream",
		               config->n_issue_queues);
	return 0;
}

int device_check_duration(double speed, int64_t duration_ns, struct err *err)
{
	if (duration_ns >= 0 && (double)duration_ns / speed <= device_duration_limit_ns)
		return 0;
	return err_set(err, -EINVAL,
	               "a computation of %lld ns at speed %g; it must take from 0 to 2^60 ns",
	               (long long)duration_ns, speed);
}

int device_check_same(const struct device_event *event, const struct device_stream *stream,
                      struct err *err)
{
	if (event->device == stream->device)
		return 0;
	return err_set(err, -EINVAL, "the event and the stream are of different devices");
}

int64_t device_scaled_ns(double speed, int64_t duration_ns)
{
	double scaled_ns = (double)duration_ns / speed;

	if (duration_ns < 0)
		return 0;
	return scaled_ns < device_duration_limit_ns ? (int64_t)llround(scaled_ns)
	                                            : (int64_t)device_duration_limit_ns;
}
