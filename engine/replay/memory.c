/* memory.c - the memory that a run needs, so that it is refused before anything starts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/replay/live_internal.h"

enum { BUFFERS_HELD = 8 }; /* received messages a direction, that have not been copied yet */

static const double memory_share = 0.8; /* of what is free */

/* Bytes of a stage's messages: its outputs in device and in host memory, its inputs, and what has
 * come and is not copied yet, in buffers of powers of two. */
static double message_bytes(const struct live *live, int n_neighbours)
{
	double n = live->model.n_microbatches, payload = (double)live->payload_bytes;
	double n_held = n < BUFFERS_HELD ? n : BUFFERS_HELD;
	double buffer = exp2(ceil(log2(payload)));

	return n_neighbours *
	       (2 * n * payload + n * (double)model_message_bytes(&live->model) + n_held * buffer);
}

static double need_bytes(const struct live *live)
{
	int n_stages = live->model.n_stages;
	double sum = 0;

	for (int stage = 0; stage < n_stages; stage++)
		sum += model_stage_bytes(&live->model, stage) +
		       message_bytes(live, (stage > 0) + (stage < n_stages - 1));
	return sum * live->config.scenario->topology.n_replicas;
}

/* The number in the line of a file that begins with word; -1: there is none. */
static double read_number(const char *path, const char *word)
{
	char line[256];
	double value = -1;
	FILE *file = fopen(path, "re");

	while (file && value < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, word, strlen(word)) == 0 &&
		    sscanf(line + strlen(word), "%lf", &value) != 1)
			value = -1;
	if (file)
		(void)fclose(file);
	return value;
}

/* Memory that may be taken: what the machine has left, or the control group of this process. */
static double free_bytes(void)
{
	double machine = read_number("/proc/meminfo", "MemAvailable:") * 1024;
	double most = read_number("/sys/fs/cgroup/memory.max", "");
	double used = read_number("/sys/fs/cgroup/memory.current", "");

	if (machine < 0)
		machine = INFINITY;
	return most >= 0 && used >= 0 && most - used < machine ? most - used : machine;
}

int memory_check(const struct live *live, struct err *err)
{
	double need = need_bytes(live), most = memory_share * free_bytes();

	if (need <= most)
		return 0;
	return err_set(err, -EINVAL,
	               "%d stages with %d microbatches and messages of %zu bytes need %.1f GB of "
	               "memory, and %.1f GB may be taken here; use smaller messages or fewer "
	               "microbatches, stages or replicas",
	               live->model.n_stages, live->model.n_microbatches, live->payload_bytes,
	               need / 1e9, most / 1e9);
}
