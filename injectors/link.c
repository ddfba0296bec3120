/* link.c - the injector that takes a stage's RNIC down: its interface, until the fault ends.
 *
 * The other end of the wire loses its carrier. What was under way is lost, and connections stall
 * until the interface is up again; its address and the routes over it come back with it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "injectors/injector_internal.h"

struct link {
	struct injector base;
	int *changes; /* [(replica * n_stages + stage) * n_rails + rail]: in the journal; 0: up */
};

static int link_open(const struct injector_config *config, struct injector **out, struct err *err)
{
	const struct topology *topology = config->topology;
	size_t n_rnics = (size_t)topology->n_replicas * (size_t)topology->n_stages *
	                 (size_t)topology->n_rails;
	struct link *link = calloc(1, sizeof(*link));

	if (link)
		link->changes = array_new(n_rnics, sizeof(*link->changes));
	if (!link || !link->changes) {
		free(link);
		return err_set(err, -ENOMEM, "out of memory for an injector");
	}
	link->base.ops = &link_ops;
	link->base.config = *config;
	*out = &link->base;
	return 0;
}

static int link_check(const struct injector *injector, const struct fault *fault, struct err *err)
{
	if (fault->kind != FAULT_DOWN)
		return injector_refuse(injector, fault, err);
	return injector_each_port(injector, fault, NULL, NULL, err);
}

static int *change_of(struct link *link, const struct injector_target *target)
{
	const struct topology *topology = link->base.config.topology;

	return &link->changes[(target->replica * topology->n_stages + target->from_stage) *
	                              topology->n_rails +
	                      target->rail];
}

static int take_down(const struct injector_port *at, void *context, struct err *err)
{
	struct link *link = context;
	struct change change = {.kind = CHANGE_DOWN, .where = at->port.where};
	int *number = change_of(link, &at->target), rc;
	struct interface found;

	rc = egress_find_interface(&at->port, &found, err);
	if (rc)
		return rc;
	if (!found.is_up && *number)
		return 0;
	if (!found.is_up)
		return err_set(err, -EBUSY, "interface '%s' is down already, and not by this run",
		               found.name);
	memcpy(change.interface, found.name, sizeof(change.interface));
	change.interface_index = found.index;
	if (!*number) {
		rc = journal_add(link->base.config.journal, &change, number, err);
		if (rc)
			return rc;
	}
	return interface_set_up(at->port.netlink, found.index, false, err);
}

static int link_apply(struct injector *injector, const struct fault *fault, struct err *err)
{
	int rc = link_check(injector, fault, err);

	return rc ? rc : injector_each_port(injector, fault, take_down, injector, err);
}

static int take_up(const struct injector_port *at, void *context, struct err *err)
{
	struct link *link = context;
	int *number = change_of(link, &at->target), rc;
	struct interface found;

	if (!*number)
		return 0;
	rc = egress_find_interface(&at->port, &found, err);
	if (!rc)
		rc = interface_set_up(at->port.netlink, found.index, true, err);
	if (rc && rc != -ENODEV)
		return rc;
	rc = journal_mark_undone(link->base.config.journal, *number, err);
	if (!rc)
		*number = 0;
	return rc;
}

static int link_clear(struct injector *injector, const struct fault *fault, struct err *err)
{
	int rc = link_check(injector, fault, err);

	return rc ? rc : injector_each_port(injector, fault, take_up, injector, err);
}

/* An interface that is down counts nothing. */
static int link_count(const struct injector *injector, const struct fault *fault,
                      struct injector_counts *out, struct err *err)
{
	(void)injector;
	(void)fault;
	(void)err;
	*out = (struct injector_counts){0};
	return 0;
}

static int close_rnic(struct link *link, int stage, int rail, struct err *err)
{
	const struct fault fault = {
		.kind = FAULT_DOWN, .from_stage = stage, .to_stage = stage, .rail = rail};
	const struct topology *topology = link->base.config.topology;
	bool is_down = false;

	for (int replica = 0; replica < topology->n_replicas; replica++) {
		const struct injector_target target = {
			.replica = replica, .from_stage = stage, .to_stage = stage, .rail = rail};

		is_down |= *change_of(link, &target) != 0;
	}
	return is_down ? injector_each_port(&link->base, &fault, take_up, link, err) : 0;
}

static int link_close(struct injector *injector, struct err *err)
{
	struct link *link = (struct link *)injector;
	const struct topology *topology = injector->config.topology;
	int first = 0;

	for (int stage = 0; stage < topology->n_stages; stage++)
		for (int rail = 0; rail < topology->n_rails; rail++) {
			struct err own = {0};
			int rc = close_rnic(link, stage, rail, &own);

			if (rc && !first)
				first = err_set(err, rc, "%s", own.text);
		}
	free(link->changes);
	free(link);
	return first;
}

const struct injector_ops link_ops = {
	.name = "link",
	.open = link_open,
	.check = link_check,
	.apply = link_apply,
	.clear = link_clear,
	.count = link_count,
	.close = link_close,
};
