/* script_scenarios.c - the scenarios and profiles that ship load and say what the measurements say.
 */
#include <dirent.h>

#include "engine/format/csv_table.h"
#include "tests/unit/script_text.h"

static const char *const folders[] = {"scenarios/profiles"};

static struct script *load(const char *path, const char *assignment)
{
	const struct script_request request = {
		.path = path,
		.assignments = &assignment,
		.n_assignments = assignment ? 1 : 0,
		.profile_folders = folders,
		.n_profile_folders = 1,
	};
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};
	int rc = script_load(&request, &script, &mistakes, &err);

	tap_is_str(rc ? err.text : "", "", "%s %s loads", path, assignment ? assignment : "");
	scenario_mistakes_fini(&mistakes);
	return script;
}

static void check_all(void)
{
	DIR *dir = opendir("scenarios");
	const struct dirent *entry;
	char path[512];
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".lua"))
			continue;
		snprintf(path, sizeof(path), "scenarios/%s", entry->d_name);
		script_free(load(path, NULL));
		n++;
	}
	if (dir)
		closedir(dir);
	tap_ok(n >= 7, "there are at least the seven scenarios that others script against");
	script_free(load("tests/data/script/style.lua", NULL));
}

static void check_options(void)
{
	static const char *const set[][2] = {
		{"scenarios/trace1200.lua", "delay_model=latency"},
		{"scenarios/trace1200.lua", "delay_model=rate"},
		{"scenarios/one_slow_link.lua", "delay=60ms"},
		{"scenarios/one_slow_link.lua", "link=0->1"},
		{"scenarios/one_slow_link.lua", "delegate_cost=768us"},
		{"scenarios/one_slow_link.lua", "delegate_cost=fitted"},
		{"scenarios/one_slow_link.lua", "model=60b"},
		{"scenarios/domino.lua", "delay=80ms"},
		{"scenarios/overhead.lua", "model=7b"},
		{"scenarios/several_slow_links.lua", "delay=10ms"},
		{"scenarios/dynamic_delays.lua", "interval=50-100"},
		{"scenarios/dynamic_delays.lua", "interval=200-400"},
		{"scenarios/slackness.lua", "microbatches=4"},
		{"scenarios/one_dead_rnic.lua", "permanent=true"},
	};

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		script_free(load(set[i][0], set[i][1]));
}

static int column(const struct csv_table *table, const char *name)
{
	struct err err = {0};
	int c = csv_table_column(table, name, &err);

	if (c < 0)
		tap_ok(false, "a column is there: %s", err.text);
	return c;
}

static int64_t whole(const struct csv_table *table, size_t row, const char *name)
{
	int64_t value = -1;

	(void)csv_table_int(table, row, column(table, name), &value, NULL); /* −1 fails the check */
	return value;
}

static double number(const struct csv_table *table, size_t row, const char *name)
{
	double value = -1;

	(void)csv_table_number(table, row, column(table, name), &value, NULL);
	return value;
}

/* Has the scenario a delay fault in both directions of each link ("0_1 5_6") of the row, and no
 * other? */
static bool has_links(const struct scenario *s, int event, const char *links, int64_t delay_ns)
{
	int n_wanted = 0, n_found = 0, a, b, length;

	for (; sscanf(links, " %d_%d%n", &a, &b, &length) == 2; links += length) {
		for (size_t i = 0; i < s->n_faults; i++) {
			const struct fault *f = &s->faults[i];

			if (f->event == event && f->kind == FAULT_DELAY &&
			    f->delay_ns == delay_ns && f->from_stage + f->to_stage == a + b)
				n_found++;
		}
		n_wanted += 2;
	}
	for (size_t i = 0; i < s->n_faults; i++)
		n_found -= s->faults[i].event == event && s->faults[i].kind == FAULT_DELAY;
	return n_wanted > 0 && n_found == 0;
}

static void check_trace1200(void)
{
	struct script *script = load("scenarios/trace1200.lua", NULL);
	struct csv_table *trace = NULL, *phases = NULL;
	const struct scenario *s = script ? script_scenario(script) : NULL;
	struct err err = {0};
	size_t n_delays = 0;

	if (csv_table_read("tests/data/pipemorph/large_scale_trace.csv", &trace, &err) ||
	    csv_table_read("tests/data/pipemorph/large_scale_phases.csv", &phases, &err) || !s) {
		tap_ok(false, "the measurements can be read: %s", err.text);
		return;
	}
	tap_is_int((int64_t)s->n_events, (int64_t)csv_table_n_rows(trace), "every event is there");
	for (size_t i = 0; i + 1 < csv_table_n_rows(trace) && i < s->n_events; i++) {
		const char *links = csv_table_text(trace, i, column(trace, "links"));

		tap_is_int(s->events[i].first_iteration, whole(trace, i, "start_iter0"),
		           "event %zu starts as published", i);
		tap_is_int(s->events[i].last_iteration, whole(trace, i, "end_iter0") - 1,
		           "event %zu ends as published", i);
		tap_ok(has_links(s, (int)i, links, whole(trace, i, "delay_ms") * 1000000),
		       "event %zu is on %s, both ways", i, links);
	}
	tap_is_int(s->events[9].first_iteration, 1030, "the RNIC dies at iteration 1030");
	for (size_t row = 0; row < csv_table_n_rows(phases); row++) {
		const struct event *event = &s->events[n_delays];

		if (strcmp(csv_table_text(phases, row, column(phases, "kind")), "delay") != 0)
			continue;
		if (tap_is_int((int64_t)event->n_published, 3, "event %zu has published times",
		               n_delays)) {
			tap_is_number((double)event->published[0].p50_ns / 1e6,
			              number(phases, row, "1F1B_median_ms"), 1e-6, "of 1F1B");
			tap_is_number((double)event->published[1].p50_ns / 1e6,
			              number(phases, row, "ZB-CPU-ReSchedule_median_ms"), 1e-6,
			              "of the re-scheduled run");
			tap_is_number((double)event->published[2].p50_ns / 1e6,
			              number(phases, row, "ZB_median_ms"), 1e-6, "of ZB");
		}
		n_delays++;
	}
	tap_is_int((int64_t)n_delays, 9, "nine events have published times");
	csv_table_free(trace);
	csv_table_free(phases);
	script_free(script);
}

/* A profile against the rows of its model in profiles_median.csv. */
static void check_profile(const struct csv_table *table, const char *profile, const char *model,
                          int64_t message_bytes)
{
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};
	char text[512];
	int n_wrong = 0, n_rows = 0;
	int n_stages = strcmp(model, "7B") == 0 || strcmp(model, "AE-A10") == 0 ? 4 : 8;

	snprintf(text, sizeof(text),
	         "local ab = require 'adaptra' return ab.scenario { title = 't', topology = "
	         "ab.pipeline { stages = %d }, workload = ab.profile '%s', schedules = { '1f1b' }, "
	         "iterations = 1 }",
	         n_stages, profile);
	if (!tap_is_int(script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err), 0,
	                "profile %s loads", profile))
		return;
	for (size_t row = 0; row < csv_table_n_rows(table); row++) {
		const struct profile_stage *stage;

		if (strcmp(csv_table_text(table, row, column(table, "model")), model) != 0)
			continue;
		stage = &script_scenario(script)->profile.stages[whole(table, row, "stage")];
		n_wrong += (double)stage->forward_ns != number(table, row, "F_ms") * 1e6;
		n_wrong += (double)stage->backward_input_ns != number(table, row, "B_ms") * 1e6;
		n_wrong += (double)stage->backward_weight_ns != number(table, row, "W_ms") * 1e6;
		n_rows++;
	}
	tap_is_int(n_rows, n_stages, "profile %s has the measured stages", profile);
	tap_is_int(n_wrong, 0, "profile %s has the measured times", profile);
	tap_is_int(scenario_message_bytes(script_scenario(script)), message_bytes,
	           "profile %s sends tokens x hidden x 2 bytes", profile);
	tap_ok(script_scenario(script)->profile.source, "profile %s has a source", profile);
	script_free(script);
}

static void check_profiles(void)
{
	struct csv_table *table = NULL;
	struct err err = {0};

	if (csv_table_read("tests/data/pipemorph/profiles_median.csv", &table, &err)) {
		tap_ok(false, "profiles_median.csv can be read: %s", err.text);
		return;
	}
	check_profile(table, "gpt-7b-h800", "7B", 1024 * 5120 * 2);
	check_profile(table, "gpt-14b-h800", "14B", 1024 * 5120 * 2);
	check_profile(table, "gpt-30b-h800", "30B", 1024 * 8192 * 2);
	check_profile(table, "gpt-60b-h800", "60B", 1024 * 11264 * 2);
	check_profile(table, "gpt-140b-h800", "140B", 256 * 12288 * 2);
	check_profile(table, "gpt-a10", "AE-A10", 1024 * 4096 * 2);
	csv_table_free(table);
}

static void check_same_twice(void)
{
	struct script *a = load("scenarios/trace1200.lua", NULL);
	struct script *b = load("scenarios/trace1200.lua", NULL);

	if (a && b) {
		tap_is_str(script_scenario(a)->text_digest, script_scenario(b)->text_digest,
		           "a script has one digest");
		tap_ok(scenario_workload_fingerprint(script_scenario(a)) ==
		               scenario_workload_fingerprint(script_scenario(b)),
		       "and one fingerprint");
	}
	script_free(a);
	script_free(b);
}

int main(void)
{
	script_folder_open();
	check_all();
	check_options();
	check_trace1200();
	check_profiles();
	check_same_twice();
	script_folder_close();
	return tap_done();
}
