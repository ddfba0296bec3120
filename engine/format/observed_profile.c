/* observed_profile.c - what a workload costs on each stage, as foreign files say. */
#include "engine/format/observed_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/scenario/topology.h"

/* A duration, and whose it is: stage and kind of the file in one number. */
struct sample {
	int64_t ns;
	int32_t key;
};

/* An iteration that a source has. */
struct seen {
	int32_t iteration;
	uint16_t source;
};

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->iteration < y->iteration ? -1 : x->iteration > y->iteration;
}

static bool is_computation(const struct observed_op *op)
{
	return op->kind <= OBSERVED_BACKWARD_WEIGHT && op->stage >= 0 && op->microbatch >= 0;
}

static int64_t op_ns(const struct observed_op *op)
{
	return op->clock == CLOCK_DEVICE || op->busy_ns < 0 ? op->end_ns - op->start_ns
	                                                    : op->busy_ns;
}

/* Sorted, each once; returns how many. */
static size_t unique(struct seen *seen, size_t n)
{
	size_t n_kept = 0;

	if (n > 1)
		qsort(seen, n, sizeof(*seen), compare_seen);
	for (size_t i = 0; i < n; i++)
		if (n_kept == 0 || compare_seen(&seen[i], &seen[n_kept - 1]) != 0)
			seen[n_kept++] = seen[i];
	return n_kept;
}

/* Collects what ops follow each other in; consecutive ones of one iteration count once. */
static size_t collect_iterations(const struct observed *observed, struct seen *seen)
{
	size_t n = 0;

	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];
		struct seen now = {op->iteration, op->source};

		if (is_computation(op) && (n == 0 || compare_seen(&now, &seen[n - 1]) != 0))
			seen[n++] = now;
	}
	return unique(seen, n);
}

int observed_warmup_of(size_t n_iterations)
{
	if (n_iterations > OBSERVED_WARMUP)
		return OBSERVED_WARMUP;
	return n_iterations > 1 ? (int)n_iterations - 1 : 0;
}

int observed_warmup(const struct observed *observed, int32_t **first_out, struct err *err)
{
	int32_t *first = array_new(observed->n_sources, sizeof(*first));
	struct seen *seen = array_new(observed->n_ops, sizeof(*seen));
	size_t n, n_run;
	int most = 0;

	if (first == NULL || seen == NULL) {
		free(first);
		free(seen);
		return err_set(err, -ENOMEM, "out of memory for %zu ops", observed->n_ops);
	}
	for (size_t i = 0; i < observed->n_sources; i++)
		first[i] = INT32_MIN;
	n = collect_iterations(observed, seen);
	for (size_t at = 0; at < n; at += n_run) {
		int n_warmup;

		n_run = 1;
		while (at + n_run < n && seen[at + n_run].source == seen[at].source)
			n_run++;
		n_warmup = observed_warmup_of(n_run);
		first[seen[at].source] = seen[at + (size_t)n_warmup].iteration;
		most = n_warmup > most ? n_warmup : most;
	}
	free(seen);
	*first_out = first;
	return most;
}

/* The samples, sorted by stage and kind; also sets stages and microbatches. */
static size_t collect_samples(const struct observed *observed, const int32_t *first,
                              struct sample *samples, struct observed_profile *profile)
{
	size_t n = 0;

	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];

		if (!is_computation(op) || op->iteration < first[op->source])
			continue;
		samples[n++] = (struct sample){op_ns(op), op->stage * OBSERVED_KINDS + op->kind};
		if (op->stage >= profile->n_stages)
			profile->n_stages = op->stage + 1;
		if (op->microbatch >= profile->n_microbatches)
			profile->n_microbatches = op->microbatch + 1;
	}
	if (n > 1)
		qsort(samples, n, sizeof(*samples), compare_samples);
	return n;
}

/* Of samples that are sorted. */
static int64_t quantile(const struct sample *samples, size_t n, double ratio)
{
	double at = ratio * (double)(n - 1);
	size_t low = (size_t)at;
	size_t high = low + 1 < n ? low + 1 : low;
	double part = at - (double)low;

	return samples[low].ns + (int64_t)(part * (double)(samples[high].ns - samples[low].ns));
}

/* The whole backwards' times are kept with the input's until it is known whether there is a half.
 */
static void set_times(struct observed_profile *profile, const struct sample *samples, size_t n)
{
	int stage = samples->key / OBSERVED_KINDS;
	struct observed_times times = {quantile(samples, n, 0.5), quantile(samples, n, 0.1),
	                               quantile(samples, n, 0.9), n};
	struct observed_times *of = profile->stages[stage];
	struct observed_times half = {times.median_ns / 2, times.low_ns / 2, times.high_ns / 2, n};

	switch (samples->key % OBSERVED_KINDS) {
	case OBSERVED_FORWARD:
		of[OP_F] = times;
		break;
	case OBSERVED_BACKWARD:
		/* Its kind comes before the halves', which replace this. */
		of[OP_B] = half;
		of[OP_W] = half;
		of[OP_W].median_ns = times.median_ns - half.median_ns;
		break;
	case OBSERVED_BACKWARD_INPUT:
		of[OP_B] = times;
		break;
	case OBSERVED_BACKWARD_WEIGHT:
		of[OP_W] = times;
		break;
	}
}

static int check_stages(const struct observed_profile *profile, struct err *err)
{
	static const char *const names[OP_KINDS] = {"forwards", "backwards",
	                                            "backwards for the weights"};

	for (int stage = 0; stage < profile->n_stages; stage++) {
		for (int kind = 0; kind < OP_KINDS; kind++) {
			const struct observed_times *times = &profile->stages[stage][kind];

			if (times->n == 0)
				return err_set(err, -EINVAL,
				               "stage %d has no %s after warm-up; is a rank's file "
				               "missing?",
				               stage, names[kind]);
			if (times->median_ns <= 0)
				return err_set(err, -EINVAL,
				               "stage %d: the median of its %s is 0 ns", stage,
				               names[kind]);
		}
	}
	return 0;
}

static bool has_whole_backwards_only(const struct observed *observed)
{
	return observed->n_read[OBSERVED_BACKWARD] > 0 &&
	       observed->n_read[OBSERVED_BACKWARD_INPUT] == 0;
}

static int64_t median_message(const struct observed *observed, struct sample *samples)
{
	size_t n = 0;

	for (size_t i = 0; i < observed->n_ops; i++)
		if (observed_is_transfer((enum observed_kind)observed->ops[i].kind) &&
		    observed->ops[i].bytes > 0)
			samples[n++] = (struct sample){observed->ops[i].bytes, 0};
	if (n > 1)
		qsort(samples, n, sizeof(*samples), compare_samples);
	return n > 0 ? samples[(n - 1) / 2].ns : 0;
}

/* Of the run with most iterations, those from its first on; -ENOMEM. */
static int count_iterations(const struct observed *observed, const int32_t *first, struct err *err)
{
	struct seen *seen = array_new(observed->n_ops, sizeof(*seen));
	int most = 0, n_run = 0;
	size_t n;

	if (seen == NULL)
		return err_set(err, -ENOMEM, "out of memory for %zu ops", observed->n_ops);
	n = collect_iterations(observed, seen);

	for (size_t i = 0; i < n; i++) {
		n_run = i > 0 && seen[i].source == seen[i - 1].source ? n_run : 0;
		n_run += seen[i].iteration >= first[seen[i].source];
		most = n_run > most ? n_run : most;
	}
	free(seen);
	return most;
}

static int fill(const struct observed *observed, const int32_t *first, struct sample *samples,
                struct observed_profile *profile, struct err *err)
{
	size_t n = collect_samples(observed, first, samples, profile), n_run;

	if (n == 0)
		return err_set(
			err, -EINVAL,
			"no forwards or backwards of any stage; a profile is made of ops (of "
			"ranks' timers with --microbatches)");
	if (profile->n_stages > TOPOLOGY_STAGES_MAX)
		return err_set(err, -EINVAL, "stage %d; a pipeline has at most %d",
		               profile->n_stages - 1, TOPOLOGY_STAGES_MAX);
	profile->stages = array_new((size_t)profile->n_stages, sizeof(*profile->stages));
	if (profile->stages == NULL)
		return err_set(err, -ENOMEM, "out of memory for %d stages", profile->n_stages);
	for (size_t at = 0; at < n; at += n_run) {
		n_run = 1;
		while (at + n_run < n && samples[at + n_run].key == samples[at].key)
			n_run++;
		set_times(profile, samples + at, n_run);
	}
	profile->is_halved = has_whole_backwards_only(observed);
	profile->message_bytes = median_message(observed, samples);
	profile->n_iterations = count_iterations(observed, first, err);
	return profile->n_iterations < 0 ? profile->n_iterations : check_stages(profile, err);
}

int observed_profile_make(const struct observed *observed, struct observed_profile *out,
                          struct err *err)
{
	struct observed_profile profile = {0};
	struct sample *samples;
	int32_t *first;
	int rc = observed_warmup(observed, &first, err);

	if (rc < 0)
		return rc;
	profile.n_warmup = rc;
	samples = array_new(observed->n_ops, sizeof(*samples));
	rc = samples ? fill(observed, first, samples, &profile, err)
	             : err_set(err, -ENOMEM, "out of memory for %zu ops", observed->n_ops);
	free(samples);
	free(first);
	if (rc < 0)
		observed_profile_fini(&profile);
	else
		*out = profile;
	return rc;
}

void observed_profile_fini(struct observed_profile *profile)
{
	free(profile->stages);
	profile->stages = NULL;
}
