/* profile.c - what a workload costs on each stage. */
#include "engine/scenario/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

int profile_activation_limit(const struct profile *profile, int stage)
{
	const struct profile_stage *s = &profile->stages[stage];
	int64_t n_that_fit;

	if (s->activation_bytes <= 0 || s->memory_bytes <= 0)
		return 0;
	n_that_fit = s->memory_bytes / s->activation_bytes;
	if (n_that_fit < 1)
		return 1;
	return n_that_fit > INT_MAX ? INT_MAX : (int)n_that_fit;
}

static int text_copy(const char *from, char **out)
{
	*out = from ? strdup(from) : NULL;
	return from && !*out ? -ENOMEM : 0;
}

int profile_copy(const struct profile *from, struct profile *out, struct err *err)
{
	struct profile copy = *from;
	int rc;

	copy.source = NULL;
	copy.stages = NULL;
	rc = text_copy(from->name, &copy.name);
	if (rc == 0)
		rc = text_copy(from->source, &copy.source);
	if (rc == 0) {
		copy.stages =
			array_copy(from->stages, (size_t)from->n_stages, sizeof(*from->stages));
		if (!copy.stages)
			rc = -ENOMEM;
	}
	if (rc) {
		profile_fini(&copy);
		return err_set(err, rc, "out of memory for a profile of %d stages", from->n_stages);
	}
	*out = copy;
	return 0;
}

void profile_fini(struct profile *profile)
{
	free(profile->name);
	free(profile->source);
	free(profile->stages);
	memset(profile, 0, sizeof(*profile));
}
