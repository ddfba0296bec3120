/* store_faults.c - what a picture of a run needs comes out of a database: when faults were in
 * force, and on what it ran. */
#include "tests/unit/store_fixture.h"

static char path[PATH_BYTES];

static struct fault faults[] = {
	{.kind = FAULT_DELAY, .event = 0, .from_stage = 2, .to_stage = 3, .delay_ns = 5},
	{.kind = FAULT_DELAY, .event = 0, .from_stage = 3, .to_stage = 2, .delay_ns = 5},
	{.kind = FAULT_SLOW_STAGE,
         .event = 1,
         .start = {.value = 1},
         .from_stage = 1,
         .to_stage = 1,
         .slowdown = 2},
	{.kind = FAULT_DOWN, .event = 7, .from_stage = 0, .to_stage = 0},
};

static struct event events[] = {
	{.label = (char *)(size_t) "2-3: 5 ns", .first_iteration = 1, .last_iteration = 2},
	{.label = (char *)(size_t) "stage 1", .first_iteration = 1, .last_iteration = 2},
};

static const struct record_traffic traffic = {12, 20, 4096, 512, 90, 3, -1, 4};

static void put(struct record_sink *sink, size_t fault, int64_t applied_ns, int64_t cleared_ns)
{
	const struct record_fault row = {.fault = fault,
	                                 .attempt = 1,
	                                 .asked_ns = applied_ns,
	                                 .applied_ns = applied_ns,
	                                 .cleared_ns = cleared_ns,
	                                 .measured_ns = -1,
	                                 .n_messages = 4,
	                                 .traffic = fault == 1 ? &traffic : NULL};
	struct err err = {0};

	must(!record_put_fault(sink, &row, &err), err.text);
}

/* A run with these settings; returns its number. */
static int64_t fill(struct store *store, const char *settings_json, bool keeps_ops)
{
	struct scenario scenario = fixture_scenario();
	struct record_run row = fixture_run();
	struct record_op ops[24];
	const struct record_iteration iteration = fixture_iteration(0, ops);
	struct record_sink *sink;
	struct err err = {0};
	int64_t run = 0;

	scenario.faults = faults;
	scenario.n_faults = sizeof(faults) / sizeof(faults[0]);
	scenario.events = events;
	scenario.n_events = sizeof(events) / sizeof(events[0]);
	scenario.profile.message_bytes = 4096;
	row.settings_json = settings_json;
	must(!store_begin_run(store, &(struct store_new_run){0, &row, &scenario, keeps_ops, false},
	                      &run, &sink, &err),
	     err.text);
	put(sink, 2, 300, -1);
	put(sink, 1, 100, 200);
	put(sink, 0, 100, 200);
	put(sink, 3, -1, -1);
	must(!record_put_iteration(sink, &iteration, &err), err.text);
	must(!store_end_run(store, run, "done", "", &err), err.text);
	return run;
}

static void test_faults(struct store *store, int64_t run)
{
	struct stored_fault *all = NULL;
	struct err err = {0};
	size_t n = 0;

	tap_ok(!store_read_faults(store, run, &all, &n, &err), "faults are read %s", err.text);
	must(n == 4, "there are not four faults");
	tap_ok(all[0].fault == 3 && all[0].applied_ns == -1,
	       "one that was never in force comes first");
	tap_is_str(all[0].label, "down", "a fault of no event is called by its kind");
	tap_ok(all[1].fault == 0 && all[2].fault == 1, "both directions of a link stand together");
	tap_ok(all[1].from_stage == 2 && all[1].to_stage == 3, "stages are kept");
	tap_is_str(all[1].label, "2-3: 5 ns", "a fault has its event's label");
	tap_is_str(all[1].kind, "delay", "and its kind");
	tap_is_int(all[1].delay_ns, 5, "and the delay that was asked for");
	tap_is_int(all[0].delay_ns, -1, "which a fault of another kind has not");
	tap_ok(all[1].event == 0 && all[1].attempt == 1 && all[1].n_messages == 4,
	       "event, attempt and messages are kept");
	tap_ok(all[1].applied_ns == 100 && all[1].cleared_ns == 200 && all[1].measured_ns == -1,
	       "and the times");
	tap_ok(memcmp(&all[2].traffic, &traffic, sizeof(traffic)) == 0,
	       "what passed is as it was measured");
	tap_ok(all[1].traffic.n_packets == -1 && all[1].traffic.busy_ns == -1,
	       "or not known where it was not");
	tap_is_str(all[1].moments, all[2].moments, "two that start and end together say so");
	tap_ok(strcmp(all[1].moments, all[3].moments) != 0, "and another does not");
	tap_ok(all[1].jitter_ns >= 0 && isnan(all[1].loss_ratio),
	       "what else was asked for is read");
	tap_ok(all[3].fault == 2 && all[3].cleared_ns == -1, "the last one never ended");
	stored_faults_fini(all, n);
	tap_ok(!store_read_faults(store, 99, &all, &n, &err) && n == 0,
	       "a run that is not there has none");
	stored_faults_fini(all, n);
}

static void test_pipeline(struct store *store, int64_t run)
{
	struct stored_pipeline pipeline;
	struct err err = {0};

	must(!store_read_pipeline(store, run, &pipeline, &err), err.text);
	tap_ok(pipeline.n_stages == 4 && pipeline.n_replicas == 1 && pipeline.n_hosts == 2,
	       "the pipeline is read");
	tap_is_int(pipeline.message_bytes, 4096, "and the size of a message");
	tap_is_int(pipeline.timer, TIMER_VIRTUAL, "and what timed the ops");
	tap_is_int(pipeline.n_iterations_with_ops, 1, "and that there are some");
	tap_ok(pipeline.activation_bytes[0] == 10 && pipeline.activation_bytes[1] == 0 &&
	               pipeline.activation_bytes[2] == 0 && pipeline.activation_bytes[3] == 0,
	       "activations are read from the settings; a size that cannot be is not known");
	stored_pipeline_fini(&pipeline);
}

/* Settings may be anything: what they do not say is not known. */
static void test_settings(struct store *store)
{
	static const char *const settings[] = {
		"{}", "[]",  "{\"profile.activation_bytes\":7}", "{\"profile.activation_bytes\":",
		"",   "null"};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		struct stored_pipeline pipeline;
		struct err err = {0};
		int rc = store_read_pipeline(store, fill(store, settings[i], false), &pipeline,
		                             &err);

		tap_ok(rc == 0, "settings '%s' are no mistake %s", settings[i], err.text);
		if (rc)
			continue;
		tap_is_int(pipeline.activation_bytes[0], 0, "and say nothing");
		tap_is_int(pipeline.n_iterations_with_ops, 0, "of a run without ops");
		stored_pipeline_fini(&pipeline);
	}
}

static void test_damage(struct store *store, int64_t run)
{
	char answer[CELL_BYTES];
	struct stored_pipeline pipeline;
	struct stored_fault *all;
	struct err err = {0};
	size_t n;

	tap_is_int(store_read_pipeline(store, 99, &pipeline, &err), -ENOENT, "there is no run 99");
	tap_contains(err.text, "no run 99", "which is said");
	(void)fixture_query(path, "UPDATE run SET timer = 'sundial' WHERE run = 1", answer);
	tap_is_int(store_read_pipeline(store, run, &pipeline, &err), -EMEDIUMTYPE,
	           "a timer that cannot be is damage");
	(void)fixture_query(path, "UPDATE run SET timer = 'host', n_stages = 1025", answer);
	tap_is_int(store_read_pipeline(store, run, &pipeline, &err), -EMEDIUMTYPE,
	           "so are too many stages");
	(void)fixture_query(path, "UPDATE fault SET from_stage = -1 WHERE run = 1 AND fault = 3",
	                    answer);
	tap_is_int(store_read_faults(store, run, &all, &n, &err), -EMEDIUMTYPE,
	           "and a fault of stage -1");
}

int main(void)
{
	struct store *store;
	struct err err = {0};
	int64_t run;

	fixture_make_folder();
	fixture_path("a.db", path);
	must(!store_open(path, STORE_WRITE, &store, &err), err.text);
	run = fill(store, "{\"profile.activation_bytes\":[10, -1, \"x\", 0, 99]}", true);
	test_faults(store, run);
	test_pipeline(store, run);
	test_settings(store);
	test_damage(store, run);
	tap_ok(!store_close(store, &err), "the store closes %s", err.text);
	fixture_remove_folder();
	return tap_done();
}
