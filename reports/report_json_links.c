/* report_json_links.c - what the document says of faults of links: asked for, and what passed. */
#include "reports/report_json_internal.h"

static void add_asked(struct json_write *json, const struct comparison_link *link)
{
	json_open_object(json, "asked");
	json_number(json, "delay_ms", link->delay_ms);
	json_string(json, "delay_model", *link->delay_model ? link->delay_model : NULL);
	json_number(json, "jitter_ms", link->jitter_ms);
	json_number(json, "loss_ratio", link->loss_ratio);
	json_number(json, "rate_mbit_per_s", link->rate_mbit_per_s);
	json_close(json);
}

static void add_measured(struct json_write *json, const char *schedule,
                         const struct comparison_passed *passed)
{
	json_open_object(json, schedule);
	json_number(json, "messages", passed->n_messages);
	json_number(json, "extra_ms", passed->extra_ms);
	json_number(json, "extra_p50_ms", passed->extra_p50_ms);
	json_number(json, "extra_p95_ms", passed->extra_p95_ms);
	json_number(json, "goodput_mbit_per_s", passed->goodput_mbit_per_s);
	json_number(json, "packets", passed->n_packets);
	json_number(json, "lost", passed->n_lost);
	json_number(json, "held_ms", passed->held_ms);
	json_number(json, "resent", passed->n_resent);
	json_close(json);
}

void json_passed(struct json_write *json, const struct comparison *comparison)
{
	json_open_array(json, "links");
	for (size_t i = 0; i < comparison->n_links; i++) {
		const struct comparison_link *link = &comparison->links[i];

		json_open_object(json, NULL);
		json_int(json, "from_stage", link->from_stage);
		json_int(json, "to_stage", link->to_stage);
		add_asked(json, link);
		json_open_object(json, "measured");
		for (size_t s = 0; s < comparison->n_schedules; s++)
			add_measured(json, comparison->schedules[s].name, &link->passed[s]);
		json_close(json);
		json_close(json);
	}
	json_close(json);
}
