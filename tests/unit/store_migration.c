/* store_migration.c - a migration that is cut short, by a kill, a full disk or a limit, leaves the
 * database of before; one that two ask for is made once; where nothing may be written none is. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/child.h"
#include "tests/unit/store_older_fixture.h"

enum {
	N_ITERATIONS = 60, /* so that a migration writes about a megabyte */
	N_ROUNDS = 12,
	FIRST_LIMIT_BYTES = 70000,  /* SQLite makes its side files, and no more */
	LAST_LIMIT_BYTES = 2000000, /* more than any file grows to */
};

static char path[PATH_BYTES], today[PATH_BYTES], older[PATH_BYTES];
static char answer[CELL_BYTES];

static const char *query(const char *sql)
{
	return fixture_query(path, sql, answer);
}

/* A database of version 1 at path. */
static void copy_older(void)
{
	char command[3 * PATH_BYTES];

	snprintf(command, sizeof(command), "cp '%s' '%s'", older, path);
	must(system(command) == 0, "cannot copy a database");
}

static void check_readable(const char *name)
{
	struct store *store = fixture_open(path, STORE_READ);
	struct stored_run *runs = NULL;
	struct record_op *ops = NULL;
	struct err err = {0};
	size_t n = 0, n_ops = 0;

	tap_ok(!store_read_runs(store, &(struct store_query){0}, &runs, &n, &err) && n == 5,
	       "%s: its runs are read: %zu %s", name, n, err.text);
	stored_runs_fini(runs, n);
	tap_ok(!store_read_ops(store, &(struct store_iteration){5, 0, N_ITERATIONS - 1}, &ops,
	                       &n_ops, &err) &&
	               n_ops == 24,
	       "%s: and their ops: %zu %s", name, n_ops, err.text);
	free(ops);
	must(!store_close(store, NULL), "cannot close");
}

/* The version that the database has; all its tables are of that one, and hold all rows. */
static int check_whole(const char *name)
{
	char want[64];
	int version;

	check_readable(name);
	tap_is_str(query("PRAGMA integrity_check"), "ok", "%s: it is sound", name);
	version = atoi(query("PRAGMA user_version"));
	tap_ok(version == 1 || version == STORE_SCHEMA_VERSION,
	       "%s: it is of version %d, that of before or that of today", name, version);
	snprintf(want, sizeof(want), "%d|%d|%d|0", version > 1, version > 1, 5 * N_ITERATIONS * 24);
	tap_is_str(query("SELECT (SELECT count(*) FROM pragma_table_info('op')"
	                 " WHERE name = 'late_ns'), (SELECT count(*) FROM sqlite_master"
	                 " WHERE name = 'variant_total'), (SELECT count(*) FROM op),"
	                 " (SELECT count(*) FROM sqlite_master WHERE name LIKE '%before')"),
	           want, "%s: and so are its tables, with all rows", name);
	return version;
}

/* Open for writing and close; 0, or the code of the first that fails. */
static int open_and_close(int *older_version)
{
	struct store *store = NULL;
	int rc = store_open(path, STORE_WRITE, &store, NULL);

	if (rc)
		return rc;
	*older_version = store_older_version(store);
	return store_close(store, NULL);
}

/* And no core, should that kill. */
static void set_limit(rlim_t bytes)
{
	struct rlimit limit, core;

	must(!getrlimit(RLIMIT_CORE, &core), "cannot ask for the limit");
	core.rlim_cur = 0;
	must(!setrlimit(RLIMIT_CORE, &core), "cannot set the limit");
	must(!getrlimit(RLIMIT_FSIZE, &limit), "cannot ask for the limit");
	limit.rlim_cur = bytes;
	must(!setrlimit(RLIMIT_FSIZE, &limit), "cannot set the limit");
}

/* Migrate in a process that is killed, or fails, once a file is to grow beyond so many bytes; how
 * it ended. */
static int migrate_within(rlim_t bytes, bool is_killed)
{
	int older_version, rc;
	pid_t child;

	copy_older();
	child = child_start();
	if (child == 0) {
		set_limit(bytes);
		signal(SIGXFSZ, is_killed ? SIG_DFL : SIG_IGN);
		rc = open_and_close(&older_version);
		_exit(rc == -ENOSPC ? 28 : rc ? 1 : 0);
	}
	return child_wait(child);
}

/* Limits between those two, each larger than the one before by the same factor. */
static rlim_t limit_bytes(int round)
{
	double factor = (double)LAST_LIMIT_BYTES / FIRST_LIMIT_BYTES;

	return (rlim_t)(FIRST_LIMIT_BYTES * pow(factor, (double)round / (N_ROUNDS - 1)));
}

static void test_limits(bool is_killed)
{
	const int cut_short = is_killed ? -SIGXFSZ : 28;
	const char *verb = is_killed ? "killed" : "out of space";

	for (int round = 0; round < N_ROUNDS; round++) {
		rlim_t bytes = limit_bytes(round);
		char name[64];
		int end = migrate_within(bytes, is_killed), version;

		snprintf(name, sizeof(name), "%s at %lld bytes", verb, (long long)bytes);
		version = check_whole(name);
		if (round == 0)
			tap_ok(end == cut_short && version == 1,
			       "%s: it ended with %d, and is as before", name, end);
		else if (round == N_ROUNDS - 1)
			tap_ok(end == 0 && version > 1, "%s: it went on to its end", name);
		else
			tap_ok(end == cut_short || version > 1,
			       "%s: it ended with %d, and has version %d", name, end, version);
		unlink(path);
	}
	tap_is_str(fixture_list(answer), "older.db today.db ", "%s: nothing is left beside it",
	           verb);
}

static void test_full_disk_sentence(void)
{
	struct store *store = NULL;
	struct err err = {0};
	struct rlimit old;

	copy_older();
	must(!getrlimit(RLIMIT_FSIZE, &old), "cannot ask for the limit");
	signal(SIGXFSZ, SIG_IGN);
	set_limit(FIRST_LIMIT_BYTES);
	tap_is_int(store_open(path, STORE_WRITE, &store, &err), -ENOSPC, "a full disk is told");
	must(!setrlimit(RLIMIT_FSIZE, &old), "cannot lift the limit");
	tap_contains(err.text, "cannot bring the tables to the current schema in '",
	             "in a sentence");
	tap_contains(err.text, "no space is left; what was stored before is kept", "that says so");
	tap_is_int(open_and_close(&(int){0}), 0, "with space it is migrated after all");
	tap_is_int(check_whole("with space"), STORE_SCHEMA_VERSION, "to today's version");
	unlink(path);
}

/* At moments that nobody chose; how long one takes is measured first. */
static void test_kills(void)
{
	int64_t start_ns, took_ns;

	copy_older();
	start_ns = clock_monotonic_ns();
	must(!open_and_close(&(int){0}), "cannot migrate");
	took_ns = clock_monotonic_ns() - start_ns;
	unlink(path);
	for (uint64_t round = 0; round < N_ROUNDS; round++) {
		double share = rng_uniform(rng_mix((uint64_t)start_ns, round));
		pid_t child;

		copy_older();
		child = child_start();
		if (child == 0)
			_exit(open_and_close(&(int){0}) ? 1 : 0);
		usleep((useconds_t)(share * 1.2 * (double)took_ns / NS_PER_US));
		child_kill(child);
		check_whole("killed");
		tap_is_int(open_and_close(&(int){0}), 0, "killed: the next one migrates it");
		tap_is_int(check_whole("killed and migrated"), STORE_SCHEMA_VERSION,
		           "killed: to today's version");
		unlink(path);
	}
}

/* The other holds the database for longer than a program waits when the machine is busy. */
static int migrate_in_turn(void)
{
	int older_version = 0, rc;

	do
		rc = open_and_close(&older_version);
	while (rc == -EBUSY);
	return rc ? 2 : older_version == 1;
}

static void test_two_at_once(void)
{
	for (int round = 0; round < 4; round++) {
		pid_t children[2];
		int ends[2], start[2];
		char byte = 0;

		copy_older();
		must(!pipe(start), "cannot make a pipe");
		for (int i = 0; i < 2; i++) {
			children[i] = child_start();
			if (children[i])
				continue;
			close(start[1]);
			(void)!read(start[0], &byte, 1); /* the end of the pipe, for both at once */
			_exit(migrate_in_turn());
		}
		close(start[0]);
		close(start[1]);
		for (int i = 0; i < 2; i++)
			ends[i] = child_wait(children[i]);
		tap_ok(ends[0] + ends[1] == 1 && ends[0] >= 0 && ends[1] >= 0,
		       "of two that open it at once one migrates it: %d %d", ends[0], ends[1]);
		tap_is_int(check_whole("opened by two"), STORE_SCHEMA_VERSION,
		           "and it is of today's version");
		unlink(path);
	}
}

static void test_reader_beside(void)
{
	struct store *reader;
	struct stored_run *runs = NULL;
	struct err err = {0};
	size_t n = 0;

	copy_older();
	reader = fixture_open(path, STORE_READ);
	must(!store_read_runs(reader, &(struct store_query){0}, &runs, &n, &err), err.text);
	stored_runs_fini(runs, n);
	n = 0;
	tap_is_int(open_and_close(&(int){0}), 0, "a database is migrated while somebody reads");
	tap_ok(!store_read_runs(reader, &(struct store_query){0}, &runs, &n, &err) && n == 5,
	       "who reads on: %zu %s", n, err.text);
	stored_runs_fini(runs, n);
	must(!store_close(reader, NULL), "cannot close");
	tap_is_int(check_whole("read meanwhile"), STORE_SCHEMA_VERSION, "it is of today's version");
	unlink(path);
}

/* Root writes wherever it likes, so root becomes somebody else for this. */
static void become(uid_t user)
{
	must(getuid() != 0 || !seteuid(user), "cannot be another user");
}

static void refuse_write(const char *name)
{
	struct store *store = NULL;
	struct err err = {0};

	become(65534);
	tap_is_int(store_open(path, STORE_WRITE, &store, &err), -EACCES, "%s is not migrated",
	           name);
	tap_contains(err.text, "cannot write", "and a sentence says so");
	check_readable(name);
	become(getuid());
	tap_is_int(atoi(query("PRAGMA user_version")), 1, "%s is as it was", name);
}

static void test_without_rights(void)
{
	bool is_reachable;

	become(65534);
	is_reachable = !faccessat(AT_FDCWD, fixture_folder, X_OK, AT_EACCESS);
	become(getuid());
	if (!is_reachable) {
		tap_skip("a user without rights cannot get to the test's folder");
		return;
	}
	copy_older();
	must(!chmod(path, 0444) && !chmod(fixture_folder, 0555), "cannot take rights away");
	refuse_write("an older database in a read-only folder");
	must(!chmod(fixture_folder, 0777), "cannot give rights");
	refuse_write("a read-only older database");
	unlink(path);
}

int main(void)
{
	fixture_make_folder();
	must(!chmod(fixture_folder, 0755), "cannot open the folder to others");
	fixture_path("a.db", path);
	fixture_path("today.db", today);
	fixture_path("older.db", older);
	rows_make(today, N_ITERATIONS);
	older_make(older_schema("1"), today, older);
	test_limits(true);
	test_limits(false);
	test_full_disk_sentence();
	test_kills();
	test_two_at_once();
	test_reader_beside();
	test_without_rights();
	tap_is_str(fixture_list(answer), "older.db today.db ", "nothing is left of all this");
	fixture_remove_folder();
	return tap_done();
}
