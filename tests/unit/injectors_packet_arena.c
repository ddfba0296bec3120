/* injectors_packet_arena.c - memory for packets: theirs alone while they wait, and used again. */
#include <stdint.h>
#include <string.h>

#include "engine/base/rng.h"
#include "injectors/packet_arena_internal.h"
#include "tests/tap.h"

enum { PACKET_BYTES_MAX = 65536, N_WAITING = 200, N_STEPS = 20000, CHUNK_BYTES = 2 << 20 };
enum { SEED = 5, N_CHUNKS_MAX = 64 };

struct packet {
	unsigned char *bytes;
	size_t n_bytes;
	unsigned char mark;
};

/* The different chunks that packets lay in. */
struct chunks {
	uintptr_t numbers[N_CHUNKS_MAX];
	int n;
};

static void note_chunk(struct chunks *chunks, const void *packet)
{
	uintptr_t number = (uintptr_t)packet / CHUNK_BYTES;

	for (int i = 0; i < chunks->n; i++)
		if (chunks->numbers[i] == number)
			return;
	if (chunks->n < N_CHUNKS_MAX)
		chunks->numbers[chunks->n++] = number;
}

static void take(struct packet_arena *arena, struct packet *packet, uint64_t number)
{
	*packet = (struct packet){
		.bytes = packet_arena_room(arena, PACKET_BYTES_MAX),
		.n_bytes = 1 + rng_mix(SEED, number) % PACKET_BYTES_MAX,
		.mark = (unsigned char)rng_mix(number, SEED),
	};
	memset(packet->bytes, packet->mark, packet->n_bytes);
	packet_arena_keep(arena, packet->n_bytes);
}

static bool is_whole(const struct packet *packet)
{
	for (size_t i = 0; i < packet->n_bytes; i++)
		if (packet->bytes[i] != packet->mark)
			return false;
	return true;
}

/* Packets come and go, N_WAITING at a time: the oldest one first, or any. */
static void test_waiting(bool is_in_order)
{
	struct packet waiting[N_WAITING];
	struct packet_arena arena = {0};
	struct chunks chunks = {0};
	int n_spoilt = 0, n_askew = 0;

	for (int i = 0; i < N_WAITING; i++)
		take(&arena, &waiting[i], (uint64_t)i);
	for (int i = 0; i < N_STEPS; i++) {
		uint64_t drawn = rng_mix(SEED, (uint64_t)(N_STEPS + i));
		struct packet *leaves =
			&waiting[is_in_order ? i % N_WAITING : (int)(drawn % N_WAITING)];

		n_spoilt += !is_whole(leaves);
		packet_arena_give(&arena, leaves->bytes);
		take(&arena, leaves, (uint64_t)(N_WAITING + i));
		n_askew += (uintptr_t)leaves->bytes % 16 != 0;
		note_chunk(&chunks, leaves->bytes);
	}
	tap_is_int(n_spoilt, 0, "%d packets %s keep their bytes", N_STEPS,
	           is_in_order ? "that leave in order" : "that leave in any order");
	tap_is_int(n_askew, 0, "and are aligned");
	/* 200 packets of 32 KiB are four chunks; one is being filled, one being emptied. */
	if (is_in_order)
		tap_ok(chunks.n <= 6, "in %d chunks of memory", chunks.n);
	packet_arena_fini(&arena);
}

static void test_room(void)
{
	struct packet_arena arena = {0};
	void *first = packet_arena_room(&arena, 100), *again;

	again = packet_arena_room(&arena, PACKET_BYTES_MAX);
	tap_ok(first && first == again, "room of which nothing is kept is the next packet's");
	packet_arena_keep(&arena, 100);
	again = packet_arena_room(&arena, 100);
	tap_ok((char *)again >= (char *)first + 100, "room that is kept is not");
	packet_arena_give(&arena, first);
	tap_ok(packet_arena_room(&arena, 100) == first, "until it is given back");
	tap_ok(packet_arena_room(&arena, 2 << 20) == NULL, "there is none for what is no packet");
	packet_arena_fini(&arena);
}

int main(void)
{
	test_room();
	test_waiting(true);
	test_waiting(false);
	return tap_done();
}
