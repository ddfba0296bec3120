/* trial.h - whether a device can be used here, and what it is, without using it. */
#ifndef ENGINE_DEVICE_TRIAL_H
#define ENGINE_DEVICE_TRIAL_H

#include "engine/device/device.h"

struct device_trial {
	char timer[16];
	struct device_about about;
};

/* What is asked of the device in the same process, while it is open. */
struct device_probe {
	int (*ask)(struct device *device, void *context, struct err *err);
	void *context;
	int rc; /* what ask() returned, and its reason */
	struct err err;
};

/* Open and close it in a process of its own, since what a driver sets up does not outlive a fork(),
 * and workers are forked. -ENODEV: its hardware, driver or library is missing; err says which.
 * probe may be NULL; that its answer is no is no failure. Takes some 0.1 s with a GPU, none
 * without; blocks that long. */
int device_try(const struct device_ops *ops, const struct device_config *config,
               struct device_probe *probe, struct device_trial *out, struct err *err);

#endif
