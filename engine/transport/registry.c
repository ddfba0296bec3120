/* registry.c - the transports there are. */
#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/base/strbuf.h"
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

static int unknown(const char *name, struct err *err)
{
	const char *names[N_TRANSPORTS];
	struct strbuf known = {0};
	const char *nearest;
	int rc;

	for (int i = 0; i < N_TRANSPORTS; i++) {
		names[i] = transports[i]->name;
		strbuf_addf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	nearest = nearest_name(name, names, N_TRANSPORTS);
	if (nearest)
		rc = err_set(err, -ENOENT, "no transport '%.64s'; did you mean '%s'? There are %s",
		             name, nearest, strbuf_text(&known));
	else
		rc = err_set(err, -ENOENT, "no transport '%.64s'; there are %s", name,
		             strbuf_text(&known));
	strbuf_fini(&known);
	return rc;
}

int transport_find(const char *name, const struct transport_ops **out, struct err *err)
{
	for (int i = 0; i < N_TRANSPORTS; i++)
		if (strcmp(transports[i]->name, name) == 0) {
			*out = transports[i];
			return 0;
		}
	return unknown(name, err);
}
