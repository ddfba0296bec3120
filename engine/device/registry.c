/* registry.c - the devices there are. */
#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/base/strbuf.h"
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

static int refuse(const char *name, struct err *err)
{
	const char *names[N_DEVICES];
	struct strbuf known = {0};
	const char *nearest;

	for (int i = 0; i < N_DEVICES; i++) {
		names[i] = devices[i]->name;
		strbuf_addf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	nearest = nearest_name(name, names, N_DEVICES);
	if (nearest)
		(void)err_set(err, -ENOENT, "no device '%.64s'; did you mean '%s'? There are %s",
		              name, nearest, strbuf_text(&known));
	else
		(void)err_set(err, -ENOENT, "no device '%.64s'; there are %s", name,
		              strbuf_text(&known));
	strbuf_fini(&known);
	return -ENOENT;
}

int device_find(const char *name, const struct device_ops **out, struct err *err)
{
	for (int i = 0; i < N_DEVICES; i++)
		if (strcmp(devices[i]->name, name) == 0) {
			*out = devices[i];
			return 0;
		}
	return refuse(name, err);
}
