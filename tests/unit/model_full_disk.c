/* model_full_disk.c - a checkpoint for which there is no room leaves nothing, and the one before it
 * stays. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/model/checkpoint.h"
#include "tests/unit/model_fixture.h"

enum { TEXT_BYTES = 256, LIMIT_BYTES = 4096 };

static char folder[] = "/tmp/model_full_disk.XXXXXX";

/* Names of the files in the folder, sorted, a blank behind each. */
static const char *list(char out[TEXT_BYTES])
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, alphasort);
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.' && used < TEXT_BYTES)
			used += (size_t)snprintf(out + used, TEXT_BYTES - used, "%s ",
			                         entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return out;
}

/* Iteration 1 is there; there is no room for iteration 2. */
static void check_full(struct model_stage *model, const char *what)
{
	char names[TEXT_BYTES];
	struct err err = {0};

	tap_is_int(checkpoint_save(model, folder, 0, 2, &err), -ENOSPC, "%s: there is no room",
	           what);
	tap_contains(err.text, "no space is left for the checkpoint '", "a sentence says so");
	tap_contains(err.text, "stage-0-replica-0-iteration-2.ckpt', which takes ",
	             "and names it with its size");
	tap_is_str(list(names), "stage-0-replica-0-iteration-1.ckpt ",
	           "nothing is left of it, and the one before is there");
	tap_is_int(checkpoint_load(model, folder, 0, 1, &err), 0, "and is loaded: %s", err.text);
}

static void test_file_size_limit(struct model_stage *model)
{
	struct rlimit old, small;
	struct err err = {0};

	(void)signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &old)) {
		tap_ok(false, "the limit on the size of files is known");
		return;
	}
	small = old;
	small.rlim_cur = LIMIT_BYTES;
	(void)setrlimit(RLIMIT_FSIZE, &small);
	check_full(model, "a limit on the size of files");
	(void)setrlimit(RLIMIT_FSIZE, &old);
	tap_is_int(checkpoint_save(model, folder, 0, 2, &err), 0, "with room again it is saved: %s",
	           err.text);
	tap_is_int(checkpoint_prune(model, folder, 0, 3, &err), 0, "and removed");
}

/* In mounts of this process's own, so that none is left of it. */
static bool mount_small_disk(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", folder, "tmpfs", 0, "size=1m") == 0;
}

/* Take all the room that is left. */
static bool fill_disk(void)
{
	static const char bytes[4096];
	char path[TEXT_BYTES];
	FILE *file;
	bool is_full = false;

	snprintf(path, sizeof(path), "%s/.filler", folder);
	file = fopen(path, "we");
	while (file && !is_full)
		is_full = fwrite(bytes, sizeof(bytes), 1, file) != 1 || fflush(file) != 0;
	if (file)
		(void)fclose(file);
	return is_full;
}

static void test_full_disk(struct model_stage *model)
{
	struct err err = {0};

	if (!mount_small_disk()) {
		tap_skip("no right to mount a small disk");
		return;
	}
	tap_is_int(checkpoint_save(model, folder, 0, 1, &err), 0, "a checkpoint fits: %s",
	           err.text);
	tap_ok(fill_disk(), "the disk fills up");
	check_full(model, "a full disk");
	(void)umount2(folder, MNT_DETACH);
}

int main(void)
{
	struct model_config config = model_default_config(2, 1, 3);
	struct model_stage *model = NULL;
	struct err err = {0};

	if (!mkdtemp(folder))
		return tap_skip_all("there is no place for temporary files");
	if (model_stage_new(&config, 0, arithmetic_host(), &model, &err) ||
	    checkpoint_save(model, folder, 0, 1, &err)) {
		tap_ok(false, "a checkpoint is saved, and not: %s", err.text);
	} else {
		test_file_size_limit(model);
		test_full_disk(model);
	}
	model_stage_free(model);
	(void)rmdir(folder);
	return tap_done();
}
