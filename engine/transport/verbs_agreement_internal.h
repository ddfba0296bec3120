/* verbs_agreement_internal.h - what is settled before queue pairs are made, without any device:
 * which device is whose, how much of it is taken, what the two sides tell each other. */
#ifndef ENGINE_TRANSPORT_VERBS_AGREEMENT_INTERNAL_H
#define ENGINE_TRANSPORT_VERBS_AGREEMENT_INTERNAL_H

#include "engine/transport/transport.h"

enum { VERBS_NAME_BYTES = 64, VERBS_GID_BYTES = 16, VERBS_GID_TEXT_BYTES = 48 };

/* A device, and one of its ports. */
struct verbs_name {
	char device[VERBS_NAME_BYTES];
	int port;
};

/* The one of a list, "NAME[:PORT]" for each rail with commas between, that is rail's at the end of
 * the link between stage and peer that belongs to stage. In a name {link} is the link's lower
 * stage, {side} "a" at that stage and "b" at the other. -EINVAL: the list has none for this rail,
 * or it is no name. */
int verbs_name_of(const char *list, int rail, int stage, int peer, struct verbs_name *out,
                  struct err *err);

/* Of a port: what the device says that it can do. */
struct verbs_limits {
	int n_queue_pairs;
	int n_requests; /* that one of them takes at a time */
	int n_completions;
	int n_parts;          /* places in memory that it gathers a request from */
	int64_t region_bytes; /* of registered memory in one piece */
};

/* Of a connection, and of all that share a port. Each direction has n_slots buffers at either end,
 * as many requests, and as many pieces under way. */
struct verbs_sizes {
	int n_slots;
	int slot_bytes;
	int n_completions;
	int n_parts;
};

/* What n_connections through one port take for messages of up to max_bytes: what is best, or what
 * the device allows. -ENOSPC: it allows too little, err says of what. */
int verbs_size(const struct verbs_limits *limits, int n_connections, int64_t max_bytes,
               struct verbs_sizes *out, struct err *err);

static inline int64_t verbs_block_bytes(const struct verbs_sizes *sizes)
{
	return 2LL * sizes->n_slots * sizes->slot_bytes;
}

/* The kinds of address that a GID can be; both ends of a connection must have the same. */
enum verbs_family { VERBS_IPV4, VERBS_IPV6, VERBS_LINK_LOCAL };

enum verbs_family verbs_family_of(const uint8_t *gid);
const char *verbs_family_text(enum verbs_family family);

/* "10.9.0.1" or "fe80::1"; out holds VERBS_GID_TEXT_BYTES and is returned. */
char *verbs_gid_text(const uint8_t *gid, char *out);

/* A queue pair, and the sequence number of its first packet. */
struct verbs_number {
	uint32_t queue_pair, first_packet;
};

struct verbs_offer {
	uint64_t clock_id;
	uint8_t gid[VERBS_GID_BYTES];
	int lid; /* 0 on Ethernet */
	int mtu; /* enum ibv_mtu: 1 is 256 bytes, 5 is 4096 */
	int n_slots;
	int slot_bytes;
	int n_queues;
	struct verbs_number numbers[TRANSPORT_QUEUES_MAX];
};

enum { VERBS_OFFER_BYTES_MAX = 48 + 8 * TRANSPORT_QUEUES_MAX };

/* Returns the number of bytes. */
size_t verbs_offer_encode(const struct verbs_offer *offer, uint8_t *bytes);

/* -EBADMSG: these bytes are no offer, or one that nobody could keep; err says why. *out is set only
 * on success. */
int verbs_offer_decode(const uint8_t *bytes, size_t n_bytes, struct verbs_offer *out,
                       struct err *err);

#endif
