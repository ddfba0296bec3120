/* traffic.c - what the system says of packets that go the ways of faults of links.
 *
 * A site is asked for a way's packets when an iteration begins and when it ends, and only while a
 * fault may be in force there: it answers in a tenth of a millisecond. Workers say after every
 * iteration what TCP sent again. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/replay/traffic_internal.h"

/* All [sim_direction()]. */
struct traffic {
	struct world_packets *packets; /* of the iteration in hand, or the last one */
	struct site_counts *seen;      /* when the site was last asked */
	bool *is_fresh;                /* which was at the end of the iteration before */
	int64_t *n_resent;             /* in all attempts until now */
	int64_t *n_resent_before;      /* in those before this one */
};

static const struct fault *fault_of(const struct live *live, size_t i)
{
	return &live->config.scenario->faults[i];
}

static size_t way_of(const struct fault *fault)
{
	bool is_backward = fault->to_stage < fault->from_stage;

	return (size_t)sim_direction(is_backward ? fault->to_stage : fault->from_stage,
	                             is_backward);
}

static bool has_ways(const struct live *live)
{
	for (size_t i = 0; i < live->config.scenario->n_faults; i++)
		if (fault_is_on_link(fault_of(live, i)))
			return true;
	return false;
}

static int allocate(struct traffic *traffic, size_t n)
{
	traffic->packets = array_new(n, sizeof(*traffic->packets));
	traffic->seen = array_new(n, sizeof(*traffic->seen));
	traffic->is_fresh = array_new(n, sizeof(*traffic->is_fresh));
	traffic->n_resent = array_new(n, sizeof(*traffic->n_resent));
	traffic->n_resent_before = array_new(n, sizeof(*traffic->n_resent_before));
	return traffic->packets && traffic->seen && traffic->is_fresh && traffic->n_resent &&
	                       traffic->n_resent_before
	               ? 0
	               : -ENOMEM;
}

int traffic_open(struct live *live, struct err *err)
{
	size_t n = (size_t)live->config.scenario->topology.n_stages * SIM_DIRECTIONS;

	if (!has_ways(live))
		return 0;
	live->traffic = array_new(1, sizeof(*live->traffic));
	if (!live->traffic || allocate(live->traffic, n))
		return err_set(err, -ENOMEM, "no memory for the coordinator");
	live->base.packets = live->traffic->packets;
	return 0;
}

void traffic_close(struct live *live)
{
	struct traffic *traffic = live->traffic;

	if (!traffic)
		return;
	free(traffic->packets);
	free(traffic->seen);
	free(traffic->is_fresh);
	free(traffic->n_resent);
	free(traffic->n_resent_before);
	free(traffic);
}

/* The site has a fault in force, or may have in the iteration. */
static bool is_watched(const struct live *live, size_t fault)
{
	const struct fault *what = fault_of(live, fault);

	if (!fault_is_on_link(what) || !site_takes(live->config.site, fault))
		return false;
	return live->injection.is_on[fault] || what->start.kind != MOMENT_ITERATION ||
	       what->end.kind != MOMENT_ITERATION;
}

int traffic_begin(struct live *live, struct err *err)
{
	struct traffic *traffic = live->traffic;
	struct site *site = live->config.site;
	int rc = 0;

	for (size_t i = 0; traffic && rc == 0 && i < live->config.scenario->n_faults; i++) {
		size_t way = is_watched(live, i) ? way_of(fault_of(live, i)) : 0;

		if (!is_watched(live, i) || traffic->is_fresh[way])
			continue;
		rc = site->ops->count(site, i, &traffic->seen[way], err);
		traffic->is_fresh[way] = rc == 0;
	}
	return rc;
}

/* The site's part of what passed a way. */
static int take_packets(struct live *live, size_t fault, size_t way, struct err *err)
{
	struct traffic *traffic = live->traffic;
	struct site *site = live->config.site;
	struct site_counts before = traffic->seen[way], *now = &traffic->seen[way];
	struct world_packets *packets = &traffic->packets[way];
	int rc = site->ops->count(site, fault, now, err);

	if (rc)
		return rc;
	packets->n_sent = now->sent_packets - before.sent_packets;
	packets->n_lost = now->lost_packets - before.lost_packets;
	packets->n_delayed = now->delayed_packets - before.delayed_packets;
	packets->delay_sum_ns =
		llround((double)(now->delay_sum_ns - before.delay_sum_ns) * live->config.speed);
	return 0;
}

/* What all replicas' workers have said of one; -1: not all of them know. */
static int64_t sum_resent(const struct live *live, const struct fault *fault)
{
	int64_t sum = 0;

	for (int replica = 0; replica < live->board.n_replicas; replica++) {
		const struct board_stage *stage =
			board_stage(&live->board, replica, fault->from_stage);
		int64_t n = stage->n_resent[fault->to_stage > fault->from_stage];

		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

static void take_resent(struct live *live, const struct fault *fault, size_t way)
{
	struct traffic *traffic = live->traffic;
	int64_t n = sum_resent(live, fault);

	if (n < 0)
		return;
	n += traffic->n_resent_before[way];
	traffic->packets[way].n_resent = n - traffic->n_resent[way];
	traffic->n_resent[way] = n;
}

static void forget(struct live *live)
{
	for (size_t i = 0; i < live->config.scenario->n_faults; i++)
		if (fault_is_on_link(fault_of(live, i)))
			live->traffic->packets[way_of(fault_of(live, i))] =
				(struct world_packets){-1, -1, -1, -1, -1};
}

int traffic_end(struct live *live, struct err *err)
{
	struct traffic *traffic = live->traffic;
	int rc = 0;

	forget(live);
	for (size_t i = 0; rc == 0 && i < live->config.scenario->n_faults; i++) {
		const struct fault *fault = fault_of(live, i);
		struct world_packets *packets;
		size_t way;

		if (!fault_is_on_link(fault))
			continue;
		way = way_of(fault);
		packets = &traffic->packets[way];
		if (packets->n_resent < 0)
			take_resent(live, fault, way);
		if (is_watched(live, i) && packets->n_sent < 0)
			rc = take_packets(live, i, way, err);
		traffic->is_fresh[way] = packets->n_sent >= 0;
	}
	return rc;
}

void traffic_restart(struct live *live)
{
	struct traffic *traffic = live->traffic;

	for (size_t i = 0; i < live->config.scenario->n_faults; i++) {
		const struct fault *fault = fault_of(live, i);
		size_t way;

		if (!fault_is_on_link(fault))
			continue;
		way = way_of(fault);
		traffic->n_resent_before[way] = traffic->n_resent[way];
		for (int replica = 0; replica < live->board.n_replicas; replica++)
			board_stage(&live->board, replica, fault->from_stage)
				->n_resent[fault->to_stage > fault->from_stage] = 0;
	}
}
