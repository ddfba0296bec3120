/* page_losses.c - the loss over the run, and whether all schedules have the same. */
#include <math.h>

#include "reports/axis.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

enum { TICKS_WIDE = 8, TICKS_NARROW = 4, TICKS_UP = 4 };

static const double RIGHT = 8, TOP = 10, BOTTOM = 24, HEIGHT = 220;

static void range_of(const struct comparison *comparison, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t s = 0; s < comparison->n_schedules; s++)
		for (size_t r = 0; r < comparison->schedules[s].n_losses; r++)
			for (int i = 0; i < comparison->n_iterations_asked; i++) {
				double loss = comparison->schedules[s].losses[r].loss[i];

				if (!isfinite(loss))
					continue;
				*low = fmin(*low, loss);
				*high = fmax(*high, loss);
			}
}

/* One line when all are the same, else one a schedule. */
static void draw_lines(const struct page *page, const struct axis *x, const struct axis *y,
                       struct svg *svg)
{
	const struct comparison *comparison = page->comparison;
	struct comparison_loss loss = comparison_loss_of(comparison);
	char class[PAGE_CLASS_BYTES];

	if (loss.is_equal) {
		const struct axis_series series = {loss.loss,
		                                   (size_t)comparison->n_iterations_asked, 0};

		axis_draw_series(x, y, &series, svg, page_class("series", 0, class));
		return;
	}
	for (size_t s = 0; s < comparison->n_schedules; s++) {
		const struct comparison_schedule *schedule = &comparison->schedules[s];
		struct axis_series series = {NULL, (size_t)comparison->n_iterations_asked, 0};

		if (schedule->n_losses == 0)
			continue;
		series.values = schedule->losses[0].loss;
		axis_draw_series(x, y, &series, svg, page_class("series curve", s, class));
	}
}

static void draw(const struct page *page, double width, struct strbuf *out)
{
	bool is_narrow = html_is_narrow(width);
	struct axis x, y;
	struct svg svg;
	double low, high;

	range_of(page->comparison, &low, &high);
	svg_begin(&svg, out, width, HEIGHT, "Loss of the model over the run");
	axis_init(&x, 0, fmax(1, page->comparison->n_iterations_asked - 1),
	          is_narrow ? TICKS_NARROW : TICKS_WIDE);
	axis_init(&y, low, high, TICKS_UP);
	axis_place(&x, axis_gutter_px(&y, ""), width - RIGHT);
	axis_place(&y, HEIGHT - BOTTOM, TOP);
	axis_draw_vertical(&y, &svg, x.from_px, x.to_px, "");
	axis_draw_horizontal(&x, &svg, HEIGHT - BOTTOM, "iteration");
	draw_lines(page, &x, &y, &svg);
	svg_end(&svg);
}

void page_losses(const struct page *page, struct strbuf *out)
{
	struct comparison_loss loss = comparison_loss_of(page->comparison);
	struct strbuf sentence = {0};
	char first[QUANTITY_BYTES], last[QUANTITY_BYTES], number[QUANTITY_BYTES];
	int decimals = quantity_decimals(fmax(fabs(loss.first), fabs(loss.last)));

	if (!loss.loss)
		return;
	html_sentence(out, "caption", "From %s to %s.",
	              quantity_number(loss.first, decimals, &page_style, first),
	              quantity_number(loss.last, decimals, &page_style, last));
	if (!comparison_losses_agree(page->comparison, &sentence))
		html_sentence(out, "warning", "%s.", strbuf_text(&sentence));
	else if (loss.n_compared > 0)
		html_sentence(out, "good",
		              "✓ Bit for bit the same under every schedule, in %s iterations: no "
		              "message was lost, doubled or taken out of order.",
		              quantity_count(loss.n_compared, number));
	page_figure(page, out, draw);
	out->is_failed |= sentence.is_failed;
	strbuf_fini(&sentence);
}
