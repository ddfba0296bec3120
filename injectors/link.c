/* link.c - the injector that takes a stage's RNIC down: its interface, until the fault ends.
 *
 * The other end of the wire loses its carrier. What was under way is lost, and connections stall
 * until the interface is up again; its address and the routes over it come back with it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "injectors/injector_internal.h"

/* An interface that is down. Where stages share one, it stays so as long as any of their RNICs is
 * to be down. */
struct taken {
	struct namespace_id where;
	char interface[INTERFACE_NAME_BYTES];
	int change; /* in the journal; 0: the place is free */
	int n_users;
};

struct link {
	struct injector base;
	size_t n_rnics;
	struct taken **of_rnic; /* [(replica * n_stages + stage) * n_rails + rail]; NULL: up */
	struct taken *taken;    /* [n_rnics] */
};

static void free_link(struct link *link)
{
	if (!link)
		return;
	free(link->of_rnic);
	free(link->taken);
	free(link);
}

static int link_open(const struct injector_config *config, struct injector **out, struct err *err)
{
	const struct topology *topology = config->topology;
	size_t n_rnics = (size_t)topology->n_replicas * (size_t)topology->n_stages *
	                 (size_t)topology->n_rails;
	struct link *link = calloc(1, sizeof(*link));

	if (link) {
		link->n_rnics = n_rnics;
		link->of_rnic = array_new(n_rnics, sizeof(struct taken *));
		link->taken = array_new(n_rnics, sizeof(*link->taken));
	}
	if (!link || !link->of_rnic || !link->taken) {
		free_link(link);
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

static struct taken **taken_of(struct link *link, const struct injector_target *target)
{
	const struct topology *topology = link->base.config.topology;

	return &link->of_rnic[(target->replica * topology->n_stages + target->from_stage) *
	                              topology->n_rails +
	                      target->rail];
}

/* The interface among those taken down, or a free place; there is one for every RNIC. */
static struct taken *find_taken(struct link *link, const struct egress_port *port)
{
	struct taken *free_place = NULL;

	for (size_t i = 0; i < link->n_rnics; i++) {
		struct taken *taken = &link->taken[i];

		if (!taken->change)
			free_place = free_place ? free_place : taken;
		else if (namespace_is_same(&taken->where, &port->where) &&
		         strcmp(taken->interface, port->interface) == 0)
			return taken;
	}
	return free_place;
}

/* Write down that the interface goes down. */
static int note_taken(struct link *link, const struct egress_port *port,
                      const struct interface *found, struct taken *taken, struct err *err)
{
	struct change change = {
		.kind = CHANGE_DOWN, .where = port->where, .interface_index = found->index};
	int rc;

	if (!found->is_up)
		return err_set(err, -EBUSY, "interface '%s' is down already, and not by this run",
		               found->name);
	memcpy(change.interface, found->name, sizeof(change.interface));
	rc = journal_add(link->base.config.journal, &change, &taken->change, err);
	if (rc)
		return rc;
	taken->where = port->where;
	memcpy(taken->interface, port->interface, sizeof(taken->interface));
	taken->n_users = 0;
	return 0;
}

static int take_down(const struct injector_port *at, void *context, struct err *err)
{
	struct link *link = context;
	struct taken **own = taken_of(link, &at->target);
	struct taken *taken = *own ? *own : find_taken(link, &at->port);
	struct interface found;
	int rc = egress_find_interface(&at->port, &found, err);

	if (!rc && !taken->change)
		rc = note_taken(link, &at->port, &found, taken, err);
	if (rc)
		return rc;
	taken->n_users += !*own;
	*own = taken;
	return found.is_up ? interface_set_up(at->port.netlink, found.index, false, err) : 0;
}

static int link_apply(struct injector *injector, const struct fault *fault, struct err *err)
{
	int rc = link_check(injector, fault, err);

	return rc ? rc : injector_each_port(injector, fault, take_down, injector, err);
}

/* The last one whose RNIC is to be up again brings it back. */
static int take_up(const struct injector_port *at, void *context, struct err *err)
{
	struct link *link = context;
	struct taken **own = taken_of(link, &at->target), *taken = *own;
	struct interface found;
	int rc = 0;

	if (!taken)
		return 0;
	if (taken->n_users > 1) {
		taken->n_users--;
		*own = NULL;
		return 0;
	}
	rc = egress_find_interface(&at->port, &found, err);
	if (!rc)
		rc = interface_set_up(at->port.netlink, found.index, true, err);
	if (rc && rc != -ENODEV)
		return rc;
	rc = journal_mark_undone(link->base.config.journal, taken->change, err);
	if (rc)
		return rc;
	*taken = (struct taken){0};
	*own = NULL;
	return 0;
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

		is_down |= *taken_of(link, &target) != NULL;
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
	free_link(link);
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
