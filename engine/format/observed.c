/* observed.c - what foreign files say happened: ops, iterations, and how much of the files that is.
 */
#include "engine/format/observed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

static const char *const kind_names[OBSERVED_KINDS] = {
	[OBSERVED_FORWARD] = "FWD",
	[OBSERVED_BACKWARD] = "BWD_FULL",
	[OBSERVED_BACKWARD_INPUT] = "BWD_IN",
	[OBSERVED_BACKWARD_WEIGHT] = "BWD_W",
	[OBSERVED_SEND_FORWARD] = "SEND_F",
	[OBSERVED_RECEIVE_FORWARD] = "RECV_F",
	[OBSERVED_SEND_BACKWARD] = "SEND_B",
	[OBSERVED_RECEIVE_BACKWARD] = "RECV_B",
	[OBSERVED_ALL_REDUCE] = "ALLREDUCE",
	[OBSERVED_OPTIMIZER] = "OPT",
	[OBSERVED_WAIT] = "WAIT",
	[OBSERVED_FAULT] = "FAULT",
	[OBSERVED_OTHER] = "OTHER",
};

void observed_init(struct observed *observed, size_t ops_max)
{
	*observed = (struct observed){.ops_max = ops_max ? ops_max : OBSERVED_OPS_MAX};
}

static void free_tallies(struct observed_tally *tallies)
{
	for (size_t i = 0; i < OBSERVED_TALLIES; i++)
		free(tallies[i].name);
}

void observed_fini(struct observed *observed)
{
	for (size_t i = 0; i < observed->n_sources; i++)
		free(observed->sources[i].name);
	free_tallies(observed->skipped);
	free_tallies(observed->rejected);
	free(observed->sources);
	free(observed->timers);
	free(observed->iterations);
	free(observed->ops);
	*observed = (struct observed){0};
}

static const char *source_name(const struct observed *observed)
{
	return observed->sources[observed->n_sources - 1].name;
}

static int out_of_memory(const struct observed *observed, struct err *err)
{
	return err_set(err, -ENOMEM, "%s: out of memory for %zu ops", source_name(observed),
	               observed->n_ops);
}

int observed_begin(struct observed *observed, const char *name, int segment, int rank,
                   struct err *err)
{
	struct observed_source *sources;
	char *copy;

	if (observed->n_sources == OBSERVED_SOURCES_MAX)
		return err_set(err, -EFBIG, "%s: more than %d runs in all files", name,
		               OBSERVED_SOURCES_MAX);
	sources = array_grow(observed->sources, &observed->sources_capacity,
	                     observed->n_sources + 1, sizeof(*sources));
	if (sources != NULL)
		observed->sources = sources;
	copy = sources ? strdup(name) : NULL;
	if (copy == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", name);
	sources[observed->n_sources++] = (struct observed_source){copy, segment, rank};
	return 0;
}

static int too_many(const struct observed *observed, uint64_t place, const char *what,
                    struct err *err)
{
	return err_set(err, -EFBIG, "%s: record %llu: more than %zu %s", source_name(observed),
	               (unsigned long long)place, observed->ops_max, what);
}

int observed_add(struct observed *observed, struct observed_op op, struct err *err)
{
	struct observed_op *ops;

	if (op.end_ns < op.start_ns)
		return err_set(err, -EINVAL,
		               "%s: record %llu: a negative duration; wanted an end "
		               "that is not before the start",
		               source_name(observed), (unsigned long long)op.place);
	if (op.start_ns < OBSERVED_TIME_MIN_NS || op.end_ns > OBSERVED_TIME_MAX_NS)
		return err_set(err, -EINVAL, "%s: record %llu: not within a hundred years of 1970",
		               source_name(observed), (unsigned long long)op.place);
	if (observed->n_ops == observed->ops_max)
		return too_many(observed, op.place, "ops", err);
	ops = array_grow(observed->ops, &observed->ops_capacity, observed->n_ops + 1, sizeof(*ops));
	if (ops == NULL)
		return out_of_memory(observed, err);
	observed->ops = ops;
	op.source = (uint16_t)(observed->n_sources - 1);
	ops[observed->n_ops++] = op;
	observed->n_read[op.kind]++;
	return 0;
}

int observed_add_iteration(struct observed *observed, struct observed_iteration iteration,
                           struct err *err)
{
	struct observed_iteration *iterations;

	if (observed->n_iterations == observed->ops_max)
		return too_many(observed, iteration.place, "iterations", err);
	iterations = array_grow(observed->iterations, &observed->iterations_capacity,
	                        observed->n_iterations + 1, sizeof(*iterations));

	if (iterations == NULL)
		return out_of_memory(observed, err);
	observed->iterations = iterations;
	iteration.source = (uint16_t)(observed->n_sources - 1);
	iterations[observed->n_iterations++] = iteration;
	return 0;
}

int observed_add_timer(struct observed *observed, struct observed_timer timer, struct err *err)
{
	struct observed_timer *timers;

	if (observed->n_timers == observed->ops_max)
		return too_many(observed, timer.place, "timers", err);
	timers = array_grow(observed->timers, &observed->timers_capacity, observed->n_timers + 1,
	                    sizeof(*timers));

	if (timers == NULL)
		return out_of_memory(observed, err);
	observed->timers = timers;
	timer.source = (uint16_t)(observed->n_sources - 1);
	timers[observed->n_timers++] = timer;
	return 0;
}

static bool is_named(const struct observed_tally *tally, const char *name, size_t n_bytes)
{
	return tally->name != NULL && strncmp(tally->name, name, n_bytes) == 0 &&
	       tally->name[n_bytes] == '\0';
}

/* The last place takes whatever has none. Without memory for a name a record is still counted. */
static uint32_t find_tally(struct observed_tally *tallies, const char *name, size_t n_bytes)
{
	uint32_t i = 0;

	while (i < OBSERVED_TALLIES - 1 && tallies[i].name != NULL &&
	       !is_named(&tallies[i], name, n_bytes))
		i++;
	if (tallies[i].name == NULL)
		tallies[i].name =
			i < OBSERVED_TALLIES - 1 ? strndup(name, n_bytes) : strdup("others");
	return i;
}

void observed_skip(struct observed *observed, const char *name, size_t name_bytes)
{
	struct observed_tally *tallies = observed->skipped;

	/* Records of one kind come in runs, millions of them. */
	if (!is_named(&tallies[observed->last_skipped], name, name_bytes))
		observed->last_skipped = find_tally(tallies, name, name_bytes);
	tallies[observed->last_skipped].n++;
}

void observed_reject(struct observed *observed, const char *name)
{
	observed->rejected[find_tally(observed->rejected, name, strlen(name))].n++;
}

static uint64_t sum_of(const struct observed_tally *tallies)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < OBSERVED_TALLIES; i++)
		sum += tallies[i].n;
	return sum;
}

uint64_t observed_n_skipped(const struct observed *observed)
{
	return sum_of(observed->skipped);
}

uint64_t observed_n_rejected(const struct observed *observed)
{
	return sum_of(observed->rejected);
}

struct observed_op observed_op_of(enum observed_kind kind)
{
	return (struct observed_op){.kind = (uint8_t)kind,
	                            .busy_ns = -1,
	                            .wait_ns = -1,
	                            .bytes = -1,
	                            .microbatch = -1,
	                            .stream = -1,
	                            .stage = -1,
	                            .rank = -1,
	                            .peer = -1};
}

const char *observed_kind_name(enum observed_kind kind)
{
	return kind_names[kind];
}

const char *observed_clock_name(enum observed_clock clock)
{
	switch (clock) {
	case CLOCK_DEVICE:
		return "device";
	case CLOCK_HOST_MONOTONIC:
		return "host_monotonic";
	case CLOCK_HOST_REALTIME:
		return "host_realtime";
	case CLOCK_SIMULATED:
		return "simulated";
	}
	return "?";
}

bool observed_is_transfer(enum observed_kind kind)
{
	return kind >= OBSERVED_SEND_FORWARD && kind <= OBSERVED_RECEIVE_BACKWARD;
}
