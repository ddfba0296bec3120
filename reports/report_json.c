/* report_json.c - a comparison as one JSON document, DESIGN.md section 9. */
#include <math.h>
#include <string.h>

#include "engine/base/json_write.h"
#include "reports/report_json_internal.h"
#include "reports/settings.h"

enum { SCHEMA = 1 };

static void add_schedule(struct json_write *json, const struct comparison_schedule *schedule)
{
	json_open_object(json, NULL);
	json_string(json, "name", schedule->name);
	json_string(json, "plane", schedule->plane);
	json_string(json, "status", schedule->status);
	json_int(json, "repeats", schedule->n_repeats);
	json_int(json, "iterations", schedule->n_iterations);
	json_number(json, "total_s", schedule->total_s);
	json_number(json, "p50_ms", schedule->p50_ms);
	json_number(json, "p95_ms", schedule->p95_ms);
	json_number(json, "samples_per_s", schedule->samples_per_s);
	json_number(json, "bubble_ratio", schedule->bubble_ratio);
	json_number(json, "blocked_ratio", schedule->blocked_ratio);
	json_number(json, "mean_ms", schedule->mean_ms);
	json_number(json, "compute_ms", schedule->compute_ms);
	json_number(json, "wait_ms", schedule->wait_ms);
	json_number(json, "blocked_ms", schedule->blocked_ms);
	json_int(json, "restarts", schedule->n_restarts);
	json_number(json, "repeated_s", schedule->repeated_s);
	if (schedule->is_adaptive)
		json_int(json, "replans", schedule->n_replans);
	else
		json_null(json, "replans");
	json_string(json, "loss_digest", schedule->loss_digest[0] ? schedule->loss_digest : NULL);
	json_facts(json, schedule);
	json_open_array(json, "repeat_total_s");
	for (int i = 0; i < schedule->n_repeats; i++)
		json_number(json, NULL, schedule->repeat_total_s[i]);
	json_close(json);
	json_open_array(json, "repeat_p50_ms");
	for (int i = 0; i < schedule->n_repeats; i++)
		json_number(json, NULL, schedule->repeat_p50_ms[i]);
	json_close(json);
	json_close(json);
}

/* A single pair has no interval and no spread. */
static void add_steady(struct json_write *json, const struct paired *steady)
{
	json_number(json, "steady_ratio", steady->ratio);
	json_number(json, "steady_low", steady->low);
	json_number(json, "steady_high", steady->high);
	json_number(json, "steady_least", steady->least);
	json_number(json, "steady_most", steady->most);
	json_bool(json, "is_wide", paired_is_wide(steady));
}

static void add_speedup(struct json_write *json, const struct comparison *comparison,
                        const struct comparison_speedup *speedup)
{
	json_open_object(json, NULL);
	json_string(json, "of", comparison->schedules[speedup->of].name);
	json_string(json, "over", comparison->schedules[speedup->over].name);
	json_number(json, "ratio", speedup->ratio);
	json_number(json, "low", speedup->low);
	json_number(json, "high", speedup->high);
	json_int(json, "pairs", speedup->pairs);
	add_steady(json, &speedup->steady);
	json_close(json);
}

static void add_control(struct json_write *json, const struct comparison_control *control)
{
	if (!control->schedule) {
		json_null(json, "control");
		return;
	}
	json_open_object(json, "control");
	json_string(json, "schedule", control->schedule);
	json_int(json, "pairs", control->steady.pairs);
	json_number(json, "ratio", control->total.ratio);
	json_number(json, "low", control->total.low);
	json_number(json, "high", control->total.high);
	add_steady(json, &control->steady);
	json_number(json, "width_ratio", paired_width_ratio(&control->steady));
	json_close(json);
}

void json_by_schedule(struct json_write *json, const char *key, const struct comparison *comparison,
                      const double *values)
{
	json_open_object(json, key);
	for (size_t i = 0; i < comparison->n_schedules; i++)
		json_number(json, comparison->schedules[i].name, values[i]);
	json_close(json);
}

void json_links(struct json_write *json, const char *links)
{
	struct strbuf link = {0};

	json_open_array(json, "links");
	while (*(links += strspn(links, " "))) {
		size_t n = strcspn(links, " ");

		strbuf_clear(&link);
		strbuf_add_bytes(&link, links, n);
		json_string(json, NULL, strbuf_text(&link));
		links += n;
	}
	json_close(json);
	json->out->is_failed |= link.is_failed;
	strbuf_fini(&link);
}

void json_iteration(struct json_write *json, const char *key, int iteration)
{
	if (iteration < 0)
		json_null(json, key);
	else
		json_int(json, key, iteration);
}

static void add_event(struct json_write *json, const struct comparison *comparison,
                      const struct comparison_event *event)
{
	json_open_object(json, NULL);
	json_string(json, "label", event->label);
	json_links(json, event->links);
	json_iteration(json, "first_iteration", event->first_iteration);
	json_iteration(json, "last_iteration", event->last_iteration);
	json_by_schedule(json, "p50_ms", comparison, event->p50_ms);
	json_by_schedule(json, "published_ms", comparison, event->published_ms);
	json_close(json);
}

static void add_variants(struct json_write *json, const struct comparison *comparison,
                         const struct report_variant *variants, size_t n_variants)
{
	json_open_array(json, "variants");
	for (size_t i = 0; i < n_variants; i++) {
		json_open_object(json, NULL);
		json_string(json, "label", variants[i].label);
		json_by_schedule(json, "total_s", comparison, variants[i].total_s);
		json_close(json);
	}
	json_close(json);
}

static void add_header(struct json_write *json, const struct comparison *comparison)
{
	json_int(json, "schema", SCHEMA);
	json_string(json, "scenario", comparison->scenario_title);
	json_string(json, "path", comparison->scenario_path);
	json_string(json, "mode", comparison->mode);
	json_number(json, "speed", comparison->speed);
	json_string(json, "backends", comparison->backends);
	if (comparison->rnics && *comparison->rnics)
		json_string(json, "rnics", comparison->rnics);
	if (comparison->comparison)
		json_int(json, "comparison", comparison->comparison);
	else
		json_null(json, "comparison");
	json_string(json, "created", comparison->created);
	json_string(json, "store", comparison->store_path);
	json_int(json, "stages", comparison->n_stages);
	json_int(json, "replicas", comparison->n_replicas);
	json_int(json, "microbatches", comparison->n_microbatches);
	json_int(json, "iterations", comparison->n_iterations_asked);
	json_int(json, "warmup", comparison->n_warmup);
}

static void add_checks(struct json_write *json, const struct report_extras *extras)
{
	json_open_array(json, "checks");
	for (size_t i = 0; i < extras->n_checks; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", extras->checks[i].name);
		json_bool(json, "held", extras->checks[i].has_held);
		json_string(json, "detail", extras->checks[i].detail);
		json_close(json);
	}
	json_close(json);
}

void report_json(const struct comparison *comparison, const struct report_extras *extras,
                 struct strbuf *out)
{
	struct json_write json;
	bool has_settings = settings_is_json(comparison->settings_json);

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	add_header(&json, comparison);
	json_open_array(&json, "schedules");
	for (size_t i = 0; i < comparison->n_schedules; i++)
		add_schedule(&json, &comparison->schedules[i]);
	json_close(&json);
	json_open_array(&json, "speedups");
	for (size_t i = 0; i < comparison->n_speedups; i++)
		add_speedup(&json, comparison, &comparison->speedups[i]);
	json_close(&json);
	add_control(&json, &comparison->control);
	json_open_array(&json, "events");
	for (size_t i = 0; i < comparison->n_events; i++)
		add_event(&json, comparison, &comparison->events[i]);
	json_close(&json);
	json_passed(&json, comparison);
	json_losses(&json, comparison);
	json_simulated(&json, comparison, extras->simulated);
	add_variants(&json, comparison, extras->variants, extras->n_variants);
	add_checks(&json, extras);
	json_string(&json, "note", comparison->note);
	json_string(&json, "warning", comparison->warning);
	/* Only a damaged database has settings that are not JSON; the document stays valid then. */
	json_raw(&json, "settings", has_settings ? comparison->settings_json : "null");
	json_close(&json);
	strbuf_add_char(out, '\n');
}
