/* scratch.c - a folder for checkpoints that is gone when its run is, however that ended. */
#include "engine/replay/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"

enum { REMOVE_MS = 2000, ANSWER_MS = 10000, LOOK_MS = 20 };

static bool try_remove(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
	return rmdir(folder) == 0 || errno == ENOENT;
}

/* A worker that dies with the run's process may just be writing another file. */
static void remove_folder(const char *folder)
{
	for (int waited = 0; !try_remove(folder) && waited < REMOVE_MS; waited++)
		clock_sleep_ns(NS_PER_MS);
}

/* What the process that waits says of the folder. */
struct made {
	int code; /* -errno: there is none */
	char folder[PATH_MAX];
};

static const char *place(void)
{
	const char *base = getenv("TMPDIR");

	return base && *base ? base : "/tmp";
}

static void make_folder(struct made *out)
{
	int n = snprintf(out->folder, sizeof(out->folder), "%s/adaptra-bench-XXXXXX", place());

	out->code = 0;
	if (n < 0 || n >= (int)sizeof(out->folder))
		out->code = -ENAMETOOLONG;
	else if (!mkdtemp(out->folder))
		out->code = -errno;
}

/* Makes the folder itself, so that there is no moment at which nobody would remove it, and waits
 * until the other end of the socket is closed. Signals for the terminal's group are not for it. */
static _Noreturn void make_and_remove(int end)
{
	struct made made;
	char byte;

	(void)setsid();
	if (dup2(end, 0) < 0 || close_range(1, ~0U, 0))
		_exit(1);
	make_folder(&made);
	(void)send(0, &made, sizeof(made), MSG_NOSIGNAL);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	if (made.code == 0)
		remove_folder(made.folder);
	_exit(0);
}

/* One that somebody stops goes on all the same. False: it says nothing. */
static bool await_answer(const struct scratch *scratch)
{
	struct pollfd end = {.fd = scratch->pipe, .events = POLLIN};

	for (int waited = 0; waited < ANSWER_MS; waited += LOOK_MS) {
		if (poll(&end, 1, LOOK_MS) > 0)
			return true;
		(void)kill(scratch->pid, SIGCONT);
	}
	return false;
}

/* The folder's name, from who made it. */
static int receive_folder(const struct scratch *scratch, char **out, struct err *err)
{
	struct made made = {.code = -EPIPE};
	ssize_t n;

	if (!await_answer(scratch))
		return err_set(err, -ETIMEDOUT,
		               "'%s' does not answer, where a folder for checkpoints is to be made",
		               place());
	do
		n = recv(scratch->pipe, &made, sizeof(made), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && n != (ssize_t)sizeof(made))
		return err_set(err, -EPIPE,
		               "the process that was to make a folder for checkpoints in '%s' is "
		               "gone",
		               place());
	if (made.code)
		return err_set(err, made.code, "cannot make a folder for checkpoints in '%s': %s",
		               place(), strerror(-made.code));
	*out = strdup(made.folder);
	return *out ? 0 : err_set(err, -ENOMEM, "out of memory");
}

int scratch_open(struct scratch *out, struct err *err)
{
	struct scratch scratch = {0};
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	scratch.pid = fork();
	if (scratch.pid == 0)
		make_and_remove(ends[1]);
	rc = scratch.pid < 0 ? err_set(err, -errno, "cannot start a process: %s", strerror(errno))
	                     : 0;
	(void)close(ends[1]);
	scratch.pipe = ends[0];
	rc = rc ? rc : receive_folder(&scratch, &scratch.folder, err);
	if (rc)
		scratch_close(&scratch);
	else
		*out = scratch;
	return rc;
}

/* One that somebody stops, now or before, ends all the same; one that cannot, because its disk does
 * not answer, is left to init. */
static void await_end(pid_t pid)
{
	for (int waited = 0; waitpid(pid, NULL, WNOHANG) == 0; waited++) {
		(void)kill(pid, waited < 2 * REMOVE_MS ? SIGCONT : SIGKILL);
		if (waited > 3 * REMOVE_MS)
			return;
		clock_sleep_ns(NS_PER_MS);
	}
}

void scratch_close(struct scratch *scratch)
{
	if (scratch->pipe > 0)
		(void)close(scratch->pipe);
	if (scratch->pid > 0)
		await_end(scratch->pid);
	/* Unless who was to do it has been killed, nothing is left to remove. */
	if (scratch->folder)
		remove_folder(scratch->folder);
	free(scratch->folder);
	*scratch = (struct scratch){.pipe = -1};
}
