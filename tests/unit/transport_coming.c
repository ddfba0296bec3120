/* transport_coming.c - tests that messages which are held are announced, each once and in the order
 * in which they came, whatever their moments are. */
#include "engine/transport/transport_internal.h"
#include "tests/tap.h"

static void add(struct inbox *inbox, int microbatch, int64_t arrived_ns, int64_t due_ns)
{
	const struct transport_event event = {
		.kind = TRANSPORT_RECEIVED,
		.message = {.microbatch = microbatch, .due_ns = due_ns},
		.payload = inbox,
		.arrived_ns = arrived_ns,
	};

	(void)inbox_add(inbox, &event, due_ns, 0);
}

static void check_next(struct inbox *inbox, enum transport_event_kind kind, int microbatch)
{
	struct transport_event event;

	if (!tap_is_int((int64_t)inbox_take(inbox, &event, 1), 1, "there is an event"))
		return;
	tap_ok(event.kind == kind && event.message.microbatch == microbatch, "%s of microbatch %d",
	       kind == TRANSPORT_COMING ? "COMING" : "RECEIVED", microbatch);
	tap_ok((event.payload != NULL) == (kind == TRANSPORT_RECEIVED),
	       "its payload comes with RECEIVED alone");
}

/* 1 is due when it comes, but 0 has to be shown before it; 2 is due later. */
static void test_order(void)
{
	struct inbox inbox = {.announces = true};
	struct inbox_item item;

	add(&inbox, 0, 100, 150);
	add(&inbox, 1, 200, 120);
	add(&inbox, 2, 210, 300);
	for (int i = 0; i < 3; i++)
		check_next(&inbox, TRANSPORT_COMING, i);
	while (inbox_pop_due(&inbox, 300, &item))
		;
	check_next(&inbox, TRANSPORT_RECEIVED, 1);
	check_next(&inbox, TRANSPORT_RECEIVED, 0);
	check_next(&inbox, TRANSPORT_RECEIVED, 2);
	inbox_fini(&inbox);
}

static void test_unasked(void)
{
	struct inbox inbox = {0};
	struct transport_event event;

	add(&inbox, 0, 100, 150);
	tap_is_int((int64_t)inbox_take(&inbox, &event, 1), 0,
	           "who does not want it is told nothing before the moment");
	inbox_fini(&inbox);
}

/* What need not be held need not be announced. */
static void test_not_held(void)
{
	struct inbox inbox = {.announces = true};

	add(&inbox, 0, 100, 0);
	check_next(&inbox, TRANSPORT_RECEIVED, 0);
	inbox_fini(&inbox);
}

int main(void)
{
	test_order();
	test_unasked();
	test_not_held();
	return tap_done();
}
