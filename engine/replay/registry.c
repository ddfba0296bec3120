/* registry.c - the sites there are. */
#include <errno.h>
#include <string.h>

#include "engine/replay/site_internal.h"

static const struct site_ops *const sites[] = {
#ifdef HAVE_NETLINK
	&netns_ops,   /* network namespaces on this machine */
	&machine_ops, /* this machine, with interfaces that the user has named */
#endif
	NULL,
};

int site_find(const char *name, const struct site_ops **out, struct err *err)
{
	for (const struct site_ops *const *ops = sites; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0) {
			*out = *ops;
			return 0;
		}
	if (strcmp(name, "netns") == 0 || strcmp(name, "machine") == 0)
		return err_set(err, -ENOTSUP,
		               "%s is not in this build; install libnl-3-dev and build again",
		               strcmp(name, "netns") == 0 ? "lab netns" : "--allow-interface");
	return err_set(err, -ENOENT, "no lab '%.64s'; there are none, netns and auto", name);
}
