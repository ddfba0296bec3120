/* world_measure.c - what passes while a fault of a link is in force: how much, how fast, how late.
 *
 * Of times only a histogram is kept, so nothing grows with a run. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/histogram.h"
#include "engine/sim/world_internal.h"

/* A message under way. */
struct span {
	int64_t start_ns, end_ns;
};

/* While one fault is in force. */
struct measured {
	struct histogram extra;
	int64_t busy_ns;
	struct world_packets sums;
	struct span *spans; /* in the iteration and replica in hand */
	size_t n_spans;
};

struct measuring {
	const struct world_packets *packets; /* [direction] */
	int64_t message_bytes;
	struct measured **faults; /* [n_faults]; NULL: not of a link */
	size_t n_faults;
};

void measuring_free(struct measuring *measuring)
{
	if (!measuring)
		return;
	for (size_t i = 0; measuring->faults && i < measuring->n_faults; i++) {
		if (measuring->faults[i])
			free(measuring->faults[i]->spans);
		free(measuring->faults[i]);
	}
	free(measuring->faults);
	free(measuring);
}

static int add_fault(struct measuring *measuring, size_t fault, size_t n_spans)
{
	struct measured *measured = array_new(1, sizeof(*measured));

	measuring->faults[fault] = measured;
	if (measured)
		measured->spans = array_new(n_spans, sizeof(*measured->spans));
	return measured && measured->spans ? 0 : -ENOMEM;
}

int world_measure(struct world *world, const struct world_packets *packets, int64_t message_bytes,
                  struct err *err)
{
	const struct scenario *scenario = world->scenario;
	struct measuring *measuring = array_new(1, sizeof(*measuring));
	int rc = measuring ? 0 : -ENOMEM;

	world->measuring = measuring;
	if (measuring) {
		measuring->packets = packets;
		measuring->message_bytes = message_bytes;
		measuring->n_faults = scenario->n_faults;
		measuring->faults = array_new(scenario->n_faults, sizeof(struct measured *));
		rc = measuring->faults ? 0 : -ENOMEM;
	}
	for (size_t i = 0; rc == 0 && i < scenario->n_faults; i++)
		if (fault_is_on_link(&scenario->faults[i]))
			rc = add_fault(measuring, i, (size_t)scenario->n_microbatches);
	return rc ? err_set(err, rc, "no memory to measure what passes links") : 0;
}

static struct measured *measured_of(const struct world *world, size_t fault)
{
	return world->measuring ? world->measuring->faults[fault] : NULL;
}

void measuring_add_message(struct world *world, size_t fault, int64_t start_ns, int64_t arrive_ns)
{
	struct measured *measured = measured_of(world, fault);

	if (!measured)
		return;
	histogram_add(&measured->extra, arrive_ns - start_ns - world_healthy_ns(world));
	measured->spans[measured->n_spans++] = (struct span){start_ns, arrive_ns};
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Messages travel beside each other, and that time counts once. */
void measuring_end_replica(struct world *world, size_t fault)
{
	struct measured *measured = measured_of(world, fault);
	int64_t until_ns = 0;

	if (!measured)
		return;
	qsort(measured->spans, measured->n_spans, sizeof(*measured->spans), compare_spans);
	for (size_t i = 0; i < measured->n_spans; i++) {
		const struct span *span = &measured->spans[i];
		int64_t from_ns = span->start_ns > until_ns ? span->start_ns : until_ns;

		until_ns = span->end_ns > until_ns ? span->end_ns : until_ns;
		measured->busy_ns += until_ns > from_ns ? until_ns - from_ns : 0;
	}
	measured->n_spans = 0;
}

static int64_t sum_known(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

void measuring_end_iteration(struct world *world, size_t fault)
{
	struct measured *measured = measured_of(world, fault);
	const struct world_packets *passed;
	struct world_packets *sums;

	if (!measured)
		return;
	sums = &measured->sums;
	passed = &world->measuring->packets[world_fault_direction(&world->scenario->faults[fault])];
	sums->n_sent = sum_known(sums->n_sent, passed->n_sent);
	sums->n_lost = sum_known(sums->n_lost, passed->n_lost);
	sums->n_resent = sum_known(sums->n_resent, passed->n_resent);
	sums->n_delayed = sum_known(sums->n_delayed, passed->n_delayed);
	sums->delay_sum_ns = sum_known(sums->delay_sum_ns, passed->delay_sum_ns);
}

static void begin_anew(struct measured *measured)
{
	struct span *spans = measured->spans;

	*measured = (struct measured){.spans = spans};
}

const struct record_traffic *measuring_report(struct world *world, size_t fault,
                                              struct record_traffic *out)
{
	struct measured *measured = measured_of(world, fault);
	const struct world_packets *sums;

	if (!measured)
		return NULL;
	sums = &measured->sums;
	*out = (struct record_traffic){
		.extra_p50_ns = histogram_quantile_ns(&measured->extra, 0.5),
		.extra_p95_ns = histogram_quantile_ns(&measured->extra, 0.95),
		.payload_bytes = measured->extra.n * world->measuring->message_bytes,
		.busy_ns = measured->busy_ns,
		.n_packets = sums->n_sent > 0 ? sums->n_sent : -1,
		.n_lost = sums->n_sent > 0 ? sums->n_lost : -1,
		.packet_delay_ns = sums->n_delayed > 0 ? sums->delay_sum_ns / sums->n_delayed : -1,
		.n_resent = sums->n_resent,
	};
	begin_anew(measured);
	return out;
}
