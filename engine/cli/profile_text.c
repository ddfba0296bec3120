/* profile_text.c - an imported profile written out as a file that ab.profile loads. */
#include "engine/cli/profile_text.h"

#include <inttypes.h>

#include "engine/base/units.h"
#include "engine/cli/lua_text.h"

static const char *const fields[OP_KINDS] = {"forward", "backward", "weight"};

static void add_duration(int64_t ns, struct strbuf *out)
{
	char text[UNITS_TEXT_BYTES];

	strbuf_add(out, units_format_duration(ns, text));
}

/* To the microsecond, or exactly where that would lose a digit that counts. */
static void add_time(int64_t ns, struct strbuf *out)
{
	int64_t us = (ns + NS_PER_US / 2) / NS_PER_US;

	if (us < 1000)
		strbuf_addf(out, "\"%" PRId64 "ns\"", ns);
	else
		strbuf_addf(out, "\"%" PRId64 ".%03" PRId64 "ms\"", us / 1000, us % 1000);
}

static void add_spread(const struct observed_profile *profile, struct strbuf *out)
{
	for (int stage = 0; stage < profile->n_stages; stage++) {
		strbuf_addf(out, "--   stage %d:", stage);
		for (int kind = 0; kind < OP_KINDS; kind++) {
			const struct observed_times *times = &profile->stages[stage][kind];

			strbuf_addf(out, "%s %c ", kind > 0 ? "," : "",
			            op_kind_letter((enum op_kind)kind));
			add_duration(times->low_ns, out);
			strbuf_add(out, " to ");
			add_duration(times->high_ns, out);
		}
		strbuf_addf(out, "; %zu F\n", profile->stages[stage][OP_F].n);
	}
}

static void add_comment(const struct observed_profile *profile, const struct profile_origin *origin,
                        struct strbuf *out)
{
	strbuf_add(out, "-- ");
	lua_text_add_base_name(origin->name, out);
	strbuf_addf(out, ".lua - op times of %d stages, imported by adaptra-bench.\n--\n",
	            profile->n_stages);
	strbuf_addf(out, "-- Medians over %d iteration%s", profile->n_iterations,
	            profile->n_iterations == 1 ? "" : "s");
	if (profile->n_warmup > 0)
		strbuf_addf(out, " behind %d of warm-up", profile->n_warmup);
	strbuf_add(out, ". From the 10th to the 90th percentile:\n");
	add_spread(profile, out);
	if (profile->is_halved)
		strbuf_add(out,
		           "--\n"
		           "-- Only whole backwards were measured: B and W are half of them each, "
		           "which schedules\n"
		           "-- that keep them together do not notice and others do.\n");
	if (origin->is_intrusive)
		strbuf_add(out,
		           "--\n"
		           "-- Timers that stopped the devices were on: the times are longer than "
		           "without them.\n");
	strbuf_add(out, "--\n-- As profiles/");
	lua_text_add_base_name(origin->name, out);
	strbuf_addf(out,
	            ".lua beside a scenario it is there for\n"
	            "--   topology = ab.pipeline { stages = %d }, workload = ab.profile ",
	            profile->n_stages);
	lua_text_add_quoted(origin->name, out);
	strbuf_add(out, " {}\n");
}

static void add_times(const struct observed_profile *profile, enum op_kind kind, struct strbuf *out)
{
	strbuf_addf(out, "   %-8s     = {", fields[kind]);
	for (int stage = 0; stage < profile->n_stages; stage++) {
		/* A line that stays short with any number of stages. */
		if (stage > 0)
			strbuf_add(out, stage % 6 == 0 ? ",\n                    " : ",");
		strbuf_add_char(out, ' ');
		add_time(profile->stages[stage][kind].median_ns, out);
	}
	strbuf_add(out, " },\n");
}

void profile_text(const struct observed_profile *profile, const struct profile_origin *origin,
                  struct strbuf *out)
{
	add_comment(profile, origin, out);
	strbuf_add(out,
	           "local ab = require \"adaptra\"\n\nreturn ab.workload {\n   name         = ");
	lua_text_add_quoted(origin->name, out);
	strbuf_add(out, ",\n   source       = ");
	lua_text_add_quoted(origin->source, out);
	strbuf_add(out, ",\n");
	for (int kind = 0; kind < OP_KINDS; kind++)
		add_times(profile, (enum op_kind)kind, out);
	if (profile->message_bytes > 0)
		strbuf_addf(out, "   message      = \"%" PRId64 "B\",\n", profile->message_bytes);
	strbuf_addf(out, "   microbatches = %d,\n}\n", profile->n_microbatches);
}
