/* checks_internal.h - what every device refuses, with -EINVAL, and how it divides durations. */
#ifndef ENGINE_DEVICE_CHECKS_INTERNAL_H
#define ENGINE_DEVICE_CHECKS_INTERNAL_H

#include "engine/device/device.h"

/* 2^60 ns; sums with moments of today's clocks stay far from overflow. */
static const double device_duration_limit_ns = 1152921504606846976.0;

int device_check_config(const struct device_config *config, struct err *err);
int device_check_duration(double speed, int64_t duration_ns, struct err *err);
int device_check_same(const struct device_event *event, const struct device_stream *stream,
                      struct err *err);

/* Divided by speed. More than 36 years are as much as that, less than nothing is nothing. */
int64_t device_scaled_ns(double speed, int64_t duration_ns);

#endif
