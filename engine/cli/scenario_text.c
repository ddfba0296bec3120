/* scenario_text.c - writes a Lua scenario. */
#include "engine/cli/scenario_text.h"

#include "engine/base/units.h"
#include "engine/cli/lua_text.h"

/* Iterations behind the last change, so that what it does can be seen; and for a trace by time,
 * which does not say how many there are. */
enum { ITERATIONS_AFTER = 30, ITERATIONS_BY_TIME = 200, WARMUP_MOST = 5 };

/* Exact, in the largest unit that is a whole number of it. */
static void add_duration(int64_t ns, struct strbuf *out)
{
	if (ns % NS_PER_MS == 0)
		strbuf_addf(out, "\"%lldms\"", (long long)(ns / NS_PER_MS));
	else if (ns % NS_PER_US == 0)
		strbuf_addf(out, "\"%lldus\"", (long long)(ns / NS_PER_US));
	else
		strbuf_addf(out, "\"%lldns\"", (long long)ns);
}

static void add_moment(const char *field, enum moment_kind kind, int64_t value, struct strbuf *out)
{
	strbuf_addf(out, " %s = ", field);
	if (kind == MOMENT_ITERATION) {
		strbuf_addf(out, "ab.iter(%lld),", (long long)value);
		return;
	}
	strbuf_add(out, "ab.time ");
	add_duration(value, out);
	strbuf_add_char(out, ',');
}

static void add_interval(const struct fault *fault, struct strbuf *out)
{
	add_moment("at", fault->start.kind, fault->start.value, out);
	if (fault->end.kind != MOMENT_NEVER)
		add_moment("lasts", fault->end.kind, fault->end.value - fault->start.value, out);
}

/* Delays come in pairs, there and back; the links of one event stand in one statement. Returns the
 * fault behind them. */
static size_t add_delay(const struct fault *faults, size_t n_faults, size_t i, struct strbuf *out)
{
	const struct fault *first = &faults[i];
	const char *separator = "";

	strbuf_add(out, "      ab.delay {");
	add_interval(first, out);
	strbuf_add(out, " link = {");
	for (; i < n_faults && faults[i].kind == FAULT_DELAY && faults[i].event == first->event;
	     i += 2) {
		strbuf_addf(out, "%s \"%d-%d\"", separator, faults[i].from_stage,
		            faults[i].to_stage);
		separator = ",";
	}
	strbuf_add(out, " }, delay = ");
	add_duration(first->delay_ns, out);
	strbuf_addf(out, ", model = \"%s\" },\n", delay_model_name(first->model));
	return i;
}

static size_t add_down(const struct fault *faults, size_t i, struct strbuf *out)
{
	strbuf_add(out, "      ab.down {");
	add_interval(&faults[i], out);
	strbuf_addf(out, " stage = %d },\n", faults[i].from_stage);
	return i + 1;
}

static int64_t n_iterations(const struct fault *faults, size_t n_faults)
{
	int64_t last = 0;

	for (size_t i = 0; i < n_faults; i++) {
		const struct fault *fault = &faults[i];

		if (fault->start.kind != MOMENT_ITERATION)
			return ITERATIONS_BY_TIME;
		if (fault->start.value > last)
			last = fault->start.value;
		if (fault->end.kind == MOMENT_ITERATION && fault->end.value > last)
			last = fault->end.value;
	}
	return last + ITERATIONS_AFTER;
}

void scenario_text(const char *source, int n_stages, const struct fault *faults, size_t n_faults,
                   struct strbuf *out)
{
	size_t i = 0;

	strbuf_add(out, "-- The faults of ");
	lua_text_add_base_name(source, out);
	strbuf_addf(out, ", as adaptra-bench read them.\n"
	                 "--\n"
	                 "-- A trace knows neither the workload nor how long the run is: change "
	                 "those lines.\n"
	                 "local ab = require \"adaptra\"\n"
	                 "\n"
	                 "return ab.scenario {\n"
	                 "   title      = ");
	lua_text_add_quoted(source, out);
	strbuf_addf(out,
	            ",\n"
	            "   topology   = ab.pipeline { stages = %d },\n"
	            "   workload   = ab.profile \"uniform-10ms\" { microbatches = %d },\n"
	            "   schedules  = { \"1f1b\", \"zb\", \"adaptra\" },\n"
	            "   iterations = %lld, warmup = %d, seed = 1,\n"
	            "   faults = {\n",
	            n_stages, 2 * n_stages, (long long)n_iterations(faults, n_faults), WARMUP_MOST);
	while (i < n_faults)
		i = faults[i].kind == FAULT_DELAY ? add_delay(faults, n_faults, i, out)
		                                  : add_down(faults, i, out);
	strbuf_add(out, "   },\n}\n");
}
