/* registry.c - the transports there are. */
#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/transport/transport_internal.h"

static const struct transport_ops *const transports[] = {
	&loopback_ops,
	&tcp_ops,
#ifdef HAVE_VERBS
	&verbs_ops,
#endif
	NULL,
};

/* All that builds can have, and what is missing where one is not there. */
static const struct {
	const char *name, *missing;
} known[] = {{"loopback", ""}, {"tcp", ""}, {"verbs", "libibverbs-dev"}};
enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

const struct transport_ops *const *transport_list(void)
{
	return transports;
}

int transport_find(const char *name, const struct transport_ops **out, struct err *err)
{
	const char *names[N_KNOWN];

	if (strchr(name, ',')) {
		int rc = mixed_check(name, err);

		if (rc == 0)
			*out = &mixed_ops;
		return rc;
	}
	for (const struct transport_ops *const *ops = transports; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0) {
			*out = *ops;
			return 0;
		}
	for (int i = 0; i < N_KNOWN; i++) {
		names[i] = known[i].name;
		if (strcmp(names[i], name) == 0)
			return err_set(err, -ENOTSUP,
			               "transport %s is not in this build; install %s and build "
			               "again",
			               name, known[i].missing);
	}
	return nearest_refuse("transport", name, names, N_KNOWN, err);
}
