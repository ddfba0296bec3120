/* progress.c - one line that says what runs, how far it is and how long the rest will take. */
#include "engine/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/cli/output.h"
#include "reports/display.h"
#include "reports/quantity.h"

/* What stands behind the label, at most; a line that wraps could not be erased. */
enum { COUNTS_COLUMNS = 50 };

/* Nobody wants a line for what is over in a moment. */
static const int64_t quiet_ns = NS_PER_S;
static const int64_t pause_ns = NS_PER_S / 4;

static void write_line(const char *text)
{
	/* Progress that cannot be shown is no reason to stop. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void erase(struct progress *progress)
{
	if (progress->has_line)
		write_line("\r\033[K");
	progress->has_line = false;
}

int64_t progress_elapsed_ns(const struct progress *progress)
{
	return clock_monotonic_ns() - progress->started_ns;
}

int64_t progress_left_ns(const struct progress *progress)
{
	int64_t n_done = progress->n_before + progress->n_begun;
	double left_ns;

	if (n_done == 0)
		return -1;
	left_ns = (double)progress_elapsed_ns(progress) * (double)(progress->n_total - n_done) /
	          (double)n_done;
	return left_ns < 9e18 ? (int64_t)left_ns : INT64_MAX;
}

static void show(struct progress *progress, int64_t now_ns)
{
	const struct report_style style = output_style(progress->options);
	char left[UNITS_TEXT_BYTES];
	struct strbuf line = {0};

	units_format_span(progress_left_ns(progress), left);
	strbuf_add(&line, "\r\033[K");
	display_add_cut_middle(&line, progress->label, display_columns(&style) - COUNTS_COLUMNS,
	                       &style);
	strbuf_addf(&line, ": iteration %d of %d, %s left", progress->n_begun,
	            progress->n_iterations, left);
	write_line(strbuf_text(&line));
	strbuf_fini(&line);
	progress->has_line = true;
	progress->shown_ns = now_ns;
}

static void advance(struct progress *progress, int iteration)
{
	int64_t now_ns;

	if (iteration + 1 > progress->n_begun)
		progress->n_begun = iteration + 1;
	if (!progress->is_on_terminal || progress->is_watched)
		return;
	now_ns = clock_monotonic_ns();
	if (now_ns - progress->started_ns >= quiet_ns && now_ns - progress->shown_ns >= pause_ns)
		show(progress, now_ns);
}

static int note(struct progress *progress, int rc)
{
	progress->has_sink_failed |= rc != 0;
	return rc;
}

/* When the same iteration ended in virtual time; -1: it did not. */
static int64_t find_simulated(const struct progress_beside *beside,
                              const struct record_iteration *iteration)
{
	for (size_t i = 0; i < beside->n_simulated; i++) {
		const struct record_iteration *other = &beside->simulated[i];

		if (other->iteration == iteration->iteration &&
		    other->attempt == iteration->attempt)
			return other->start_ns + other->duration_ns;
	}
	return -1;
}

static int progress_iteration(struct record_sink *sink, const struct record_iteration *iteration,
                              struct err *err)
{
	struct progress *progress = (struct progress *)sink;

	advance(progress, iteration->iteration);
	progress->measured_ns = iteration->start_ns + iteration->duration_ns;
	progress->simulated_ns = find_simulated(&progress->beside, iteration);
	return note(progress, record_put_iteration(progress->next, iteration, err));
}

static int progress_fault(struct record_sink *sink, const struct record_fault *fault,
                          struct err *err)
{
	struct progress *progress = (struct progress *)sink;

	return note(progress, record_put_fault(progress->next, fault, err));
}

static int progress_decision(struct record_sink *sink, const struct record_decision *decision,
                             struct err *err)
{
	struct progress *progress = (struct progress *)sink;

	return note(progress, record_put_decision(progress->next, decision, err));
}

static const struct record_sink_ops progress_ops = {
	.iteration = progress_iteration,
	.fault = progress_fault,
	.decision = progress_decision,
};

void progress_init(struct progress *progress, const struct options *options, int64_t n_total)
{
	*progress = (struct progress){
		.sink = {.ops = &progress_ops},
		.options = options,
		.n_total = n_total,
		.started_ns = clock_monotonic_ns(),
		.is_on_terminal = !options->is_quiet && output_has_terminal(),
	};
}

void progress_begin_run(struct progress *progress, const char *label, int n_iterations,
                        struct record_sink *next)
{
	progress->sink.wants_ops = next->wants_ops;
	progress->next = next;
	progress->label = label;
	progress->n_iterations = n_iterations;
	progress->n_begun = 0;
	progress->run_started_ns = clock_monotonic_ns();
	progress->has_sink_failed = false;
	progress->is_watched = false;
	progress->beside = (struct progress_beside){0};
	progress->measured_ns = progress->simulated_ns = -1;
}

struct watcher *progress_watch(struct progress *progress, const struct progress_beside *beside)
{
	struct live_view_size size;

	progress->beside = *beside;
	progress->watcher.look = progress_look;
	progress->is_watched = progress->is_on_terminal && live_view_size(&size);
	return progress->is_watched ? &progress->watcher : NULL;
}

void progress_end_run(struct progress *progress, const char *how)
{
	char text[UNITS_TEXT_BYTES], begun[QUANTITY_BYTES], all[QUANTITY_BYTES];

	erase(progress);
	live_view_end(&progress->view);
	progress->n_before += progress->n_iterations;
	if (!progress->is_on_terminal)
		output_note(progress->options, "%s: %s after %s of %s iterations, in %s",
		            progress->label, how, quantity_count(progress->n_begun, begun),
		            quantity_count(progress->n_iterations, all),
		            units_format_duration(clock_monotonic_ns() - progress->run_started_ns,
		                                  text));
}
