/* report_plan_picture.c - a plan over time, drawn with letters: F, B, W and dots where a stage
 * idles. */
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

enum { GUTTER = 5, SHARES = OP_KINDS + 1 };

struct canvas {
	const struct plan_report *report;
	int width;
	int64_t (*busy_ns)[OP_KINDS]; /* [width] of one stage */
};

static int64_t column_start(const struct canvas *canvas, int column)
{
	return (int64_t)((__int128)canvas->report->plan->makespan_ns * column / canvas->width);
}

/* Add an op's time to the columns that it spans. */
static void spread_op(const struct canvas *canvas, enum op_kind kind, int64_t start_ns,
                      int64_t end_ns)
{
	int64_t makespan_ns = canvas->report->plan->makespan_ns;
	int column = (int)((__int128)start_ns * canvas->width / makespan_ns);

	for (; column < canvas->width && column_start(canvas, column) < end_ns; column++) {
		int64_t from = column_start(canvas, column), to = column_start(canvas, column + 1);

		from = from > start_ns ? from : start_ns;
		to = to < end_ns ? to : end_ns;
		if (to > from)
			canvas->busy_ns[column][kind] += to - from;
	}
}

static void spread_stage(const struct canvas *canvas, int stage)
{
	const struct plan *plan = canvas->report->plan;
	const struct plan_op *ops = plan_stage(plan, stage);

	for (int c = 0; c < canvas->width; c++)
		for (int kind = 0; kind < OP_KINDS; kind++)
			canvas->busy_ns[c][kind] = 0;
	for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++) {
		int64_t op_ns = canvas->report->times->op_ns[ops[i].kind][stage];

		if (ops[i].start_ns >= 0 && ops[i].start_ns < plan->makespan_ns)
			spread_op(canvas, ops[i].kind, ops[i].start_ns, ops[i].start_ns + op_ns);
	}
}

/* What fills most of a column: a kind, or OP_KINDS for idling more than half of it. */
static int most_of(const struct canvas *canvas, int column)
{
	int64_t length = column_start(canvas, column + 1) - column_start(canvas, column), busy = 0;
	int most = OP_F;

	for (int kind = 0; kind < OP_KINDS; kind++) {
		busy += canvas->busy_ns[column][kind];
		if (canvas->busy_ns[column][kind] > canvas->busy_ns[column][most])
			most = kind;
	}
	return 2 * busy < length || busy == 0 ? OP_KINDS : most;
}

static void draw_stage(const struct canvas *canvas, int stage, const struct report_style *style,
                       struct strbuf *out)
{
	static const enum tone tones[SHARES] = {TONE_PLAIN, TONE_GOOD, TONE_FAULT, TONE_DIM};
	int before = -1;

	spread_stage(canvas, stage);
	strbuf_addf(out, "%3d%*s", stage, stage < 1000 ? 2 : 1, "");
	for (int c = 0; c < canvas->width; c++) {
		int most = most_of(canvas, c);

		if (most != before && before >= 0)
			display_end(out, tones[before], style);
		if (most != before)
			display_begin(out, tones[most], style);
		before = most;
		if (most < OP_KINDS)
			strbuf_add_char(out, op_kind_letter((enum op_kind)most));
		else
			strbuf_add(out, style->has_unicode ? "·" : ".");
	}
	display_end(out, tones[before], style);
	strbuf_add_char(out, '\n');
}

void report_plan_picture(const struct plan_report *report, const struct report_style *style,
                         struct strbuf *out)
{
	struct canvas canvas = {.report = report, .width = display_columns(style) - GUTTER};
	char makespan[QUANTITY_BYTES];

	if (report->plan->makespan_ns <= 0)
		return;
	canvas.busy_ns = array_new((size_t)canvas.width, sizeof(*canvas.busy_ns));
	if (!canvas.busy_ns) {
		out->is_failed = 1;
		return;
	}
	quantity_duration((double)report->plan->makespan_ns / (double)NS_PER_MS, style, makespan);
	report_sentence(out, TONE_PLAIN, style,
	                "From 0 to %s, what fills most of each column; %s idle", makespan,
	                style->has_unicode ? "·" : ".");
	for (int stage = 0; stage < report->plan->n_stages; stage++)
		draw_stage(&canvas, stage, style, out);
	free(canvas.busy_ns);
}
