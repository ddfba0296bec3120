/* store_messages.c - messages: their rows, their view, and what becomes of them where there are
 * none. */
#include "tests/unit/store_fixture.h"

static char path[PATH_BYTES], answer[CELL_BYTES];

static const char *query(const char *sql)
{
	return fixture_query(path, sql, answer);
}

static struct store *open_store(enum store_mode mode)
{
	struct store *store = NULL;
	struct err err = {0};

	must(!store_open(path, mode, &store, &err), err.text);
	return store;
}

/* Runs 1, with messages, and 2, with ops alone; the last message of iteration 1 never arrived. */
static void write_runs(void)
{
	struct store *store = open_store(STORE_WRITE);
	struct record_sink *sinks[2];
	struct scenario scenario = fixture_scenario();
	struct record_run row = fixture_run();
	struct err err = {0};
	int64_t runs[2];

	for (int i = 0; i < 2; i++) {
		const struct store_new_run new_run = {.run = &row,
		                                      .scenario = &scenario,
		                                      .keeps_ops = true,
		                                      .keeps_messages = i == 0};
		struct record_op ops[24];
		struct record_iteration iteration = fixture_iteration(0, ops);

		must(!store_begin_run(store, &new_run, &runs[i], &sinks[i], &err), err.text);
		tap_ok(!record_put_iteration(sinks[i], &iteration, &err), "an iteration is taken");
		iteration = fixture_iteration(1, ops);
		iteration.message_bytes = 0;
		ops[22].message_arrive_ns = ops[22].message_end_ns = ops[22].message_start_ns = -1;
		ops[22].message_rail = ops[22].message_queue = -1;
		tap_ok(!record_put_iteration(sinks[i], &iteration, &err), "and another");
		tap_ok(record_put_iteration(sinks[i], &iteration, &err) < 0,
		       "but not the same again: %s", err.text);
	}
	tap_ok(!store_end_run(store, runs[0], "done", "", &err) &&
	               !store_end_run(store, runs[1], "done", "", &err) &&
	               !store_close(store, &err),
	       "the runs end %s", err.text);
}

static void test_rows(void)
{
	tap_is_str(query("SELECT run, iteration, first_message, n_messages FROM iteration"),
	           "1|0|1|12 1|1|13|12 2|0|NULL|0 2|1|NULL|0",
	           "an iteration knows its messages, if they were wanted");
	tap_is_str(query("SELECT count(*), min(id), max(id) FROM message"), "24|1|24",
	           "what was refused has left none");
	tap_is_str(query("SELECT run, attempt, iteration, replica, from_stage, to_stage, kind,"
	                 " microbatch, rail, queue, bytes, n_resends, request_ns, start_ns, end_ns,"
	                 " arrive_ns FROM message WHERE id IN (2, 6)"),
	           "1|0|0|0|0|1|F|1|1|3|4096|0|3900|3901|3902|3903 "
	           "1|0|0|0|1|0|B|1|0|2|4096|1|10900|10901|10902|10903",
	           "a message is kept with its way");
	tap_is_str(query("SELECT rail, queue, bytes, n_resends, start_ns, end_ns, arrive_ns"
	                 " FROM message WHERE id = 24"),
	           "NULL|NULL|NULL|0|NULL|NULL|NULL", "what did not happen is NULL");
	tap_is_str(query("SELECT count(*) FROM message JOIN op ON message_request_ns = request_ns"
	                 " AND op.run = message.run AND stage = from_stage"),
	           "24", "every message is one of an op");
	tap_is_str(query("SELECT min(from_stage), max(from_stage), min(to_stage), max(to_stage)"
	                 " FROM message"),
	           "0|3|0|3", "and goes from a stage to a stage");
}

static void test_view(void)
{
	tap_is_str(query("SELECT run, attempt, iteration, replica, from_stage, to_stage, kind,"
	                 " microbatch, rail, queue, bytes, n_resends, request_ms, start_ms, end_ms,"
	                 " arrive_ms, transfer_ms FROM message_ms WHERE iteration = 1 LIMIT 1"),
	           "1|0|1|0|0|1|F|0|0|NULL|NULL|0|0.0009|0.000901|0.000902|0.000903|2.0e-06",
	           "message_ms counts from the start of the iteration");
	tap_is_str(query("SELECT count(*) FROM message_ms"), "24", "and has all messages");
}

static int count_ways(int64_t run, int iteration)
{
	struct store *store = open_store(STORE_READ);
	struct record_op *ops = NULL;
	struct err err = {0};
	size_t n = 0;
	int n_ways = 0;

	tap_ok(!store_read_ops(store, &(struct store_iteration){run, 0, iteration}, &ops, &n, &err),
	       "ops of run %lld are read %s", (long long)run, err.text);
	tap_is_int((int64_t)n, 24, "all of them");
	for (size_t i = 0; i < n; i++)
		n_ways += ops[i].message_rail >= 0;
	free(ops);
	tap_ok(!store_close(store, &err), "the store closes %s", err.text);
	return n_ways;
}

int main(void)
{
	fixture_make_folder();
	fixture_path("messages.db", path);
	write_runs();
	test_rows();
	test_view();
	tap_is_int(count_ways(1, 0), 12, "and their messages have a way");
	tap_is_int(count_ways(1, 1), 11, "if they left");
	tap_is_int(count_ways(2, 1), 0, "and if they were stored");
	fixture_remove_folder();
	return tap_done();
}
