/* trace_choice.c - which iterations of a stored run are worth a picture. */
#include "engine/cli/trace_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"

static int has_ops(const struct trace_source *source, size_t i, bool *out, struct err *err)
{
	struct record_op *ops;
	size_t n_ops;
	int rc = trace_source_ops(source, i, &ops, &n_ops, err);

	if (rc)
		return rc;
	free(ops);
	*out = n_ops > 0;
	return 0;
}

/* What the first iteration that is chosen has to be: under fault, or healthy, or just any. */
enum wish { WISH_FAULT, WISH_HEALTHY, WISH_ANY };

static bool is_wished(const struct trace_source *source, const struct record_iteration *iteration,
                      enum wish wish, const struct stored_fault *fault)
{
	switch (wish) {
	case WISH_FAULT:
		return trace_source_is_in_force(fault, iteration);
	case WISH_HEALTHY:
		return iteration->is_complete && iteration->iteration >= source->run->n_warmup &&
		       !trace_source_has_fault(source, iteration);
	case WISH_ANY:
		break;
	}
	return true;
}

/* Choose the first one with ops; one that is chosen already keeps its reason. */
static int choose_first(const struct trace_source *source, enum wish wish,
                        const struct stored_fault *fault, const char *reason, const char **why,
                        struct err *err)
{
	for (size_t i = 0; i < source->n_iterations; i++) {
		bool is_usable = false;
		int rc;

		if (!is_wished(source, &source->iterations[i], wish, fault))
			continue;
		rc = has_ops(source, i, &is_usable, err);
		if (rc)
			return rc;
		if (!is_usable)
			continue;
		if (!why[i])
			why[i] = reason;
		return 0;
	}
	return 0;
}

/* Faults of one event come with every direction and every attempt; the first stands for them. */
static bool is_first_of_event(const struct trace_source *source, size_t fault)
{
	for (size_t i = 0; i < fault; i++)
		if (source->faults[i].event == source->faults[fault].event)
			return false;
	return true;
}

static bool is_empty(const char *const *why, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (why[i])
			return false;
	return true;
}

int trace_choose(const struct trace_source *source, const char ***out, struct err *err)
{
	const char **why = array_new(source->n_iterations, sizeof(*why));
	int rc;

	if (!why)
		return err_set(err, -ENOMEM, "out of memory");
	rc = choose_first(source, WISH_HEALTHY, NULL, "healthy", why, err);
	for (size_t i = 0; i < source->n_faults && !rc; i++)
		if (is_first_of_event(source, i))
			rc = choose_first(source, WISH_FAULT, &source->faults[i],
			                  source->faults[i].label, why, err);
	if (!rc && is_empty(why, source->n_iterations))
		rc = choose_first(source, WISH_ANY, NULL, "the first", why, err);
	if (rc) {
		free(why);
		return rc;
	}
	*out = why;
	return 0;
}
