/* journal.c - what is changed outside of the process, written down before it is changed.
 *
 * A process is told from a later one of the same number by when it started. A lock on the file
 * would be simpler, but children that a run leaves behind would hold it. */
#include "injectors/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "injectors/journal_internal.h"

enum {
	STAT_BYTES = 4096,
	JOURNAL_BYTES_LIMIT = 64 << 20,
	NAME_TRIES = 1000,
	STARTED_FIELD = 22, /* of /proc/PID/stat, counted from 1 */
	COMMAND_FIELD = 2,  /* in parentheses, with whatever a program calls itself in them */
};

static int read_text(const char *path, char *out, size_t n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, out, n_bytes - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	out[n] = '\0';
	return 0;
}

static bool parse_started(const char *text, uint64_t *out)
{
	const char *at = strrchr(text, ')');

	for (int field = COMMAND_FIELD; at && field < STARTED_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %" SCNu64, out) == 1;
}

int journal_owner_read(int pid, struct journal_owner *out, struct err *err)
{
	char path[64], text[STAT_BYTES];
	int rc = read_text("/proc/sys/kernel/random/boot_id", out->boot_id, sizeof(out->boot_id));

	if (rc)
		return err_set(err, rc, "cannot read which boot of the machine this is");
	out->boot_id[strcspn(out->boot_id, "\n")] = '\0';
	out->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	rc = read_text(path, text, sizeof(text));
	if (rc || !parse_started(text, &out->started))
		return err_set(err, -ESRCH, "process %d does not run", pid);
	return 0;
}

bool journal_owner_is_alive(const struct journal_owner *owner)
{
	struct journal_owner now;

	return journal_owner_read(owner->pid, &now, NULL) == 0 &&
	       strcmp(now.boot_id, owner->boot_id) == 0 && now.started == owner->started;
}

int journal_default_folder(char **out, struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!runtime || runtime[0] != '/') {
		if (geteuid() != 0)
			return err_set(
				err, -ENOENT,
				"XDG_RUNTIME_DIR is not set, so there is no place to write "
				"down what has to be undone; set it to a folder of your own");
		runtime = "/run";
	}
	if (asprintf(out, "%s/adaptra-bench", runtime) < 0)
		return err_set(err, -ENOMEM, "out of memory for the path of the journals");
	return 0;
}

static int write_all(int fd, const char *at, size_t left)
{
	while (left > 0) {
		ssize_t n = write(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		left -= (size_t)n;
	}
	return fdatasync(fd) ? -errno : 0;
}

/* Whole and on the disk, or not at all. */
static int write_durably(int fd, const struct strbuf *text)
{
	off_t end = lseek(fd, 0, SEEK_END);
	int rc;

	if (text->is_failed || end < 0)
		return -ENOMEM;
	rc = write_all(fd, strbuf_text(text), text->length);
	if (rc && ftruncate(fd, end))
		return -EIO;
	return rc;
}

/* The name of a new file is as durable as its lines. */
static int sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = fsync(fd) ? -errno : 0;
	close(fd);
	return rc;
}

static int create_file(struct journal *journal, const char *folder)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		if (asprintf(&journal->path, "%s/%d-%d.journal", folder, journal->owner.pid, i) < 0)
			return -ENOMEM;
		journal->fd =
			open(journal->path,
		             O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (journal->fd >= 0)
			return sync_folder(folder);
		free(journal->path);
		journal->path = NULL;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int begin_file(struct journal *journal, const char *folder)
{
	struct strbuf text = {0};
	int rc = create_file(journal, folder);

	if (!rc) {
		journal_add_head(&text, &journal->owner);
		rc = write_durably(journal->fd, &text);
		strbuf_fini(&text);
	}
	return rc;
}

/* Others of the machine may neither read nor plant journals. */
static int make_folder(const char *folder, struct err *err)
{
	struct stat status;
	int rc;

	if (mkdir(folder, 0700) && errno != EEXIST) {
		rc = file_make_folders(folder, err);
		if (rc)
			return rc;
		(void)chmod(folder, 0700); /* the next lines look whether it is so */
	}
	if (stat(folder, &status) || !S_ISDIR(status.st_mode))
		return err_set(err, -ENOTDIR, "'%s' is not a folder", folder);
	if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(err, -EPERM,
		               "the folder '%s' belongs to, or can be written by, somebody else",
		               folder);
	return 0;
}

int journal_open(const char *folder, struct journal **out, struct err *err)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int rc;

	if (!journal)
		return err_set(err, -ENOMEM, "out of memory for a journal");
	journal->fd = -1;
	rc = journal_owner_read(getpid(), &journal->owner, err);
	if (!rc)
		rc = make_folder(folder, err);
	if (rc) {
		journal_close(journal);
		return rc;
	}
	rc = begin_file(journal, folder);
	if (rc) {
		journal_close(journal);
		return err_set(err, rc, "cannot begin a journal in '%s': %s", folder,
		               strerror(-rc));
	}
	*out = journal;
	return 0;
}

static bool is_own_namespace(const struct journal *journal, const struct namespace_id *id)
{
	for (size_t i = 0; i < journal->n_changes; i++)
		if (journal->changes[i].kind == CHANGE_NAMESPACE &&
		    namespace_is_same(&journal->changes[i].where, id))
			return true;
	return false;
}

int journal_add(struct journal *journal, const struct change *change, int *number_out,
                struct err *err)
{
	struct strbuf text = {0};
	int rc;

	if (change->kind == CHANGE_INTERFACE && !is_own_namespace(journal, &change->where))
		return err_set(err, -EPERM,
		               "interface '%s' would be made in a network namespace that is not "
		               "this run's",
		               change->interface);
	journal_add_change(&text, (int)journal->n_changes + 1, change);
	rc = write_durably(journal->fd, &text);
	strbuf_fini(&text);
	if (!rc)
		rc = journal_keep(journal, change);
	if (rc)
		return err_set(err, rc, "cannot write the journal '%s': %s", journal->path,
		               strerror(-rc));
	*number_out = (int)journal->n_changes;
	return 0;
}

int journal_mark_undone(struct journal *journal, int number, struct err *err)
{
	struct strbuf text = {0};
	int rc;

	if (number < 1 || (size_t)number > journal->n_changes)
		return err_set(err, -EINVAL, "the journal has no change %d", number);
	if (journal->is_undone[number - 1])
		return 0;
	journal_add_undone(&text, number);
	rc = write_durably(journal->fd, &text);
	strbuf_fini(&text);
	journal->is_undone[number - 1] = true;
	if (rc)
		return err_set(err, rc, "cannot write the journal '%s': %s", journal->path,
		               strerror(-rc));
	return 0;
}

int journal_pending_before(const struct journal *journal, int number, struct change *out)
{
	size_t n = number > 0 ? (size_t)number - 1 : 0;

	if (n > journal->n_changes)
		n = journal->n_changes;
	while (n > 0 && journal->is_undone[n - 1])
		n--;
	if (n > 0)
		*out = journal->changes[n - 1];
	return (int)n;
}

void journal_close(struct journal *journal)
{
	struct change change;

	if (!journal)
		return;
	if (journal->path && !journal->is_damaged &&
	    journal_pending_before(journal, INT_MAX, &change) == 0)
		unlink(journal->path);
	if (journal->fd >= 0)
		close(journal->fd);
	free(journal->path);
	free(journal->changes);
	free(journal->is_undone);
	free(journal);
}

/* The file, locked against others that undo, as long as it is ours and nobody's who runs. */
static int open_left(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	int rc = 0;

	if (fd < 0)
		return err_set(err, -errno, "cannot open the journal '%s': %s", path,
		               strerror(errno));
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
		rc = err_set(err, -EPERM, "the journal '%s' is not a file of this user", path);
	else if (flock(fd, LOCK_EX | LOCK_NB))
		rc = err_set(err, -EBUSY, "the journal '%s' is being undone by another process",
		             path);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* A file that was begun and has no line yet may be about to get one. */
static bool is_being_begun(const char *path)
{
	const char *name = strrchr(path, '/');
	struct journal_owner owner;

	return journal_owner_read(atoi(name ? name + 1 : path), &owner, NULL) == 0;
}

static int take_in(struct journal *journal, struct err *err)
{
	size_t n_bytes, n_whole;
	char *text;
	int rc = file_read(journal->path, JOURNAL_BYTES_LIMIT, &text, &n_bytes, err);

	if (rc)
		return rc;
	rc = journal_parse(journal, text, n_bytes, &n_whole, err);
	free(text);
	if (rc == -ENOMEM)
		return rc;
	if (rc == -ENODATA ? is_being_begun(journal->path)
	                   : journal_owner_is_alive(&journal->owner))
		return err_set(err, -EBUSY, "the run that wrote the journal '%s' is not over",
		               journal->path);
	journal->is_damaged = rc == -EBADMSG;
	/* What is appended must not become one line with what was cut. */
	if (!rc && ftruncate(journal->fd, (off_t)n_whole))
		return err_set(err, -errno, "cannot write the journal '%s': %s", journal->path,
		               strerror(errno));
	return rc;
}

int journal_adopt(const char *path, struct journal **out, struct err *err)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int rc;

	if (!journal)
		return err_set(err, -ENOMEM, "out of memory for a journal");
	journal->path = strdup(path);
	journal->fd = journal->path ? open_left(path, err) : -ENOMEM;
	rc = journal->fd < 0 ? journal->fd : take_in(journal, err);
	if (!rc || rc == -EBADMSG) {
		*out = journal;
		return rc;
	}
	if (rc != -ENODATA) {
		/* It stays as it is. */
		free(journal->path);
		journal->path = NULL;
	}
	journal_close(journal);
	return rc;
}
