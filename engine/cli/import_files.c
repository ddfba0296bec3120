/* import_files.c - the files of an import, read; and what is said of them. */
#include "engine/cli/import_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/cli/output.h"

enum { TEXT_BYTES_MAX = 64 << 20, TALLIES_SHOWN = 8 };

static bool is_whole_text(enum import_format format)
{
	return format == IMPORT_SLOW_LINK_TRACE || format == IMPORT_SIMULATOR_DUMP ||
	       format == IMPORT_ORDER;
}

/* A dump is an order, which is read as a text, and says when ops ran besides. */
static int read_dump(struct import_files *files, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes(files->name, files->text, files->n_text, &input, err);

	if (rc == 0)
		rc = import_format_read(files->format, input, &files->rules, &files->observed, err);
	input_close(input);
	return rc;
}

static int read_file(struct import_files *files, struct input *input, bool is_first,
                     struct err *err)
{
	enum import_format format;
	int rc = import_format_detect(input, &format, err);

	if (rc < 0)
		return rc;
	if (!is_first && format != files->format)
		return err_set(err, -EINVAL, "%s is %s, but %s is %s; import them apart",
		               input_name(input), import_format_name(format), files->name,
		               import_format_name(files->format));
	files->format = format;
	if (format == IMPORT_FLIGHT_RECORDER)
		return flight_recorder_read(input, &files->recorder, &files->observed, err);
	if (!is_whole_text(format))
		return import_format_read(format, input, &files->rules, &files->observed, err);
	if (!is_first)
		return err_set(err, -EINVAL, "%s: one file is a whole pipeline's; wanted no other",
		               files->name);
	rc = input_read_all(input, TEXT_BYTES_MAX, &files->text, &files->n_text, err);
	return rc == 0 && format == IMPORT_SIMULATOR_DUMP ? read_dump(files, err) : rc;
}

static int check_twice(const struct text_list *paths, struct err *err)
{
	for (size_t i = 0; i < paths->n_items; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(paths->items[i], paths->items[k]) == 0)
				return err_set(err, -EINVAL, "%s is named twice", paths->items[i]);
	return 0;
}

/* Iterations of a source, and whether there are any. */
struct span {
	int32_t first;
	int32_t last;
	bool has_ops;
};

static void find_spans(const struct observed *observed, struct span *spans)
{
	for (size_t i = 0; i < observed->n_ops; i++) {
		const struct observed_op *op = &observed->ops[i];
		struct span *span = &spans[op->source];

		if (!span->has_ops || op->iteration < span->first)
			span->first = op->iteration;
		if (!span->has_ops || op->iteration > span->last)
			span->last = op->iteration;
		span->has_ops = true;
	}
}

/* A rank's traces may follow each other, but one that is there under two names would count twice.
 */
static int check_ranks(const struct observed *observed, struct err *err)
{
	struct span *spans = array_new(observed->n_sources, sizeof(*spans));
	const struct observed_source *sources = observed->sources;
	int rc = 0;

	if (spans == NULL)
		return err_set(err, -ENOMEM, "out of memory");
	find_spans(observed, spans);
	for (size_t i = 0; i < observed->n_sources && rc == 0; i++)
		for (size_t k = 0; k < i && rc == 0; k++)
			if (sources[i].rank >= 0 && sources[i].rank == sources[k].rank &&
			    spans[i].has_ops && spans[k].has_ops &&
			    spans[i].first <= spans[k].last && spans[k].first <= spans[i].last)
				rc = err_set(err, -EINVAL,
				             "%s and %s are both of rank %d and of iteration %d",
				             sources[k].name, sources[i].name, sources[i].rank,
				             spans[i].first > spans[k].first ? spans[i].first
				                                             : spans[k].first);
	free(spans);
	return rc;
}

int import_files_read(const struct text_list *paths, struct import_files *out, struct err *err)
{
	int rc = check_twice(paths, err);

	observed_init(&out->observed, 0);
	out->name = paths->items[0];
	for (size_t i = 0; i < paths->n_items && rc == 0; i++) {
		struct input *input = NULL;

		rc = input_open(paths->items[i], &input, err);
		if (rc == 0)
			rc = read_file(out, input, i == 0, err);
		input_close(input);
	}
	if (rc == 0 && out->format == IMPORT_KINETO)
		rc = check_ranks(&out->observed, err);
	if (rc == 0 && out->format == IMPORT_KINETO && paths->n_items > 1)
		rc = clock_offsets_apply(&out->observed, &out->clocks, err);
	return rc;
}

void import_files_fini(struct import_files *files)
{
	observed_fini(&files->observed);
	flight_recorder_fini(&files->recorder);
	free(files->text);
	files->text = NULL;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct observed_tally *x = a, *y = b;

	return x->n > y->n ? -1 : x->n < y->n;
}

/* "skipped 4711: 4000 cpu_op, 700 ac2g, 11 more". */
static void tell_tallies(const struct options *options, const char *what,
                         const struct observed_tally *tallies, uint64_t n_all)
{
	struct observed_tally sorted[OBSERVED_TALLIES];
	struct strbuf text = {0};
	uint64_t n_left = n_all;

	if (n_all == 0)
		return;
	memcpy(sorted, tallies, sizeof(sorted));
	qsort(sorted, OBSERVED_TALLIES, sizeof(*sorted), compare_tallies);
	strbuf_addf(&text, "%s %" PRIu64 ":", what, n_all);
	for (int i = 0; i < TALLIES_SHOWN && sorted[i].n > 0; i++) {
		strbuf_addf(&text, "%s %" PRIu64 " %s", i > 0 ? "," : "", sorted[i].n,
		            sorted[i].name ? sorted[i].name : "others");
		n_left -= sorted[i].n;
	}
	if (n_left > 0)
		strbuf_addf(&text, ", %" PRIu64 " more", n_left);
	output_note(options, "%s", strbuf_text(&text));
	strbuf_fini(&text);
}

static void tell_read(const struct options *options, const struct observed *observed)
{
	char size[UNITS_TEXT_BYTES];
	struct strbuf text = {0};
	const char *separator = ":";

	strbuf_addf(&text, "read %zu %s, %s", observed->n_sources,
	            observed->n_sources == 1 ? "run" : "runs",
	            units_format_size((int64_t)observed->n_bytes, size));
	for (int kind = 0; kind < OBSERVED_KINDS; kind++) {
		if (observed->n_read[kind] == 0)
			continue;
		strbuf_addf(&text, "%s %" PRIu64 " %s", separator, observed->n_read[kind],
		            observed_kind_name((enum observed_kind)kind));
		separator = ",";
	}
	if (observed->n_iterations > 0)
		strbuf_addf(&text, "%s %zu iterations, %zu timers", separator,
		            observed->n_iterations, observed->n_timers);
	output_note(options, "%s", strbuf_text(&text));
	strbuf_fini(&text);
}

static void tell_clocks(const struct options *options, const struct clock_offsets *clocks)
{
	char uncertainty[UNITS_TEXT_BYTES];

	if (clocks->n_ranks < 2)
		return;
	if (clocks->n_placed > 1)
		output_note(options,
		            "%d of %d ranks are on one clock to within %s, by %zu messages",
		            clocks->n_placed, clocks->n_ranks,
		            units_format_duration(clocks->uncertainty_ns, uncertainty),
		            clocks->n_messages);
	else
		output_note(options,
		            "every rank's times are on its own clock: %zu messages between "
		            "%d ranks do not put them on one",
		            clocks->n_messages, clocks->n_ranks);
	if (clocks->n_contradictory > 0)
		output_note(options,
		            "messages of %d pairs of ranks contradict each other: a clock "
		            "was set, or drifts",
		            clocks->n_contradictory);
}

void import_files_tell(const struct options *options, const struct import_files *files)
{
	const struct observed *observed = &files->observed;

	if (is_whole_text(files->format) && files->format != IMPORT_SIMULATOR_DUMP)
		return;
	tell_read(options, observed);
	tell_clocks(options, &files->clocks);
	tell_tallies(options, "skipped", observed->skipped, observed_n_skipped(observed));
	tell_tallies(options, "rejected", observed->rejected, observed_n_rejected(observed));
	if (observed->is_intrusive)
		output_note(options, "timers that stop the devices were on: times are longer than "
		                     "without them");
}
