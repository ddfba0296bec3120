/* registry.c - the injectors there are. */
#include <errno.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/base/strbuf.h"
#include "injectors/injector_internal.h"

static const struct injector_ops *const injectors[] = {
#ifdef HAVE_NETLINK
	&netem_ops, /* delays and rates, by the kernel */
	&relay_ops, /* the same, by this process */
	&rate_ops,  /* rates, by the kernel */
	&link_ops,  /* interfaces down */
#endif
	&dry_run_ops, /* nothing */
	NULL,
};

/* All that builds can have. */
static const struct {
	const char *name;
	const char *missing; /* NULL: always here */
} known[] = {
	{"netem", "libnl-3-dev"}, {"relay", "libnl-3-dev"}, {"rate", "libnl-3-dev"},
	{"link", "libnl-3-dev"},  {"dry_run", NULL},
};
enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

const struct injector_ops *const *injector_list(void)
{
	return injectors;
}

static int unknown(const char *name, struct err *err)
{
	const char *names[N_KNOWN];
	struct strbuf all = {0};
	const char *nearest;
	int rc;

	for (int i = 0; i < N_KNOWN; i++) {
		names[i] = known[i].name;
		strbuf_addf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	nearest = nearest_name(name, names, N_KNOWN);
	if (nearest)
		rc = err_set(err, -ENOENT, "no injector '%.64s'; did you mean '%s'? There are %s",
		             name, nearest, strbuf_text(&all));
	else
		rc = err_set(err, -ENOENT, "no injector '%.64s'; there are %s", name,
		             strbuf_text(&all));
	strbuf_fini(&all);
	return rc;
}

int injector_find(const char *name, const struct injector_ops **out, struct err *err)
{
	for (const struct injector_ops *const *ops = injectors; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0) {
			*out = *ops;
			return 0;
		}
	for (int i = 0; i < N_KNOWN; i++)
		if (known[i].missing && strcmp(known[i].name, name) == 0)
			return err_set(err, -ENOTSUP,
			               "injector %s is not in this build; install %s and build "
			               "again",
			               name, known[i].missing);
	return unknown(name, err);
}
