/* verbs_memory.c - the caller's memory that devices read by themselves.
 *
 * It is registered with a port when something of it is first sent through that, which costs about
 * as much as copying it once, and never where nothing is. What cannot be registered, since it is
 * more than may be locked, or no memory that the device reaches, is copied as long as it is known.
 *
 * Until a payload is ACKED or LOST it stays as it is. LOST: its queue pair is destroyed by then,
 * and whoever has destroyed one knows that the device has done with it. ACKED: the other side has
 * all of it; the device may not have heard that yet, and send some again, but the other side's
 * drops what it has, whatever it says. Only when memory is to go it has to be waited for that
 * nothing of it is under way. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/transport/verbs_memory_internal.h"

/* Less is copied sooner than it is looked for and gathered. */
enum { LEAST_BYTES = 1024 };

static const int64_t LET_GO_NS = 500 * NS_PER_MS;

/* Of a region, with a port. */
struct verbs_registration {
	struct verbs_registration *next;
	const struct verbs_port *port;
	struct ibv_mr *memory; /* NULL: it could not be */
};

static struct verbs_registration *register_region(struct region *region,
                                                  const struct verbs_port *port)
{
	struct verbs_registration *registration = array_new(1, sizeof(*registration));

	if (!registration)
		return NULL;
	*registration = (struct verbs_registration){
		.next = region->held,
		.port = port,
		.memory = ibv_reg_mr(port->domain, (void *)region->start, region->n_bytes, 0),
	};
	region->held = registration;
	return registration;
}

const struct ibv_mr *verbs_memory_around(struct verbs *verbs, const struct verbs_port *port,
                                         const void *bytes, size_t n_bytes)
{
	struct region *region =
		n_bytes >= LEAST_BYTES ? regions_around(&verbs->known, bytes, n_bytes) : NULL;
	struct verbs_registration *registration = region ? region->held : NULL;

	while (registration && registration->port != port)
		registration = registration->next;
	if (region && !registration)
		registration = register_region(region, port);
	return registration ? registration->memory : NULL;
}

static void deregister(struct region *region)
{
	struct verbs_registration *registration = region->held;

	while (registration) {
		struct verbs_registration *next = registration->next;

		if (registration->memory)
			(void)ibv_dereg_mr(registration->memory);
		free(registration);
		registration = next;
	}
	region->held = NULL;
}

/* What was sent by now is done with, or its queue pair is no more. */
static void let_go(struct verbs *verbs, struct verbs_queue *queue, int64_t end_ns)
{
	const uint64_t n_sent = queue->n_sent;

	while (queue->end->state == VERBS_UP && queue->n_sent_done < n_sent) {
		if (clock_monotonic_ns() < end_ns)
			verbs_progress(verbs);
		else
			verbs_lose(verbs, queue->end, -ETIMEDOUT,
			           "the RDMA device does not let go of what was sent");
	}
}

void verbs_memory_forget(struct verbs *verbs, const void *memory, size_t n_bytes)
{
	struct region *region = regions_find(&verbs->known, memory, n_bytes);
	int64_t end_ns = clock_monotonic_ns() + LET_GO_NS;

	if (!region || --region->n_known > 0)
		return;
	for (int i = 0; region->held && i < verbs->n_queues; i++)
		let_go(verbs, &verbs->queues[i], end_ns);
	deregister(region);
	regions_remove(&verbs->known, region);
}

void verbs_memory_free(struct verbs *verbs)
{
	for (size_t i = 0; i < verbs->known.n; i++)
		deregister(&verbs->known.all[i]);
	regions_fini(&verbs->known);
}
