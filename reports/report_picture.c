/* report_picture.c - iteration times over the run, drawn with characters.
 *
 * A column stands for equally many iterations and shows their mean, so that the area drawn is the
 * time spent: the largest of a column would show one slow iteration in twenty as if all were. All
 * schedules share one scale. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"

enum { LEVELS = REPORT_LEVELS, LINES_MOST = 6, NUMBER_BYTES = 16 };

struct picture {
	const struct comparison *comparison;
	const struct report_style *style;
	struct strbuf *out;
	int name_width;
	int width;       /* columns drawn */
	int n_lines;     /* of each schedule's plot */
	double full_ms;  /* what the full height stands for */
	double *mean_ms; /* schedule-major, [width] each */
};

const char *report_level(int height, const struct report_style *style)
{
	static const char *const unicode[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

	return style->has_unicode ? unicode[height] : ascii[height];
}

static int first_iteration(const struct picture *picture, int column)
{
	return (int)((int64_t)column * picture->comparison->n_iterations_asked / picture->width);
}

static int column_of(const struct picture *picture, int iteration)
{
	return (int)((int64_t)iteration * picture->width / picture->comparison->n_iterations_asked);
}

static double column_mean(const struct picture *picture, const double *ms, int column)
{
	int first = first_iteration(picture, column), end = first_iteration(picture, column + 1);
	double sum = 0;
	int n = 0;

	for (int i = first; i < end || i == first; i++) {
		if (isnan(ms[i]))
			continue;
		sum += ms[i];
		n++;
	}
	return n ? sum / n : NAN;
}

static void compute_means(struct picture *picture)
{
	const struct comparison *comparison = picture->comparison;

	for (size_t s = 0; s < comparison->n_schedules; s++) {
		double *means = &picture->mean_ms[s * (size_t)picture->width];

		for (int c = 0; c < picture->width; c++)
			means[c] = column_mean(picture, comparison->schedules[s].iteration_ms, c);
		picture->full_ms =
			fmax(picture->full_ms, quantity_largest(means, (size_t)picture->width));
	}
}

/* How much of the line is filled, 0 to LEVELS; line 0 is the lowest. Something is never drawn as
 * nothing. */
static int level(const struct picture *picture, double ms, int line)
{
	int height;

	if (!isfinite(ms) || ms < 0 || picture->full_ms <= 0)
		return 0;
	height = (int)lround(ms / picture->full_ms * LEVELS * picture->n_lines);
	height = height > 0 ? height : 1;
	height -= line * LEVELS;
	return height < 0 ? 0 : height > LEVELS ? LEVELS : height;
}

static bool has_restart_in(const struct picture *picture, size_t schedule, int column)
{
	const struct comparison_schedule *of = &picture->comparison->schedules[schedule];

	for (size_t i = 0; i < of->n_restart_iterations; i++) {
		int iteration = of->restart_iterations[i];

		if (iteration >= 0 && iteration < picture->comparison->n_iterations_asked &&
		    column_of(picture, iteration) == column)
			return true;
	}
	return false;
}

/* n_marks: how much follows on the line; behind nothing no blanks are owed. */
static void draw_gutter(const struct picture *picture, const char *name, enum tone tone,
                        int n_marks)
{
	int width = display_width(name, picture->style);

	display_begin(picture->out, tone, picture->style);
	display_add_cut(picture->out, name, picture->name_width, picture->style);
	display_end(picture->out, tone, picture->style);
	if (n_marks > 0)
		strbuf_addf(picture->out, "%*s",
		            2 + (width < picture->name_width ? picture->name_width - width : 0),
		            "");
}

/* The character of one column of one line; a restart is marked in the top line. */
static const char *mark_at(const struct picture *picture, size_t schedule, int line, int column)
{
	double ms = picture->mean_ms[schedule * (size_t)picture->width + (size_t)column];

	if (line == picture->n_lines - 1 && has_restart_in(picture, schedule, column))
		return report_restart_mark(picture->style);
	return report_level(level(picture, ms, line), picture->style);
}

static int line_end(const struct picture *picture, size_t schedule, int line)
{
	int end = picture->width;

	while (end > 0 && *mark_at(picture, schedule, line, end - 1) == ' ')
		end--;
	return end;
}

/* Nothing is drawn for a line that would be blank above another. */
static void draw_line(const struct picture *picture, size_t schedule, int line)
{
	const struct report_style *style = picture->style;
	enum tone tone =
		schedule == comparison_subject(picture->comparison) ? TONE_GOOD : TONE_PLAIN;
	int end = line_end(picture, schedule, line);
	char name[REPORT_NAME_BYTES];

	if (end == 0 && line > 0)
		return;
	draw_gutter(picture,
	            line == 0 ? report_name(picture->comparison, schedule, style, name) : "",
	            tone == TONE_GOOD ? TONE_STRONG : TONE_PLAIN, end);
	display_begin(picture->out, tone, style);
	for (int c = 0; c < end; c++) {
		const char *mark = mark_at(picture, schedule, line, c);

		if (strcmp(mark, report_restart_mark(style)) != 0) {
			strbuf_add(picture->out, mark);
			continue;
		}
		display_end(picture->out, tone, style);
		display_begin(picture->out, TONE_BAD, style);
		strbuf_add(picture->out, mark);
		display_end(picture->out, TONE_BAD, style);
		display_begin(picture->out, tone, style);
	}
	display_end(picture->out, tone, style);
	strbuf_add_char(picture->out, '\n');
}

/* Is a fault in force in the column? Short: none but one that is over within it. */
static bool fault_at(const struct picture *picture, int column, bool *is_short_out)
{
	bool is_any = false;

	*is_short_out = false;
	for (size_t i = 0; i < picture->comparison->n_events; i++) {
		const struct comparison_event *event = &picture->comparison->events[i];
		int first, last;

		if (event->first_iteration < 0 || event->last_iteration < event->first_iteration ||
		    event->last_iteration >= picture->comparison->n_iterations_asked)
			continue;
		first = column_of(picture, event->first_iteration);
		last = column_of(picture, event->last_iteration);
		if (column < first || column > last)
			continue;
		*is_short_out = !is_any && first == last;
		is_any = true;
	}
	return is_any;
}

/* The column after the last in which a fault is in force. */
static int faults_end(const struct picture *picture)
{
	int end = picture->width;
	bool is_short;

	while (end > 0 && !fault_at(picture, end - 1, &is_short))
		end--;
	return end;
}

static void draw_faults(const struct picture *picture)
{
	const struct report_style *style = picture->style;
	int end = faults_end(picture);

	draw_gutter(picture, "faults", TONE_FAULT, end);
	display_begin(picture->out, TONE_FAULT, style);
	for (int c = 0; c < end; c++) {
		bool is_short;

		if (!fault_at(picture, c, &is_short))
			strbuf_add_char(picture->out, ' ');
		else if (is_short)
			strbuf_add(picture->out, style->has_unicode ? "▲" : "^");
		else
			strbuf_add(picture->out, style->has_unicode ? "━" : "=");
	}
	display_end(picture->out, TONE_FAULT, style);
	strbuf_add_char(picture->out, '\n');
}

/* Write number so that it starts at column, where nothing is in the way. */
static void place_number(char *line, int width, int column, int number)
{
	char text[QUANTITY_BYTES];
	int length = (int)strlen(quantity_count(number, text));

	if (column + length > width)
		column = width - length;
	if (column < 0)
		return;
	for (int i = column > 0 ? column - 1 : 0; i <= column + length && i < width; i++)
		if (line[i] != ' ')
			return;
	memcpy(line + column, text, (size_t)length);
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* The iterations at which faults begin, where there is room, then the first and the last iteration.
 */
static void fill_axis(const struct picture *picture, char *line, int *starts)
{
	const struct comparison *comparison = picture->comparison;
	size_t n = 0;

	memset(line, ' ', (size_t)picture->width);
	for (size_t i = 0; i < comparison->n_events; i++)
		if (comparison->events[i].first_iteration >= 0 &&
		    comparison->events[i].first_iteration < comparison->n_iterations_asked)
			starts[n++] = comparison->events[i].first_iteration;
	qsort(starts, n, sizeof(*starts), compare_ints);
	for (size_t i = 0; i < n; i++)
		place_number(line, picture->width, column_of(picture, starts[i]), starts[i]);
	place_number(line, picture->width, 0, 0);
	if (comparison->n_iterations_asked > 1)
		place_number(line, picture->width, picture->width,
		             comparison->n_iterations_asked - 1);
	for (int end = picture->width; end > 0 && line[end - 1] == ' '; end--)
		line[end - 1] = '\0';
}

static void draw_axis(const struct picture *picture)
{
	char *line = array_new((size_t)picture->width + 1, 1);
	int *starts = array_new(picture->comparison->n_events, sizeof(*starts));

	if (line && starts) {
		fill_axis(picture, line, starts);
		draw_gutter(picture, "iteration", TONE_DIM, picture->width);
		display_begin(picture->out, TONE_DIM, picture->style);
		strbuf_add(picture->out, line);
		display_end(picture->out, TONE_DIM, picture->style);
		strbuf_add_char(picture->out, '\n');
	} else {
		picture->out->is_failed = 1;
	}
	free(line);
	free(starts);
}

static void draw_heading(const struct picture *picture)
{
	const struct comparison *comparison = picture->comparison;
	char full[QUANTITY_BYTES];
	bool has_restart = false;

	for (size_t i = 0; i < comparison->n_schedules; i++)
		has_restart |= comparison->schedules[i].n_restart_iterations > 0;
	report_sentence(picture->out, TONE_PLAIN, picture->style,
	                "Iteration time, mean per column; full height %s%s%s%s",
	                quantity_duration(picture->full_ms, picture->style, full),
	                has_restart ? "; " : "",
	                has_restart ? report_restart_mark(picture->style) : "",
	                has_restart ? " restart" : "");
}

static bool has_events(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_events; i++)
		if (comparison->events[i].first_iteration >= 0)
			return true;
	return false;
}

int report_gutter(const struct comparison *comparison, const struct report_style *style)
{
	int gutter = (int)strlen("iteration");

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		char name[REPORT_NAME_BYTES];
		int width = display_width(report_name(comparison, i, style, name), style);

		gutter = width > gutter ? width : gutter;
	}
	return gutter;
}

static void measure(struct picture *picture)
{
	int n_schedules = (int)picture->comparison->n_schedules;

	picture->name_width = report_gutter(picture->comparison, picture->style);
	picture->width = display_columns(picture->style) - picture->name_width - 2;
	/* The ramp of ASCII has no half-filled character: a second line would only repeat the
	 * first. */
	picture->n_lines = picture->style->has_unicode && 2 * n_schedules <= LINES_MOST ? 2 : 1;
}

static void draw(const struct picture *picture)
{
	draw_heading(picture);
	for (size_t s = 0; s < picture->comparison->n_schedules; s++)
		for (int line = picture->n_lines - 1; line >= 0; line--)
			draw_line(picture, s, line);
	if (has_events(picture->comparison))
		draw_faults(picture);
	draw_axis(picture);
}

void report_picture(const struct comparison *comparison, const struct report_style *style,
                    struct strbuf *out)
{
	struct picture picture = {.comparison = comparison, .style = style, .out = out};

	if (comparison->n_schedules == 0 || comparison->n_iterations_asked < 1)
		return;
	measure(&picture);
	picture.mean_ms =
		array_new(comparison->n_schedules * (size_t)picture.width, sizeof(double));
	if (!picture.mean_ms) {
		out->is_failed = 1;
		return;
	}
	compute_means(&picture);
	if (picture.full_ms > 0)
		draw(&picture);
	free(picture.mean_ms);
}
