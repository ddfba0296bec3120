/* scenario.c - the life of a scenario, and the hash that says which runs may be compared. */
#include "engine/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/scenario/digest.h"

void scenario_init(struct scenario *scenario)
{
	*scenario = (struct scenario){
		.topology =
			{
				.n_stages = 1,
				.n_hosts = 1,
				.n_replicas = 1,
				.n_rails = 2,
				.link_delay_ns = 5000,
			},
		.n_microbatches = 1,
		.n_iterations = 100,
		.n_repeats = 1,
		.seed = 1,
		.n_queues = PLANE_QUEUES_DEFAULT,
		.window_bytes = PLANE_WINDOW_BYTES_DEFAULT,
		/* Measured: a first iteration after a restart takes 19 to 20 s with 8 GPUs; the
	         * iteration in which an RNIC dies takes 1847 ms where those after it take 909 ms
	         * (data/pipemorph/README.md, "RNIC failure"). */
		.recovery =
			{
				.checkpoint_every = 100,
				.restart_ns = 20000000000,
				.failover_ns = 938000000,
			},
		.rdma = rdma_retry_default,
		.live = {.speed = 1},
		.stream = {-1, -1, -1, -1, -1},
		.detection =
			{
				.confirm_iterations = 1,
				.clear_iterations = 2,
			},
	};
}

static void event_fini(struct event *event)
{
	for (size_t i = 0; i < event->n_published; i++)
		free(event->published[i].schedule);
	free(event->published);
	free(event->label);
}

static void variant_fini(struct variant *variant)
{
	for (size_t i = 0; i < variant->n_assignments; i++)
		free(variant->assignments[i]);
	free(variant->assignments);
	free(variant->label);
}

void scenario_fini(struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->n_variants; i++)
		variant_fini(&scenario->variants[i]);
	free(scenario->variants);
	for (size_t i = 0; i < scenario->n_planes; i++)
		free(scenario->planes[i].schedule);
	free(scenario->planes);
	for (size_t i = 0; i < scenario->n_events; i++)
		event_fini(&scenario->events[i]);
	free(scenario->events);
	free(scenario->faults);
	for (size_t i = 0; i < scenario->n_schedules; i++)
		free(scenario->schedules[i]);
	free(scenario->schedules);
	profile_fini(&scenario->profile);
	free(scenario->title);
	free(scenario->path);
	free(scenario->text_digest);
	free(scenario->note);
	memset(scenario, 0, sizeof(*scenario));
}

static void choose(int choice, bool *rule)
{
	if (choice >= 0)
		*rule = choice > 0;
}

void scenario_choose_stream(const struct scenario *scenario, struct plane_rules *rules)
{
	const struct stream_choice *stream = &scenario->stream;

	if (stream->order >= 0)
		rules->order = (enum channel_order)stream->order;
	choose(stream->is_channel_shared, &rules->is_channel_shared);
	choose(stream->has_one_issue_queue, &rules->has_one_issue_queue);
	choose(stream->host_waits, &rules->host_waits);
	choose(stream->is_batched, &rules->is_batched);
}

enum plane_kind scenario_plane_of(const struct scenario *scenario, const char *schedule,
                                  enum plane_kind preset)
{
	for (size_t i = 0; i < scenario->n_planes; i++)
		if (strcmp(scenario->planes[i].schedule, schedule) == 0)
			return scenario->planes[i].plane;
	return preset;
}

int64_t scenario_message_bytes(const struct scenario *scenario)
{
	return scenario->profile.message_bytes;
}

uint64_t scenario_repeat_seed(const struct scenario *scenario, int repeat)
{
	return repeat > 0 ? rng_mix(scenario->seed, (uint64_t)repeat) : scenario->seed;
}

static uint64_t topology_digest(uint64_t digest, const struct topology *topology)
{
	digest = digest_int(digest, topology->n_stages);
	digest = digest_int(digest, topology->n_hosts);
	digest = digest_int(digest, topology->n_replicas);
	digest = digest_int(digest, topology->n_rails);
	digest = digest_int(digest, topology->link_delay_ns);
	return digest_int(digest, topology->link_rate_bits_per_s);
}

static uint64_t profile_digest(uint64_t digest, const struct profile *profile)
{
	digest = digest_int(digest, profile->n_stages);
	for (int i = 0; i < profile->n_stages; i++) {
		const struct profile_stage *stage = &profile->stages[i];

		digest = digest_int(digest, stage->forward_ns);
		digest = digest_int(digest, stage->backward_input_ns);
		digest = digest_int(digest, stage->backward_weight_ns);
		digest = digest_int(digest, stage->activation_bytes);
		digest = digest_int(digest, stage->memory_bytes);
	}
	digest = digest_int(digest, profile->message_bytes);
	return digest_int(digest, profile->samples_per_microbatch);
}

static uint64_t moment_digest(uint64_t digest, const struct moment *moment)
{
	digest = digest_int(digest_int(digest, (int64_t)moment->kind), moment->value);
	if (moment->kind != MOMENT_OP)
		return digest;
	digest = digest_int(digest_int(digest, moment->stage), (int64_t)moment->op);
	return digest_int(digest, moment->microbatch);
}

/* What older versions did not have counts only where it is used: their runs stay comparable. */
static uint64_t packets_digest(uint64_t digest, const struct fault *fault)
{
	const double per_ratio = 1e12;

	if (!fault_is_of_packets(fault))
		return digest;
	digest = digest_int(digest, fault->allows_reordering);
	digest = digest_int(digest, (int64_t)(fault->loss_ratio * per_ratio));
	return digest_int(digest, (int64_t)(fault->loss_correlation_ratio * per_ratio));
}

static uint64_t fault_digest(uint64_t digest, const struct fault *fault)
{
	int64_t slowdown_ppm = (int64_t)(fault->slowdown * 1e6);

	digest = digest_int(digest, (int64_t)fault->kind);
	digest = moment_digest(digest, &fault->start);
	digest = moment_digest(digest, &fault->end);
	digest = digest_int(digest, fault->from_stage);
	digest = digest_int(digest, fault->to_stage);
	digest = digest_int(digest, (int64_t)fault->model);
	digest = digest_int(digest, fault->delay_ns);
	digest = digest_int(digest, fault->jitter_ns);
	digest = digest_int(digest, (int64_t)fault->distribution);
	digest = digest_int(digest, fault->rate_bits_per_s);
	digest = digest_int(digest, slowdown_ppm);
	digest = digest_int(digest, fault->rail);
	digest = digest_int(digest, fault->is_permanent);
	return packets_digest(digest, fault);
}

uint64_t scenario_workload_fingerprint(const struct scenario *scenario)
{
	uint64_t digest = topology_digest(DIGEST_START, &scenario->topology);

	digest = profile_digest(digest, &scenario->profile);
	digest = digest_int(digest, scenario->n_microbatches);
	digest = digest_int(digest, scenario->n_iterations);
	digest = digest_int(digest, (int64_t)scenario->seed);
	digest = digest_int(digest, (int64_t)scenario->n_faults);
	for (size_t i = 0; i < scenario->n_faults; i++)
		digest = fault_digest(digest, &scenario->faults[i]);
	return digest;
}
