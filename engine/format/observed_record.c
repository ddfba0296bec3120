/* observed_record.c - what foreign files say happened, as the record of a run.
 *
 * Which iterations are whole, and where they lie in time, is found out first and without copies of
 * ops; ops are made into the record's an iteration at a time. */
#include "engine/format/observed_record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/observed_profile.h"
#include "engine/scenario/scenario.h"

bool observed_is_computation(const struct observed_op *op)
{
	return op->kind <= OBSERVED_BACKWARD_WEIGHT;
}

static bool is_wanted(const struct observed_record *record, const struct observed_op *op)
{
	bool is_known =
		observed_is_computation(op) || observed_is_transfer((enum observed_kind)op->kind);

	return is_known && op->stage >= 0 && op->microbatch >= 0 &&
	       record->observed->sources[op->source].segment == record->segment;
}

static int compare_ops(const void *a, const void *b)
{
	const struct observed_op *x = *(const struct observed_op *const *)a;
	const struct observed_op *y = *(const struct observed_op *const *)b;

	if (x->iteration != y->iteration)
		return x->iteration < y->iteration ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static enum record_timer timer_of(enum observed_clock clock)
{
	switch (clock) {
	case CLOCK_DEVICE:
		return TIMER_CUDA_EVENT;
	case CLOCK_HOST_MONOTONIC:
	case CLOCK_HOST_REALTIME:
		return TIMER_HOST;
	case CLOCK_SIMULATED:
		break;
	}
	return TIMER_VIRTUAL;
}

/* A file of which nothing can be used is one that is missing: without it the pipeline would look
 * shorter than it is. So is one without a run of that number, where others have one. */
static int check_sources(const struct observed_record *record, const bool *has_ops, struct err *err)
{
	const struct observed_source *sources = record->observed->sources;
	size_t n_first = 0, n = 0;

	for (size_t i = 0; i < record->observed->n_sources; i++) {
		n_first += sources[i].segment == 0;
		n += sources[i].segment == record->segment;
		if (sources[i].segment == record->segment && !has_ops[i])
			return err_set(err, -EINVAL,
			               "%s: no forwards or backwards of any stage; a record is "
			               "made of ops",
			               sources[i].name);
	}
	if (n == n_first)
		return 0;
	return err_set(err, -EINVAL, "%zu of %zu files have a run of that number", n, n_first);
}

static int check_shape(const struct observed_record *record, struct err *err)
{
	if (record->n_stages == 0)
		return err_set(err, -EINVAL,
		               "no forwards or backwards of any stage; a record is made of ops");
	if (record->n_stages > TOPOLOGY_STAGES_MAX)
		return err_set(err, -EFBIG, "stage %d; a pipeline has at most %d",
		               record->n_stages - 1, TOPOLOGY_STAGES_MAX);
	if (record->n_microbatches > SCENARIO_MICROBATCHES_MAX)
		return err_set(err, -EFBIG, "microbatch %d; an iteration has at most %d",
		               record->n_microbatches - 1, SCENARIO_MICROBATCHES_MAX);
	return 0;
}

/* The segment's ops in order, and how many stages and microbatches they are of. */
static int collect(struct observed_record *record, struct err *err)
{
	const struct observed *observed = record->observed;
	bool *has_ops = array_new(observed->n_sources, sizeof(*has_ops));
	int rc;

	record->ops = array_new(observed->n_ops, sizeof(*record->ops));
	if (!record->ops || !has_ops) {
		free(has_ops);
		return err_set(err, -ENOMEM, "out of memory for %zu ops", observed->n_ops);
	}
	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];

		if (!is_wanted(record, op))
			continue;
		record->ops[record->n_ops++] = op;
		if (!observed_is_computation(op))
			continue;
		has_ops[op->source] = true;
		record->timer = timer_of((enum observed_clock)op->clock);
		record->has_whole_backwards |= op->kind == OBSERVED_BACKWARD;
		if (op->stage >= record->n_stages)
			record->n_stages = op->stage + 1;
		if (op->microbatch >= record->n_microbatches)
			record->n_microbatches = op->microbatch + 1;
	}
	rc = check_sources(record, has_ops, err);
	free(has_ops);
	rc = rc ? rc : check_shape(record, err);
	if (rc == 0)
		qsort(record->ops, record->n_ops, sizeof(*record->ops), compare_ops);
	return rc;
}

/* A stage and one of its ranks in one number that sorts by both. */
static int32_t key_of(const struct observed_op *op)
{
	return op->stage * (1 << 16) + (op->rank + 1);
}

static int compare_keys(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* Sorted, each once; returns how many. */
static size_t collect_keys(const struct observed_record *record, int32_t *keys)
{
	size_t n = 0, n_kept = 0;

	for (size_t i = 0; i < record->n_ops; i++)
		if (observed_is_computation(record->ops[i]))
			keys[n++] = key_of(record->ops[i]);
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
		if (n_kept == 0 || keys[i] != keys[n_kept - 1])
			keys[n_kept++] = keys[i];
	return n_kept;
}

/* A stage's ranks are its replicas; all stages have as many as the first. */
static int set_ranks(struct observed_record *record, const int32_t *keys, size_t n, struct err *err)
{
	size_t at = 0;

	while (at < n && keys[at] >> 16 == 0)
		at++;
	record->n_replicas = (int)at;
	record->ranks = array_new(n, sizeof(*record->ranks));
	if (!record->ranks)
		return err_set(err, -ENOMEM, "out of memory for %zu ranks", n);
	at = 0;
	for (int stage = 0; stage < record->n_stages; stage++) {
		size_t first = at;

		for (; at < n && keys[at] >> 16 == stage; at++)
			record->ranks[at] = (int16_t)((keys[at] & 0xffff) - 1);
		if (at - first != (size_t)record->n_replicas || at == first)
			return err_set(err, -EINVAL,
			               "stage %d is run by %zu ranks, stage 0 by %d; is a rank's "
			               "file missing?",
			               stage, at - first, record->n_replicas);
	}
	return 0;
}

static int find_ranks(struct observed_record *record, struct err *err)
{
	int32_t *keys = array_new(record->n_ops, sizeof(*keys));
	int rc;

	if (!keys)
		return err_set(err, -ENOMEM, "out of memory for %zu ops", record->n_ops);
	rc = set_ranks(record, keys, collect_keys(record, keys), err);
	free(keys);
	return rc;
}

static size_t n_cells(const struct observed_record *record)
{
	return (size_t)record->n_stages * (size_t)record->n_replicas * OP_KINDS *
	       (size_t)record->n_microbatches;
}

int observed_replica(const struct observed_record *record, const struct observed_op *op)
{
	const int16_t *ranks = record->ranks + op->stage * record->n_replicas;
	int replica = 0;

	while (replica < record->n_replicas && ranks[replica] != op->rank)
		replica++;
	return replica;
}

uint32_t *observed_place(const struct observed_record *record, int stage, int replica,
                         enum op_kind kind, int microbatch)
{
	size_t lane = ((size_t)stage * (size_t)record->n_replicas + (size_t)replica) * OP_KINDS +
	              (size_t)kind;

	return &record->places[lane * (size_t)record->n_microbatches + (size_t)microbatch];
}

enum op_kind observed_op_kind(const struct observed_op *op)
{
	switch (op->kind) {
	case OBSERVED_FORWARD:
		return OP_F;
	case OBSERVED_BACKWARD_WEIGHT:
		return OP_W;
	default: /* of the backwards */
		return OP_B;
	}
}

bool observed_fill_places(struct observed_record *record, const struct observed_slice *slice)
{
	size_t n_of[OP_KINDS] = {0}, n_wanted = n_cells(record) / OP_KINDS;
	uint32_t n_made = 0;

	memset(record->places, 0, n_cells(record) * sizeof(*record->places));
	for (size_t i = 0; i < slice->n; i++) {
		const struct observed_op *op = record->ops[slice->first + i];
		uint32_t *place;

		if (!observed_is_computation(op))
			continue;
		place = observed_place(record, op->stage, observed_replica(record, op),
		                       observed_op_kind(op), op->microbatch);
		if (*place)
			return false;
		*place = ++n_made;
		n_of[observed_op_kind(op)]++;
	}
	return n_of[OP_F] == n_wanted && n_of[OP_B] == n_wanted &&
	       (n_of[OP_W] == n_wanted || (n_of[OP_W] == 0 && record->has_whole_backwards));
}

static void set_span(const struct observed_record *record, struct observed_slice *slice)
{
	slice->from_ns = INT64_MAX;
	slice->to_ns = INT64_MIN;
	for (size_t i = 0; i < slice->n; i++) {
		const struct observed_op *op = record->ops[slice->first + i];

		if (!observed_is_computation(op))
			continue;
		slice->from_ns = op->start_ns < slice->from_ns ? op->start_ns : slice->from_ns;
		slice->to_ns = op->end_ns > slice->to_ns ? op->end_ns : slice->to_ns;
	}
}

/* Cut the ops into iterations, and keep the whole ones. */
static int find_iterations(struct observed_record *record, struct err *err)
{
	struct observed_slice slice = {0};
	size_t capacity = 0;

	for (; slice.first < record->n_ops; slice.first += slice.n) {
		struct observed_slice *grown;

		slice.number = record->ops[slice.first]->iteration;
		slice.n = 1;
		while (slice.first + slice.n < record->n_ops &&
		       record->ops[slice.first + slice.n]->iteration == slice.number)
			slice.n++;
		if (!observed_fill_places(record, &slice)) {
			record->n_left_out++;
			continue;
		}
		set_span(record, &slice);
		grown = array_grow(record->iterations, &capacity, record->n_iterations + 1,
		                   sizeof(*grown));
		if (!grown)
			return err_set(err, -ENOMEM, "out of memory for the iterations");
		record->iterations = grown;
		grown[record->n_iterations++] = slice;
	}
	if (record->n_iterations == 0)
		return err_set(err, -EINVAL,
		               "no iteration has every forward and backward of %d microbatches on "
		               "%d stages once; is a rank's file missing?",
		               record->n_microbatches, record->n_stages);
	return 0;
}

/* One that starts before the middle of the one before it is on a clock of its own. */
static bool starts_anew(const struct observed_record *record)
{
	for (size_t i = 1; i < record->n_iterations; i++) {
		const struct observed_slice *before = &record->iterations[i - 1];
		int64_t half_ns = (before->to_ns - before->from_ns) / 2;

		if (record->iterations[i].from_ns < before->from_ns + half_ns)
			return true;
	}
	return false;
}

static void lay_out(struct observed_record *record)
{
	int64_t at_ns = 0;

	record->is_laid_out = starts_anew(record);
	for (size_t i = 0; i < record->n_iterations; i++) {
		struct observed_slice *slice = &record->iterations[i];

		slice->start_ns = record->is_laid_out
		                          ? at_ns
		                          : slice->from_ns - record->iterations[0].from_ns;
		at_ns += slice->to_ns - slice->from_ns;
	}
}

static int compare_bytes(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int find_message_bytes(struct observed_record *record, struct err *err)
{
	int64_t *bytes = array_new(record->n_ops, sizeof(*bytes));
	size_t n = 0;

	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory for %zu ops", record->n_ops);
	for (size_t i = 0; i < record->n_ops; i++) {
		if (observed_is_computation(record->ops[i]))
			continue;
		record->has_messages = true;
		if (record->ops[i]->bytes > 0)
			bytes[n++] = record->ops[i]->bytes;
	}
	if (n > 1)
		qsort(bytes, n, sizeof(*bytes), compare_bytes);
	record->message_bytes = n > 0 ? bytes[(n - 1) / 2] : 0;
	free(bytes);
	return 0;
}

static int make(struct observed_record *record, struct err *err)
{
	int rc = collect(record, err);

	rc = rc ? rc : find_ranks(record, err);
	if (rc)
		return rc;
	/* Every F and B of a whole iteration is an op of its own: more than there are ops is none,
	 * and what is made room for is bounded by the input. */
	if (n_cells(record) / OP_KINDS * 2 > record->n_ops)
		return err_set(err, -EINVAL,
		               "%zu ops are no whole iteration of %d microbatches on %d stages; is "
		               "a rank's file missing?",
		               record->n_ops, record->n_microbatches, record->n_stages);
	record->places = array_new(n_cells(record), sizeof(*record->places));
	record->made = array_new(n_cells(record), sizeof(*record->made));
	record->until_ns = array_new((size_t)record->n_stages * (size_t)record->n_replicas,
	                             sizeof(*record->until_ns));
	if (!record->places || !record->made || !record->until_ns)
		return err_set(err, -ENOMEM, "out of memory for an iteration");
	rc = find_iterations(record, err);
	rc = rc ? rc : find_message_bytes(record, err);
	if (rc)
		return rc;
	lay_out(record);
	record->n_warmup = observed_warmup_of(record->n_iterations);
	return 0;
}

int observed_n_segments(const struct observed *observed)
{
	int n = 0;

	for (size_t i = 0; i < observed->n_sources; i++)
		if (observed->sources[i].segment >= n)
			n = observed->sources[i].segment + 1;
	return n;
}

int observed_record_make(const struct observed *observed, int segment, struct observed_record *out,
                         struct err *err)
{
	struct observed_record record = {.observed = observed, .segment = segment};
	int rc = make(&record, err);

	if (rc)
		observed_record_fini(&record);
	else
		*out = record;
	return rc;
}

void observed_record_fini(struct observed_record *record)
{
	free(record->ops);
	free(record->iterations);
	free(record->ranks);
	free(record->places);
	free(record->until_ns);
	free(record->made);
	*record = (struct observed_record){0};
}
