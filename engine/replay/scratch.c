/* scratch.c - a folder for checkpoints that is gone when its run is, however that ended. */
#include "engine/replay/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
	(void)rmdir(folder);
}

/* Waits until nobody holds the other end of the pipe. Signals for the terminal's group are not for
 * it. */
static _Noreturn void wait_and_remove(const char *folder, int pipe_end)
{
	char byte;

	(void)setsid();
	if (dup2(pipe_end, 0) < 0 || close_range(1, ~0U, 0))
		_exit(1);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(folder);
	_exit(0);
}

static int make_folder(char **out, struct err *err)
{
	const char *base = getenv("TMPDIR");
	char *folder;

	if (asprintf(&folder, "%s/adaptra-bench-XXXXXX", base && *base ? base : "/tmp") < 0)
		return err_set(err, -ENOMEM, "out of memory");
	if (!mkdtemp(folder)) {
		int rc = err_set(err, -errno, "cannot make a folder for checkpoints in '%s': %s",
		                 base && *base ? base : "/tmp", strerror(errno));

		free(folder);
		return rc;
	}
	*out = folder;
	return 0;
}

int scratch_open(struct scratch *out, struct err *err)
{
	struct scratch scratch = {.pipe = -1};
	int ends[2], rc = make_folder(&scratch.folder, err);

	if (rc)
		return rc;
	if (pipe2(ends, O_CLOEXEC)) {
		rc = err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
		scratch_close(&scratch);
		return rc;
	}
	scratch.pid = fork();
	if (scratch.pid == 0)
		wait_and_remove(scratch.folder, ends[0]);
	(void)close(ends[0]);
	scratch.pipe = ends[1];
	*out = scratch;
	return 0;
}

void scratch_close(struct scratch *scratch)
{
	if (!scratch->folder)
		return;
	if (scratch->pipe >= 0)
		(void)close(scratch->pipe);
	if (scratch->pid > 0)
		(void)waitpid(scratch->pid, NULL, 0);
	remove_folder(scratch->folder);
	free(scratch->folder);
	*scratch = (struct scratch){.pipe = -1};
}
