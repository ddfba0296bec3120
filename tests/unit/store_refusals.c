/* store_refusals.c - files that are not ours, or that cannot be written, are refused and left
 * alone. */
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/unit/store_fixture.h"

static char path[PATH_BYTES], other[PATH_BYTES];
static char answer[CELL_BYTES];

static void write_text(const char *file, const char *text)
{
	FILE *stream = fopen(file, "w");

	must(stream && fputs(text, stream) >= 0 && fclose(stream) == 0, "cannot write a file");
}

/* Opening file in mode gives code and a sentence with words in it. */
static void refuse(const char *file, enum store_mode mode, int code, const char *words,
                   const char *name)
{
	struct store *store = NULL;
	struct err err = {0};

	tap_is_int(store_open(file, mode, &store, &err), code, "%s is refused for %s", name,
	           mode == STORE_WRITE ? "writing" : "reading");
	tap_contains(err.text, words, "and the sentence says so");
	tap_contains(err.text, file, "and names the file");
	tap_ok(!store, "and there is no store");
	(void)store_close(store, NULL);
}

static void refuse_both(const char *file, int code, const char *words, const char *name)
{
	refuse(file, STORE_READ, code, words, name);
	refuse(file, STORE_WRITE, code, words, name);
}

static void make_database(const char *file)
{
	struct store *store;

	must(!store_open(file, STORE_WRITE, &store, NULL), "cannot make a database");
	must(!store_close(store, NULL), "cannot close a database");
}

static void test_foreign(void)
{
	struct stat file;
	char sql[64];

	write_text(path, "This is a diary, and it must not be overwritten by anybody.\n");
	refuse_both(path, -EMEDIUMTYPE, "is not a database", "a text file");
	tap_ok(!stat(path, &file) && file.st_size == 60, "the text is still there");
	unlink(path);
	must(!fclose(fopen(path, "w")), "cannot make an empty file");
	refuse(path, STORE_READ, -EMEDIUMTYPE, "empty", "an empty file");
	unlink(path);
	must(!mkdir(path, 0777), "cannot make a folder");
	refuse_both(path, -EMEDIUMTYPE, "a folder", "a folder");
	rmdir(path);
	refuse("/dev/null", STORE_WRITE, -EMEDIUMTYPE, "a device or a pipe, not a database",
	       "a device");
	make_database(path);
	fixture_query(path, "PRAGMA application_id = 7", answer);
	refuse_both(path, -EMEDIUMTYPE, "not one of adaptra-bench", "a foreign database");
	tap_is_str(fixture_query(path, "SELECT count(*) FROM run", answer), "0",
	           "which is as it was");
	fixture_query(path, "PRAGMA application_id = 1097089637", answer);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", STORE_SCHEMA_VERSION + 1);
	fixture_query(path, sql, answer);
	refuse_both(path, -EPROTO, "and this adaptra-bench knows versions up to",
	            "a newer database");
	fixture_query(path, "PRAGMA user_version = 0", answer);
	refuse_both(path, -EMEDIUMTYPE, "the first was 1", "a database without a version");
	unlink(path);
}

static void test_damaged(void)
{
	struct store *store = NULL;
	struct stored_run *runs = NULL;
	struct record_sink *sink;
	struct err err = {0};
	size_t n = 0;

	must(!store_open(path, STORE_WRITE, &store, NULL), "cannot make a database");
	fixture_begin(store, true, &sink);
	must(!store_close(store, NULL), "cannot close a database");
	fixture_query(path, "UPDATE run SET repeat = -5", answer);
	must(!store_open(path, STORE_READ, &store, NULL), "cannot read a database");
	tap_is_int(store_read_runs(store, &(struct store_query){0}, &runs, &n, &err), -EMEDIUMTYPE,
	           "a number that cannot be is refused");
	tap_contains(err.text, "table run", "and the table is named");
	(void)store_close(store, NULL);
	fixture_query(path, "DROP TABLE iteration", answer);
	must(!store_open(path, STORE_READ, &store, NULL), "cannot read a database");
	tap_is_int(store_read_iterations(store, 1, &(struct record_iteration *){NULL}, &n, &err),
	           -EMEDIUMTYPE, "a table that is not there is refused");
	tap_contains(err.text, "no such table", "and the sentence says which");
	(void)store_close(store, NULL);
	must(truncate(path, 20000) == 0, "cannot cut a database");
	refuse_both(path, -EMEDIUMTYPE, "damaged", "a file that was cut off");
	unlink(path);
}

static void test_places(void)
{
	struct store *store;
	struct err err = {0};

	refuse(path, STORE_READ, -ENOENT, "there is no database", "a file that is not there");
	write_text(other, "x");
	snprintf(answer, sizeof(answer), "%s/a.db", other);
	refuse(answer, STORE_READ, -ENOTDIR, "cannot read", "a file below a file");
	refuse(answer, STORE_WRITE, -ENOTDIR, "cannot write", "a file below a file");
	unlink(other);
	refuse("/proc/no-such-folder/a.db", STORE_WRITE, -ENOENT, "cannot make the folder",
	       "a folder that cannot be made");
	snprintf(answer, sizeof(answer), "%s/x/y z%%20/a?.db", fixture_folder);
	tap_is_int(store_open(answer, STORE_WRITE, &store, &err), 0, "folders are made as needed");
	must(!store_close(store, NULL), "cannot close");
	tap_is_int(store_open(answer, STORE_READ, &store, &err), 0, "odd names can be read");
	must(!store_close(store, NULL), "cannot close");
	unlink(answer);
	*strrchr(answer, '/') = '\0';
	rmdir(answer);
	*strrchr(answer, '/') = '\0';
	rmdir(answer);
	write_text(path, "");
	tap_is_int(store_open(path, STORE_WRITE, &store, &err), 0,
	           "an empty file becomes a database");
	must(!store_close(store, NULL), "cannot close");
	must(!symlink(path, other), "cannot make a link");
	tap_is_int(store_open(other, STORE_WRITE, &store, &err), 0, "a link leads to its database");
	tap_is_str(fixture_list(answer), "a.db a.db-shm a.db-wal a.db-writer b.db ",
	           "side files are beside the database, not beside the link");
	must(!store_close(store, NULL), "cannot close");
	unlink(other);
	unlink(path);
}

static void test_two_writers(void)
{
	struct store *first, *second = NULL;
	struct record_sink *sink;
	struct err err = {0};
	int64_t start_ns;

	must(!store_open(path, STORE_WRITE, &first, NULL), "cannot make a database");
	fixture_begin(first, true, &sink);
	start_ns = clock_monotonic_ns();
	refuse(path, STORE_WRITE, -EBUSY, "another adaptra-bench is writing", "a second writer");
	tap_ok(clock_monotonic_ns() - start_ns >= NS_PER_S,
	       "it was given time for the first to end");
	tap_is_int(store_open(path, STORE_READ, &second, &err), 0, "a reader is let in");
	tap_is_int(store_close(second, &err), 0, "and goes");
	tap_is_int(store_end_run(first, 1, "done", "", &err), 0, "the first writer is undisturbed");
	tap_is_int(store_close(first, &err), 0, "and closes");
	tap_is_int(store_open(path, STORE_WRITE, &second, &err), 0, "then the second may write");
	must(!store_close(second, NULL), "cannot close");
	tap_is_str(fixture_list(answer), "a.db ", "one file is left");
	unlink(path);
}

/* Another program in the middle of a transaction, such as a sqlite3 shell. */
static void test_foreign_writer(void)
{
	struct store *store = NULL;
	struct err err = {0};
	sqlite3 *db;

	make_database(path);
	must(!sqlite3_open(path, &db) && !sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL),
	     "cannot begin a transaction");
	tap_is_int(store_open(path, STORE_WRITE, &store, &err), -EBUSY,
	           "a database that another program writes to is busy");
	tap_contains(err.text, "another program", "and the sentence says so");
	sqlite3_close(db);
	unlink(path);
}

static void test_misuse(void)
{
	struct scenario scenario = fixture_scenario();
	struct record_run run = fixture_run();
	struct record_sink *sink = NULL;
	struct record_op ops[24];
	struct record_iteration iteration = fixture_iteration(0, ops);
	struct store *store;
	struct err err = {0};
	int64_t number = 0;

	make_database(path);
	must(!store_open(path, STORE_READ, &store, NULL), "cannot read a database");
	tap_is_int(store_begin_comparison(store, &scenario, &number, &err), -EROFS,
	           "a store that was opened for reading takes nothing");
	must(!store_close(store, NULL), "cannot close");
	must(!store_open(path, STORE_WRITE, &store, NULL), "cannot write a database");
	tap_is_int(store_begin_run(store, &(struct store_new_run){9, &run, &scenario, true, true},
	                           &number, &sink, &err),
	           -EINVAL, "a comparison that does not exist is refused");
	tap_is_int(store_end_run(store, 1, "done", "", &err), -EINVAL,
	           "so is the end of such a run");
	tap_is_int(store_put_facts(store, 1, "{}", &err), -EINVAL, "and facts about it");
	tap_is_int(store_put_simulated(store, 9, 1, &err), -EINVAL, "and what belongs to it");
	number = fixture_begin(store, true, &sink);
	tap_is_int(record_put_iteration(sink, &iteration, &err), 0, "an iteration is taken");
	tap_is_int(record_put_iteration(sink, &iteration, &err), -EINVAL, "but only once");
	tap_contains(err.text, "UNIQUE", "and the sentence says why");
	tap_is_int(record_put_fault(sink, &(struct record_fault){.fault = 4}, &err), -EINVAL,
	           "a fault that the scenario has not is refused");
	tap_is_int(store_end_run(store, number, "done", "", &err), 0, "the run goes on and ends");
	tap_is_int(store_close(store, &err), 0, "the store closes");
	tap_is_str(fixture_query(path, "SELECT count(*) FROM op", answer), "24",
	           "what was refused has left no ops");
	tap_is_int(store_close(NULL, NULL), 0, "no store is closed without harm");
	unlink(path);
}

/* Root writes wherever it likes, so root becomes somebody else for this. */
static void lose_rights(void)
{
	must(geteuid() != 0 || seteuid(65534) == 0, "cannot be another user");
}

static void regain_rights(void)
{
	must(seteuid(getuid()) == 0, "cannot be the old user again");
}

static void test_without_rights(void)
{
	struct store *store = NULL;
	struct err err = {0};
	bool is_reachable;

	lose_rights();
	is_reachable = !faccessat(AT_FDCWD, fixture_folder, X_OK, AT_EACCESS);
	regain_rights();
	if (!is_reachable) {
		tap_skip("a user without rights cannot get to the test's folder");
		return;
	}
	make_database(path);
	must(!chmod(path, 0444) && !chmod(fixture_folder, 0555), "cannot take rights away");
	lose_rights();
	refuse(path, STORE_WRITE, -EACCES, "cannot write", "a database in a read-only folder");
	must(!store_open(path, STORE_READ, &store, &err), "cannot read in a read-only folder");
	tap_is_int(store_last_comparison(store, &(int64_t){0}, &err), -ENOENT,
	           "a database in a read-only folder can be read");
	must(!store_close(store, NULL), "cannot close");
	regain_rights();
	must(!chmod(fixture_folder, 0777), "cannot give rights");
	lose_rights();
	refuse(path, STORE_WRITE, -EACCES, "cannot write", "a read-only database");
	must(!store_open(path, STORE_READ, &store, &err), "cannot read a read-only database");
	tap_is_int(store_last_comparison(store, &(int64_t){0}, &err), -ENOENT,
	           "a read-only database can be read");
	must(!store_close(store, NULL), "cannot close");
	regain_rights();
	tap_is_str(fixture_list(answer), "a.db ", "nothing is left beside it");
	unlink(path);
}

int main(void)
{
	fixture_make_folder();
	must(!chmod(fixture_folder, 0755), "cannot open the folder to others");
	fixture_path("a.db", path);
	fixture_path("b.db", other);
	test_foreign();
	test_damaged();
	test_places();
	test_two_writers();
	test_foreign_writer();
	test_misuse();
	test_without_rights();
	tap_is_str(fixture_list(answer), "", "nothing is left of all this");
	fixture_remove_folder();
	return tap_done();
}
