/* transport_payloads.c - tests that received payloads lie in the caller's memory while there is
 * room in it, and elsewhere then. */
#include <stdlib.h>

#include "engine/transport/payload.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_BYTES = 5000, N_THAT_FIT = 2, N_SENT = 5 };

static int receive(struct transport_case *c, int first)
{
	struct message message;
	char payload[N_BYTES];

	for (int i = first; i < first + N_SENT; i++) {
		message = case_message(c, 0, 1, i, N_BYTES);
		case_payload(&message, payload);
		tap_is_int(case_send(c, &message, payload), 0, "a message leaves");
		if (!case_wait(c, TRANSPORT_ACKED, 0, i + 1))
			return 0;
	}
	return case_count(c, TRANSPORT_RECEIVED, 1);
}

/* Of what was received since the log had first entries; gives it back. */
static int count_inside(struct transport_case *c, const struct payload_area *area, size_t first)
{
	int n = 0;

	for (size_t i = first; i < c->n_log; i++)
		if (c->log[i].event.kind == TRANSPORT_RECEIVED) {
			n += payload_area_holds(area, c->log[i].event.payload);
			transport_release(case_worker(c, 1), c->log[i].event.payload);
		}
	return n;
}

static void test(const struct transport_variant *variant)
{
	struct payload_area area = {.n_bytes = N_THAT_FIT * payload_area_bytes(N_BYTES) + 64};
	struct transport_case c;
	size_t n_log;

	area.at = aligned_alloc(64, area.n_bytes);
	case_init(&c, variant, 2);
	c.config.max_bytes = N_BYTES;
	c.config.payloads = &area;
	c.keeps_payloads = true;
	if (case_open(&c)) {
		tap_is_int(receive(&c, 0), N_SENT, "%s: all arrive",
		           transport_variant_text(variant));
		tap_is_int(count_inside(&c, &area, 0), N_THAT_FIT, "as many lie here as fit");
		n_log = c.n_log;
		tap_is_int(receive(&c, N_SENT), 2 * N_SENT, "others arrive");
		tap_is_int(count_inside(&c, &area, n_log), N_THAT_FIT,
		           "and lie where those were that were given back");
	}
	case_fini(&c);
	free(area.at);
}

int main(void)
{
	for (const struct transport_variant *variant = transport_variants(); variant->name;
	     variant++)
		test(variant);
	return tap_done();
}
