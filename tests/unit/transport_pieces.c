/* transport_pieces.c - what transport verbs does before a device is asked: which of the caller's
 * memory is known, and what of a piece is copied and what is gathered. */
#include <errno.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/transport/regions_internal.h"
#include "engine/transport/verbs_piece_internal.h"
#include "tests/tap.h"

enum { N_BYTES = 1000, SLOT_KEY = 7, KNOWN_KEY = 9 };

static char memory[N_BYTES];

static void check_around(const struct regions *regions, size_t at, size_t n_bytes, int want)
{
	const struct region *region = regions_around(regions, memory + at, n_bytes);

	tap_is_int(region ? (const char *)region->start - memory : -1, want,
	           "%zu bytes from %zu on", n_bytes, at);
}

static void add(struct regions *regions, size_t at, size_t n_bytes)
{
	tap_is_int(regions_add(regions, memory + at, n_bytes), 0, "%zu bytes from %zu on are known",
	           n_bytes, at);
}

static void test_regions(void)
{
	struct regions regions = {0};
	struct region *region;

	check_around(&regions, 0, 1, -1);
	add(&regions, 500, 100);
	add(&regions, 100, 50);
	add(&regions, 150, 50);
	add(&regions, 800, 1);
	check_around(&regions, 99, 1, -1);
	check_around(&regions, 99, 10, -1);
	check_around(&regions, 100, 50, 100);
	check_around(&regions, 149, 1, 100);
	check_around(&regions, 149, 2, -1);
	check_around(&regions, 150, 50, 150);
	check_around(&regions, 550, 20, 500);
	check_around(&regions, 550, SIZE_MAX, -1);
	check_around(&regions, 599, 1, 500);
	check_around(&regions, 600, 1, -1);
	check_around(&regions, 800, 1, 800);
	check_around(&regions, 800, 2, -1);
	tap_ok(!regions_find(&regions, memory + 100, 49) &&
	               !regions_find(&regions, memory + 101, 49),
	       "a part of a region is not the region");
	region = regions_find(&regions, memory + 150, 50);
	region->held = memory;
	add(&regions, 150, 50);
	region = regions_find(&regions, memory + 150, 50);
	tap_ok(region && region->n_known == 2 && region->held == memory,
	       "what is known twice is one region, with what was held of it");
	regions_remove(&regions, regions_find(&regions, memory + 100, 50));
	check_around(&regions, 100, 50, -1);
	check_around(&regions, 199, 1, 150);
	regions_remove(&regions, regions_find(&regions, memory + 800, 1));
	check_around(&regions, 800, 1, -1);
	check_around(&regions, 500, 100, 500);
	regions_fini(&regions);
}

/* Whatever order they come in and go. */
static void test_many_regions(void)
{
	enum { N = 250, EACH = N_BYTES / N };
	struct regions regions = {0};
	int n_wrong = 0;

	for (int i = 0; i < N; i++)
		n_wrong += regions_add(&regions, memory + i * 77 % N * EACH, EACH) != 0;
	for (int i = 0; i < N; i += 2)
		regions_remove(&regions, regions_find(&regions, memory + i * EACH, EACH));
	for (int i = 0; i < N; i++)
		n_wrong += (regions_around(&regions, memory + i * EACH + 1, EACH - 1) != NULL) !=
		           (i % 2 == 1);
	tap_is_int(n_wrong, 0, "of %d regions every other one is left", N);
	regions_fini(&regions);
}

static struct verbs_piece piece_of(uint8_t *slot, size_t n_bytes_most, int n_parts_most)
{
	return (struct verbs_piece){.slot = slot,
	                            .slot_key = SLOT_KEY,
	                            .n_bytes_most = n_bytes_most,
	                            .n_parts_most = n_parts_most};
}

static size_t add_copy(struct verbs_piece *piece, size_t at, size_t n_bytes)
{
	return verbs_piece_add(piece, memory + at, n_bytes, NULL);
}

static size_t add_known(struct verbs_piece *piece, size_t at, size_t n_bytes)
{
	static const uint32_t key = KNOWN_KEY;

	return verbs_piece_add(piece, memory + at, n_bytes, &key);
}

static void check_part(const struct verbs_piece *piece, int i, const void *at, size_t n_bytes)
{
	const struct verbs_part *part = &piece->parts[i];
	bool is_copied = (const char *)at < memory || (const char *)at >= memory + N_BYTES;

	tap_ok(i < piece->n_parts && part->at == at && part->n_bytes == n_bytes &&
	               part->key == (is_copied ? SLOT_KEY : KNOWN_KEY),
	       "part %d is %zu bytes, %s", i, n_bytes,
	       is_copied ? "copied" : "left where they are");
}

/* As messages are: a header, a payload, the trailer and the next header, a payload. */
static void test_parts(void)
{
	uint8_t slot[300] = {0};
	struct verbs_piece piece = piece_of(slot, sizeof(slot), VERBS_PARTS_MAX);

	tap_is_int((int64_t)add_copy(&piece, 10, 20), 20, "a header is taken");
	tap_is_int((int64_t)add_known(&piece, 100, 150), 150, "a payload as well");
	tap_is_int((int64_t)add_copy(&piece, 30, 8), 8, "and a trailer");
	tap_is_int((int64_t)add_copy(&piece, 40, 20), 20, "and the next header");
	tap_is_int((int64_t)add_known(&piece, 500, 200), 102, "of the next payload what has room");
	tap_is_int((int64_t)add_known(&piece, 602, 98), 0, "and then nothing");
	tap_is_int(piece.n_parts, 4, "these are four parts");
	tap_is_int((int64_t)piece.n_bytes, 300, "of as many bytes as there may be");
	check_part(&piece, 0, slot, 20);
	check_part(&piece, 1, memory + 100, 150);
	check_part(&piece, 2, slot + 20, 28);
	check_part(&piece, 3, memory + 500, 102);
}

static void test_few_parts(void)
{
	uint8_t slot[100];
	struct verbs_piece piece = piece_of(slot, sizeof(slot), 2);

	(void)add_copy(&piece, 0, 10);
	(void)add_known(&piece, 20, 30);
	tap_is_int((int64_t)add_known(&piece, 50, 10), 10, "what lies behind it is the same part");
	tap_is_int((int64_t)add_known(&piece, 70, 10), 0, "a third part is for the next piece");
	tap_is_int((int64_t)add_copy(&piece, 0, 10), 0, "and so is what would be copied");
	check_part(&piece, 1, memory + 20, 40);
	piece = piece_of(slot, sizeof(slot), 1);
	tap_is_int((int64_t)(add_copy(&piece, 0, 50) + add_copy(&piece, 70, 80)), 100,
	           "copies are one part, and full when the slot is");
	check_part(&piece, 0, slot, 100);
}

/* Whatever is known and whatever there is room for, what is sent is what was given. */
static void test_random(void)
{
	int n_wrong = 0;

	for (size_t i = 0; i < N_BYTES; i++)
		memory[i] = (char)rng_mix(3, i);
	for (uint64_t round = 0; round < 5000; round++) {
		uint8_t slot[N_BYTES], sent[N_BYTES];
		struct verbs_piece piece = piece_of(slot, rng_mix(round, 1) % N_BYTES,
		                                    1 + (int)(rng_mix(round, 2) % VERBS_PARTS_MAX));
		size_t n = 0, n_wanted = 0, n_sent = 0;

		for (uint64_t i = 3; n == n_wanted && n < N_BYTES; i++) {
			size_t m = rng_mix(round, i) % 200;

			m = m < N_BYTES - n ? m : N_BYTES - n;
			n_wanted = n + m;
			n += rng_mix(round, i + 100) % 2 ? add_known(&piece, n, m)
			                                 : add_copy(&piece, n, m);
		}
		for (int i = 0; i < piece.n_parts; n_sent += piece.parts[i++].n_bytes)
			memcpy(sent + n_sent, piece.parts[i].at, piece.parts[i].n_bytes);
		n_wrong += n_sent != n || piece.n_bytes != n || n > piece.n_bytes_most ||
		           piece.n_parts > piece.n_parts_most || memcmp(sent, memory, n) != 0;
	}
	tap_is_int(n_wrong, 0, "pieces hold what they were given, in its order");
}

int main(void)
{
	test_regions();
	test_many_regions();
	test_parts();
	test_few_parts();
	test_random();
	return tap_done();
}
