/* registry.c - the devices there are. */
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/device/device.h"
#include "engine/device/kinds_internal.h"

/* The default first. */
static const struct device_ops *const devices[] = {
	&paced_ops,
	&cpu_ops,
	&null_ops,
	NULL,
};

enum { N_DEVICES = sizeof(devices) / sizeof(devices[0]) - 1 };

const struct device_ops *const *device_list(void)
{
	return devices;
}

int device_find(const char *name, const struct device_ops **out, struct err *err)
{
	const char *names[N_DEVICES];

	for (int i = 0; i < N_DEVICES; i++) {
		names[i] = devices[i]->name;
		if (strcmp(names[i], name) == 0) {
			*out = devices[i];
			return 0;
		}
	}
	return nearest_refuse("device", name, names, N_DEVICES, err);
}
