/* page_shares.c - where the time went, as bars: of a mean iteration of the run, and of the two that
 * are drawn op by op. */
#include <math.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

enum share { SHARE_COMPUTE, SHARE_WAIT, SHARE_TRANSFER, SHARE_BLOCKED, SHARE_LOST };
enum { N_SHARES = SHARE_LOST + 1, TICKS_WIDE = 8, TICKS_NARROW = 4 };

static const struct {
	const char *class, *name, *meaning;
} shares[N_SHARES] = {
	[SHARE_COMPUTE] = {"compute", "computation", "an op ran"},
	[SHARE_WAIT] = {"wait", "waiting", "there was nothing to run"},
	[SHARE_TRANSFER] = {"transfer", "transfer",
                            "the part of waiting in which the message was under way"},
	[SHARE_BLOCKED] = {"blocked", "blocked", "a transfer held the device's queue"},
	[SHARE_LOST] = {"lost", "restart", "restarts, and iterations repeated"},
};

/* Milliseconds per stage; NaN: not known. */
struct bar {
	double ms[N_SHARES];
};

/* A group of bars, one a schedule. */
struct figure {
	const struct page *page;
	struct svg svg;
	struct axis x;
	double y;
	bool is_narrow;
};

static const double LEFT = 110, RIGHT = 74, RIGHT_NARROW = 4, BAR = 24, ROW = 30, ROW_NARROW = 46;
static const double TITLE = 24, AXIS = 24, LEGEND = 26, LABEL_PX = 30, TEXT_DROP = 16;

static double known(double ms)
{
	return isfinite(ms) && ms > 0 ? ms : 0;
}

static double length_ms(const struct bar *bar)
{
	double sum = 0;

	for (int i = 0; i < N_SHARES; i++)
		sum += known(bar->ms[i]);
	return sum;
}

/* Of the run: means after warm-up, and what restarts cost spread over all iterations. */
static struct bar run_bar(const struct page *page, size_t s)
{
	const struct comparison_schedule *schedule = &page->comparison->schedules[s];

	return (struct bar){{
		[SHARE_COMPUTE] = schedule->compute_ms,
		[SHARE_WAIT] = schedule->wait_ms,
		[SHARE_TRANSFER] = NAN,
		[SHARE_BLOCKED] = schedule->blocked_ms,
		[SHARE_LOST] = schedule->n_iterations > 0
	                               ? schedule->repeated_s * 1e3 / schedule->n_iterations
	                               : NAN,
	}};
}

static struct bar iteration_bar(const struct page *page, size_t s, enum page_kind kind)
{
	const struct comparison *comparison = page->comparison;
	const struct page_iteration *iteration = &page->runs[s].chosen[kind];
	double per_ms = (double)comparison->n_stages * comparison->n_replicas * NS_PER_MS;
	int64_t transfer_ns = iteration->transfer_ns < iteration->wait_ns ? iteration->transfer_ns
	                                                                  : iteration->wait_ns;

	return (struct bar){{
		[SHARE_COMPUTE] = (double)iteration->compute_ns / per_ms,
		[SHARE_WAIT] = (double)(iteration->wait_ns - transfer_ns) / per_ms,
		[SHARE_TRANSFER] = (double)transfer_ns / per_ms,
		[SHARE_BLOCKED] = (double)iteration->blocked_ns / per_ms,
	}};
}

/* kind PAGE_KINDS: of the run. */
static struct bar bar_of(const struct page *page, size_t s, int kind)
{
	return kind == PAGE_KINDS ? run_bar(page, s) : iteration_bar(page, s, (enum page_kind)kind);
}

static double longest_ms(const struct page *page, int kind)
{
	double longest = 0;

	for (size_t s = 0; s < page->comparison->n_schedules; s++) {
		struct bar bar = bar_of(page, s, kind);

		longest = fmax(longest, length_ms(&bar));
	}
	return longest;
}

static void draw_share(struct figure *figure, enum share share, double from_ms, double ms,
                       double total_ms)
{
	double from = axis_px(&figure->x, from_ms), to = axis_px(&figure->x, from_ms + ms);
	char title[QUANTITY_BYTES * 2], text[QUANTITY_BYTES], class[PAGE_CLASS_BYTES];

	quantity_duration(ms, &page_style, text);
	snprintf(title, sizeof(title), "%s: %s, %.0f %%", shares[share].name, text,
	         100 * ms / total_ms);
	snprintf(class, sizeof(class), "share %s", shares[share].class);
	svg_rect(&figure->svg, class, (struct svg_box){from, figure->y, to - from, BAR}, title);
	snprintf(text, sizeof(text), "%.0f %%", 100 * ms / total_ms);
	if (to - from >= LABEL_PX)
		svg_text(&figure->svg,
		         share == SHARE_COMPUTE ? "on-compute middle" : "on-share middle",
		         (struct svg_point){(from + to) / 2, figure->y + TEXT_DROP}, "%s", text);
}

static void draw_bar(struct figure *figure, size_t s, int kind)
{
	struct bar bar = bar_of(figure->page, s, kind);
	double total_ms = length_ms(&bar), from_ms = 0;
	char name[REPORT_NAME_BYTES], text[QUANTITY_BYTES];

	page_name(figure->page, s, name);
	if (figure->is_narrow) {
		svg_text(&figure->svg, "", (struct svg_point){0, figure->y + TEXT_DROP - 4}, "%s",
		         name);
		figure->y += ROW_NARROW - ROW;
	} else {
		svg_text(&figure->svg, "end", (struct svg_point){LEFT - 10, figure->y + TEXT_DROP},
		         "%s", name);
	}
	for (int i = 0; i < N_SHARES; i++) {
		double ms = known(bar.ms[i]);

		if (ms > 0)
			draw_share(figure, (enum share)i, from_ms, ms, total_ms);
		from_ms += ms;
	}
	svg_text(&figure->svg, figure->is_narrow ? "end faint" : "faint",
	         figure->is_narrow
	                 ? (struct svg_point){figure->svg.width, figure->y + TEXT_DROP - 20}
	                 : (struct svg_point){axis_px(&figure->x, total_ms) + 8,
	                                      figure->y + TEXT_DROP},
	         "%s",
	         total_ms > 0 ? quantity_duration(total_ms, &page_style, text) : "not recorded");
	figure->y += ROW;
}

static void draw_group(struct figure *figure, int kind)
{
	struct strbuf title = {0};

	if (!(longest_ms(figure->page, kind) > 0))
		return;
	if (kind == PAGE_KINDS)
		strbuf_add(&title, "A mean iteration of the run");
	else
		(void)page_describe(figure->page, (enum page_kind)kind, &title);
	svg_text(&figure->svg, "name",
	         (struct svg_point){figure->is_narrow ? 0 : LEFT, figure->y + TITLE - 8}, "%s",
	         strbuf_text(&title));
	figure->y += TITLE;
	for (size_t s = 0; s < figure->page->comparison->n_schedules; s++)
		draw_bar(figure, s, kind);
	figure->svg.out->is_failed |= title.is_failed;
	strbuf_fini(&title);
}

static bool has_share(const struct page *page, enum share share)
{
	for (int kind = 0; kind <= PAGE_KINDS; kind++)
		for (size_t s = 0; s < page->comparison->n_schedules; s++) {
			struct bar bar = bar_of(page, s, kind);

			if (known(bar.ms[share]) > 0)
				return true;
		}
	return false;
}

/* Swatches with names, in the order of the bars. */
static void draw_legend(struct figure *figure)
{
	double x = figure->is_narrow ? 0 : LEFT;

	for (int i = 0; i < N_SHARES; i++) {
		char class[PAGE_CLASS_BYTES];
		double width = 34 + svg_text_width(shares[i].name);

		if (!has_share(figure->page, (enum share)i))
			continue;
		if (x + width > figure->svg.width) {
			x = 0;
			figure->y += LEGEND - 6;
		}
		snprintf(class, sizeof(class), "share %s", shares[i].class);
		svg_rect(&figure->svg, class, (struct svg_box){x, figure->y, 16, 14}, NULL);
		svg_text(&figure->svg, "", (struct svg_point){x + 21, figure->y + 11}, "%s",
		         shares[i].name);
		x += width;
	}
	figure->y += LEGEND;
}

static double longest_of_all_ms(const struct page *page)
{
	double longest = 0;

	for (int kind = 0; kind <= PAGE_KINDS; kind++)
		longest = fmax(longest, longest_ms(page, kind));
	return longest;
}

static double height_of(const struct page *page, bool is_narrow)
{
	double height = AXIS + 2 * LEGEND;

	for (int kind = 0; kind <= PAGE_KINDS; kind++)
		if (longest_ms(page, kind) > 0)
			height += TITLE + (double)page->comparison->n_schedules *
			                          (is_narrow ? ROW_NARROW : ROW);
	return height;
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	struct figure figure = {.page = page, .is_narrow = html_is_narrow(width)};

	svg_begin(&figure.svg, out, width, height_of(page, figure.is_narrow),
	          "Where the time went under every schedule, as bars of computation, waiting, "
	          "transfer, blocking and restarts");
	axis_init(&figure.x, 0, longest_of_all_ms(page),
	          figure.is_narrow ? TICKS_NARROW : TICKS_WIDE);
	axis_place(&figure.x, figure.is_narrow ? 0 : LEFT,
	           width - (figure.is_narrow ? RIGHT_NARROW : RIGHT));
	draw_legend(&figure);
	draw_group(&figure, PAGE_KINDS);
	for (int kind = 0; kind < PAGE_KINDS; kind++)
		draw_group(&figure, kind);
	axis_draw_horizontal(&figure.x, &figure.svg, figure.y, "ms a stage");
	svg_end(&figure.svg);
}

void page_shares(const struct page *page, struct strbuf *out)
{
	struct strbuf text = {0};

	if (!(longest_of_all_ms(page) > 0))
		return;
	for (int i = 0; i < N_SHARES; i++)
		if (has_share(page, (enum share)i))
			strbuf_addf(&text, "; %s: %s", shares[i].name, shares[i].meaning);
	html_sentence(out, "caption", "Means over stages%s.", strbuf_text(&text));
	page_figure(page, out, draw);
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}
