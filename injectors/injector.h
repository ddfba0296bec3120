/* injector.h - puts faults of a scenario into the world, and takes them out again.
 *
 * An injector acts on one kind of thing (a delay of the path, a rate, an interface) where messages
 * of the fault's stages pass; where that is, a function of the caller's says. It knows nothing of
 * iterations: the caller decides when a fault begins and ends. Times, rates and jitter of a fault
 * are those to be in force, so a run's speed is applied before. All replicas and all rails of a
 * link meet its faults. Faults that meet on one direction have to be of one injector.
 *
 * Every backend keeps these promises; the contract test holds them: to apply twice is to apply
 * once, to apply another fault to the same target changes it, to clear what is not there, or is
 * gone with its interface, succeeds; close() clears everything; whatever was changed in the world
 * is in the journal before. An instance belongs to one thread. */
#ifndef INJECTORS_INJECTOR_H
#define INJECTORS_INJECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "engine/scenario/fault.h"
#include "engine/scenario/topology.h"
#include "injectors/egress.h"

/* Packets of messages from one stage to another, of one replica, on one rail. Both the same stage:
 * the stage's RNIC on that rail. */
struct injector_target {
	int replica;
	int from_stage;
	int to_stage;
	int rail;
};

/* All of it stays the caller's, and as it is, until close(). */
struct injector_config {
	const struct topology *topology;
	const struct fault *faults; /* all that the run asks for; check() looks at what meets */
	size_t n_faults;
	int64_t message_bytes;   /* the largest message, with its header; for delays by rate */
	struct journal *journal; /* NULL: nothing is changed (dry_run) */
	struct egress *egress;   /* shared by all injectors of the run; NULL like journal */
	struct strbuf *timeline; /* dry_run writes into it; else NULL */

	/* Where packets of target leave. -ENOTSUP: nowhere that an injector could reach, err says
	 * what to do about it. */
	int (*locate)(void *context, const struct injector_target *target, struct egress_port *out,
	              struct err *err);
	void *locate_context;
};

/* Of packets that met a fault of this injector, over all its targets. */
struct injector_counts {
	int64_t sent_packets;
	int64_t lost_packets; /* as a loss asked; where one did, drops cannot be told from them */
	int64_t dropped_packets; /* nobody asked for that: a limit was too small */
	int64_t delayed_packets; /* of those sent: how long it held them is known, */
	int64_t delay_sum_ns;    /* and together so long */
};

struct injector;

struct injector_ops {
	const char *name;

	/* -ENOTSUP: this machine lacks what it takes, err says what; -EPERM: this user may not.
	 * *out is set only on success. May block for some milliseconds. */
	int (*open)(const struct injector_config *config, struct injector **out, struct err *err);

	/* Could this fault be applied here, beside the others of the run? Touches nothing.
	 * -ENOTSUP: not by this injector, or not where its stages are; err says what to use
	 * instead. */
	int (*check)(const struct injector *injector, const struct fault *fault, struct err *err);

	/* In force for packets that leave after the return; those under way keep what they met.
	 * -EBUSY: another injector acts there. An error is of one target, others are changed all
	 * the same; clear() puts them right. */
	int (*apply)(struct injector *injector, const struct fault *fault, struct err *err);

	/* No longer in force for packets that leave after the return; none is dropped. */
	int (*clear)(struct injector *injector, const struct fault *fault, struct err *err);

	/* Since open(), of packets that go the way of fault; NULL: of all. */
	int (*count)(const struct injector *injector, const struct fault *fault,
	             struct injector_counts *out, struct err *err);

	/* Clear everything and free the injector. The first error is returned; what it is about
	 * stays in the journal. */
	int (*close)(struct injector *injector, struct err *err);
};

/* Backends embed it first. */
struct injector {
	const struct injector_ops *ops;
	struct injector_config config;
};

/* NULL-terminated, in the order in which `auto` tries them; registry.c. */
const struct injector_ops *const *injector_list(void);

/* -ENOENT: no such injector, err names the nearest; -ENOTSUP: left out of this build, err says what
 * to install. */
int injector_find(const char *name, const struct injector_ops **out, struct err *err);

static inline int injector_check(const struct injector *injector, const struct fault *fault,
                                 struct err *err)
{
	return injector->ops->check(injector, fault, err);
}

static inline int injector_apply(struct injector *injector, const struct fault *fault,
                                 struct err *err)
{
	return injector->ops->apply(injector, fault, err);
}

static inline int injector_clear(struct injector *injector, const struct fault *fault,
                                 struct err *err)
{
	return injector->ops->clear(injector, fault, err);
}

static inline int injector_count(const struct injector *injector, const struct fault *fault,
                                 struct injector_counts *out, struct err *err)
{
	return injector->ops->count(injector, fault, out, err);
}

/* NULL is nothing. */
static inline int injector_close(struct injector *injector, struct err *err)
{
	return injector ? injector->ops->close(injector, err) : 0;
}

#endif
