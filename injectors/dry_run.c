/* dry_run.c - the injector that changes nothing, and writes down what it would do. */
#include <errno.h>
#include <stdlib.h>

#include "injectors/injector_internal.h"

static int dry_run_open(const struct injector_config *config, struct injector **out,
                        struct err *err)
{
	struct injector *injector = calloc(1, sizeof(*injector));

	if (!injector)
		return err_set(err, -ENOMEM, "out of memory for an injector");
	injector->ops = &dry_run_ops;
	injector->config = *config;
	*out = injector;
	return 0;
}

static int dry_run_check(const struct injector *injector, const struct fault *fault,
                         struct err *err)
{
	(void)injector;
	(void)fault;
	(void)err;
	return 0;
}

static int note(const struct injector *injector, const char *what, const struct fault *fault,
                struct err *err)
{
	struct strbuf *timeline = injector->config.timeline;

	if (!timeline)
		return 0;
	strbuf_addf(timeline, "%s: ", what);
	injector_describe(timeline, fault);
	strbuf_add_char(timeline, '\n');
	return timeline->is_failed ? err_set(err, -ENOMEM, "out of memory for a timeline") : 0;
}

static int dry_run_apply(struct injector *injector, const struct fault *fault, struct err *err)
{
	return note(injector, "apply", fault, err);
}

static int dry_run_clear(struct injector *injector, const struct fault *fault, struct err *err)
{
	return note(injector, "clear", fault, err);
}

static int dry_run_count(const struct injector *injector, const struct fault *fault,
                         struct injector_counts *out, struct err *err)
{
	(void)injector;
	(void)fault;
	(void)err;
	*out = (struct injector_counts){0};
	return 0;
}

static int dry_run_close(struct injector *injector, struct err *err)
{
	(void)err;
	free(injector);
	return 0;
}

const struct injector_ops dry_run_ops = {
	.name = "dry_run",
	.open = dry_run_open,
	.check = dry_run_check,
	.apply = dry_run_apply,
	.clear = dry_run_clear,
	.count = dry_run_count,
	.close = dry_run_close,
};
