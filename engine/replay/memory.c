/* memory.c - the memory that a run needs, so that it is refused before anything starts.
 *
 * A device with memory of its own has the tensors there: what it computes with, and the messages.
 * Host memory is then what messages pass through, pinned, and that of all workers together. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/dataplane/memory.h"
#include "engine/replay/live_internal.h"
#include "engine/replay/worker_internal.h"

enum { BUFFERS_HELD = 8 }; /* received messages a direction, that have not been copied yet */

static const double memory_share = 0.8; /* of what is free */

static bool has_own_memory(const struct live *live)
{
	return live->config.about && live->config.about->n_units > 0;
}

static int count_neighbours(const struct live *live, int stage)
{
	return (stage > 0) + (stage < live->model.n_stages - 1);
}

/* Of what came from a neighbour and is not copied yet. */
static double received_bytes(const struct live *live)
{
	int n = live->model.n_microbatches, n_held = n < BUFFERS_HELD ? n : BUFFERS_HELD;
	double buffer = (double)payload_area_bytes((int64_t)live->payload_bytes);

	if (has_own_memory(live))
		n_held = worker_n_received(live->config.scenario->n_queues, n);
	return n_held * buffer;
}

static struct dataplane_memory bytes_of_messages(const struct live *live, int stage)
{
	const struct dataplane_config config = {
		.stage = stage,
		.n_stages = live->model.n_stages,
		.n_microbatches = live->model.n_microbatches,
		.n_queues = live->config.scenario->n_queues,
		.tensor_bytes = model_message_bytes(&live->model),
		.payload_bytes = live->payload_bytes,
		.uses_exchanges = live->config.exchange != NULL,
	};
	struct dataplane_memory memory = dataplane_memory(&config, has_own_memory(live));

	memory.host_bytes += count_neighbours(live, stage) * received_bytes(live);
	return memory;
}

static double host_bytes(const struct live *live)
{
	double sum = 0;

	for (int stage = 0; stage < live->model.n_stages; stage++)
		sum += bytes_of_messages(live, stage).host_bytes +
		       (has_own_memory(live) ? model_stage_host_bytes(&live->model, stage)
		                             : model_stage_bytes(&live->model, stage));
	return sum * live->config.scenario->topology.n_replicas;
}

static double own_bytes(const struct live *live, int stage)
{
	return bytes_of_messages(live, stage).own_bytes + model_stage_bytes(&live->model, stage) -
	       model_stage_host_bytes(&live->model, stage);
}

/* Of the stages that share a GPU, and by that what the fullest one has to hold. */
static double fullest_bytes(const struct live *live)
{
	int n_all = live->model.n_stages * live->config.scenario->topology.n_replicas;
	int n_units = live->config.about->n_units;
	double most = 0;

	for (int unit = 0; unit < n_units && unit < n_all; unit++) {
		double sum = 0;

		for (int i = unit; i < n_all; i += n_units)
			sum += own_bytes(live, i % live->model.n_stages);
		most = fmax(most, sum);
	}
	return most;
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

/* What the machine has left, or the control group of this process. */
static double free_host_bytes(void)
{
	double machine = read_number("/proc/meminfo", "MemAvailable:") * 1024;
	double most = read_number("/sys/fs/cgroup/memory.max", "");
	double used = read_number("/sys/fs/cgroup/memory.current", "");

	if (machine < 0)
		machine = INFINITY;
	return most >= 0 && used >= 0 && most - used < machine ? most - used : machine;
}

/* Also of what is more than there are addresses. */
static char *format_bytes(double bytes, char *out)
{
	return units_format_size(llround(fmin(bytes, (double)((int64_t)1 << 62))), out);
}

/* whose: "memory of this machine"; help: what else there is to do, "" or ", or …". */
static int check(const struct live *live, double need_bytes, double free_bytes, const char *whose,
                 const char *help, struct err *err)
{
	double most_bytes = memory_share * free_bytes;
	char need[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];

	if (need_bytes <= most_bytes)
		return 0;
	return err_set(err, -EINVAL,
	               "%d stages with %d microbatches and messages of %zu bytes need %s of the "
	               "%s, and %s of it may be taken; use smaller messages or fewer "
	               "microbatches, stages or replicas%s",
	               live->model.n_stages, live->model.n_microbatches, live->payload_bytes,
	               format_bytes(need_bytes, need), whose, format_bytes(most_bytes, most), help);
}

int memory_check(const struct live *live, struct err *err)
{
	int rc = 0;

	if (has_own_memory(live))
		rc = check(live, fullest_bytes(live), (double)live->config.about->memory_bytes,
		           "memory of a GPU", ", or more GPUs", err);
	return rc ? rc
	          : check(live, host_bytes(live), free_host_bytes(), "memory of this machine", "",
	                  err);
}
