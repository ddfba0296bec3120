/* transport_known.c - tests that what is sent from memory that a transport knows arrives like
 * anything else: from wherever in it, again and again, beside memory that it does not know, and
 * until the memory goes. */
#include <string.h>
#include <sys/mman.h>

#include "tests/tap.h"
#include "tests/transport_case.h"

/* The middle third of a block is known: whole pages, so that a third can go alone. Messages are of
 * sizes that transports cut in different ways. */
enum { KNOWN_BYTES = 75 * 4096, BLOCK_BYTES = 3 * KNOWN_BYTES };

static const int64_t sizes[] = {1, 900, 5000, 66000, 140000};

enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* Between two stages, of which the first one sends. */
struct known_case {
	struct transport_case c;
	uint8_t *block, *known;
	int n_sent;
};

/* Memory that is gone when it is given back: who reads it then ends the program. */
static uint8_t *map_block(void)
{
	void *block =
		mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return block == MAP_FAILED ? NULL : block;
}

static void unmap_block(struct known_case *k)
{
	if (k->block)
		(void)munmap(k->block, BLOCK_BYTES);
	k->block = NULL;
}

static bool open_case(struct known_case *k, const struct transport_variant *variant)
{
	*k = (struct known_case){.block = map_block()};
	case_init(&k->c, variant, 2);
	k->c.config.max_bytes = KNOWN_BYTES;
	if (!tap_ok(k->block != NULL, "%s: there is memory", transport_variant_text(variant)))
		return false;
	k->known = k->block + KNOWN_BYTES;
	return case_open(&k->c);
}

static void close_case(struct known_case *k)
{
	case_fini(&k->c);
	unmap_block(k);
}

static void set_known(struct known_case *k, const void *memory, size_t n_bytes, bool is_known)
{
	transport_set_known(case_worker(&k->c, 0), memory, n_bytes, is_known);
}

/* A message from there is taken; what it has to say differs from the one before. */
static bool send_from(struct known_case *k, uint8_t *payload, int64_t n_bytes)
{
	struct message message = case_message(&k->c, 0, 1, k->n_sent++, n_bytes);

	case_payload(&message, payload);
	return case_send(&k->c, &message, payload) == 0;
}

static bool all_intact(const struct known_case *k)
{
	for (size_t i = 0; i < k->c.n_log; i++)
		if (!k->c.log[i].is_intact)
			return false;
	return true;
}

/* Messages of all sizes from around one place: where they begin is so many of their own lengths, in
 * halves, before it. */
static void check_around(struct known_case *k, uint8_t *place, int n_halves, const char *where)
{
	bool has_held = true;

	k->c.n_log = 0;
	for (int i = 0; i < N_SIZES; i++)
		has_held = has_held && send_from(k, place - sizes[i] * n_halves / 2, sizes[i]) &&
		           case_wait(&k->c, TRANSPORT_ACKED, 0, i + 1);
	tap_ok(has_held && case_wait(&k->c, TRANSPORT_RECEIVED, 1, N_SIZES) && all_intact(k),
	       "%s: messages from %s arrive", transport_variant_text(&k->c.variant), where);
}

static void check_all_places(struct known_case *k)
{
	check_around(k, k->known, 0, "its start");
	check_around(k, k->known + KNOWN_BYTES / 2, 1, "its middle");
	check_around(k, k->known + KNOWN_BYTES, 2, "its end");
	check_around(k, k->known, 1, "half before it");
	check_around(k, k->known + KNOWN_BYTES, 1, "half behind it");
	check_around(k, k->known, 2, "before it");
}

static void test_places(const struct transport_variant *variant)
{
	struct known_case k;

	if (open_case(&k, variant)) {
		set_known(&k, k.known, KNOWN_BYTES, true);
		check_all_places(&k);
		set_known(&k, k.known, KNOWN_BYTES, false);
		check_around(&k, k.known, 0, "memory known no more");
		set_known(&k, k.known, KNOWN_BYTES, true);
		check_around(&k, k.known, 0, "memory known again");
	}
	close_case(&k);
}

/* Many messages are under way at once, from known memory and from other, cut into pieces together.
 */
static void test_mixture(const struct transport_variant *variant)
{
	enum { N = 60, EACH_BYTES = BLOCK_BYTES / N };
	struct known_case k;
	bool has_held = true;

	if (open_case(&k, variant)) {
		set_known(&k, k.known, KNOWN_BYTES, true);
		for (int i = 0; i < N; i++)
			has_held = has_held &&
			           send_from(&k, k.block + i * 7 % N * EACH_BYTES,
			                     i % 3 == 0 ? EACH_BYTES : 1 + 97 * i % EACH_BYTES);
		tap_ok(has_held && case_wait(&k.c, TRANSPORT_ACKED, 0, N) &&
		               case_wait(&k.c, TRANSPORT_RECEIVED, 1, N) && all_intact(&k),
		       "%s: %d messages at once arrive from known and from other memory",
		       transport_variant_text(variant), N);
	}
	close_case(&k);
}

static void test_twice(const struct transport_variant *variant)
{
	struct known_case k;

	if (open_case(&k, variant)) {
		set_known(&k, k.known, KNOWN_BYTES, false);
		check_around(&k, k.known, 0, "memory that is made unknown and was");
		set_known(&k, k.known, KNOWN_BYTES, true);
		set_known(&k, k.known, KNOWN_BYTES, true);
		check_around(&k, k.known, 0, "memory known twice");
		set_known(&k, k.known, KNOWN_BYTES, false);
		check_around(&k, k.known, 0, "memory known once more");
		set_known(&k, k.known, KNOWN_BYTES, false);
		set_known(&k, k.known, KNOWN_BYTES, false);
		check_around(&k, k.known, 0, "memory known no more");
	}
	close_case(&k);
}

/* Several blocks, which go one after another. */
static void test_gone(const struct transport_variant *variant)
{
	struct known_case k;

	if (open_case(&k, variant)) {
		set_known(&k, k.known, KNOWN_BYTES, true);
		set_known(&k, k.block, KNOWN_BYTES, true);
		check_around(&k, k.known, 0, "one of two blocks");
		check_around(&k, k.block, 0, "the other");
		set_known(&k, k.block, KNOWN_BYTES, false);
		(void)munmap(k.block, KNOWN_BYTES);
		check_around(&k, k.known, 0, "one of which the other is gone");
		set_known(&k, k.known, KNOWN_BYTES, false);
		unmap_block(&k);
		k.block = map_block();
		if (k.block)
			check_around(&k, k.block, 0, "where other memory was");
	}
	close_case(&k);
}

/* When a rail is lost its payloads are the caller's, who may give their memory back: what arrives
 * meanwhile or later is what was sent. */
static void test_lost(const struct transport_variant *variant)
{
	enum { N = 4 };
	struct known_case k;
	struct err err = {0};

	if (open_case(&k, variant)) {
		set_known(&k, k.known, KNOWN_BYTES, true);
		for (int i = 0; i < N; i++)
			(void)send_from(&k, k.known + i * (KNOWN_BYTES / N), KNOWN_BYTES / N);
		case_poll(&k.c);
		tap_is_int(transport_set_rail(case_worker(&k.c, 0), 0, 0, false, &err), 0,
		           "%s: a rail goes down under messages", transport_variant_text(variant));
		(void)case_wait(&k.c, TRANSPORT_LOST, 0, 1);
		memset(k.block, 0xee, BLOCK_BYTES);
		set_known(&k, k.known, KNOWN_BYTES, false);
		unmap_block(&k);
		(void)case_wait(&k.c, TRANSPORT_LOST, -1, 2);
		case_settle(&k.c);
		tap_ok(case_count(&k.c, TRANSPORT_LOST, -1) == 2 && all_intact(&k),
		       "%s: what has arrived of them is what was sent",
		       transport_variant_text(variant));
	}
	close_case(&k);
}

/* What a transport inside others was told last, and how often. */
static struct {
	const void *memory;
	size_t n_bytes;
	bool is_known;
	int n_told;
} told;

static void take_note(struct transport *transport, const void *memory, size_t n_bytes,
                      bool is_known)
{
	(void)transport;
	told.memory = memory;
	told.n_bytes = n_bytes;
	told.is_known = is_known;
	told.n_told++;
}

static bool open_around_listener(struct transport_case *c)
{
	static const struct transport_variant variant = {"loopback", true, 1, true};
	static const bool is_local[] = {true, true};
	static struct transport_ops listening;
	const struct transport_ops *loopback;
	struct transport *inner, *middle;

	case_init(c, &variant, 2);
	c->config.is_local = is_local;
	if (transport_find("loopback", &loopback, NULL) ||
	    loopback->open(&c->config, c->addresses, &inner, NULL))
		return false;
	listening = *loopback;
	listening.set_known = take_note;
	inner->ops = &listening;
	return threaded_wrap(inner, &c->config, &middle, NULL) == 0 &&
	       shaped_wrap(middle, &c->config, &c->workers[0], NULL) == 0;
}

static void check_told(struct transport_case *c, const char *memory, size_t n_bytes, bool is_known)
{
	int n_before = told.n_told;

	transport_set_known(c->workers[0], memory, n_bytes, is_known);
	tap_ok(told.n_told == n_before + 1 && told.memory == memory && told.n_bytes == n_bytes &&
	               told.is_known == is_known,
	       "the transport inside shaped and threaded has been told of %zu bytes", n_bytes);
}

static void test_passed_on(void)
{
	static char memory[200];
	struct transport_case c;

	if (tap_ok(open_around_listener(&c), "one that listens is wrapped")) {
		check_told(&c, memory, sizeof(memory), true);
		check_told(&c, memory + 1, 7, true);
		check_told(&c, memory, sizeof(memory), false);
	}
	case_fini(&c);
}

int main(void)
{
	test_passed_on();
	for (const struct transport_variant *v = transport_variants(); v->name; v++) {
		test_places(v);
		test_mixture(v);
		test_twice(v);
		test_gone(v);
		test_lost(v);
	}
	return tap_done();
}
