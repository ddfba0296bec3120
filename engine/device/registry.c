/* registry.c - the devices there are. */
#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/device/device.h"
#include "engine/device/kinds_internal.h"

/* The default first. */
static const struct device_ops *const devices[] = {
	&paced_ops, &cpu_ops,        &null_ops,
#ifdef HAVE_CUDA
	&cuda_ops,  &paced_cuda_ops,
#endif
	NULL,
};

enum { N_DEVICES = sizeof(devices) / sizeof(devices[0]) - 1 };

/* What --device may name although this build cannot do it. */
static const char *const left_out[] = {
#ifndef HAVE_CUDA
	"cuda",
	"paced-cuda",
#endif
	NULL,
};

const struct device_ops *const *device_list(void)
{
	return devices;
}

int device_find(const char *name, const struct device_ops **out, struct err *err)
{
	const char *names[N_DEVICES];

	for (int i = 0; left_out[i]; i++)
		if (strcmp(left_out[i], name) == 0)
			return err_set(err, -ENOTSUP,
			               "device %s is left out of this build; build where the CUDA "
			               "toolkit is",
			               name);
	for (int i = 0; i < N_DEVICES; i++) {
		names[i] = devices[i]->name;
		if (strcmp(names[i], name) == 0) {
			*out = devices[i];
			return 0;
		}
	}
	return nearest_refuse("device", name, names, N_DEVICES, err);
}
