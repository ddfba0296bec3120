/* verbs_port_internal.h - an RDMA port: which is meant, what it is called, what befalls it. */
#ifndef ENGINE_TRANSPORT_VERBS_PORT_INTERNAL_H
#define ENGINE_TRANSPORT_VERBS_PORT_INTERNAL_H

#include <infiniband/verbs.h>

#include "engine/transport/verbs_agreement_internal.h"

struct verbs;

/* A port of a device, opened once for all connections through it. */
struct verbs_port {
	struct verbs_port *next;
	struct verbs_name name;
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_cq *completions;
	uint8_t gid[VERBS_GID_BYTES];
	int gid_index;     /* when it was opened; it may be elsewhere after its link was down */
	int mtu;           /* enum ibv_mtu, then */
	int n_connections; /* that go through it */
	struct verbs_sizes sizes;
};

/* The port for an end of a stage, opened if it is not yet. listen: the stage's
 * address on that rail, which chooses among devices that are not named; "": none. */
int verbs_port_find(struct verbs *verbs, int stage, int peer, int rail, const char *listen,
                    struct verbs_port **out, struct err *err);

/* Once it is known how many connections go through it. */
int verbs_port_prepare(struct verbs *verbs, struct verbs_port *port, struct err *err);
void verbs_port_close(struct verbs_port *port);

/* Where the port's address is now, which it may lose with its link. -ENETDOWN: the
 * port is not active; -EADDRNOTAVAIL: it has the address no more. */
int verbs_port_gid_index(const struct verbs_port *port, int *out, struct err *err);

/* The MTU and LID to offer. */
int verbs_port_describe(const struct verbs_port *port, struct verbs_offer *offer, struct err *err);

/* Take one of its events. false: there is none; otherwise *sentence_out says what has
 * happened to all connections through it, NULL: nothing. */
bool verbs_port_event(struct verbs_port *port, const char **sentence_out);

#endif
