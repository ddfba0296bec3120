/* transport_agreement.c - what transport verbs settles before there are queue pairs: whose device,
 * how much of it, and the bytes that both sides exchange. */
#include <errno.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/transport/frame_internal.h"
#include "engine/transport/verbs_agreement_internal.h"
#include "tests/tap.h"

static void check_name(const char *list, int rail, int stage, int peer, const char *device,
                       int port)
{
	struct verbs_name name = {{0}, 0};
	struct err err = {0};

	(void)verbs_name_of(list, rail, stage, peer, &name, &err);
	tap_ok(strcmp(name.device, device) == 0 && name.port == port,
	       "'%s', rail %d, stage %d beside %d: %s port %d (%s:%d %s)", list, rail, stage, peer,
	       device, port, name.device, name.port, err.text);
}

static void check_no_name(const char *list, int rail, const char *want)
{
	struct verbs_name name;
	struct err err = {0};

	tap_is_int(verbs_name_of(list, rail, 0, 1, &name, &err), -EINVAL,
	           "'%s' is refused for rail %d", list, rail);
	tap_contains(err.text, want, "and it is said why");
}

static void test_names(void)
{
	char list[300];

	check_name("mlx5_0", 0, 3, 4, "mlx5_0", 1);
	check_name("mlx5_0,mlx5_1:2", 1, 3, 4, "mlx5_1", 2);
	check_name("rx{link}{side}", 0, 1, 2, "rx1a", 1);
	check_name("rx{link}{side}:3", 0, 2, 1, "rx1b", 3);
	check_name("a,{side}{link}x,c", 1, 11, 10, "b10x", 1);
	check_no_name("mlx5_0", 1, "no RDMA device for rail 1");
	check_no_name("mlx5_0:", 0, "'mlx5_0:' is no RDMA device");
	check_no_name("mlx5_0:1x", 0, "'mlx5_0:1x'");
	check_no_name("mlx5_0:0", 0, "'mlx5_0:0'");
	check_no_name("mlx5_0:256", 0, "'mlx5_0:256'");
	check_no_name(":1", 0, "':1'");
	check_no_name("", 0, "''");
	check_no_name("a,,b", 1, "''");
	check_no_name("rx{stage}", 0, "with {link} and {side}");
	check_no_name("../rx", 0, "'../rx'");
	memset(list, 'x', sizeof(list));
	list[sizeof(list) - 1] = '\0';
	check_name(list, 0, 0, 1, list + sizeof(list) - VERBS_NAME_BYTES, 1);
}

/* A device that can do more than is ever asked for. */
static const struct verbs_limits large = {.n_queue_pairs = 100000,
                                          .n_requests = 16384,
                                          .n_completions = 4000000,
                                          .n_parts = 30,
                                          .region_bytes = INT64_MAX};

static void check_size(struct verbs_limits limits, int n_connections, int64_t max_bytes,
                       struct verbs_sizes want, const char *what)
{
	struct verbs_sizes sizes = {0};
	struct err err = {0};
	int rc = verbs_size(&limits, n_connections, max_bytes, &sizes, &err);

	tap_ok(rc == 0 && memcmp(&sizes, &want, sizeof(want)) == 0,
	       "%s: %d slots of %d bytes, %d completions, %d parts (%d, %d, %d, %d %s)", what,
	       want.n_slots, want.slot_bytes, want.n_completions, want.n_parts, sizes.n_slots,
	       sizes.slot_bytes, sizes.n_completions, sizes.n_parts, err.text);
}

static void check_too_little(struct verbs_limits limits, const char *want)
{
	struct verbs_sizes sizes;
	struct err err = {0};

	tap_is_int(verbs_size(&limits, 12, 1 << 20, &sizes, &err), -ENOSPC,
	           "a device with too little is refused");
	tap_contains(err.text, want, "and it is said of what");
}

static void test_sizes(void)
{
	struct verbs_limits limits = large;
	struct verbs_sizes sizes = {0};

	check_size(large, 12, 64 << 20, (struct verbs_sizes){8, 131072, 192, 4}, "large messages");
	check_size(large, 1, 5000, (struct verbs_sizes){8, 5104, 16, 4}, "small messages");
	check_size(large, 1, 0, (struct verbs_sizes){8, 1024, 16, 4}, "messages of no bytes");
	check_size(large, 0, 1, (struct verbs_sizes){8, 1024, 1, 4}, "no connection");
	limits.n_requests = 5;
	check_size(limits, 2, 1 << 20, (struct verbs_sizes){5, 131072, 20, 4}, "few requests");
	limits = large;
	limits.n_completions = 100;
	check_size(limits, 12, 1 << 20, (struct verbs_sizes){4, 131072, 96, 4}, "few completions");
	limits = large;
	limits.n_parts = 2;
	check_size(limits, 12, 1 << 20, (struct verbs_sizes){8, 131072, 192, 2}, "few parts");
	limits = large;
	limits.region_bytes = 1 << 18;
	check_size(limits, 12, 1 << 20, (struct verbs_sizes){8, 16384, 192, 4}, "small regions");
	(void)verbs_size(&limits, 12, 1 << 20, &sizes, NULL);
	tap_ok(verbs_block_bytes(&sizes) <= limits.region_bytes,
	       "both directions' slots fit into one region");
	limits = large;
	limits.n_queue_pairs = 11;
	check_too_little(limits,
	                 "12 connections want a queue pair each, and the RDMA device has 11");
	limits = large;
	limits.n_completions = 95;
	check_too_little(limits, "12 connections want 96 completions, and the RDMA device has 95");
	limits = large;
	limits.n_requests = 3;
	check_too_little(limits, "at most 3 a queue");
	limits = large;
	limits.region_bytes = 4096;
	check_too_little(limits, "registers 4096 bytes");
}

static void check_gid(const uint8_t *gid, enum verbs_family family, const char *text)
{
	char found[VERBS_GID_TEXT_BYTES];

	tap_is_int(verbs_family_of(gid), family, "%s is %s", text, verbs_family_text(family));
	tap_is_str(verbs_gid_text(gid, found), text, "and is written so");
}

static void test_gids(void)
{
	static const uint8_t ipv4[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 1};
	static const uint8_t local[16] = {0xfe, 0x80, [15] = 1};
	static const uint8_t global[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 7};

	check_gid(ipv4, VERBS_IPV4, "10.9.0.1");
	check_gid(local, VERBS_LINK_LOCAL, "fe80::1");
	check_gid(global, VERBS_IPV6, "2001:db8::7");
}

static const struct verbs_offer offer = {
	.clock_id = 0x1122334455667788,
	.gid = {0xfe, 0x80, [15] = 9},
	.lid = 3,
	.mtu = 5,
	.n_slots = 8,
	.slot_bytes = 65536,
	.n_queues = 2,
	.numbers = {{17, 0xabcdef}, {18, 0}},
};

static void test_bytes(void)
{
	static const uint8_t want[] = {
		1,    0,    0,    0,    2,    0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44,
		0x33, 0x22, 0x11, 0xfe, 0x80, 0, 0, 0, 0,    0,    0,    0,    0,
		0,    0,    0,    0,    0,    9, 3, 0, 0,    0,    5,    0,    0,
		0,    8,    0,    0,    0,    0, 0, 1, 0,    17,   0,    0,    0,
		0xef, 0xcd, 0xab, 0,    18,   0, 0, 0, 0,    0,    0,    0,
	};
	uint8_t bytes[VERBS_OFFER_BYTES_MAX] = {0};
	struct verbs_offer back = {0};

	tap_is_int((int64_t)verbs_offer_encode(&offer, bytes), sizeof(want),
	           "an offer of two queues has 64 bytes");
	tap_ok(memcmp(bytes, want, sizeof(want)) == 0, "which are these");
	tap_is_int(verbs_offer_decode(bytes, sizeof(want), &back, NULL), 0, "they are read");
	tap_ok(memcmp(&back, &offer, sizeof(offer)) == 0, "as what was written");
}

static void check_bad_offer(size_t at, uint8_t value, size_t n_bytes, const char *want)
{
	uint8_t bytes[VERBS_OFFER_BYTES_MAX] = {0};
	struct verbs_offer back;
	struct err err = {0};

	(void)verbs_offer_encode(&offer, bytes);
	bytes[at] = value;
	tap_is_int(verbs_offer_decode(bytes, n_bytes, &back, &err), -EBADMSG,
	           "an offer with byte %zu %d, %zu bytes long, is none", at, value, n_bytes);
	tap_contains(err.text, want, "and it is said why");
}

static void test_bad_offers(void)
{
	check_bad_offer(0, 2, 64, "2 for its version");
	check_bad_offer(4, 0, 64, "0 for its queues");
	check_bad_offer(4, 65, 64, "65 for its queues");
	check_bad_offer(4, 3, 64, "3 queues came in 64 bytes");
	check_bad_offer(34, 1, 64, "for its LID");
	check_bad_offer(36, 0, 64, "0 for its MTU");
	check_bad_offer(36, 6, 64, "6 for its MTU");
	check_bad_offer(40, 3, 64, "3 for its buffers");
	check_bad_offer(47, 0x80, 64, "for its bytes of a buffer");
	check_bad_offer(46, 0, 64, "0 for its bytes of a buffer");
	check_bad_offer(51, 1, 64, "more than 24 bits");
	check_bad_offer(55, 1, 64, "more than 24 bits");
	check_bad_offer(0, 1, 47, "47 bytes");
	check_bad_offer(0, 1, 63, "63 bytes");
}

/* Whatever comes, nothing is read beyond it; what is taken can be written again. */
static void test_random_offers(void)
{
	int n_wrong = 0;

	for (uint64_t round = 0; round < 20000; round++) {
		uint8_t bytes[VERBS_OFFER_BYTES_MAX], again[VERBS_OFFER_BYTES_MAX];
		struct verbs_offer back;
		size_t n = verbs_offer_encode(&offer, bytes);

		for (uint64_t i = 0; i < 1 + round % 4; i++)
			bytes[rng_mix(round, i) % n] = (uint8_t)rng_mix(round, i + 100);
		if (verbs_offer_decode(bytes, n, &back, NULL))
			continue;
		n_wrong += verbs_offer_encode(&back, again) != n || memcmp(bytes, again, n) != 0;
	}
	tap_is_int(n_wrong, 0, "a damaged offer is refused, or means what it says");
}

int main(void)
{
	test_names();
	test_sizes();
	test_gids();
	test_bytes();
	test_bad_offers();
	test_random_offers();
	return tap_done();
}
