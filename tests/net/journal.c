/* journal.c - what is written before it is changed: lines, crashes, damage, other boots, owners. */
#include "injectors/journal.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/base/file.h"
#include "injectors/journal_internal.h"
#include "injectors/undo.h"
#include "tests/folder.h"
#include "tests/net/namespace_fixture.h"

static const char *folder;

static const struct change changes[] = {
	{.kind = CHANGE_NAMESPACE, .where = {.inode = 4026532999, .cookie = 77}},
	{.kind = CHANGE_INTERFACE,
         .where = {.inode = 4026532999, .cookie = 77},
         .interface = "rail0"},
	{.kind = CHANGE_QDISC,
         .where = {.inode = 4026532999, .cookie = 77},
         .interface = "rail0",
         .interface_index = 5,
         .qdisc = {.interface_index = 5, .parent = QDISC_AT_ROOT, .handle = 0xadab0000},
         .qdisc_kind = QDISC_TBF},
	{.kind = CHANGE_DOWN,
         .where = {.inode = 1, .cookie = 2},
         .interface = "a:b.c-d_e@fghij",
         .interface_index = 6},
};
enum { N_CHANGES = sizeof(changes) / sizeof(changes[0]) };

static int n_files(void)
{
	int n = 0;
	char command[128], text[16] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "ls %s | wc -l", folder);
	pipe = popen(command, "re");
	if (pipe && fgets(text, sizeof(text), pipe))
		n = atoi(text);
	if (pipe)
		pclose(pipe);
	return n;
}

/* A text as a run would leave it, without the run: process 0 never runs. */
static char *sample(const char *boot_id)
{
	struct journal_owner owner = {.pid = 0, .started = 1};
	struct strbuf text = {0};

	snprintf(owner.boot_id, sizeof(owner.boot_id), "%s", boot_id);
	journal_add_head(&text, &owner);
	for (int i = 0; i < N_CHANGES; i++)
		journal_add_change(&text, i + 1, &changes[i]);
	return strbuf_take(&text);
}

static void this_boot(char *out)
{
	struct journal_owner owner;

	(void)journal_owner_read(getpid(), &owner, NULL);
	memcpy(out, owner.boot_id, BOOT_ID_BYTES);
}

static char *write_left(const char *text, size_t n_bytes)
{
	struct err err = {0};
	char *path;

	if (asprintf(&path, "%s/0-0.journal", folder) < 0)
		return NULL;
	fixture_succeeds(file_write(path, text, n_bytes, &err), &err, "a journal is left");
	return path;
}

static bool is_same_change(const struct change *a, const struct change *b)
{
	return a->kind == b->kind && namespace_is_same(&a->where, &b->where) &&
	       strcmp(a->interface, b->interface) == 0 &&
	       a->interface_index == b->interface_index &&
	       a->qdisc.interface_index == b->qdisc.interface_index &&
	       a->qdisc.parent == b->qdisc.parent && a->qdisc.handle == b->qdisc.handle &&
	       a->qdisc_kind == b->qdisc_kind;
}

static void test_round_trip(void)
{
	struct strbuf again = {0};
	struct journal read = {.path = "x"};
	struct err err = {0};
	char *text = sample("boot");
	size_t n_whole;
	int n_same = 0;

	tap_is_golden(text, "tests/golden/injectors/journal.txt", "lines are what they were");
	fixture_succeeds(journal_parse(&read, text, strlen(text), &n_whole, &err), &err,
	                 "lines are read");
	tap_is_int((int64_t)n_whole, (int64_t)strlen(text), "all of them");
	for (size_t i = 0; i < read.n_changes && i < N_CHANGES; i++)
		n_same += is_same_change(&read.changes[i], &changes[i]);
	tap_is_int(n_same, N_CHANGES, "every change comes back as it was");
	tap_is_str(read.owner.boot_id, "boot", "and whose they are");
	free(read.changes);
	free(read.is_undone);
	strbuf_fini(&again);
	free(text);
}

/* Cut anywhere: whole lines count, what was cut does not, nothing is ever damaged. */
static void test_torn(void)
{
	char *text = sample("boot");
	int n_wrong = 0;

	for (size_t n = 0; n <= strlen(text); n++) {
		struct journal read = {.path = "x"};
		char *cut = strndup(text, n);
		size_t n_lines = 0, n_whole;
		int rc = journal_parse(&read, cut, n, &n_whole, NULL);

		for (size_t i = 0; i < n; i++)
			n_lines += text[i] == '\n';
		n_wrong += n_lines == 0 ? rc != -ENODATA : rc != 0;
		n_wrong += n_lines > 0 && read.n_changes != n_lines - 1;
		n_wrong += n_whole > n || (n_whole > 0 && text[n_whole - 1] != '\n');
		free(read.changes);
		free(read.is_undone);
		free(cut);
	}
	tap_is_int(n_wrong, 0, "a journal that ends anywhere is read as far as it is whole");
	free(text);
}

/* Whether text is read as damaged when one byte of it is another one. */
static bool is_noticed(char *text, size_t n_bytes, size_t at, char byte)
{
	struct journal read = {.path = "x"};
	size_t n_whole;
	char was = text[at];
	int rc;

	text[at] = byte;
	rc = journal_parse(&read, text, n_bytes, &n_whole, NULL);
	text[at] = was;
	free(read.changes);
	free(read.is_undone);
	return rc == -EBADMSG;
}

/* Any byte of a line is found to be wrong, but for the last line's, which may have been cut, and
 * the newline before that. */
static void test_damaged(void)
{
	char *text = sample("boot");
	size_t n_bytes = strlen(text), last = n_bytes - 1;
	int n_missed = 0;

	while (text[last - 1] != '\n')
		last--;
	for (size_t i = 0; i < last - 1; i++) {
		n_missed += !is_noticed(text, n_bytes, i, (char)(text[i] ^ 1));
		n_missed += !is_noticed(text, n_bytes, i, '\0');
	}
	tap_is_int(n_missed, 0, "every changed byte is noticed");
	free(text);
}

static void test_writer(void)
{
	struct journal *journal;
	struct change change = {0}, other = changes[1];
	struct undo_summary summary = {0};
	struct err err = {0};
	int numbers[N_CHANGES];
	struct stat status;

	fixture_succeeds(journal_open(folder, &journal, &err), &err, "a journal is begun");
	tap_ok(stat(folder, &status) == 0 && (status.st_mode & 0777) == 0700,
	       "in a folder that is its user's");
	other.where.cookie++;
	tap_is_int(journal_add(journal, &other, &numbers[1], &err), -EPERM,
	           "an interface in a namespace of somebody else is refused");
	for (int i = 0; i < N_CHANGES; i++)
		fixture_succeeds(journal_add(journal, &changes[i], &numbers[i], &err), &err,
		                 "a change is written");
	tap_is_int(journal_pending_before(journal, INT_MAX, &change), N_CHANGES,
	           "the last one is undone first");
	tap_ok(is_same_change(&change, &changes[N_CHANGES - 1]), "and is what was written");
	for (int i = 0; i < 2; i++)
		fixture_succeeds(journal_mark_undone(journal, numbers[2], &err), &err,
		                 "one is undone, once or again");
	tap_is_int(journal_mark_undone(journal, 99, &err), -EINVAL, "one that is not there is not");
	tap_is_int(journal_pending_before(journal, numbers[3], &change), numbers[1],
	           "what is undone is passed over");
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "others may look");
	tap_is_int(summary.n_running, 1, "and leave a run alone that is not over");
	tap_is_int(summary.n_undone + summary.n_gone + summary.n_journals, 0, "with all it has");
	fixture_succeeds(undo_journal(journal, &summary, &err), &err, "its owner undoes it");
	tap_is_int(summary.n_gone, 3, "three changes were pending, of namespaces that are gone");
	journal_close(journal);
	tap_is_int(n_files(), 0, "then the file goes");
}

/* What a killed process leaves is settled, by anybody who knows the folder; once. */
static void test_left(void)
{
	struct undo_summary summary = {0}, again = {0};
	struct err err = {0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct journal *journal;
		int number;

		if (journal_open(folder, &journal, NULL))
			_exit(1);
		for (int i = 0; i < N_CHANGES; i++)
			(void)journal_add(journal, &changes[i], &number, NULL);
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	tap_ok(WIFSIGNALED(status), "a run is killed");
	tap_is_int(n_files(), 1, "and leaves its journal");
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "which is undone");
	tap_is_int(summary.n_journals, 1, "one journal");
	tap_is_int(summary.n_gone, N_CHANGES, "of which all is gone");
	tap_is_int(n_files(), 0, "and the file too");
	fixture_succeeds(undo_folder(folder, &again, &err), &err, "again: success");
	tap_is_int(again.n_journals, 0, "and nothing to do");
}

/* The line that was being written when the run ended is nothing, and does not spoil the next. */
static void test_left_torn(void)
{
	struct undo_summary summary = {0};
	struct journal *journal;
	struct err err = {0};
	char boot[BOOT_ID_BYTES], *text, *path;
	struct change change;

	this_boot(boot);
	text = sample(boot);
	path = write_left(text, strlen(text) - 5);
	fixture_succeeds(journal_adopt(path, &journal, &err), &err, "it is taken over");
	tap_is_int(journal_pending_before(journal, INT_MAX, &change), 3, "without the last line");
	(void)journal_mark_undone(journal, 3, &err);
	journal_close(journal);
	fixture_succeeds(journal_adopt(path, &journal, &err), &err, "and again");
	tap_is_int(journal_pending_before(journal, INT_MAX, &change), 2,
	           "what was appended is read");
	journal_close(journal);
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "the rest is undone");
	tap_is_int(summary.n_gone, 2, "two changes");
	tap_is_int(n_files(), 0, "the file is gone");
	free(path);
	free(text);
}

static void test_left_damaged(void)
{
	struct undo_summary summary = {0};
	struct err err = {0};
	char boot[BOOT_ID_BYTES], *text, *path;

	this_boot(boot);
	text = sample(boot);
	strstr(text, "3 qdisc")[0] = '8';
	path = write_left(text, strlen(text));
	tap_is_int(undo_folder(folder, &summary, &err), -EBADMSG, "damage is told");
	tap_contains(err.text, "line 4", "with its line");
	tap_is_int(summary.n_gone, 2, "what stands before it is undone");
	tap_is_int(n_files(), 1, "and the file kept");
	unlink(path);
	free(path);
	free(text);
}

/* A full disk has no room for another line. */
static void test_left_on_full_disk(const char *boot_id, const char *name)
{
	struct undo_summary summary = {0};
	struct err err = {0};
	struct rlimit limit;
	char *text = sample(boot_id), *path = write_left(text, strlen(text));
	rlim_t limit_before;

	signal(SIGXFSZ, SIG_IGN);
	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit_before = limit.rlim_cur;
	limit.rlim_cur = strlen(text);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, name);
	limit.rlim_cur = limit_before;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	tap_is_int(summary.n_gone, N_CHANGES, "all of it");
	tap_is_int(n_files(), 0, "and the file goes, for which there is room");
	free(path);
	free(text);
}

static void test_full_disk(void)
{
	char boot[BOOT_ID_BYTES];

	this_boot(boot);
	test_left_on_full_disk(boot, "what is left is undone on a full disk");
	test_left_on_full_disk("0b9dc30f-0000-0000-0000-000000000000",
	                       "what is of another boot is forgotten there");
}

static void test_other_boot(void)
{
	struct undo_summary summary = {0};
	struct err err = {0};
	char *text = sample("0b9dc30f-0000-0000-0000-000000000000"), *path;

	path = write_left(text, strlen(text));
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "a journal of another boot");
	tap_is_int(summary.n_gone, N_CHANGES, "is of changes that are gone");
	tap_is_int(n_files(), 0, "and removed");
	free(path);
	free(text);
}

static void test_refusals(void)
{
	struct undo_summary summary = {0};
	struct journal *journal;
	struct err err = {0};
	char *text, *path;

	path = write_left("", 0);
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "an empty file");
	tap_is_int(n_files(), 0, "is removed: nothing was changed yet");
	free(path);
	fixture_succeeds(undo_folder("/tmp/no-such-folder", &summary, &err), &err,
	                 "no folder is nothing to undo");
	text = sample("boot");
	path = write_left(text, strlen(text));
	if (geteuid() == 0) {
		(void)!chown(path, 65534, 65534);
		tap_is_int(undo_folder(folder, &summary, &err), -EPERM,
		           "a journal that another user planted is refused");
		tap_is_int(n_files(), 1, "and left");
	} else {
		tap_skip("only root can plant another user's file");
	}
	unlink(path);
	(void)chmod(folder, 0777);
	tap_is_int(journal_open(folder, &journal, &err), -EPERM,
	           "a folder that others can write is refused");
	tap_contains(err.text, "somebody else", "and said so");
	free(path);
	free(text);
}

static void test_default_folder(void)
{
	struct err err = {0};
	char *path = NULL;

	setenv("XDG_RUNTIME_DIR", "/run/user/1000", 1);
	(void)journal_default_folder(&path, &err);
	tap_is_str(path, "/run/user/1000/adaptra-bench", "journals are in the runtime folder");
	free(path);
	unsetenv("XDG_RUNTIME_DIR");
	if (geteuid() != 0) {
		tap_is_int(journal_default_folder(&path, &err), -ENOENT, "which has to be set");
		return;
	}
	(void)journal_default_folder(&path, &err);
	tap_is_str(path, "/run/adaptra-bench", "or, for root, in /run");
	free(path);
}

int main(void)
{
	struct namespace_fixture fixture;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	folder = folder_open();
	test_round_trip();
	test_torn();
	test_damaged();
	test_writer();
	test_left();
	test_left_torn();
	test_left_damaged();
	test_full_disk();
	test_other_boot();
	test_refusals();
	test_default_folder();
	rmdir(folder);
	return fixture_done(&fixture);
}
