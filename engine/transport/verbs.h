/* verbs.h - what transport verbs is told beside what every transport is. */
#ifndef ENGINE_TRANSPORT_VERBS_H
#define ENGINE_TRANSPORT_VERBS_H

#include "engine/scenario/rdma.h"

struct verbs_settings {
	/* "NAME[:PORT]" for each rail, with commas between. In a name {link} is the link's lower
	 * stage, {side} "a" at that stage and "b" at the other, so that one list is good for all
	 * workers where every link has devices of its own. NULL: the devices that have the
	 * addresses to listen at, or else the active ports in their order, one a rail. */
	const char *devices;
	struct rdma_retry retry;
};

#endif
