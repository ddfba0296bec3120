/* injector_internal.h - the injectors there are, and what they share. */
#ifndef INJECTORS_INJECTOR_INTERNAL_H
#define INJECTORS_INJECTOR_INTERNAL_H

#include "injectors/injector.h"

extern const struct injector_ops netem_ops;
extern const struct injector_ops rate_ops;
extern const struct injector_ops relay_ops;
extern const struct injector_ops link_ops;
extern const struct injector_ops dry_run_ops;

/* Where a fault acts: one port for each replica and, unless it is of one rail, each rail. */
struct injector_port {
	struct injector_target target;
	struct egress_port port;
};

typedef int injector_act(const struct injector_port *port, void *context, struct err *err);

/* Act at every port of the fault, also after an error; the first one is returned. act NULL: only
 * look whether all are there. -EINVAL: its stages are no neighbours, or not there. */
int injector_each_port(const struct injector *injector, const struct fault *fault,
                       injector_act *act, void *context, struct err *err);

/* -ENOTSUP, and a sentence that says what cannot do the fault and what can. */
int injector_refuse(const struct injector *injector, const struct fault *fault, struct err *err);

/* "30 ms more (latency) on 2->3" and the like; adds to text. */
void injector_describe(struct strbuf *text, const struct fault *fault);

#endif
