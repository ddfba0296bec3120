/* history_page_chart.c - one metric over all nights in a small picture.
 *
 * The scale begins near the lowest night, not at 0: a step of a few percent is what is looked for.
 * It spans four times what counts as a change at least, so that noise does not look like one. Lone
 * spikes do not stretch it; what is beyond is drawn at its edge. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/axis.h"
#include "reports/history_page_internal.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/svg.h"

enum { DAY_COLUMNS = 10, TICKS_UP = 5, MARK_SPIKE = 0, MARK_WORSE = 2, MARK_BETTER = 3 };

static const double WIDTH = 320, HEIGHT = 138, RIGHT = 8, TOP = 16, BOTTOM = 24;
static const double LABEL_DROP = 17, LEAST_SPAN = 4, PADDING = 0.06, PERCENT = 100;

static const struct history_metric metrics[NIGHTLY_METRICS] = {
	[NIGHTLY_P50_MS] = {"Median of an iteration", "ms", 1},
	[NIGHTLY_TOTAL_S] = {"Total time", "s", 1},
	[NIGHTLY_COMPUTE_MS] = {"Computation, an iteration", "ms", 1},
	[NIGHTLY_WAIT_MS] = {"Waiting, an iteration", "ms", 1},
	[NIGHTLY_BLOCKED_MS] = {"Blocking, an iteration", "ms", 1},
	[NIGHTLY_TRANSFER_MS] = {"Transfer of a message", "ms", 1},
	[NIGHTLY_CONTROL] = {"Width of the control", "%", 100},
};

const struct history_metric *history_metric_of(enum nightly_metric metric)
{
	return &metrics[metric];
}

struct figure {
	const struct nightly_history *history;
	const struct history_chart *chart;
	const struct history_metric *metric;
	double *values; /* as shown, [n_nights] */
	double *steady; /* the same without lone spikes */
	struct svg svg;
	struct axis x, y;
};

static void find_range(struct figure *figure, double *low, double *high)
{
	double middle, span;

	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < figure->history->n_nights; i++) {
		*low = fmin(*low, figure->steady[i]);
		*high = fmax(*high, figure->steady[i]);
	}
	middle = (*low + *high) / 2;
	span = fmax(*high - *low,
	            LEAST_SPAN * figure->history->settings.least_ratio * fabs(middle));
	*low = fmin(*low, middle - span / 2) - PADDING * span;
	*high = fmax(*high, middle + span / 2) + PADDING * span;
	/* No number here is below 0. */
	*low = fmax(0, *low);
}

static struct svg_point point_at(const struct figure *figure, size_t night, double value)
{
	double y = axis_px(&figure->y, value);

	return (struct svg_point){axis_px(&figure->x, (double)night),
	                          fmin(fmax(y, TOP), HEIGHT - BOTTOM)};
}

static void draw_axes(struct figure *figure)
{
	const struct nightly_history *history = figure->history;
	size_t n = history->n_nights;
	double y = HEIGHT - BOTTOM + LABEL_DROP, left = figure->x.from_px;

	axis_draw_vertical(&figure->y, &figure->svg, left, figure->x.to_px, figure->metric->unit);
	svg_group(&figure->svg, "axis");
	svg_line(&figure->svg, "base", (struct svg_point){left, HEIGHT - BOTTOM},
	         (struct svg_point){figure->x.to_px, HEIGHT - BOTTOM}, NULL);
	svg_text(&figure->svg, "", (struct svg_point){left, y}, "%.*s", DAY_COLUMNS,
	         history->created[0]);
	if (n > 1)
		svg_text(&figure->svg, "end", (struct svg_point){figure->x.to_px, y}, "%.*s",
		         DAY_COLUMNS, history->created[n - 1]);
	svg_group_end(&figure->svg);
}

/* Mean of the nights that count. */
static double level_of(const struct figure *figure, size_t first, size_t end)
{
	double sum = 0;
	int n = 0;

	for (size_t i = first; i < end; i++)
		if (isfinite(figure->steady[i])) {
			sum += figure->steady[i];
			n++;
		}
	return n ? sum / n : NAN;
}

static void draw_levels(struct figure *figure)
{
	const struct nightly_verdict *verdict = &figure->chart->verdict;

	svg_path(&figure->svg, "level");
	for (size_t i = 0, first = 0; i <= verdict->n_changes; i++) {
		size_t end = i < verdict->n_changes ? verdict->changes[i].night
		                                    : figure->history->n_nights;
		double level = level_of(figure, first, end);

		svg_path_to(&figure->svg, point_at(figure, first, level));
		svg_path_to(&figure->svg, point_at(figure, end - 1, level));
		svg_path_to(&figure->svg, (struct svg_point){NAN, NAN});
		first = end;
	}
	svg_path_end(&figure->svg, NULL);
}

/* "2026-01-31: 330.1 ms" */
static void add_night(const struct figure *figure, size_t night, struct strbuf *out)
{
	double value = figure->values[night];
	char number[QUANTITY_BYTES];

	strbuf_addf(out, "%.*s: %s %s", DAY_COLUMNS, figure->history->created[night],
	            quantity_number(value, quantity_decimals(value), &page_style, number),
	            figure->metric->unit);
}

static void draw_spikes(struct figure *figure)
{
	for (size_t i = 0; i < figure->history->n_nights; i++) {
		struct strbuf title = {0};

		if (!figure->chart->verdict.is_outlier[i])
			continue;
		add_night(figure, i, &title);
		strbuf_add(&title, ", a lone spike");
		svg_mark(&figure->svg, "mark spike", MARK_SPIKE,
		         point_at(figure, i, figure->values[i]), strbuf_text(&title));
		figure->svg.out->is_failed |= title.is_failed;
		strbuf_fini(&title);
	}
}

static void draw_change(struct figure *figure, size_t i)
{
	const struct change *change = &figure->chart->verdict.changes[i];
	bool is_worse = change_is_regression(change);
	double x = axis_px(&figure->x, (double)change->night - 0.5);
	const char *cause = figure->chart->causes[i];
	struct strbuf title = {0};

	add_night(figure, change->night, &title);
	strbuf_addf(&title, ", %+.2g %%%s%s", PERCENT * (change->after / change->before - 1),
	            *cause ? "; " : "", cause);
	svg_line(&figure->svg, is_worse ? "step worse" : "step better", (struct svg_point){x, TOP},
	         (struct svg_point){x, HEIGHT - BOTTOM}, NULL);
	svg_mark(&figure->svg, is_worse ? "worse" : "better", is_worse ? MARK_WORSE : MARK_BETTER,
	         (struct svg_point){x, TOP - 6}, strbuf_text(&title));
	figure->svg.out->is_failed |= title.is_failed;
	strbuf_fini(&title);
}

/* Was it made by another version, or of another script, than the night before? */
static const char *news_of(const struct nightly_history *history, size_t night)
{
	if (strcmp(history->versions[night], history->versions[night - 1]) != 0)
		return history->versions[night];
	if (strcmp(history->digests[night], history->digests[night - 1]) != 0)
		return "another script, or other options of it";
	return NULL;
}

static void draw_news(struct figure *figure)
{
	for (size_t i = 1; i < figure->history->n_nights; i++) {
		const char *news = news_of(figure->history, i);
		struct svg_point at = {axis_px(&figure->x, (double)i), HEIGHT - BOTTOM};
		struct strbuf title = {0};

		if (!news)
			continue;
		strbuf_addf(&title, "%.*s: %s", DAY_COLUMNS, figure->history->created[i], news);
		svg_line(&figure->svg, "news", at, (struct svg_point){at.x, at.y + 5},
		         strbuf_text(&title));
		figure->svg.out->is_failed |= title.is_failed;
		strbuf_fini(&title);
	}
}

static void draw_nights(struct figure *figure)
{
	const struct axis_series series = {figure->steady, figure->history->n_nights, 0};
	size_t last = figure->history->n_nights - 1;
	struct strbuf title = {0};

	axis_draw_series(&figure->x, &figure->y, &series, &figure->svg, "series s0");
	add_night(figure, last, &title);
	svg_path(&figure->svg, "series s0 tonight");
	svg_path_to(&figure->svg, point_at(figure, last, figure->values[last]));
	svg_path_end(&figure->svg, strbuf_text(&title));
	figure->svg.out->is_failed |= title.is_failed;
	strbuf_fini(&title);
}

static void draw(struct figure *figure, struct strbuf *out)
{
	const struct nightly_verdict *verdict = &figure->chart->verdict;
	size_t n = figure->history->n_nights;
	struct strbuf label = {0};
	double low, high;

	strbuf_addf(&label, "%s of %s over %zu nights: %zu changes, %zu lone spikes",
	            figure->metric->title, figure->history->schedules[verdict->schedule].name, n,
	            verdict->n_changes, verdict->n_outliers);
	find_range(figure, &low, &high);
	svg_begin(&figure->svg, out, WIDTH, HEIGHT, strbuf_text(&label));
	axis_init(&figure->y, low, high, TICKS_UP);
	axis_place(&figure->y, HEIGHT - BOTTOM, TOP);
	axis_init(&figure->x, 0, fmax(1, (double)n - 1), 1);
	axis_place(&figure->x, axis_gutter_px(&figure->y, figure->metric->unit), WIDTH - RIGHT);
	draw_axes(figure);
	draw_levels(figure);
	draw_nights(figure);
	draw_spikes(figure);
	for (size_t i = 0; i < verdict->n_changes; i++)
		draw_change(figure, i);
	draw_news(figure);
	svg_end(&figure->svg);
	out->is_failed |= label.is_failed;
	strbuf_fini(&label);
}

void history_chart_draw(const struct nightly_history *history, const struct history_chart *chart,
                        struct strbuf *out)
{
	const struct nightly_verdict *verdict = &chart->verdict;
	const double *values = history->schedules[verdict->schedule].values[verdict->metric];
	struct figure figure = {
		.history = history,
		.chart = chart,
		.metric = history_metric_of(verdict->metric),
		.values = array_new(history->n_nights, sizeof(double)),
		.steady = array_new(history->n_nights, sizeof(double)),
	};

	out->is_failed |= !figure.values || !figure.steady;
	for (size_t i = 0; !out->is_failed && i < history->n_nights; i++) {
		figure.values[i] = values[i] * figure.metric->scale;
		figure.steady[i] = verdict->is_outlier[i] ? NAN : figure.values[i];
	}
	if (!out->is_failed)
		draw(&figure, out);
	free(figure.values);
	free(figure.steady);
}
