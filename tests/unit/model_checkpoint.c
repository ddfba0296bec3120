/* model_checkpoint.c - checkpoints are whole or not there, whatever happens to them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/model/checkpoint.h"
#include "tests/child.h"
#include "tests/folder.h"
#include "tests/unit/model_fixture.h"

enum { LIMIT_BYTES = 1 << 24, N_KILLS = 20 };

enum { PATH_BYTES = 128 };

/* Where a checkpoint of this stage, replica and iteration is; out holds PATH_BYTES. */
static char *path_at(int stage, int replica, int iteration, char *out)
{
	snprintf(out, PATH_BYTES, "stage-%d-replica-%d-iteration-%d.ckpt", stage, replica,
	         iteration);
	return out;
}

#define PATH(stage, replica, iteration) path_at(stage, replica, iteration, (char[PATH_BYTES]){0})

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Files whose names contain word. */
static int n_files(const char *word)
{
	DIR *dir = opendir(".");
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += strstr(entry->d_name, word) != NULL;
	if (dir)
		closedir(dir);
	return n;
}

/* The smallest: no embedding, no head, some thousand bytes. */
static struct model_config small_config(void)
{
	struct model_config config = model_default_config(3, 1, 3);

	config.n_embedding = 4;
	config.n_heads = 2;
	config.n_tokens = 4;
	config.n_samples = 1;
	return config;
}

static struct model_stage *stage_of(struct model_config config, int stage)
{
	struct model_stage *model = NULL;
	struct err err = {0};

	if (model_stage_new(&config, stage, arithmetic_host(), &model, &err))
		tap_is_str(err.text, "", "stage %d is made", stage);
	return model;
}

/* A copy of the parameters, to see later whether they changed; the caller frees it. */
static float *snapshot(const struct model_stage *model)
{
	size_t n;
	const float *parameters = model_parameters(model, &n);
	float *copy = malloc(n * sizeof(float));

	memcpy(copy, parameters, n * sizeof(float));
	return copy;
}

static bool is_as(const struct model_stage *model, const float *copy)
{
	size_t n;
	const float *parameters = model_parameters(model, &n);

	return memcmp(parameters, copy, n * sizeof(float)) == 0;
}

/* One iteration of a middle stage on its own. */
static void learn(struct model_stage *model)
{
	float input[64], output[64];
	struct err err = {0};

	for (int i = 0; i < 64; i++)
		input[i] = (float)i / 64;
	model_forward(model, 0, NULL, input, output, &err);
	model_backward_input(model, 0, input, output, &err);
	model_backward_weight(model, 0, &err);
	model_step(model, 1, &err);
	tap_is_str(err.text, "", "a stage learns");
}

static void save_all(struct pipeline *p)
{
	struct err err = {0};

	for (int stage = 0; stage < p->config.n_stages; stage++)
		checkpoint_save(p->stages[stage], ".", 0, p->iteration, &err);
	tap_is_str(err.text, "", "all stages are saved before iteration %d", p->iteration);
}

static void load_all(struct pipeline *p, int iteration)
{
	struct err err = {0};

	for (int stage = 0; stage < p->config.n_stages; stage++)
		checkpoint_load(p->stages[stage], ".", 0, iteration, &err);
	tap_is_str(err.text, "", "all stages are loaded for iteration %d", iteration);
	p->iteration = iteration;
}

/* Train, save, train on; a fresh model that loads what was saved must follow to the bit. */
static void check_restart(void)
{
	struct model_config config = model_default_config(3, 4, 3);
	struct pipeline p, restarted;
	double losses[6];
	bool are_equal = true;

	pipeline_init(&p, &config);
	for (int i = 0; i < 6; i++) {
		if (i == 3)
			save_all(&p);
		losses[i] = pipeline_iterate(&p, 1);
	}
	config.n_slots = 2;
	pipeline_init(&restarted, &config);
	pipeline_run(&restarted, 5);
	load_all(&restarted, 3);
	for (int i = 3; i < 6; i++)
		are_equal = pipeline_iterate(&restarted, 9) == losses[i] && are_equal;
	tap_ok(are_equal, "a restart repeats the lost iterations to the bit");
	for (int stage = 0; stage < 3; stage++) {
		float *copy = snapshot(p.stages[stage]);

		tap_ok(is_as(restarted.stages[stage], copy), "and stage %d ends the same", stage);
		free(copy);
		unlink(PATH(stage, 0, 3));
	}
	pipeline_fini(&p);
	pipeline_fini(&restarted);
}

/* Write bytes as the checkpoint and try to load it; true: refused, and the model is as before. */
static bool is_refused(struct model_stage *model, const float *copy, const char *bytes,
                       size_t n_bytes)
{
	struct err err = {0};
	int fd = open(PATH(1, 0, 0), O_WRONLY | O_CREAT, 0666);
	bool is_written = fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes &&
	                  ftruncate(fd, (off_t)n_bytes) == 0;

	if (fd >= 0)
		close(fd);
	return is_written && checkpoint_load(model, ".", 0, 0, &err) == -EBADMSG &&
	       is_as(model, copy);
}

static void check_damage(void)
{
	struct model_config config = small_config();
	struct model_stage *model = stage_of(config, 1), *other;
	struct err err = {0};
	char *bytes = NULL;
	size_t n_bytes = 0, n_flips = 0, n_cuts = 0;
	float *copy;

	/* Away from what the other one starts with, so that loading can be seen. */
	learn(model);
	checkpoint_save(model, ".", 0, 0, &err);
	file_read(PATH(1, 0, 0), LIMIT_BYTES, &bytes, &n_bytes, &err);
	tap_is_str(err.text, "", "a checkpoint is saved and read");
	other = stage_of(config, 1);
	copy = snapshot(other);
	for (size_t i = 0; bytes && i < n_bytes; i++) {
		bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
		n_flips += is_refused(other, copy, bytes, n_bytes);
		bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
		n_cuts += is_refused(other, copy, bytes, i);
	}
	tap_is_int((int64_t)n_flips, (int64_t)n_bytes, "a flipped bit in any byte is found");
	tap_is_int((int64_t)n_cuts, (int64_t)n_bytes, "so is a cut at any length");
	bytes = realloc(bytes, n_bytes + 1);
	bytes[n_bytes] = 0;
	tap_ok(is_refused(other, copy, bytes, n_bytes + 1), "and one byte too many");
	tap_ok(!is_refused(other, copy, bytes, n_bytes) && !is_as(other, copy),
	       "but what is whole is loaded");
	unlink(PATH(1, 0, 0));
	free(bytes);
	free(copy);
	model_stage_free(model);
	model_stage_free(other);
}

static void check_other(struct model_config config, int stage, const char *name)
{
	struct model_stage *model = stage_of(config, stage);
	float *copy = snapshot(model);
	struct err err = {0};

	/* By its name it could be this stage's. */
	if (stage != 1)
		rename(PATH(1, 0, 4), PATH(stage, 0, 4));
	tap_is_int(checkpoint_load(model, ".", 0, 4, &err), -EBADMSG, "refused: %s", name);
	tap_contains(err.text, "is of another model", "and said so");
	tap_ok(is_as(model, copy), "and nothing is changed");
	if (stage != 1)
		rename(PATH(stage, 0, 4), PATH(1, 0, 4));
	free(copy);
	model_stage_free(model);
}

#define OTHER(field, value)                                   \
	do {                                                  \
		struct model_config changed = small_config(); \
		changed.field = value;                        \
		check_other(changed, 1, "another " #field);   \
	} while (0)

static void check_others(void)
{
	struct model_config config = small_config();
	struct model_stage *model = stage_of(config, 1);
	struct err err = {0};

	config.n_stages = config.n_layers = 4;
	tap_is_int(checkpoint_save(model, ".", 0, 4, &err), 0, "a checkpoint of iteration 4");
	OTHER(seed, 4);
	OTHER(n_heads, 1);
	OTHER(n_samples, 2);
	OTHER(n_tokens, 2);
	OTHER(n_microbatches, 2);
	OTHER(learning_rate, 0.001);
	check_other(config, 1, "another number of stages");
	check_other(config, 2, "another stage");
	rename(PATH(1, 0, 4), PATH(1, 0, 5));
	tap_is_int(checkpoint_load(model, ".", 0, 5, &err), -EBADMSG, "another iteration");
	rename(PATH(1, 0, 5), PATH(1, 1, 4));
	tap_is_int(checkpoint_load(model, ".", 1, 4, &err), -EBADMSG, "another replica");
	unlink(PATH(1, 1, 4));
	model_stage_free(model);
}

static void check_refusals(void)
{
	struct model_config config = model_default_config(1, 1, 3);
	struct pipeline p;
	struct err err = {0};

	pipeline_init(&p, &config);
	tap_is_int(checkpoint_load(p.stages[0], ".", 0, 7, &err), -ENOENT, "there is none");
	tap_contains(err.text, "stage-0-replica-0-iteration-7.ckpt", "and its name is given");
	tap_is_int(checkpoint_save(p.stages[0], "./nowhere", 0, 7, &err), -ENOENT, "no folder");
	tap_is_int(checkpoint_save(p.stages[0], ".", 0, -1, &err), -EINVAL, "iteration -1");
	mkfifo(PATH(0, 0, 7), 0666);
	tap_is_int(checkpoint_load(p.stages[0], ".", 0, 7, &err), -EBADMSG, "a pipe is no file");
	unlink(PATH(0, 0, 7));
	mkdir(PATH(0, 0, 7), 0777);
	tap_is_int(checkpoint_load(p.stages[0], ".", 0, 7, &err), -EBADMSG, "nor is a folder");
	tap_is_int(checkpoint_save(p.stages[0], ".", 0, 7, &err), -EISDIR, "nor can it be one");
	rmdir(PATH(0, 0, 7));
	pipeline_op(&p, 0, MODEL_FORWARD, 0, &err);
	tap_is_int(checkpoint_save(p.stages[0], ".", 0, 7, &err), -EPERM, "inside an iteration");
	tap_contains(err.text, "inside iteration 7", "and said so");
	pipeline_fini(&p);
}

static void check_prune(void)
{
	struct model_config config = small_config();
	struct model_stage *model = stage_of(config, 1);
	struct err err = {0};
	static const char *const foreign[] = {"stage-1-replica-1-iteration-1.ckpt",
	                                      "stage-11-replica-0-iteration-1.ckpt",
	                                      "stage-1-replica-0-iteration-1.ckpt.gz", "notes"};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		close(open(foreign[i], O_WRONLY | O_CREAT, 0666));
	for (int iteration = 1; iteration <= 3; iteration++)
		checkpoint_save(model, ".", 0, iteration, &err);
	close(open("stage-1-replica-0-iteration-9.ckpt.tmp-1-0", O_WRONLY | O_CREAT, 0666));
	tap_is_int(checkpoint_prune(model, ".", 0, 3, &err), 0, "what is before iteration 3 goes");
	tap_ok(!is_there(PATH(1, 0, 1)) && !is_there(PATH(1, 0, 2)), "iterations 1 and 2");
	tap_ok(is_there(PATH(1, 0, 3)), "but not iteration 3");
	tap_is_int(n_files(".tmp-"), 0, "a temporary file goes whatever its iteration");
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		tap_ok(is_there(foreign[i]), "%s stays", foreign[i]);
		unlink(foreign[i]);
	}
	checkpoint_prune(model, ".", 0, 4, &err);
	model_stage_free(model);
}

/* Save over and over until killed. */
static void save_for_ever(struct model_stage *model)
{
	for (;;)
		if (checkpoint_save(model, ".", 0, 1, NULL))
			_exit(1);
}

static void check_kill(void)
{
	struct model_config config = model_default_config(1, 1, 3);
	struct model_stage *model = stage_of(config, 0), *other = stage_of(config, 0);
	struct err err = {0};
	int n_loaded = 0, n_most = 0, n_seen = 0;

	checkpoint_save(model, ".", 0, 1, &err);
	for (int i = 0; i < N_KILLS; i++) {
		pid_t child = child_start();
		int n;

		if (child == 0)
			save_for_ever(model);
		usleep((useconds_t)(2000 + 700 * i));
		child_kill(child);
		n_loaded += checkpoint_load(other, ".", 0, 1, &err) == 0;
		n = n_files(".tmp-");
		n_seen += n;
		n_most = n > n_most ? n : n_most;
		if (i % 2)
			checkpoint_prune(model, ".", 0, 1, &err);
		else
			checkpoint_save(model, ".", 0, 1, &err);
		n_most = n_files(".tmp-") ? 99 : n_most;
	}
	tap_is_int(n_loaded, N_KILLS, "after a kill the checkpoint of before is whole");
	tap_ok(n_most <= 1, "at most one temporary file is left, and only until the next save");
	tap_note("%d of %d kills left one", n_seen, N_KILLS);
	model_stage_free(model);
	model_stage_free(other);
}

int main(void)
{
	/* All checks run inside a temporary folder of their own. */
	if (!tap_is_int(chdir(folder_open()), 0, "there is a temporary folder"))
		return tap_done();
	check_restart();
	check_damage();
	check_others();
	check_refusals();
	check_prune();
	check_kill();
	unlink(PATH(0, 0, 1));
	tap_is_int(n_files("."), 2, "nothing is left in the folder");
	tap_ok(chdir("/") == 0 && rmdir(folder_open()) == 0, "and it is removed");
	return tap_done();
}
