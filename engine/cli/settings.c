/* settings.c - writes a scenario and the rules of its data planes out, field by field. */
#include "engine/cli/settings.h"

#include "engine/cli/timeline.h"

static void add_topology(struct json_write *json, const struct topology *topology)
{
	json_int(json, "topology.stages", topology->n_stages);
	json_int(json, "topology.hosts", topology->n_hosts);
	json_int(json, "topology.replicas", topology->n_replicas);
	json_int(json, "topology.rails", topology->n_rails);
	json_int(json, "topology.link_delay_ns", topology->link_delay_ns);
	json_int(json, "topology.link_rate_bits_per_s", topology->link_rate_bits_per_s);
}

enum stage_field { FORWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, ACTIVATION, MEMORY };

static int64_t stage_value(const struct profile_stage *stage, enum stage_field field)
{
	switch (field) {
	case FORWARD:
		return stage->forward_ns;
	case BACKWARD_INPUT:
		return stage->backward_input_ns;
	case BACKWARD_WEIGHT:
		return stage->backward_weight_ns;
	case ACTIVATION:
		return stage->activation_bytes;
	case MEMORY:
		return stage->memory_bytes;
	}
	return 0;
}

static void add_stages(struct json_write *json, const char *key, const struct profile *profile,
                       enum stage_field field)
{
	json_open_array(json, key);
	for (int stage = 0; stage < profile->n_stages; stage++)
		json_int(json, NULL, stage_value(&profile->stages[stage], field));
	json_close(json);
}

static void add_profile(struct json_write *json, const struct profile *profile)
{
	json_string(json, "profile.name", profile->name);
	json_string(json, "profile.source", profile->source);
	add_stages(json, "profile.forward_ns", profile, FORWARD);
	add_stages(json, "profile.backward_input_ns", profile, BACKWARD_INPUT);
	add_stages(json, "profile.backward_weight_ns", profile, BACKWARD_WEIGHT);
	add_stages(json, "profile.activation_bytes", profile, ACTIVATION);
	add_stages(json, "profile.memory_bytes", profile, MEMORY);
	json_int(json, "profile.message_bytes", profile->message_bytes);
	json_int(json, "profile.delegate_cost_ns", profile->delegate_cost_ns);
	json_int(json, "profile.samples_per_microbatch", profile->samples_per_microbatch);
}

static void add_run(struct json_write *json, const struct scenario *scenario)
{
	json_int(json, "microbatches", scenario->n_microbatches);
	json_int(json, "iterations", scenario->n_iterations);
	json_int(json, "warmup", scenario->n_warmup);
	json_int(json, "repeats", scenario->n_repeats);
	json_int(json, "seed", (int64_t)scenario->seed);
	json_int(json, "activation_limit", scenario->activation_limit);
	json_open_array(json, "schedules");
	for (size_t i = 0; i < scenario->n_schedules; i++)
		json_string(json, NULL, scenario->schedules[i]);
	json_close(json);
}

static void add_engine(struct json_write *json, const struct scenario *scenario)
{
	json_int(json, "delegate.queues", scenario->n_queues);
	json_int(json, "delegate.cost_ns", scenario->delegate_cost_ns);
	json_int(json, "stream.window_bytes", scenario->window_bytes);
	json_int(json, "recovery.checkpoint_every", scenario->recovery.checkpoint_every);
	json_int(json, "recovery.restart_ns", scenario->recovery.restart_ns);
	json_int(json, "recovery.failover_ns", scenario->recovery.failover_ns);
	json_int(json, "recovery.rdma_timeout", scenario->rdma.timeout);
	json_int(json, "recovery.rdma_retries", scenario->rdma.n_retries);
	json_int(json, "detection.threshold_ns", scenario->detection.threshold_ns);
	json_int(json, "detection.confirm_iterations", scenario->detection.confirm_iterations);
	json_int(json, "detection.clear_iterations", scenario->detection.clear_iterations);
}

static void add_options(struct json_write *json, const struct script *script)
{
	struct strbuf key = {0};

	for (size_t i = 0; i < script_n_options(script); i++) {
		struct script_option option = script_option_at(script, i);

		strbuf_clear(&key);
		strbuf_addf(&key, "option.%s", option.name);
		json_string(json, strbuf_text(&key), option.value);
	}
	json->out->is_failed |= key.is_failed;
	strbuf_fini(&key);
}

static void add_faults(struct json_write *json, const struct scenario *scenario)
{
	struct strbuf text = {0};

	json_open_array(json, "faults");
	for (size_t i = 0; i < scenario->n_faults; i++) {
		strbuf_clear(&text);
		timeline_add_exact(&scenario->faults[i], &text);
		json_string(json, NULL, strbuf_text(&text));
	}
	json_close(json);
	json->out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void settings_add_scenario(struct json_write *json, const struct loaded *loaded,
                           const struct options *options)
{
	const struct scenario *scenario = loaded->scenario;

	json_string(json, "title", scenario->title);
	json_string(json, "path", scenario->path);
	json_string(json, "digest", scenario->text_digest);
	add_options(json, loaded->script);
	add_topology(json, &scenario->topology);
	add_profile(json, &scenario->profile);
	add_run(json, scenario);
	add_engine(json, scenario);
	json_bool(json, "oracle", options->is_oracle);
	if (options->lab)
		json_string(json, "lab", options->lab);
	if (options->interfaces)
		json_string(json, "interfaces", options->interfaces);
	if (options->rdma_devices)
		json_string(json, "rdma_devices", options->rdma_devices);
	add_faults(json, scenario);
}

static const char *adaptation_name(enum schedule_adaptation adaptation)
{
	switch (adaptation) {
	case SCHEDULE_FIXED:
		return "fixed";
	case SCHEDULE_MOVES:
		return "moves";
	case SCHEDULE_REPLANS:
		return "replans";
	}
	return NULL;
}

void settings_add_schedule(struct json_write *json, const struct loaded *loaded, size_t i)
{
	const struct schedule_ops *schedule = loaded->schedules[i];
	struct plane_rules rules = loaded_stream_rules(loaded, i);

	json_string(json, "schedule", loaded->scenario->schedules[i]);
	json_string(json, "schedule.plane", plane_kind_name(loaded_plane(loaded, i)));
	json_string(json, "schedule.adaptation", adaptation_name(schedule->adaptation));
	json_string(json, "dispatch", "fixed");
	json_bool(json, "stream.is_batched", rules.is_batched);
	json_string(json, "stream.channel_order",
	            rules.order == CHANNEL_PLAN_ORDER ? "plan" : "request");
	json_bool(json, "stream.is_channel_shared", rules.is_channel_shared);
	json_bool(json, "stream.has_one_issue_queue", rules.has_one_issue_queue);
	json_bool(json, "stream.host_waits", rules.host_waits);
}

void settings_write(const struct loaded *loaded, const struct options *options, size_t i,
                    const struct backend *backend, struct strbuf *out)
{
	char gpus[BACKEND_GPUS_BYTES];
	struct json_write json;

	json_init(&json, out, false);
	json_open_object(&json, NULL);
	settings_add_scenario(&json, loaded, options);
	settings_add_schedule(&json, loaded, i);
	backend_describe_gpus(backend, gpus);
	if (gpus[0])
		json_string(&json, "device.gpus", gpus);
	if (backend->stream_text[0])
		json_string(&json, "stream.carried_by", backend->stream_text);
	json_close(&json);
}
