/* writer_lock.c - sees to it that a database has one writer.
 *
 * The lock is flock() on a file beside the database, held while a store is open for writing. The
 * kernel drops it when the process dies, however that happens; a file that is left behind then
 * holds nobody up. SQLite's own write lock is free between two transactions, so it cannot say that
 * a run is under way. flock() on the database itself does not do either: closing that second
 * descriptor would drop the locks that SQLite holds in this process (POSIX, "close() releases all
 * locks of the process on the file").
 *
 * The file is removed by its holder while it is locked. Whoever had opened it just before gets the
 * lock of a file that has no name any more, sees so, and starts over. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "engine/store/store_internal.h"

enum { RETRY_NS = 20 * NS_PER_MS };

char *writer_lock_path(const char *path)
{
	char *lock_path;

	return asprintf(&lock_path, "%s-writer", path) < 0 ? NULL : lock_path;
}

static bool is_same_file(int fd, const char *path)
{
	struct stat held, named;

	return !fstat(fd, &held) && !stat(path, &named) && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

/* The descriptor that holds the lock, or -errno; -EWOULDBLOCK: somebody else has it. */
static int try_lock(const char *lock_path)
{
	/* A link of that name must not lead to another file. */
	int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	int code = -EWOULDBLOCK;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		code = errno == EINTR ? -EWOULDBLOCK : -errno;
	else if (is_same_file(fd, lock_path))
		return fd;
	close(fd);
	return code;
}

int writer_lock_take(struct store *store, const char *path, struct err *err)
{
	int64_t give_up_ns = clock_monotonic_ns() + (int64_t)STORE_WAIT_MS * NS_PER_MS;
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int fd;

	store->lock_path = writer_lock_path(path);
	if (!store->lock_path)
		return store_fail_memory(store, err);
	while ((fd = try_lock(store->lock_path)) == -EWOULDBLOCK) {
		if (interrupt_is_pending())
			return err_set(err, -EINTR, "interrupted while waiting for '%s'",
			               store->path);
		if (clock_monotonic_ns() > give_up_ns)
			return err_set(
				err, -EBUSY,
				"another adaptra-bench is writing to '%s'; wait until it has ended "
				"or name another file with --store",
				store->path);
		nanosleep(&pause, NULL);
	}
	if (fd < 0)
		return err_set(err, fd, "cannot write in the folder of '%s': %s", store->path,
		               strerror(-fd));
	store->lock_fd = fd;
	return 0;
}

void writer_lock_drop(struct store *store)
{
	if (store->lock_fd < 0)
		return;
	unlink(store->lock_path);
	close(store->lock_fd);
	store->lock_fd = -1;
}

bool writer_lock_is_held(const char *lock_path)
{
	int fd = open(lock_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool is_held;

	if (fd < 0)
		return false;
	is_held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return is_held;
}
