/* store_round_trip.c - what goes into a database comes out of it again, field by field. */
#include "tests/unit/store_fixture.h"

static char path[PATH_BYTES];
static char answer[CELL_BYTES];

static const char *query(const char *sql)
{
	return fixture_query(path, sql, answer);
}

static struct store *open_store(enum store_mode mode)
{
	return fixture_open(path, mode);
}

static void test_new_database(void)
{
	struct store *store = open_store(STORE_WRITE);
	struct err err = {0};
	int64_t comparison = 77;

	tap_is_int(store_last_comparison(store, &comparison, &err), -ENOENT,
	           "a new database has no last comparison");
	tap_is_int(comparison, 77, "which leaves the output alone");
	tap_is_str(store_path(store), path, "a store knows its path");
	tap_is_int(store_close(store, &err), 0, "it closes");
	tap_is_str(query("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict "
	                 "AND name NOT LIKE 'sqlite%'"),
	           "", "every table is strict");
	tap_is_str(query("SELECT count(*) FROM pragma_table_list WHERE strict"), "14",
	           "there are fourteen tables");
	tap_is_str(query("SELECT user_version, application_id FROM pragma_user_version, "
	                 "pragma_application_id"),
	           "9|1097089637", "the file says what made it and by which schema");
	tap_is_str(query("PRAGMA journal_mode"), "wal", "the journal is a WAL");
	tap_is_str(query("PRAGMA integrity_check"), "ok", "the file is sound");
	tap_is_str(fixture_list(answer), "a.db ", "the database is one file");
}

static struct fault faults[] = {
	{
		.kind = FAULT_DELAY,
		.event = 0,
		.script_line = 12,
		.start = {.kind = MOMENT_ITERATION, .value = 15},
		.end = {.kind = MOMENT_ITERATION, .value = 85},
		.from_stage = 2,
		.to_stage = 3,
		.model = DELAY_OCCUPANCY,
		.delay_ns = 30000000,
		.jitter_ns = 5000000,
		.distribution = DISTRIBUTION_NORMAL,
		.allows_reordering = true,
	},
	{
		.kind = FAULT_DELAY,
		.event = 0,
		.start = {.kind = MOMENT_ITERATION, .value = 15},
		.end = {.kind = MOMENT_ITERATION, .value = 85},
		.from_stage = 3,
		.to_stage = 2,
		.model = DELAY_LATENCY,
		.delay_ns = 1,
	},
	{
		.kind = FAULT_RATE,
		.event = 1,
		.start = {.kind = MOMENT_TIME, .value = 100},
		.end = {.kind = MOMENT_NEVER, .value = 0},
		.from_stage = 0,
		.to_stage = 1,
		.rate_bits_per_s = 8000,
	},
	{
		.kind = FAULT_SLOW_STAGE,
		.event = 1,
		.start = {.kind = MOMENT_TIME, .value = 100},
		.end = {.kind = MOMENT_TIME, .value = 200},
		.from_stage = 1,
		.to_stage = 1,
		.slowdown = 1.25,
	},
	{
		.kind = FAULT_DOWN,
		.event = 2,
		.start = {.kind = MOMENT_ITERATION, .value = 90},
		.end = {.kind = MOMENT_TIME, .value = 2000},
		.from_stage = 3,
		.to_stage = 3,
		.rail = 1,
		.is_permanent = true,
	},
	{
		.kind = FAULT_DELAY,
		.event = 0,
		.start = {.kind = MOMENT_ITERATION, .value = 15},
		.end = {.kind = MOMENT_ITERATION, .value = 85},
		.from_stage = 1,
		.to_stage = 0,
		.model = DELAY_RATE,
		.delay_ns = 2,
	},
	{
		.kind = FAULT_SLOW_STAGE,
		.event = 1,
		.start = {.kind = MOMENT_OP, .value = 15, .stage = 3, .op = OP_F, .microbatch = 4},
		.end = {.kind = MOMENT_OP, .value = 16, .stage = 1, .op = OP_W, .microbatch = 7},
		.from_stage = 2,
		.to_stage = 2,
		.slowdown = 2,
	},
	{
		.kind = FAULT_DOWN,
		.event = 2,
		.start = {.kind = MOMENT_OP, .value = 91, .op = OP_B},
		.end = {.kind = MOMENT_TIME, .value = 3000},
	},
	{
		.kind = FAULT_LOSS,
		.event = 1,
		.start = {.kind = MOMENT_ITERATION, .value = 90},
		.from_stage = 0,
		.to_stage = 1,
		.loss_ratio = 0.001,
		.loss_correlation_ratio = 0.25,
	},
};

static struct published published[] = {
	{.schedule = (char *)(size_t) "zb", .p50_ns = 2000},
	{.schedule = (char *)(size_t) "1f1b", .p50_ns = 3000},
};

static struct event events[] = {
	{
		.label = (char *)(size_t) "2-3, 0-1: slow",
		.first_iteration = 15,
		.last_iteration = 84,
		.published = published,
		.n_published = 2,
	},
	{.label = (char *)(size_t) "by time", .first_iteration = -1, .last_iteration = -1},
	{.label = (char *)(size_t) "RNIC down", .first_iteration = 90, .last_iteration = -1},
};

/* Two iterations, the second twice, a fault and two decisions. */
static void put_record(struct record_sink *sink)
{
	struct record_op ops[24];
	struct record_iteration iteration = fixture_iteration(0, ops);
	struct record_fault fault = {3, 1, 100, 110, 210, 17, 40, 112, 150, NULL};
	struct record_fault quiet = {2, 0, -1, -1, -1, -1, 0, 0, 0, NULL};
	const struct record_traffic traffic = {12, 20, 4096, 512, 90, 3, 11, 4};
	const struct record_traffic unknown = {-1, -1, 0, 0, -1, -1, -1, -1};
	struct record_decision replan = {
		DECISION_REPLAN,
		1,
		1,
		5000,
		2,
		31000000,
		0,
		PLANE_DELEGATE,
		"7 5 3 1",
		"stage 0: 9, not 7",
		"link 2-3 is slow",
	};
	struct record_decision restart = {
		DECISION_RESTART, 1, 1, 4000, -1, -1, -1, PLANE_STREAM, "", "", "RNIC down",
	};
	struct err err = {0};

	iteration.loss = 2.5;
	tap_ok(!record_put_iteration(sink, &iteration, &err), "an iteration is taken %s", err.text);
	iteration = fixture_iteration(1, ops);
	iteration.is_complete = false;
	tap_ok(!record_put_iteration(sink, &iteration, &err), "so is a broken one %s", err.text);
	iteration.attempt = 1;
	iteration.is_complete = true;
	iteration.plane = PLANE_DELEGATE;
	tap_ok(!record_put_iteration(sink, &iteration, &err), "and its repetition %s", err.text);
	tap_ok(!record_put_fault(sink, &fault, &err), "and a fault %s", err.text);
	fault.traffic = &traffic;
	tap_ok(!record_put_fault(sink, &fault, &err), "and what passed it %s", err.text);
	fault.traffic = &unknown;
	tap_ok(!record_put_fault(sink, &fault, &err), "or that nobody knows %s", err.text);
	tap_ok(!record_put_fault(sink, &quiet, &err), "and one that never came %s", err.text);
	tap_ok(!record_put_decision(sink, &restart, &err), "and a decision %s", err.text);
	tap_ok(!record_put_decision(sink, &replan, &err), "and another %s", err.text);
}

static void write_everything(void)
{
	struct store *store = open_store(STORE_WRITE);
	struct scenario scenario = fixture_scenario();
	struct record_run run = fixture_run();
	struct record_sink *sink = NULL;
	struct err err = {0};
	int64_t comparison = 0, number = 0;

	scenario.faults = faults;
	scenario.n_faults = sizeof(faults) / sizeof(faults[0]);
	scenario.events = events;
	scenario.n_events = sizeof(events) / sizeof(events[0]);
	scenario.topology.link_rate_bits_per_s = 200000000000;
	scenario.profile.message_bytes = 4096;
	tap_ok(!store_begin_comparison(store, &scenario, &comparison, &err),
	       "a comparison begins %s", err.text);
	tap_is_int(comparison, 1, "comparisons count from 1");
	tap_ok(!store_begin_run(store,
	                        &(struct store_new_run){comparison, &run, &scenario, true, true},
	                        &number, &sink, &err),
	       "a run begins %s", err.text);
	tap_is_int(number, 1, "runs count from 1");
	tap_ok(sink->wants_ops, "its sink wants ops");
	put_record(sink);
	tap_ok(!store_end_run(store, number, "done", "", &err), "the run ends %s", err.text);
	tap_ok(!store_begin_run(store, &(struct store_new_run){0, &run, &scenario, false, false},
	                        &number, &sink, &err),
	       "a run without a comparison begins %s", err.text);
	tap_ok(!sink->wants_ops, "the sink of a run without ops wants none");
	put_record(sink);
	tap_ok(!store_end_run(store, number, "interrupted", "by the user", &err), "it ends %s",
	       err.text);
	tap_ok(!store_close(store, &err), "the store closes %s", err.text);
}

static void test_runs(struct store *store)
{
	const struct record_run want = fixture_run();
	struct stored_run *runs = NULL;
	struct err err = {0};
	size_t n = 0;

	tap_ok(!store_read_runs(store, &(struct store_query){0}, &runs, &n, &err),
	       "runs are read %s", err.text);
	must(n == 2, "there are not two runs");
	tap_is_int(runs[0].run, 1, "the first is run 1");
	tap_is_int(runs[0].comparison, 1, "of comparison 1");
	tap_is_int(runs[1].comparison, 0, "the second is of none");
	tap_is_int((int64_t)strlen(runs[0].created), 20, "its time of creation is ISO 8601");
	tap_is_str(runs[0].status, "done", "its status is kept");
	tap_is_str(runs[1].reason, "by the user", "so is the other's reason");
	tap_is_str(runs[0].scenario_title, want.scenario_title, "the title is kept");
	tap_is_str(runs[0].scenario_path, want.scenario_path, "the path");
	tap_is_str(runs[0].schedule, want.schedule, "the schedule");
	tap_is_str(runs[0].mode, want.mode, "the mode");
	tap_is_str(runs[0].plane, "delegate", "the plane");
	tap_is_str(runs[0].device, want.device, "the device");
	tap_is_str(runs[0].transport, want.transport, "the transport");
	tap_is_str(runs[0].injector, want.injector, "the injector");
	tap_is_str(runs[0].host, want.host, "the host");
	tap_is_str(runs[0].version, want.version, "the version");
	tap_is_str(runs[0].settings_json, want.settings_json, "the settings");
	tap_ok(runs[0].workload_fingerprint == want.workload_fingerprint, "the fingerprint");
	tap_ok(runs[0].seed == want.seed, "a seed above 2^63");
	tap_is_int(runs[0].repeat, want.repeat, "the repeat");
	tap_ok(runs[0].repeat_seed == want.repeat_seed, "and what it drew from");
	tap_is_int(runs[0].place, want.place, "its place in the order");
	tap_ok(runs[0].is_control, "that it is a control");
	tap_is_int(runs[0].n_stages, want.n_stages, "the stages");
	tap_is_int(runs[0].n_replicas, want.n_replicas, "the replicas");
	tap_is_int(runs[0].n_microbatches, want.n_microbatches, "the microbatches");
	tap_is_int(runs[0].samples_per_iteration, want.samples_per_iteration, "the samples");
	tap_is_int(runs[0].n_iterations, want.n_iterations, "the iterations asked for");
	tap_is_int(runs[0].n_warmup, want.n_warmup, "the warm-up");
	tap_ok(runs[0].is_oracle, "the oracle");
	tap_is_number(runs[0].speed, want.speed, 0, "the speed");
	stored_runs_fini(runs, n);
}

static void test_queries(struct store *store)
{
	struct stored_run *runs = NULL;
	struct err err = {0};
	int64_t comparison = 0;
	size_t n = 99;

	tap_ok(!store_read_runs(store, &(struct store_query){.most = 1}, &runs, &n, &err),
	       "the newest run is read %s", err.text);
	tap_ok(n == 1 && runs[0].run == 2, "it is run 2, alone");
	stored_runs_fini(runs, n);
	tap_ok(!store_read_runs(store, &(struct store_query){.comparison = 1}, &runs, &n, &err) &&
	               n == 1 && runs[0].run == 1,
	       "comparison 1 has run 1 alone");
	stored_runs_fini(runs, n);
	tap_ok(!store_read_runs(store, &(struct store_query){.run = 3}, &runs, &n, &err) && n == 0,
	       "there is no run 3");
	stored_runs_fini(runs, n);
	tap_ok(!store_last_comparison(store, &comparison, &err) && comparison == 1,
	       "comparison 1 is the last");
}

static bool is_same_op(const struct record_op *a, const struct record_op *b)
{
	return a->stage == b->stage && a->replica == b->replica && a->kind == b->kind &&
	       a->microbatch == b->microbatch && a->start_ns == b->start_ns &&
	       a->end_ns == b->end_ns && a->message_request_ns == b->message_request_ns &&
	       a->message_start_ns == b->message_start_ns &&
	       a->message_end_ns == b->message_end_ns &&
	       a->message_arrive_ns == b->message_arrive_ns && a->message_rail == b->message_rail &&
	       a->message_queue == b->message_queue &&
	       a->message_n_resends == b->message_n_resends && a->late_ns == b->late_ns;
}

static void test_ops(struct store *store)
{
	struct record_op want[24], *ops = NULL;
	struct err err = {0};
	size_t n = 0, n_same = 0;

	(void)fixture_iteration(1, want);
	tap_ok(!store_read_ops(store, &(struct store_iteration){1, 1, 1}, &ops, &n, &err),
	       "ops are read %s", err.text);
	for (size_t i = 0; i < n && i < 24; i++)
		n_same += is_same_op(&ops[i], &want[i]);
	tap_ok(n == 24 && n_same == 24, "all ops of one attempt come back in order (%zu of %zu)",
	       n_same, n);
	free(ops);
	ops = NULL;
	tap_ok(!store_read_ops(store, &(struct store_iteration){2, 0, 0}, &ops, &n, &err) && n == 0,
	       "a run without ops has none");
	free(ops);
	ops = NULL;
	tap_ok(!store_read_ops(store, &(struct store_iteration){1, 0, 9}, &ops, &n, &err) && n == 0,
	       "an iteration that is not there has none");
	free(ops);
}

static void test_iterations(struct store *store)
{
	struct record_iteration *all = NULL;
	struct record_op ops[24];
	const struct record_iteration want = fixture_iteration(1, ops);
	struct err err = {0};
	size_t n = 0;

	tap_ok(!store_read_iterations(store, 1, &all, &n, &err), "iterations are read %s",
	       err.text);
	must(n == 3, "there are not three iterations");
	tap_is_number(all[0].loss, 2.5, 0, "a loss is kept");
	tap_ok(isnan(all[1].loss), "no loss is kept as none");
	tap_ok(!all[1].is_complete && all[2].is_complete, "which one broke is kept");
	tap_ok(all[1].attempt == 0 && all[2].attempt == 1,
	       "attempts come in the order they happened");
	tap_ok(all[1].plane == PLANE_STREAM && all[2].plane == PLANE_DELEGATE, "planes are kept");
	tap_ok(all[2].iteration == 1 && all[2].start_ns == want.start_ns &&
	               all[2].duration_ns == want.duration_ns,
	       "start and duration are kept");
	tap_ok(all[2].compute_ns == want.compute_ns && all[2].wait_ns == want.wait_ns &&
	               all[2].blocked_ns == want.blocked_ns,
	       "the three shares are kept");
	tap_ok(!all[2].ops, "iterations come without ops");
	free(all);
}

static void test_events(struct store *store)
{
	struct stored_event *all = NULL;
	struct err err = {0};
	size_t n = 0;

	tap_ok(!store_read_events(store, 1, &all, &n, &err), "events are read %s", err.text);
	must(n == 3, "there are not three events");
	tap_is_str(all[0].label, events[0].label, "the label is kept");
	tap_is_str(all[0].links, "0-1 2-3", "the links of an event are named once, in order");
	tap_is_str(all[2].links, "", "an RNIC is on no link");
	tap_ok(all[0].first_iteration == 15 && all[0].last_iteration == 84,
	       "its iterations are kept");
	tap_ok(all[1].first_iteration == -1 && all[2].last_iteration == -1,
	       "so are those it has not");
	must(all[0].n_published == 2, "there are not two published values");
	tap_is_str(all[0].published[1].schedule, "zb", "published values are kept");
	tap_is_int(all[0].published[1].p50_ns, 2000, "with their value");
	tap_is_int((int64_t)all[1].n_published, 0, "an event may have none");
	stored_events_fini(all, n);
}

static void test_decisions(struct store *store)
{
	struct stored_decision *all = NULL;
	struct err err = {0};
	size_t n = 0;

	tap_ok(!store_read_decisions(store, 1, &all, &n, &err), "decisions are read %s", err.text);
	must(n == 2, "there are not two decisions");
	tap_is_str(all[0].kind, "restart", "they come in the order in which they were made");
	tap_ok(all[0].link == -1 && all[0].seen_ns == -1 && all[0].since_iteration == -1,
	       "what a decision has not is -1");
	tap_is_str(all[1].kind, "replan", "the kind is kept");
	tap_ok(all[1].attempt == 1 && all[1].iteration == 1 && all[1].at_ns == 5000,
	       "and the moment");
	tap_ok(all[1].link == 2 && all[1].seen_ns == 31000000 && all[1].since_iteration == 0,
	       "and what was seen");
	tap_is_str(all[1].plane, "delegate", "and the plane");
	tap_is_str(all[1].warmups, "7 5 3 1", "and the warm-ups");
	tap_is_str(all[1].clamped, "stage 0: 9, not 7", "and what was clamped");
	tap_is_str(all[1].reason, "link 2-3 is slow", "and the reason");
	stored_decisions_fini(all, n);
}

static void test_tables(void)
{
	tap_is_str(
		query("SELECT kind, script_line, start_iteration, start_ns, end_iteration, end_ns, "
	              "from_stage, to_stage FROM fault WHERE run = 1 ORDER BY fault LIMIT 5"),
		"delay|12|15|NULL|85|NULL|2|3 delay|NULL|15|NULL|85|NULL|3|2 "
		"rate|NULL|NULL|100|NULL|NULL|0|1 slow|NULL|NULL|100|NULL|200|1|1 "
		"down|NULL|90|NULL|NULL|2000|3|3",
		"faults say when and where");
	tap_is_str(
		query("SELECT event, delay_model, delay_ns, jitter_ns, distribution, "
	              "rate_bits_per_s, slowdown, rail, is_permanent "
	              "FROM fault WHERE run = 1 ORDER BY fault LIMIT 5"),
		"0|occupancy|30000000|5000000|normal|NULL|NULL|NULL|NULL "
		"0|latency|1|0|NULL|NULL|NULL|NULL|NULL 1|NULL|NULL|NULL|NULL|8000|NULL|NULL|NULL "
		"1|NULL|NULL|NULL|NULL|NULL|1.25|NULL|NULL 2|NULL|NULL|NULL|NULL|NULL|NULL|1|1",
		"faults say what, and nothing of other kinds");
	tap_is_str(query("SELECT fault, loss_ratio, loss_correlation_ratio, allows_reordering FROM "
	                 "fault WHERE run = 1 AND fault IN (0, 1, 8) ORDER BY fault"),
	           "0|NULL|NULL|1 1|NULL|NULL|NULL 8|0.001|0.25|NULL",
	           "and of packets where it is about those");
	tap_is_str(query("SELECT start_iteration, start_stage, start_op, start_microbatch, "
	                 "end_iteration, end_ns, end_stage, end_op, end_microbatch FROM fault "
	                 "WHERE run = 1 AND start_op IS NOT NULL ORDER BY fault"),
	           "15|3|F|4|16|NULL|1|W|7 91|0|B|0|NULL|3000|NULL|NULL|NULL",
	           "and at which ops, those that are inside an iteration");
	tap_is_str(query("SELECT count(*) FROM fault WHERE run = 1 AND (start_stage IS NULL) + "
	                 "(start_op IS NULL) + (start_microbatch IS NULL) + (end_stage IS NULL) + "
	                 "(end_op IS NULL) + (end_microbatch IS NULL) = 6"),
	           "7", "and nothing of an op for the others");
	tap_is_str(query("SELECT fault, attempt, asked_ns, applied_ns, cleared_ns, measured_ns, "
	                 "n_messages, detected_ns, recovered_ns FROM fault_applied WHERE run = 1 "
	                 "ORDER BY id"),
	           "3|1|100|110|210|17|40|112|150 3|1|100|110|210|17|40|112|150 "
	           "3|1|100|110|210|17|40|112|150 2|0|NULL|NULL|NULL|NULL|0|NULL|NULL",
	           "faults say when they were in force");
	tap_is_str(query("SELECT measured_p50_ns, measured_p95_ns, payload_bytes, busy_ns, "
	                 "n_packets, n_lost, packet_delay_ns, n_resent FROM fault_applied "
	                 "WHERE run = 1 ORDER BY id LIMIT 3"),
	           "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL 12|20|4096|512|90|3|11|4 "
	           "NULL|NULL|0|0|NULL|NULL|NULL|NULL",
	           "and what passed, as far as it was measured");
	tap_is_str(query("SELECT goodput_mbit_per_s, round(lost_ratio, 3), packet_delay_ms, "
	                 "n_resent FROM fault_ms WHERE run = 1 AND n_packets IS NOT NULL"),
	           "64000.0|0.032|1.1e-05|4", "which a view has in larger units");
	tap_is_str(query("SELECT DISTINCT kind, timer, message_end_ns IS NULL FROM op "
	                 "WHERE iteration = 0 ORDER BY 1, 3"),
	           "B|virtual|0 B|virtual|1 F|virtual|0 F|virtual|1 W|virtual|1",
	           "ops have letters, a timer and NULLs");
	tap_is_str(query("SELECT link_rate_bits_per_s, message_bytes, n_hosts, profile, keeps_ops, "
	                 "seed "
	                 "FROM run ORDER BY run"),
	           "200000000000|4096|2|gpt|1|-6 200000000000|4096|2|gpt|0|-6",
	           "the scenario's variables are columns of the run");
	tap_is_str(query("SELECT count(*) FROM run WHERE ended IS NULL"), "0",
	           "both runs have ended");
	tap_is_str(query("PRAGMA foreign_key_check"), "", "every reference leads somewhere");
}

static void test_views(void)
{
	tap_is_str(query("SELECT run, p50_ms, p95_ms, iterations, restarts FROM run_summary"),
	           "1|0.025001|0.025001|3|1 2|0.025001|0.025001|3|1",
	           "the summary leaves out warm-up and what was repeated");
	tap_is_str(query("SELECT start_ms, end_ms, message_arrive_ms FROM op_ms "
	                 "WHERE run = 1 AND attempt = 1 AND iteration = 1 LIMIT 1"),
	           "0.0|0.0009|0.000903", "ops are shown in ms since their iteration began");
	tap_is_str(query("SELECT compute_ms + wait_ms + blocked_ms, duration_ms, is_warmup "
	                 "FROM iteration_ms WHERE run = 1 AND attempt = 1"),
	           "0.025001|0.025001|0", "the shares of an iteration add up to its duration");
	tap_is_str(query("SELECT DISTINCT label, applied_ms FROM fault_ms WHERE run = 1 AND fault "
	                 "= 3"),
	           "by time|0.00011", "a fault is shown with its event and when it was in force");
	tap_is_str(query("SELECT DISTINCT start_iteration, start_at, end_iteration, end_at "
	                 "FROM fault_ms WHERE run = 1 AND fault IN (0, 6) ORDER BY fault"),
	           "15|NULL|85|NULL 15|F4 of stage 3|16|W7 of stage 1",
	           "and with the op, if it is inside an iteration");
	tap_is_str(query("SELECT name FROM sqlite_schema WHERE type = 'view' AND name NOT IN "
	                 "('run_summary', 'op_ms', 'message_ms', 'iteration_ms', 'fault_ms')"),
	           "", "there is no view that was not tested");
}

/* What only live runs have. */
static void test_live_parts(void)
{
	struct store *store = open_store(STORE_WRITE);
	struct record_sink *sink;
	struct stored_run *runs = NULL;
	struct err err = {0};
	int64_t first = fixture_begin(store, false, &sink), second, simulated = 77;
	size_t n = 0;

	second = fixture_begin(store, false, &sink);
	tap_ok(!store_put_facts(store, second, "{\"workers\": 1}", &err), "facts are taken %s",
	       err.text);
	tap_ok(!store_put_facts(store, second, "{\"workers\": 2}", &err), "and replaced %s",
	       err.text);
	tap_ok(!store_put_simulated(store, 2, 1, &err), "what is beside a comparison is taken %s",
	       err.text);
	tap_is_int(store_put_simulated(store, 2, 99, &err), -EINVAL,
	           "a comparison that does not exist is not");
	tap_ok(!store_end_run(store, first, "done", "", &err) &&
	               !store_end_run(store, second, "done", "", &err) && !store_close(store, &err),
	       "the store closes %s", err.text);
	store = open_store(STORE_READ);
	tap_ok(!store_read_runs(store, &(struct store_query){0}, &runs, &n, &err) && n == 2,
	       "the runs are read %s", err.text);
	must(n == 2, "there are not two runs");
	tap_is_str(runs[0].facts_json, "{}", "a run without facts has none");
	tap_is_str(runs[1].facts_json, "{\"workers\": 2}", "the last facts are kept");
	stored_runs_fini(runs, n);
	tap_ok(!store_read_simulated(store, 2, &simulated, &err) && simulated == 1,
	       "so is what is beside a comparison");
	tap_ok(!store_read_simulated(store, 1, &simulated, &err) && simulated == 0,
	       "or that there is nothing");
	tap_ok(!store_read_simulated(store, 5, &simulated, &err) && simulated == 0,
	       "beside no comparison there is nothing");
	tap_ok(!store_close(store, &err), "the reader closes %s", err.text);
}

int main(void)
{
	struct store *store;
	struct err err = {0};

	fixture_make_folder();
	fixture_path("a.db", path);
	test_new_database();
	write_everything();
	store = open_store(STORE_READ);
	test_runs(store);
	test_queries(store);
	test_iterations(store);
	test_ops(store);
	test_events(store);
	test_decisions(store);
	tap_ok(!store_close(store, &err), "a reader closes %s", err.text);
	test_tables();
	test_views();
	tap_is_str(fixture_list(answer), "a.db ", "one file is left");
	fixture_path("b.db", path);
	test_live_parts();
	fixture_remove_folder();
	return tap_done();
}
