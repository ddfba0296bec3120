/* kinds_internal.h - the devices that registry.c lists. */
#ifndef ENGINE_DEVICE_KINDS_INTERNAL_H
#define ENGINE_DEVICE_KINDS_INTERNAL_H

#include "engine/device/device_ops.h"

extern const struct device_ops cpu_ops;
extern const struct device_ops cuda_ops;
extern const struct device_ops null_ops;
extern const struct device_ops paced_cuda_ops;
extern const struct device_ops paced_ops;

#endif
