/* facts.c - what a live run was like, as JSON. */
#include "engine/cli/facts.h"

#include "engine/base/json_write.h"
#include "engine/base/units.h"

void facts_write(const struct backend *backend, struct strbuf *out)
{
	const struct live_facts *facts = &backend->facts;
	double n_ops = facts->n_ops > 0 ? (double)facts->n_ops : 1;
	struct json_write json;

	json_init(&json, out, false);
	json_open_object(&json, NULL);
	json_int(&json, "workers", facts->n_workers);
	json_string(&json, "delegates", facts->delegates);
	json_number(&json, "speed", backend->speed);
	if (backend->lowered_from > 0)
		json_number(&json, "lowered_from", backend->lowered_from);
	json_int(&json, "payload_bytes", facts->payload_bytes);
	json_int(&json, "ops", facts->n_ops);
	json_number(&json, "late_mean_us", (double)facts->late_ns_sum / n_ops / NS_PER_US);
	json_number(&json, "late_max_us", (double)facts->late_ns_max / NS_PER_US);
	json_int(&json, "overruns", facts->n_overruns);
	json_number(&json, "op_cpu_us", (double)facts->op_cpu_ns / NS_PER_US);
	json_number(&json, "foreign_cores", facts->foreign_cores);
	json_number(&json, "between_s", (double)facts->between_ns / NS_PER_S);
	json_close(&json);
}
