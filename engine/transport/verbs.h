/* verbs.h - what transport verbs is told beside what every transport is. */
#ifndef ENGINE_TRANSPORT_VERBS_H
#define ENGINE_TRANSPORT_VERBS_H

#include "engine/scenario/rdma.h"

/* What an end of a rail stands on. */
struct verbs_fact {
	int stage, peer, rail;
	const char *device;
	int port;
	int gid_index;   /* on that port */
	const char *gid; /* "10.9.0.1" or "fe80::1" */
	int mtu_bytes;
};

struct verbs_settings {
	/* "NAME[:PORT]" for each rail, with commas between. In a name {link} is the link's lower
	 * stage, {side} "a" at that stage and "b" at the other, so that one list is good for all
	 * workers where every link has devices of its own. NULL: the devices that have the
	 * addresses to listen at, or else the active ports in their order, one a rail. */
	const char *devices;
	struct rdma_retry retry;
	/* Told by open() of every end of a local stage. NULL: nobody is. */
	void (*tell)(void *context, const struct verbs_fact *fact);
	void *tell_context;
};

enum { VERBS_CHECKS_PER_PATIENCE = 8, VERBS_PATIENCE_LEAST_NS = 100000000 };

/* How long a device may say nothing of what was sent: twice what its retries take, but no less than
 * one that is software may need. Then the rail is LOST with -ETIMEDOUT, one check later at most; by
 * as many checks, so that who is not polled meanwhile takes longer. */
static inline int64_t verbs_patience_ns(const struct rdma_retry *retry)
{
	int64_t ns = 2 * rdma_outage_budget_ns(retry);

	return ns > VERBS_PATIENCE_LEAST_NS ? ns : VERBS_PATIENCE_LEAST_NS;
}

#endif
