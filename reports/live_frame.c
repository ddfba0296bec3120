/* live_frame.c - draws a run that goes on: its progress, what each stage is at, which faults are in
 * force beside it. */
#include "reports/live_frame.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "reports/display.h"
#include "reports/quantity.h"

enum {
	LABEL_LEAST = 8,
	ROWS_ABOVE = 4,
	BAR_LEAST = 6,
	BAR_MOST = 30,
	OTHER_COLUMNS = 40,
	EIGHTHS = 8
};

static const double PERCENT = 100;

/* A line on its way to the edge. */
struct pen {
	const struct report_style *style;
	struct strbuf *out;
	int left; /* columns */
};

static void write_text(struct pen *pen, enum tone tone, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void write_text(struct pen *pen, enum tone tone, const char *format, ...)
{
	struct strbuf text = {0};
	int width;
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	width = display_width(strbuf_text(&text), pen->style);
	if (pen->left > 0 && width > 0) {
		display_begin(pen->out, tone, pen->style);
		display_add_cut(pen->out, strbuf_text(&text), pen->left, pen->style);
		display_end(pen->out, tone, pen->style);
	}
	pen->left -= width;
	pen->out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

/* Full to ratio, in eighths of a column where there are signs for them. */
static void write_bar(struct pen *pen, double ratio, int columns)
{
	static const char *const parts[EIGHTHS] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	int most = columns < pen->left ? columns : pen->left;
	int eighths = (int)floor(fmin(fmax(ratio, 0), 1) * columns * EIGHTHS);
	int full = eighths / EIGHTHS, part = eighths % EIGHTHS;
	bool has_unicode = pen->style->has_unicode;

	for (int i = 0; i < most; i++)
		if (i < full)
			strbuf_add(pen->out, has_unicode ? "█" : "#");
		else if (i == full && part > 0 && has_unicode)
			strbuf_add(pen->out, parts[part]);
		else
			strbuf_add(pen->out, has_unicode ? "·" : ".");
	pen->left -= columns;
}

static int bar_columns(int columns)
{
	int bar = columns - OTHER_COLUMNS;

	return bar < BAR_LEAST ? BAR_LEAST : bar > BAR_MOST ? BAR_MOST : bar;
}

/* Where there is room for all of it. */
static void write_if_fits(struct pen *pen, const char *text)
{
	if (display_width(text, pen->style) <= pen->left)
		write_text(pen, TONE_PLAIN, "%s", text);
}

/* The label gives way to how far it is. */
static void add_label(const char *label, const char *rest, struct pen *pen)
{
	struct strbuf text = {0};
	int room = pen->left - display_width(rest, pen->style);

	display_add_cut_middle(&text, label, room > LABEL_LEAST ? room : LABEL_LEAST, pen->style);
	write_text(pen, TONE_STRONG, "%s", strbuf_text(&text));
	write_text(pen, TONE_PLAIN, "%s", rest);
	pen->out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void add_what(const struct live_frame *frame, struct pen *pen)
{
	const struct watch_moment *moment = frame->moment;
	char iteration[QUANTITY_BYTES], all[QUANTITY_BYTES], text[3 * QUANTITY_BYTES];

	snprintf(text, sizeof(text), ": iteration %s of %s",
	         quantity_count(moment->iteration + 1, iteration),
	         quantity_count(frame->n_iterations, all));
	add_label(frame->label, text, pen);
	if (moment->attempt > 0) {
		snprintf(text, sizeof(text), ", attempt %d", moment->attempt + 1);
		write_if_fits(pen, text);
	}
	snprintf(text, sizeof(text), ", %s plane", plane_kind_name(moment->plane));
	write_if_fits(pen, moment->is_restarting ? ", the job starts again" : text);
}

static void add_progress(const struct live_frame *frame, int columns, struct pen *pen)
{
	char span[UNITS_TEXT_BYTES], left[2 * UNITS_TEXT_BYTES];

	write_bar(pen, frame->done_ratio, bar_columns(columns));
	write_text(pen, TONE_PLAIN, " %.0f %%, %s gone", floor(PERCENT * frame->done_ratio),
	           units_format_span(frame->elapsed_ns, span));
	if (frame->left_ns >= 0) {
		snprintf(left, sizeof(left), ", %s left", units_format_span(frame->left_ns, span));
		write_if_fits(pen, left);
	}
}

static void add_simulated(const struct live_frame *frame, struct pen *pen)
{
	double measured_s = (double)frame->measured_ns / NS_PER_S;
	double simulated_s = (double)frame->simulated_ns / NS_PER_S;
	char measured[QUANTITY_BYTES], simulated[QUANTITY_BYTES];

	if (frame->measured_ns < 0)
		return;
	write_text(pen, TONE_PLAIN, "measured so far %s",
	           quantity_span(measured_s, measured_s, pen->style, measured));
	if (frame->simulated_ns > 0)
		write_text(pen, TONE_PLAIN, ", simulated %s (%+.1f %%)",
		           quantity_span(simulated_s, measured_s, pen->style, simulated),
		           PERCENT * (measured_s / simulated_s - 1));
}

/* Is it in force, as far as can be told from the iteration and the time? */
static bool is_in_force(const struct fault *fault, const struct watch_moment *moment)
{
	return fault_has_op(fault) ? fault_may_be_active(fault, moment->iteration)
	                           : fault_is_active(fault, moment->iteration, moment->run_ns);
}

static bool is_same_amount(const struct fault *a, const struct fault *b)
{
	return a->kind == b->kind && a->delay_ns == b->delay_ns &&
	       a->rate_bits_per_s == b->rate_bits_per_s && !(a->loss_ratio < b->loss_ratio) &&
	       !(a->loss_ratio > b->loss_ratio);
}

/* Is the other direction of the link just as bad? */
static bool is_both_ways(const struct live_frame *frame, const struct fault *fault)
{
	for (size_t i = 0; i < frame->scenario->n_faults; i++) {
		const struct fault *other = &frame->scenario->faults[i];

		if (other->from_stage == fault->to_stage && other->to_stage == fault->from_stage &&
		    other != fault && is_same_amount(other, fault) &&
		    is_in_force(other, frame->moment))
			return true;
	}
	return false;
}

static void add_amount(const struct fault *fault, struct pen *pen)
{
	char number[UNITS_TEXT_BYTES];

	switch (fault->kind) {
	case FAULT_DELAY:
		write_text(pen, TONE_FAULT, "+%s", units_format_duration(fault->delay_ns, number));
		return;
	case FAULT_RATE:
		write_text(pen, TONE_FAULT, "%s",
		           units_format_rate(fault->rate_bits_per_s, number));
		return;
	case FAULT_SLOW_STAGE:
		write_text(pen, TONE_FAULT, "%.3g times slower", fault->slowdown);
		return;
	case FAULT_LOSS:
		write_text(pen, TONE_FAULT, "loses %.3g %%", PERCENT * fault->loss_ratio);
		return;
	case FAULT_DOWN:
		write_text(pen, TONE_FAULT, "RNIC %d is down", fault->rail);
		return;
	}
}

static void add_fault(const struct live_frame *frame, const struct fault *fault, struct pen *pen)
{
	bool is_link = fault_is_on_link(fault);
	bool has_twin = is_link && is_both_ways(frame, fault);
	const char *arrow = has_twin ? "-" : pen->style->has_unicode ? "→" : "->";

	if (has_twin && fault->from_stage > fault->to_stage)
		return;
	write_text(pen, TONE_PLAIN, "  ");
	if (is_link)
		write_text(pen, TONE_FAULT, "%d%s%d ", fault->from_stage, arrow, fault->to_stage);
	add_amount(fault, pen);
}

/* Those of the stage, and those of the link to the next one. */
static void add_faults(const struct live_frame *frame, int stage, struct pen *pen)
{
	for (size_t i = 0; i < frame->scenario->n_faults; i++) {
		const struct fault *fault = &frame->scenario->faults[i];
		int first =
			fault->from_stage < fault->to_stage ? fault->from_stage : fault->to_stage;

		if (first == stage && is_in_force(fault, frame->moment))
			add_fault(frame, fault, pen);
	}
}

static void add_op(const struct watch_stage *stage, struct pen *pen)
{
	switch (stage->doing) {
	case WATCH_OP:
		write_text(pen, TONE_PLAIN, "  %c%-9d", op_kind_letter(stage->kind),
		           stage->microbatch);
		return;
	case WATCH_INPUT:
		write_text(pen, TONE_DIM, "  %c%-3d waits", op_kind_letter(stage->kind),
		           stage->microbatch);
		return;
	case WATCH_NOTHING:
		write_text(pen, TONE_DIM, "  done      ");
		return;
	}
}

static void add_stage(const struct live_frame *frame, int stage, int columns, struct pen *pen)
{
	const struct watch_moment *moment = frame->moment;
	const struct watch_stage *at = &moment->stages[stage];

	write_text(pen, TONE_PLAIN, "%5d", stage);
	add_op(at, pen);
	write_text(pen, TONE_PLAIN, "  ");
	write_bar(pen, (double)at->n_ended / moment->n_ops, bar_columns(columns));
	add_faults(frame, stage, pen);
}

/* How many stages have a row of their own: all, or as many as leave one for the rest. */
static int count_shown(int n_stages, int rows)
{
	int room = rows - ROWS_ABOVE;

	if (n_stages <= room)
		return n_stages;
	return room > 1 ? room - 1 : 0;
}

static struct pen begin_line(struct strbuf *out, int columns, const struct report_style *style)
{
	return (struct pen){style, out, columns};
}

static void add_stages(const struct live_frame *frame, int columns, int n_shown,
                       const struct report_style *style, struct strbuf *out)
{
	struct pen pen = begin_line(out, columns, style);

	write_text(&pen, TONE_DIM, "stage  op%*s%s", 10, "", "iteration");
	strbuf_add_char(out, '\n');
	for (int stage = 0; stage < n_shown; stage++) {
		pen = begin_line(out, columns, style);
		add_stage(frame, stage, columns, &pen);
		strbuf_add_char(out, '\n');
	}
}

int live_frame_add(const struct live_frame *frame, int columns, int rows,
                   const struct report_style *style, struct strbuf *out)
{
	int n_stages = frame->moment->n_stages, n_shown = count_shown(n_stages, rows), n = 3;
	struct pen pen = begin_line(out, columns, style);

	add_what(frame, &pen);
	strbuf_add_char(out, '\n');
	pen = begin_line(out, columns, style);
	add_progress(frame, columns, &pen);
	strbuf_add_char(out, '\n');
	pen = begin_line(out, columns, style);
	add_simulated(frame, &pen);
	strbuf_add_char(out, '\n');
	if (n_shown > 0) {
		add_stages(frame, columns, n_shown, style, out);
		n += 1 + n_shown;
	}
	if (n_shown < n_stages && n < rows) {
		pen = begin_line(out, columns, style);
		write_text(&pen, TONE_DIM, "%d %sstages", n_stages - n_shown,
		           n_shown > 0 ? "more " : "");
		strbuf_add_char(out, '\n');
		n++;
	}
	return n;
}
