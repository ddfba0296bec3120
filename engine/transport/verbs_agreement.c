/* verbs_agreement.c - what is settled before queue pairs are made, without any device.
 *
 * An offer is little-endian at fixed places: 0 version (4) · 4 n_queues (4) · 8 clock_id · 16 gid
 * (16) · 32 lid (4) · 36 mtu (4) · 40 n_slots (4) · 44 slot_bytes (4) · 48 and every 8 bytes from
 * there: queue pair (4), first packet (4). It travels as a message of the control connection, which
 * has a checksum. */
#include "engine/transport/verbs_agreement_internal.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/transport/frame_internal.h"
#include "engine/transport/verbs_piece_internal.h"

/* Eight slots of 128 KiB: all of a message of 1 MiB is under way before the other side has emptied
 * anything, and each piece costs a request and a completion at either end. */
enum { SLOTS = 8, SLOTS_LEAST = 4, SLOT_BYTES = 128 << 10, SLOT_BYTES_LEAST = 1024 };
enum { OFFER_VERSION = 1, OFFER_HEAD_BYTES = 48, OFFER_NUMBER_BYTES = 8 };
enum { NUMBERS = 1 << 24, MTU_LEAST = 1, MTU_MOST = 5, PORTS_MAX = 255 };

/* The part of the list that is this rail's; returns its length, -1: there is none. */
static int part_of(const char *list, int rail, const char **part_out)
{
	const char *part = list;

	for (int i = 0; i < rail; i++) {
		part = strchr(part, ',');
		if (!part)
			return -1;
		part++;
	}
	*part_out = part;
	return (int)strcspn(part, ",");
}

static size_t add_text(char *to, size_t n, const char *text, size_t n_text)
{
	for (size_t i = 0; i < n_text && n + 1 < VERBS_NAME_BYTES; i++)
		to[n++] = text[i];
	return n;
}

static size_t starts_with(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 ? n : 0;
}

/* Copy the name with what braces stand for; returns how far it got: to the port, or to the end. */
static const char *fill_in(const char *part, const char *end, int stage, int peer, char *name)
{
	char link[16];
	size_t n = 0, n_word;

	(void)snprintf(link, sizeof(link), "%d", stage < peer ? stage : peer);
	while (part < end && *part != ':') {
		if ((n_word = starts_with(part, "{link}")))
			n = add_text(name, n, link, strlen(link));
		else if ((n_word = starts_with(part, "{side}")))
			n = add_text(name, n, stage < peer ? "a" : "b", 1);
		else
			n = add_text(name, n, part, n_word = 1);
		part += n_word;
	}
	name[n] = '\0';
	return part;
}

int verbs_name_of(const char *list, int rail, int stage, int peer, struct verbs_name *out,
                  struct err *err)
{
	struct verbs_name name = {.port = 1};
	const char *part, *rest;
	char *number_end;
	int n = part_of(list, rail, &part);
	long port = 1;

	if (n < 0)
		return err_set(
			err, -EINVAL,
			"'%.200s' names no RDMA device for rail %d; write one for each rail, "
			"with commas between",
			list, rail);
	rest = fill_in(part, part + n, stage, peer, name.device);
	if (rest < part + n) {
		port = strtol(rest + 1, &number_end, 10);
		if (number_end == rest + 1 || number_end != part + n)
			port = 0;
	}
	if (!name.device[0] || strpbrk(name.device, "{}/") || port < 1 || port > PORTS_MAX)
		return err_set(
			err, -EINVAL,
			"'%.*s' is no RDMA device; write mlx5_0 or mlx5_0:1, with {link} and "
			"{side} where every link has its own",
			n > 100 ? 100 : n, part);
	name.port = (int)port;
	*out = name;
	return 0;
}

static int smaller_of(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

int verbs_size(const struct verbs_limits *limits, int n_connections, int64_t max_bytes,
               struct verbs_sizes *out, struct err *err)
{
	int64_t whole_bytes = max_bytes + FRAME_HEADER_BYTES + FRAME_TRAILER_BYTES;
	struct verbs_sizes sizes = {.n_slots = smaller_of(SLOTS, limits->n_requests)};

	if (n_connections > limits->n_queue_pairs)
		return err_set(err, -ENOSPC,
		               "%d connections want a queue pair each, and the RDMA device has %d; "
		               "take fewer delegate queues",
		               n_connections, limits->n_queue_pairs);
	if (n_connections > 0)
		sizes.n_slots =
			smaller_of(sizes.n_slots, limits->n_completions / 2 / n_connections);
	if (sizes.n_slots < SLOTS_LEAST)
		return err_set(err, -ENOSPC,
		               "%d connections want %d completions, and the RDMA device has %d, at "
		               "most %d a queue; take fewer delegate queues",
		               n_connections, 2 * SLOTS_LEAST * n_connections,
		               limits->n_completions, limits->n_requests);
	sizes.slot_bytes = smaller_of(SLOT_BYTES, limits->region_bytes / 2 / sizes.n_slots);
	if (whole_bytes < sizes.slot_bytes)
		sizes.slot_bytes =
			(int)(whole_bytes < SLOT_BYTES_LEAST ? SLOT_BYTES_LEAST : whole_bytes);
	if (sizes.slot_bytes < SLOT_BYTES_LEAST)
		return err_set(err, -ENOSPC,
		               "the RDMA device registers %lld bytes in one piece, which is too "
		               "little",
		               (long long)limits->region_bytes);
	sizes.n_parts = smaller_of(VERBS_PARTS_MAX, limits->n_parts);
	sizes.n_completions = n_connections > 0 ? 2 * sizes.n_slots * n_connections : 1;
	*out = sizes;
	return 0;
}

enum verbs_family verbs_family_of(const uint8_t *gid)
{
	static const uint8_t ipv4[12] = {[10] = 0xff, [11] = 0xff};

	if (memcmp(gid, ipv4, sizeof(ipv4)) == 0)
		return VERBS_IPV4;
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80 ? VERBS_LINK_LOCAL : VERBS_IPV6;
}

const char *verbs_family_text(enum verbs_family family)
{
	switch (family) {
	case VERBS_IPV4:
		return "IPv4";
	case VERBS_IPV6:
		return "IPv6";
	case VERBS_LINK_LOCAL:
		return "link-local";
	}
	return "";
}

char *verbs_gid_text(const uint8_t *gid, char *out)
{
	bool is_ipv4 = verbs_family_of(gid) == VERBS_IPV4;

	if (!inet_ntop(is_ipv4 ? AF_INET : AF_INET6, is_ipv4 ? gid + 12 : gid, out,
	               VERBS_GID_TEXT_BYTES))
		out[0] = '\0';
	return out;
}

static void put(uint8_t *bytes, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
}

static uint32_t get(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

size_t verbs_offer_encode(const struct verbs_offer *offer, uint8_t *bytes)
{
	put(bytes, OFFER_VERSION);
	put(bytes + 4, (uint32_t)offer->n_queues);
	frame_put_u64(bytes + 8, offer->clock_id);
	memcpy(bytes + 16, offer->gid, VERBS_GID_BYTES);
	put(bytes + 32, (uint32_t)offer->lid);
	put(bytes + 36, (uint32_t)offer->mtu);
	put(bytes + 40, (uint32_t)offer->n_slots);
	put(bytes + 44, (uint32_t)offer->slot_bytes);
	bytes += OFFER_HEAD_BYTES;
	for (int i = 0; i < offer->n_queues; i++, bytes += OFFER_NUMBER_BYTES) {
		put(bytes, offer->numbers[i].queue_pair);
		put(bytes + 4, offer->numbers[i].first_packet);
	}
	return (size_t)(OFFER_HEAD_BYTES + offer->n_queues * OFFER_NUMBER_BYTES);
}

/* A number of the head that has to be from low to high. */
static int get_count(const uint8_t *bytes, int low, int high, const char *what, int *out,
                     struct err *err)
{
	uint32_t value = get(bytes);

	if (value < (uint32_t)low || value > (uint32_t)high)
		return err_set(err, -EBADMSG, "the other side offers %u for its %s", value, what);
	*out = (int)value;
	return 0;
}

static int decode_head(const uint8_t *bytes, struct verbs_offer *offer, struct err *err)
{
	int version = 0, rc;

	rc = get_count(bytes, OFFER_VERSION, OFFER_VERSION, "version", &version, err);
	rc = rc ? rc
	        : get_count(bytes + 4, 1, TRANSPORT_QUEUES_MAX, "queues", &offer->n_queues, err);
	rc = rc ? rc : get_count(bytes + 32, 0, UINT16_MAX, "LID", &offer->lid, err);
	rc = rc ? rc : get_count(bytes + 36, MTU_LEAST, MTU_MOST, "MTU", &offer->mtu, err);
	rc = rc ? rc
	        : get_count(bytes + 40, SLOTS_LEAST, INT16_MAX, "buffers", &offer->n_slots, err);
	rc = rc ? rc
	        : get_count(bytes + 44, SLOT_BYTES_LEAST, INT32_MAX, "bytes of a buffer",
	                    &offer->slot_bytes, err);
	offer->clock_id = frame_get_u64(bytes + 8);
	memcpy(offer->gid, bytes + 16, VERBS_GID_BYTES);
	return rc;
}

int verbs_offer_decode(const uint8_t *bytes, size_t n_bytes, struct verbs_offer *out,
                       struct err *err)
{
	struct verbs_offer offer = {0};
	int rc;

	if (n_bytes < OFFER_HEAD_BYTES)
		return err_set(err, -EBADMSG, "an offer of %zu bytes came", n_bytes);
	rc = decode_head(bytes, &offer, err);
	if (rc)
		return rc;
	if (n_bytes != (size_t)(OFFER_HEAD_BYTES + offer.n_queues * OFFER_NUMBER_BYTES))
		return err_set(err, -EBADMSG, "an offer of %d queues came in %zu bytes",
		               offer.n_queues, n_bytes);
	for (int i = 0; i < offer.n_queues; i++) {
		const uint8_t *at = bytes + OFFER_HEAD_BYTES + i * OFFER_NUMBER_BYTES;

		offer.numbers[i] = (struct verbs_number){get(at), get(at + 4)};
		if (offer.numbers[i].queue_pair >= NUMBERS ||
		    offer.numbers[i].first_packet >= NUMBERS)
			return err_set(err, -EBADMSG,
			               "the other side offers a queue pair with more than 24 bits");
	}
	*out = offer;
	return 0;
}
