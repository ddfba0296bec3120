/* netns_internal.h - what netns.c (a site of network namespaces) and netns_injectors.c (who applies
 * which fault there) share. */
#ifndef ENGINE_REPLAY_NETNS_INTERNAL_H
#define ENGINE_REPLAY_NETNS_INTERNAL_H

#include "engine/replay/site.h"
#include "injectors/injector.h"

enum { NETNS_INJECTORS_MAX = 8 };

/* One of the injectors of a site, and what became of opening it. */
struct netns_injector {
	const struct injector_ops *ops;
	struct injector *injector; /* NULL: it is not here */
	int code;                  /* then why: -errno, and */
	char reason[ERR_TEXT_BYTES];
};

struct netns_injectors {
	struct netns_injector
		items[NETNS_INJECTORS_MAX]; /* in the order in which they were tried */
	int n_items;
	struct fault *faults;         /* [n_faults] of the scenario, as they are to be in force */
	int *of_fault;                /* [n_faults]: which item applies it; −1: the workers do */
	char refusal[ERR_TEXT_BYTES]; /* of a fault that the workers do for that; "": none */
};

extern const struct site_ops netns_ops;

/* Choose who applies each fault, and open them. Errors as site_ops.open; netns_injectors_close() in
 * any case. */
int netns_injectors_open(const struct site_config *config, const struct injector_config *injector,
                         struct netns_injectors *out, struct err *err);

/* Who does, in a word and in a sentence. */
void netns_injectors_describe(const struct site_config *config,
                              const struct netns_injectors *injectors, struct site *site);

/* The first error is returned. */
int netns_injectors_close(struct netns_injectors *injectors, struct err *err);

#endif
