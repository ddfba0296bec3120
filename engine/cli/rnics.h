/* rnics.h - which RNICs the rails of a run stand on, in words. */
#ifndef ENGINE_CLI_RNICS_H
#define ENGINE_CLI_RNICS_H

#include "engine/base/strbuf.h"
#include "engine/transport/transport.h"
#include "engine/transport/verbs.h"

enum { RNICS_MAX = 64, RNIC_TEXT_BYTES = 160 };

/* Each port of a rail once, the first RNICS_MAX of them. Start zeroed. */
struct rnics {
	struct rnic {
		int rail;
		char text[RNIC_TEXT_BYTES];
	} items[RNICS_MAX];
	size_t n;      /* in items */
	size_t n_more; /* ends, of ports that are not */
};

/* For verbs_settings.tell; context is a struct rnics. */
void rnics_take(void *context, const struct verbs_fact *fact);

/* Add "rail 0: rxa0 port 1, GID 1 10.9.0.1, MTU 4096; rail 1: …": at most n_most ports, and then
 * how many more there are. Nothing where there are none. */
void rnics_describe(const struct rnics *rnics, size_t n_most, struct strbuf *out);

#endif
