/* trace_run.c - `trace export RUN FILE`: a stored run as a Chrome trace. */
#include "engine/cli/trace_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/file_writer.h"
#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/stored.h"
#include "engine/cli/trace_choice.h"
#include "engine/cli/trace_draw.h"
#include "engine/scenario/scenario.h"

enum { ARROWS_MOST = 100000, NUMBER_BYTES = 24 };

/* The iterations that the user wants, both ends included. */
struct range {
	int64_t first, last;
};

/* What is to be written; the arrays are about the iterations of source. */
struct trace_request {
	struct trace_source source;
	const char **why; /* as trace_choose() says */
	bool *is_drawn;
	bool *has_arrows;
	bool has_all_arrows;
};

static int parse_range(const char *text, struct range *out, struct err *err)
{
	const char *dash = strchr(text, '-');
	char first[NUMBER_BYTES];
	size_t length = dash ? (size_t)(dash - text) : strlen(text);
	struct range range;

	snprintf(first, sizeof(first), "%.*s", length < sizeof(first) ? (int)length : 0, text);
	if (units_parse_count(first, 0, SCENARIO_ITERATIONS_MAX, &range.first, NULL) ||
	    units_parse_count(dash ? dash + 1 : first, 0, SCENARIO_ITERATIONS_MAX, &range.last,
	                      NULL) ||
	    range.last < range.first)
		return err_set(err, -EINVAL,
		               "--iterations %s: of a run, iterations are written A-B, as in "
		               "--iterations 10-24",
		               text);
	*out = range;
	return 0;
}

static bool is_wanted(const struct trace_request *request, const struct options *options,
                      const struct range *range, size_t i)
{
	int iteration = request->source.iterations[i].iteration;

	if (options->range)
		return iteration >= range->first && iteration <= range->last;
	return options->wants_all || request->why[i];
}

static bool can_have_all_arrows(const struct trace_source *source, size_t n_drawn)
{
	double n_messages_most = 2.0 * source->pipeline.n_stages * source->pipeline.n_replicas *
	                         source->run->n_microbatches * (double)n_drawn;

	return n_messages_most <= ARROWS_MOST;
}

static int refuse_range(const struct trace_request *request, const struct options *options,
                        struct err *err)
{
	const struct trace_source *source = &request->source;
	int last = 0;

	for (size_t i = 0; i < source->n_iterations; i++)
		if (source->iterations[i].iteration > last)
			last = source->iterations[i].iteration;
	return err_set(err, -EINVAL,
	               "run %" PRId64 " has no iteration to draw in %s; its last is %d",
	               source->run->run, options->range ? options->range : "its record", last);
}

/* Set what request says of each iteration. */
static int select_iterations(struct trace_request *request, const struct options *options,
                             const struct range *range, struct err *err)
{
	size_t n = request->source.n_iterations, n_drawn = 0;

	request->is_drawn = array_new(n, sizeof(bool));
	request->has_arrows = array_new(n, sizeof(bool));
	if (!request->is_drawn || !request->has_arrows)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		request->is_drawn[i] = is_wanted(request, options, range, i);
		n_drawn += request->is_drawn[i];
	}
	if (n_drawn == 0)
		return refuse_range(request, options, err);
	request->has_all_arrows = can_have_all_arrows(&request->source, n_drawn);
	for (size_t i = 0; i < n; i++)
		request->has_arrows[i] = request->has_all_arrows || request->why[i];
	return 0;
}

static int choose(struct trace_request *request, const struct options *options, struct err *err)
{
	struct range range = {0};
	int rc = options->range ? parse_range(options->range, &range, err) : 0;

	if (options->range && options->wants_all)
		return err_set(err, -EINVAL, "--all and --iterations exclude each other");
	if (!rc)
		rc = trace_choose(&request->source, &request->why, err);
	return rc ? rc : select_iterations(request, options, &range, err);
}

static void tell_choice(const struct trace_request *request, const struct options *options)
{
	const struct trace_source *source = &request->source;
	struct strbuf text = {0};
	const char *comma = "";

	for (size_t i = 0; i < source->n_iterations; i++) {
		if (!request->why[i] || !request->is_drawn[i])
			continue;
		strbuf_addf(&text, "%s%d (%s)", comma, source->iterations[i].iteration,
		            request->why[i]);
		comma = ", ";
	}
	if (!options->range && !options->wants_all)
		output_note(options,
		            "run %" PRId64
		            ", %s: iterations %s; --all writes all %zu, --iterations A-B some",
		            source->run->run, source->run->schedule, strbuf_text(&text),
		            source->n_iterations);
	else if (!request->has_all_arrows)
		output_note(options,
		            "viewers misplace arrows when there are more than %d; only these "
		            "iterations have them: %s",
		            ARROWS_MOST, text.length ? strbuf_text(&text) : "none");
	strbuf_fini(&text);
}

static int write_piece(void *context, const char *bytes, size_t n_bytes, struct err *err)
{
	return file_writer_put(context, bytes, n_bytes, err);
}

/* The file is there when this returns 0, else it is as it was. */
static int write_trace(const struct trace_request *request, const char *path, struct err *err)
{
	const struct trace_selection selection = {request->is_drawn, request->has_arrows};
	struct file_writer *file;
	int rc = file_writer_open(path, &file, err);

	if (rc)
		return rc;
	rc = trace_draw(&request->source, &selection,
	                (struct chrome_trace_target){write_piece, file}, err);
	if (!rc)
		return file_writer_close(file, err);
	file_writer_abandon(file);
	return rc;
}

static int read_source(struct trace_source *source, int64_t number, struct err *err)
{
	int rc = trace_source_read(source, number, err);

	if (rc || source->pipeline.n_iterations_with_ops > 0)
		return rc;
	return err_set(err, -EINVAL,
	               "run %" PRId64
	               " has no operators to draw; run its scenario again without --no-ops",
	               number);
}

static int export_run(struct trace_request *request, const struct options *options, const char *run,
                      const char *path, struct err *err)
{
	int64_t number = 0;
	int rc = units_parse_count(run, 1, INT64_MAX, &number, err);

	if (rc)
		return err_wrap(err, "a run's number");
	rc = read_source(&request->source, number, err);
	if (!rc)
		rc = choose(request, options, err);
	if (rc)
		return rc;
	tell_choice(request, options);
	rc = write_trace(request, path, err);
	if (rc)
		return rc;
	output_note(options, "ui.perfetto.dev and chrome://tracing open it");
	output_next(options, "report %" PRId64 "%s%s", number, options->store ? " --store " : "",
	            options->store ? options->store : "");
	return 0;
}

int trace_export_run(const struct options *options, const char *run, const char *path)
{
	struct trace_request request = {0};
	struct err err = {0};
	int code = stored_open(options, &request.source.store);

	if (code)
		return code;
	interrupt_install();
	if (export_run(&request, options, run, path, &err))
		code = output_failure(&err);
	trace_source_fini(&request.source);
	free(request.why);
	free(request.is_drawn);
	free(request.has_arrows);
	if (store_close(request.source.store, &err) && code == EXIT_DONE)
		code = output_failure(&err);
	return code;
}
