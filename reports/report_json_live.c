/* report_json_live.c - what the document says of live runs: facts, losses, measured beside
 * simulated. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/beside.h"
#include "reports/report_json_internal.h"

/* Nothing without a lab. */
static void add_lab(struct json_write *json, const struct comparison_facts *facts)
{
	if (isnan(facts->n_packets))
		return;
	json_number(json, "applied", facts->n_applied);
	json_number(json, "apply_mean_us", facts->apply_mean_us);
	json_number(json, "apply_max_us", facts->apply_max_us);
	json_number(json, "outages", facts->n_outages);
	json_number(json, "notice_max_us", facts->notice_max_us);
	json_number(json, "recover_max_ms", facts->recover_max_ms);
	json_number(json, "packets", facts->n_packets);
	json_number(json, "lost", facts->n_lost);
	json_number(json, "dropped", facts->n_dropped);
	json_number(json, "relayed", facts->n_relayed);
	json_number(json, "relay_mean_us", facts->relay_mean_us);
	json_number(json, "relay_p99_us", facts->relay_p99_us);
	json_number(json, "relay_max_us", facts->relay_max_us);
}

void json_facts(struct json_write *json, const struct comparison_schedule *schedule)
{
	const struct comparison_facts *facts = &schedule->facts;

	if (!schedule->has_facts) {
		json_null(json, "facts");
		return;
	}
	json_open_object(json, "facts");
	json_number(json, "workers", facts->n_workers);
	json_number(json, "speed", facts->speed);
	json_number(json, "lowered_from", facts->lowered_from);
	json_number(json, "payload_bytes", facts->payload_bytes);
	json_number(json, "ops", facts->n_ops);
	json_number(json, "late_mean_us", facts->late_mean_us);
	json_number(json, "late_max_us", facts->late_max_us);
	json_number(json, "overruns", facts->n_overruns);
	json_number(json, "op_cpu_us", facts->op_cpu_us);
	json_number(json, "foreign_cores", facts->foreign_cores);
	json_number(json, "between_s", facts->between_s);
	add_lab(json, facts);
	if (schedule->timeline_json)
		json_raw(json, "timeline", schedule->timeline_json);
	json_close(json);
}

/* The first run's first and last loss. */
static void add_schedule_loss(struct json_write *json, const struct comparison *comparison,
                              const struct comparison_schedule *schedule)
{
	const double *loss = schedule->n_losses ? schedule->losses[0].loss : NULL;
	double first = NAN, last = NAN;

	for (int i = 0; loss && i < comparison->n_iterations_asked; i++) {
		if (isnan(loss[i]))
			continue;
		first = isnan(first) ? loss[i] : first;
		last = loss[i];
	}
	json_open_object(json, NULL);
	json_string(json, "name", schedule->name);
	json_number(json, "first", first);
	json_number(json, "last", last);
	json_close(json);
}

void json_losses(struct json_write *json, const struct comparison *comparison)
{
	struct comparison_loss loss = comparison_loss_of(comparison);
	struct strbuf sentence = {0};

	if (!loss.loss && loss.is_equal) {
		json_null(json, "loss");
		return;
	}
	json_open_object(json, "loss");
	json_number(json, "first", loss.first);
	json_number(json, "last", loss.last);
	json_int(json, "iterations", loss.n_iterations);
	json_int(json, "compared", loss.n_compared);
	json_bool(json, "equal", loss.is_equal);
	json_iteration(json, "first_difference", loss.difference);
	if (comparison_losses_agree(comparison, &sentence))
		json_null(json, "difference");
	else
		json_string(json, "difference", strbuf_text(&sentence));
	json_open_array(json, "schedules");
	for (size_t i = 0; i < comparison->n_schedules; i++)
		add_schedule_loss(json, comparison, &comparison->schedules[i]);
	json_close(json);
	json_close(json);
	json->out->is_failed |= sentence.is_failed;
	strbuf_fini(&sentence);
}

static void add_schedule(struct json_write *json, const struct comparison *live,
                         const struct comparison *simulated, size_t i)
{
	struct beside total = beside_total_s(live, simulated, i);
	struct beside p50 = beside_p50_ms(live, simulated, i);

	json_open_object(json, NULL);
	json_string(json, "name", live->schedules[i].name);
	json_number(json, "total_s", total.simulated);
	json_number(json, "p50_ms", p50.simulated);
	json_number(json, "total_error_ratio", total.error_ratio);
	json_number(json, "p50_error_ratio", p50.error_ratio);
	json_close(json);
}

/* values and errors have room for a number a schedule. */
static void add_event(struct json_write *json, const struct comparison *live,
                      const struct comparison *simulated, size_t e, double *values, double *errors)
{
	const struct comparison_event *event = &live->events[e];

	for (size_t i = 0; i < live->n_schedules; i++) {
		struct beside beside = beside_event_ms(live, simulated, e, i);

		values[i] = beside.simulated;
		errors[i] = beside.error_ratio;
	}
	json_open_object(json, NULL);
	json_string(json, "label", event->label);
	json_links(json, event->links);
	json_iteration(json, "first_iteration", event->first_iteration);
	json_iteration(json, "last_iteration", event->last_iteration);
	json_by_schedule(json, "p50_ms", live, values);
	json_by_schedule(json, "error_ratio", live, errors);
	json_close(json);
}

static void add_events(struct json_write *json, const struct comparison *live,
                       const struct comparison *simulated)
{
	double *values = array_new(live->n_schedules, sizeof(*values));
	double *errors = array_new(live->n_schedules, sizeof(*errors));

	json_open_array(json, "events");
	for (size_t e = 0; values && errors && e < live->n_events; e++)
		add_event(json, live, simulated, e, values, errors);
	json_close(json);
	json->out->is_failed |= !values || !errors;
	free(values);
	free(errors);
}

void json_simulated(struct json_write *json, const struct comparison *comparison,
                    const struct comparison *simulated)
{
	if (!simulated) {
		json_null(json, "simulated");
		return;
	}
	json_open_object(json, "simulated");
	if (simulated->comparison)
		json_int(json, "comparison", simulated->comparison);
	else
		json_null(json, "comparison");
	json_open_array(json, "schedules");
	for (size_t i = 0; i < comparison->n_schedules; i++)
		add_schedule(json, comparison, simulated, i);
	json_close(json);
	add_events(json, comparison, simulated);
	json_close(json);
}
