/* exchange_registry.c - the exchanges there are. */
#include <errno.h>
#include <string.h>

#include "engine/transport/exchange_internal.h"

static const struct exchange_ops *const exchanges[] = {
#ifdef HAVE_NCCL
	&nccl_ops,
#endif
	NULL,
};

const struct exchange_ops *const *exchange_list(void)
{
	return exchanges;
}

int exchange_find(const char *name, const struct exchange_ops **out, struct err *err)
{
	for (const struct exchange_ops *const *ops = exchanges; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0) {
			*out = *ops;
			return 0;
		}
	if (strcmp(name, "nccl") == 0)
		return err_set(err, -ENOTSUP,
		               "nccl is not in this build; install the CUDA toolkit with NCCL and "
		               "build again");
	return err_set(err, -ENOENT, "no exchange '%s'; there is: nccl", name);
}
