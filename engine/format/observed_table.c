/* observed_table.c - what foreign files say happened, as CSV. */
#include "engine/format/observed_table.h"

#include <inttypes.h>

#include "engine/format/csv_write.h"

/* The run is its file, and its number there where a file holds several. */
static void add_run(const struct observed *observed, uint16_t index, struct strbuf *out)
{
	const struct observed_source *source = &observed->sources[index];
	struct strbuf name = {0};

	strbuf_add(&name, source->name);
	if (source->segment > 0)
		strbuf_addf(&name, "#%d", source->segment);
	csv_add_quoted(strbuf_text(&name), out);
	strbuf_fini(&name);
}

static void add_known(int64_t value, struct strbuf *out)
{
	if (value >= 0)
		strbuf_addf(out, ",%" PRId64, value);
	else
		strbuf_add_char(out, ',');
}

/* Times since the epoch are shown since the first of them. */
static int64_t origin_of(const struct observed *observed)
{
	int64_t origin_ns = INT64_MAX;

	for (size_t i = 0; i < observed->n_ops; i++)
		if (observed->ops[i].clock == CLOCK_DEVICE && observed->ops[i].start_ns < origin_ns)
			origin_ns = observed->ops[i].start_ns;
	return origin_ns == INT64_MAX ? 0 : origin_ns;
}

static void add_op(const struct observed *observed, const struct observed_op *op, int64_t origin_ns,
                   struct strbuf *out)
{
	int64_t from_ns = op->clock == CLOCK_DEVICE ? origin_ns : 0;

	add_run(observed, op->source, out);
	strbuf_addf(out, ",%d", op->iteration);
	add_known(op->stage, out);
	add_known(op->rank, out);
	strbuf_addf(out, ",%s", observed_kind_name((enum observed_kind)op->kind));
	strbuf_addf(out, ",%d,%d,%" PRId64 ",%" PRId64 ",%s", op->microbatch, op->chunk,
	            op->start_ns - from_ns, op->end_ns - from_ns,
	            observed_clock_name((enum observed_clock)op->clock));
	add_known(op->stream, out);
	add_known(op->peer, out);
	add_known(op->bytes, out);
	add_known(op->wait_ns, out);
	add_known(op->busy_ns, out);
	strbuf_addf(out, ",%" PRIu64 "\n", op->place);
}

static void add_iteration(const struct observed *observed,
                          const struct observed_iteration *iteration, struct strbuf *out)
{
	add_run(observed, iteration->source, out);
	strbuf_addf(out, ",%d", iteration->iteration);
	if (iteration->n_iterations > 0)
		strbuf_addf(out, ",%d", iteration->n_iterations);
	else
		strbuf_add_char(out, ',');
	strbuf_addf(out, ",iteration,,,%" PRId64 ",%d,%" PRIu64 "\n", iteration->mean_ns,
	            iteration->was_skipped, iteration->place);
}

static void add_timer(const struct observed *observed, const struct observed_timer *timer,
                      struct strbuf *out)
{
	add_run(observed, timer->source, out);
	strbuf_addf(out, ",%d,,%s", timer->iteration, timer->name);
	add_known(timer->rank, out);
	add_known(timer->low_ns, out);
	strbuf_addf(out, ",%" PRId64 ",,%" PRIu64 "\n", timer->high_ns, timer->place);
}

struct observed_table observed_table_of(const struct observed *observed)
{
	size_t n_rows =
		observed->n_ops > 0 ? observed->n_ops : observed->n_iterations + observed->n_timers;

	return (struct observed_table){observed, origin_of(observed), n_rows};
}

void observed_table_add(const struct observed_table *table, size_t first, size_t n,
                        struct strbuf *out)
{
	const struct observed *observed = table->observed;
	size_t n_iterations = observed->n_iterations;
	bool has_ops = observed->n_ops > 0;

	if (first == 0)
		strbuf_add(out, has_ops ? "run,iteration,stage,rank,kind,mb,chunk,start_ns,end_ns,"
		                          "clock,stream,peer,bytes,wait_ns,busy_ns,source\n"
		                        : "run,iteration,n_iterations,time,rank,low_ns,ns,"
		                          "was_skipped,source\n");
	for (size_t i = first; i < table->n_rows && i - first < n; i++) {
		if (has_ops)
			add_op(observed, &observed->ops[i], table->origin_ns, out);
		else if (i < n_iterations)
			add_iteration(observed, &observed->iterations[i], out);
		else
			add_timer(observed, &observed->timers[i - n_iterations], out);
	}
}
