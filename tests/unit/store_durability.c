/* store_durability.c - what was stored survives a kill, a full disk and an unfinished run. */
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/child.h"
#include "tests/unit/store_fixture.h"

enum { DISK_BYTES = 3000000 };

static char path[PATH_BYTES];
static char answer[CELL_BYTES];

static const char *query(const char *sql)
{
	return fixture_query(path, sql, answer);
}

static int put(struct record_sink *sink, int iteration, struct err *err)
{
	struct record_op ops[24];
	struct record_iteration row = fixture_iteration(iteration, ops);

	return record_put_iteration(sink, &row, err);
}

static struct store *open_store(enum store_mode mode)
{
	return fixture_open(path, mode);
}

/* Put iterations as fast as can be until killed; tell the parent when the first commit must be
 * over. */
static void write_until_killed(int ready)
{
	struct store *store = open_store(STORE_WRITE);
	struct record_sink *sink;

	fixture_begin(store, true, &sink);
	for (int i = 0;; i++) {
		if (put(sink, i, NULL))
			_exit(1);
		if (i == 0 || i % 1000 == 0)
			(void)!write(ready, ".", 1);
	}
}

static void kill_a_writer(void)
{
	int ends[2];
	char byte;
	pid_t child;

	must(pipe(ends) == 0, "cannot make a pipe");
	child = child_start();
	if (child == 0)
		write_until_killed(ends[1]);
	close(ends[1]);
	must(child_read(ends[0], &byte, 1), "the writer did not begin");
	/* Long enough for the second batch, which is committed after 0.4 s at the latest. */
	usleep(700000);
	child_kill(child);
	close(ends[0]);
}

static const char *status_of_run(struct store *store)
{
	static char status[64];
	struct stored_run *runs = NULL;
	size_t n = 0;

	must(!store_read_runs(store, &(struct store_query){.run = 1}, &runs, &n, NULL) && n == 1,
	     "cannot read the run");
	snprintf(status, sizeof(status), "%s", runs[0].status);
	stored_runs_fini(runs, n);
	return status;
}

static void test_kill(void)
{
	struct record_iteration *all = NULL;
	struct record_op *ops = NULL;
	struct store *store;
	struct err err = {0};
	size_t n = 0, n_ops = 0;

	kill_a_writer();
	store = open_store(STORE_READ);
	tap_is_str(status_of_run(store), "lost", "the run of a killed process is shown as lost");
	tap_ok(!store_read_iterations(store, 1, &all, &n, &err) && n > 1,
	       "its iterations are there: %zu %s", n, err.text);
	tap_ok(n > 0 && all[n - 1].iteration == (int)n - 1, "without a gap");
	tap_ok(!store_read_ops(store, &(struct store_iteration){1, 0, (int)n - 1}, &ops, &n_ops,
	                       &err) &&
	               n_ops == 24,
	       "the last of them has its ops");
	free(all);
	free(ops);
	must(!store_close(store, NULL), "cannot close");
	tap_is_str(query("PRAGMA integrity_check"), "ok", "the database is sound");
	tap_is_str(query("SELECT count(*) - sum(n_ops) / 24 FROM iteration"), "0",
	           "no iteration was stored in part");
	tap_is_str(query("SELECT (SELECT count(*) FROM op) - (SELECT sum(n_ops) FROM iteration)"),
	           "0", "no op was stored without its iteration");
	store = open_store(STORE_WRITE);
	tap_is_str(status_of_run(store), "failed", "the next writer marks it as failed");
	must(!store_close(store, NULL), "cannot close");
	tap_is_str(query("SELECT reason FROM run"), "the process ended without finishing",
	           "with a reason");
	tap_is_str(fixture_list(answer), "a.db ", "nothing of the killed process is left");
	unlink(path);
}

static void test_reader_beside_writer(void)
{
	struct store *writer = open_store(STORE_WRITE), *reader;
	struct record_iteration *all = NULL;
	struct record_sink *sink;
	struct err err = {0};
	size_t n = 99;
	int64_t run = fixture_begin(writer, true, &sink);

	must(!put(sink, 0, NULL), "cannot put");
	usleep(100000);
	must(!put(sink, 1, NULL), "cannot put");
	reader = open_store(STORE_READ);
	tap_is_str(status_of_run(reader), "running", "a run is running while its writer lives");
	tap_ok(!store_read_iterations(reader, run, &all, &n, &err) && n == 2,
	       "a slow producer's iterations are seen at once: %zu", n);
	free(all);
	must(!put(sink, 2, NULL) && !store_end_run(writer, run, "done", "", NULL), "cannot end");
	all = NULL;
	tap_ok(!store_read_iterations(reader, run, &all, &n, &err) && n == 3,
	       "the end of a run commits: %zu", n);
	free(all);
	tap_is_int(store_close(writer, &err), 0, "a writer closes while somebody reads");
	tap_is_int(store_close(reader, &err), 0, "then the reader");
	tap_is_str(fixture_list(answer), "a.db ", "the last one leaves one file");
	unlink(path);
}

static void test_unfinished_run(void)
{
	struct store *store = open_store(STORE_WRITE);
	struct record_sink *first, *second;
	struct err err = {0};

	fixture_begin(store, true, &first);
	fixture_begin(store, true, &second);
	for (int i = 0; i < 3; i++)
		must(!put(first, i, NULL) && !put(second, i, NULL), "cannot put");
	tap_is_int(store_end_run(store, 1, "done", "", &err), 0, "one of two runs ends");
	tap_is_int(store_close(store, &err), 0, "the store closes with the other under way");
	tap_is_str(query("SELECT run, status FROM run ORDER BY run"), "1|done 2|failed",
	           "the other has failed");
	tap_is_str(
		query("SELECT run, count(*), sum(n_ops) FROM iteration GROUP BY run ORDER BY run"),
		"1|3|72 2|3|72", "but what was put is kept");
	tap_is_str(
		query("SELECT count(*) FROM iteration i JOIN op ON op.id BETWEEN first_op AND "
	              "first_op + n_ops - 1 WHERE op.run = i.run AND op.iteration = i.iteration"),
		"144", "runs side by side keep their ops apart");
	unlink(path);
}

/* Both files have the same rows: nothing that is measured depends on when or where. */
static void test_same_bytes_twice(void)
{
	static const char *const tables[] = {"iteration",      "op",       "fault",
	                                     "fault_applied",  "decision", "event",
	                                     "event_published"};
	char second_path[PATH_BYTES], sql[CELL_BYTES], first_answer[CELL_BYTES];

	fixture_path("b.db", second_path);
	for (int i = 0; i < 2; i++) {
		struct store *store;
		struct record_sink *sink;
		int64_t run;

		must(!store_open(i ? second_path : path, STORE_WRITE, &store, NULL), "cannot open");
		run = fixture_begin(store, true, &sink);
		must(!put(sink, 0, NULL) && !put(sink, 1, NULL), "cannot put");
		must(!store_end_run(store, run, "done", "", NULL) && !store_close(store, NULL),
		     "cannot end");
		/* Long enough for another second. */
		if (i == 0)
			usleep(1100000);
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s LIMIT 30", tables[i]);
		fixture_query(second_path, sql, first_answer);
		tap_is_str(query(sql), first_answer, "the table %s is the same twice", tables[i]);
	}
	tap_ok(strcmp(query("SELECT created FROM run"),
	              fixture_query(second_path, "SELECT created FROM run", first_answer)) != 0,
	       "though they were made at different times");
	unlink(path);
	unlink(second_path);
}

/* Put until it fails; returns the code, and how many were taken. */
static int fill(struct record_sink *sink, int *n_out, struct err *err)
{
	int rc = 0;

	for (*n_out = 0; *n_out < 100000 && !rc; ++*n_out) {
		rc = put(sink, *n_out, err);
		/* A pause now and then gives a commit, so that there is something to keep. */
		if (*n_out % 100 == 0)
			usleep(60000);
	}
	return rc;
}

static void fill_the_disk(const char *disk)
{
	struct store *store = open_store(STORE_WRITE);
	struct record_iteration *all = NULL;
	struct record_sink *sink;
	struct err err = {0};
	int64_t run = fixture_begin(store, true, &sink);
	size_t n_kept = 0;
	int n = 0;

	tap_is_int(fill(sink, &n, &err), -ENOSPC, "%s is reported", disk);
	tap_contains(err.text, "no space is left", "in a sentence");
	tap_contains(err.text, path, "that names the file");
	(void)store_end_run(store, run, "failed", err.text, NULL);
	(void)store_close(store, NULL);
	store = open_store(STORE_READ);
	tap_ok(!store_read_iterations(store, run, &all, &n_kept, &err) && n_kept > 0,
	       "what was committed is kept: %zu of %d %s", n_kept, n, err.text);
	free(all);
	must(!store_close(store, NULL), "cannot close");
	tap_is_str(query("PRAGMA integrity_check"), "ok", "the database is sound");
	tap_is_str(query("SELECT count(*) - sum(n_ops) / 24 FROM iteration"), "0",
	           "no iteration was stored in part");
}

static void test_file_size_limit(void)
{
	struct rlimit old, small;

	signal(SIGXFSZ, SIG_IGN);
	must(!getrlimit(RLIMIT_FSIZE, &old), "cannot ask for the limit");
	small = old;
	small.rlim_cur = DISK_BYTES;
	must(!setrlimit(RLIMIT_FSIZE, &small), "cannot set the limit");
	fill_the_disk("a limit on the size of files");
	must(!setrlimit(RLIMIT_FSIZE, &old), "cannot lift the limit");
	unlink(path);
}

static void test_full_disk(void)
{
	char disk[PATH_BYTES];

	fixture_path("disk", disk);
	must(!mkdir(disk, 0777), "cannot make a folder");
	if (mount("none", disk, "tmpfs", 0, "size=3m")) {
		tap_skip("no right to mount a small disk");
		rmdir(disk);
		return;
	}
	fixture_path("disk/a.db", path);
	fill_the_disk("a full disk");
	must(!umount2(disk, MNT_DETACH), "cannot unmount");
	rmdir(disk);
	fixture_path("a.db", path);
}

int main(void)
{
	fixture_make_folder();
	fixture_path("a.db", path);
	test_kill();
	test_reader_beside_writer();
	test_unfinished_run();
	test_same_bytes_twice();
	test_file_size_limit();
	test_full_disk();
	tap_is_str(fixture_list(answer), "", "nothing is left of all this");
	fixture_remove_folder();
	return tap_done();
}
