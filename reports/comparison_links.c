/* comparison_links.c - what passed links while faults were in force there, of live runs. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"

static const double MBIT = 1e6, MBIT_PER_BYTE_NS = 8e3;

/* What is summed up of one schedule and link; a count that one time in force does not know is NaN.
 */
struct sums {
	double n_times, n_messages, extra_ns, p50_ns, p95_ns;
	double payload_bytes, busy_ns, n_packets, n_lost, held_ns, n_resent;
};

/* A link while it is put together. */
struct draft {
	char *moments;
	int first_fault;   /* whose rows count; those of others beside it say the same */
	struct sums *sums; /* [n_schedules] */
};

struct drafts {
	struct draft *items; /* as out->links */
	struct comparison *out;
	size_t capacity, links_capacity;
};

static double known(int64_t value)
{
	return value < 0 ? NAN : (double)value;
}

static void add_asked(const struct stored_fault *fault, struct comparison_link *link)
{
	if (strcmp(fault->kind, "delay") == 0) {
		link->delay_ms = known(fault->delay_ns) / NS_PER_MS;
		if (fault->jitter_ns > 0)
			link->jitter_ms = known(fault->jitter_ns) / NS_PER_MS;
		free(link->delay_model);
		link->delay_model = strdup(fault->delay_model);
	} else if (strcmp(fault->kind, "rate") == 0) {
		link->rate_mbit_per_s = known(fault->rate_bits_per_s) / MBIT;
	} else if (strcmp(fault->kind, "loss") == 0) {
		link->loss_ratio = fault->loss_ratio;
	}
}

static int add_link(struct drafts *drafts, const struct stored_fault *fault)
{
	struct comparison *out = drafts->out;
	size_t n = out->n_links, n_schedules = out->n_schedules;
	struct comparison_link *links =
		array_grow(out->links, &drafts->links_capacity, n + 1, sizeof(*links));
	struct draft *items = array_grow(drafts->items, &drafts->capacity, n + 1, sizeof(*items));

	out->links = links ? links : out->links;
	drafts->items = items ? items : drafts->items;
	if (!links || !items)
		return -ENOMEM;
	links[n] =
		(struct comparison_link){.from_stage = fault->from_stage,
	                                 .to_stage = fault->to_stage,
	                                 .delay_ms = NAN,
	                                 .jitter_ms = NAN,
	                                 .loss_ratio = NAN,
	                                 .rate_mbit_per_s = NAN,
	                                 .delay_model = strdup(""),
	                                 .passed = array_new(n_schedules, sizeof(*links->passed))};
	items[n] = (struct draft){.moments = strdup(fault->moments),
	                          .first_fault = fault->fault,
	                          .sums = array_new(n_schedules, sizeof(*items->sums))};
	out->n_links++;
	return links[n].delay_model && links[n].passed && items[n].moments && items[n].sums
	               ? 0
	               : -ENOMEM;
}

static size_t find_link(const struct drafts *drafts, const struct stored_fault *fault)
{
	const struct comparison *out = drafts->out;
	size_t i = 0;

	while (i < out->n_links && (out->links[i].from_stage != fault->from_stage ||
	                            out->links[i].to_stage != fault->to_stage ||
	                            strcmp(drafts->items[i].moments, fault->moments) != 0))
		i++;
	return i;
}

static void add_passed(const struct stored_fault *fault, int64_t message_bytes, struct sums *sums)
{
	const struct record_traffic *traffic = &fault->traffic;
	double n = message_bytes > 0 ? (double)(traffic->payload_bytes / message_bytes) : 0;

	sums->n_times++;
	sums->n_messages += n;
	if (n > 0) {
		sums->extra_ns += n * known(fault->measured_ns);
		sums->p50_ns += n * known(traffic->extra_p50_ns);
		sums->p95_ns += n * known(traffic->extra_p95_ns);
	}
	sums->payload_bytes += (double)traffic->payload_bytes;
	sums->busy_ns += (double)traffic->busy_ns;
	sums->n_packets += known(traffic->n_packets);
	sums->n_lost += known(traffic->n_lost);
	sums->held_ns += known(traffic->n_packets) * known(traffic->packet_delay_ns);
	sums->n_resent += known(traffic->n_resent);
}

static int add_fault(struct drafts *drafts, size_t schedule, int64_t message_bytes,
                     const struct stored_fault *fault)
{
	size_t i = find_link(drafts, fault);

	if (fault->traffic.busy_ns < 0)
		return 0;
	if (i == drafts->out->n_links && add_link(drafts, fault))
		return -ENOMEM;
	add_asked(fault, &drafts->out->links[i]);
	if (!drafts->out->links[i].delay_model)
		return -ENOMEM;
	if (fault->fault == drafts->items[i].first_fault)
		add_passed(fault, message_bytes, &drafts->items[i].sums[schedule]);
	return 0;
}

static int add_run(struct drafts *drafts, struct store *store, size_t schedule, int64_t run,
                   struct err *err)
{
	struct stored_pipeline pipeline;
	struct stored_fault *faults;
	size_t n;
	int rc = store_read_faults(store, run, &faults, &n, err);

	if (rc)
		return rc;
	rc = store_read_pipeline(store, run, &pipeline, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (add_fault(drafts, schedule, pipeline.message_bytes, &faults[i]))
			rc = err_set(err, -ENOMEM, "out of memory");
	stored_faults_fini(faults, n);
	if (rc == 0)
		stored_pipeline_fini(&pipeline);
	return rc;
}

static struct comparison_passed passed_of(const struct sums *sums)
{
	double n = sums->n_messages > 0 ? sums->n_messages * NS_PER_MS : NAN;

	/* Under that schedule it was never in force. */
	if (sums->n_times == 0)
		return (struct comparison_passed){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	return (struct comparison_passed){
		.n_messages = sums->n_messages,
		.extra_ms = sums->extra_ns / n,
		.extra_p50_ms = sums->p50_ns / n,
		.extra_p95_ms = sums->p95_ns / n,
		.goodput_mbit_per_s =
			sums->busy_ns > 0 ? MBIT_PER_BYTE_NS * sums->payload_bytes / sums->busy_ns
					  : NAN,
		.n_packets = sums->n_packets,
		.n_lost = sums->n_lost,
		.held_ms = sums->held_ns / sums->n_packets / NS_PER_MS,
		.n_resent = sums->n_resent,
	};
}

static void finish(struct drafts *drafts)
{
	struct comparison *out = drafts->out;

	for (size_t i = 0; i < out->n_links; i++) {
		struct draft *draft = &drafts->items[i];

		for (size_t s = 0; draft->sums && out->links[i].passed && s < out->n_schedules; s++)
			out->links[i].passed[s] = passed_of(&draft->sums[s]);
		free(draft->moments);
		free(draft->sums);
	}
	free(drafts->items);
}

int comparison_add_links(const struct run_set *set, struct store *store, struct comparison *out,
                         struct err *err)
{
	struct drafts drafts = {.out = out};
	int rc = 0;

	for (size_t g = 0; strcmp(out->mode, "live") == 0 && g < set->n_groups; g++) {
		const struct run_group *group = &set->groups[g];

		for (size_t r = 0; rc == 0 && r < group->n_counting; r++)
			rc = add_run(&drafts, store, g, set->runs[group->members[r]].run, err);
	}
	finish(&drafts);
	return rc;
}
