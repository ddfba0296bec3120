/* live_view.c - lines on the terminal behind stderr that are redrawn in place.
 *
 * A terminal that becomes narrower breaks lines that stand on it, so the way back to the first is
 * counted anew for each redraw. Those few that cut lines instead lose some text above. */
#include "engine/cli/live_view.h"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/cli/output.h"
#include "reports/display.h"

bool live_view_size(struct live_view_size *out)
{
	struct winsize size;

	if (!output_has_terminal() || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0 ||
	    size.ws_row == 0)
		return false;
	*out = (struct live_view_size){size.ws_col, size.ws_row};
	return true;
}

/* Columns that a line takes; what colours it takes none. */
static int width_of(const char *line, size_t n_bytes)
{
	const struct report_style style = {.has_unicode = true};
	struct strbuf text = {0};
	int width;

	for (size_t i = 0; i < n_bytes; i++) {
		if (line[i] == '\033')
			i += strcspn(line + i, "m");
		else
			strbuf_add_char(&text, line[i]);
	}
	width = display_width(strbuf_text(&text), &style);
	strbuf_fini(&text);
	return width;
}

/* Rows that the lines shown take on a terminal of so many columns. */
static int count_rows(const struct strbuf *lines, int columns)
{
	int n = 0;

	for (const char *line = strbuf_text(lines); *line;) {
		size_t n_bytes = strcspn(line, "\n");
		int width = width_of(line, n_bytes);

		n += width > columns ? (width + columns - 1) / columns : 1;
		line += n_bytes + (line[n_bytes] == '\n');
	}
	return n;
}

/* To the start of what is shown. */
static void add_return(const struct live_view *view, int columns, struct strbuf *out)
{
	int n_rows = count_rows(&view->shown, columns);

	if (n_rows > 0)
		strbuf_addf(out, "\r\033[%dA", n_rows);
}

/* Each line over what stood there, and nothing below: to clear first would flicker. */
static void add_lines(const struct strbuf *lines, struct strbuf *out)
{
	for (const char *text = strbuf_text(lines); *text; text++) {
		if (*text == '\n')
			strbuf_add(out, "\033[K");
		strbuf_add_char(out, *text);
	}
	strbuf_add(out, "\033[J");
}

/* Somebody who has stopped the terminal does not stop the run. */
static bool takes_more(void)
{
	struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT);
}

void live_view_draw(struct live_view *view, const struct strbuf *lines, int columns)
{
	struct strbuf out = {0};

	if (lines->is_failed || !takes_more())
		return;
	add_return(view, columns, &out);
	add_lines(lines, &out);
	/* A view that cannot be shown is no reason to stop. */
	if (!out.is_failed)
		(void)file_write_all(STDERR_FILENO, strbuf_text(&out), out.length);
	strbuf_clear(&view->shown);
	strbuf_add(&view->shown, strbuf_text(lines));
	strbuf_fini(&out);
}

void live_view_end(struct live_view *view)
{
	struct live_view_size size;
	struct strbuf out = {0};

	if (view->shown.length > 0 && live_view_size(&size)) {
		add_return(view, size.columns, &out);
		strbuf_add(&out, "\033[J");
		(void)file_write_all(STDERR_FILENO, strbuf_text(&out), out.length);
	}
	strbuf_fini(&out);
	strbuf_fini(&view->shown);
	*view = (struct live_view){0};
}
