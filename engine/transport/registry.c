/* registry.c - the transports there are. */
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/transport/transport_internal.h"

static const struct transport_ops *const transports[] = {
	&loopback_ops,
	&tcp_ops,
	NULL,
};

enum { N_TRANSPORTS = sizeof(transports) / sizeof(transports[0]) - 1 };

const struct transport_ops *const *transport_list(void)
{
	return transports;
}

int transport_find(const char *name, const struct transport_ops **out, struct err *err)
{
	const char *names[N_TRANSPORTS];

	for (int i = 0; i < N_TRANSPORTS; i++) {
		names[i] = transports[i]->name;
		if (strcmp(names[i], name) == 0) {
			*out = transports[i];
			return 0;
		}
	}
	return nearest_refuse("transport", name, names, N_TRANSPORTS, err);
}
