/* html.c - a page: its frame, sections, sentences and tables. */
#include "reports/html.h"

#include <stdarg.h>
#include <string.h>

#include "engine/base/embedded.h"
#include "reports/markup.h"

static const double WIDE_PX = 1000, NARROW_PX = 358;

static void add_class(struct strbuf *out, const char *class)
{
	if (!class || !*class)
		return;
	strbuf_add(out, " class=\"");
	markup_add(out, class);
	strbuf_add_char(out, '"');
}

static void add_element(struct strbuf *out, const char *element, const char *class,
                        const char *format, va_list args) __attribute__((format(printf, 4, 0)));

static void add_element(struct strbuf *out, const char *element, const char *class,
                        const char *format, va_list args)
{
	strbuf_addf(out, "<%s", element);
	add_class(out, class);
	strbuf_add_char(out, '>');
	markup_vaddf(out, format, args);
	strbuf_addf(out, "</%.*s>\n", (int)strcspn(element, " "), element);
}

void html_begin(struct strbuf *out, const char *title)
{
	strbuf_add(out,
	           "<!DOCTYPE html>\n"
	           "<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	           "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	           "<link rel=\"icon\" href=\"data:,\"/>\n"
	           "<title>");
	markup_add(out, title);
	strbuf_addf(out, "</title>\n<style>\n%s</style></head>\n<body><main>\n", embedded_page_css);
}

void html_end(struct strbuf *out)
{
	strbuf_add(out, "</main></body></html>\n");
}

void html_title(struct strbuf *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "h1", NULL, format, args);
	va_end(args);
}

void html_section(struct strbuf *out, const char *id, const char *title)
{
	strbuf_add(out, "<section id=\"");
	markup_add(out, id);
	strbuf_add(out, "\"><h2>");
	markup_add(out, title);
	strbuf_add(out, "</h2>\n");
}

void html_section_end(struct strbuf *out)
{
	strbuf_add(out, "</section>\n");
}

void html_contents(struct strbuf *out)
{
	strbuf_add(out, "<nav aria-label=\"sections\">");
}

void html_contents_link(struct strbuf *out, const char *id, const char *title)
{
	strbuf_add(out, "<a href=\"#");
	markup_add(out, id);
	strbuf_add(out, "\">");
	markup_add(out, title);
	strbuf_add(out, "</a> ");
}

void html_contents_end(struct strbuf *out)
{
	strbuf_add(out, "</nav>\n");
}

void html_figure(struct strbuf *out, html_draw *draw, const void *what)
{
	strbuf_add(out, "<figure><div class=\"wide\">\n");
	draw(what, WIDE_PX, out);
	strbuf_add(out, "</div><div class=\"narrow\">\n");
	draw(what, NARROW_PX, out);
	strbuf_add(out, "</div></figure>\n");
}

bool html_is_narrow(double width)
{
	return width < WIDE_PX;
}

void html_heading(struct strbuf *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "h3", NULL, format, args);
	va_end(args);
}

void html_sentence(struct strbuf *out, const char *class, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "p", class, format, args);
	va_end(args);
}

void html_command(struct strbuf *out, const char *text)
{
	strbuf_add(out, "<pre tabindex=\"0\"><code>");
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		markup_addf(out, "%.*s", (int)n, text);
		if (text[n] == '\n')
			strbuf_add_char(out, '\n');
	}
	strbuf_add(out, "</code></pre>\n");
}

void html_details(struct strbuf *out, const char *summary)
{
	strbuf_add(out, "<details><summary>");
	markup_add(out, summary);
	strbuf_add(out, "</summary>\n");
}

void html_details_end(struct strbuf *out)
{
	strbuf_add(out, "</details>\n");
}

void html_charts(struct strbuf *out)
{
	strbuf_add(out, "<div class=\"charts\">\n");
}

void html_chart(struct strbuf *out, const char *title)
{
	strbuf_add(out, "<figure><figcaption>");
	markup_add(out, title);
	strbuf_add_char(out, '\n');
}

void html_remark(struct strbuf *out, const char *class, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "span", class, format, args);
	va_end(args);
}

void html_chart_picture(struct strbuf *out)
{
	strbuf_add(out, "</figcaption>\n");
}

void html_chart_end(struct strbuf *out)
{
	strbuf_add(out, "</figure>\n");
}

void html_charts_end(struct strbuf *out)
{
	strbuf_add(out, "</div>\n");
}

void html_table(struct strbuf *out, const char *label)
{
	strbuf_add(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
	markup_add(out, label);
	strbuf_add(out, "\"><table><thead><tr>\n");
}

void html_head(struct strbuf *out, const char *class, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "th scope=\"col\"", class, format, args);
	va_end(args);
}

void html_rows(struct strbuf *out)
{
	strbuf_add(out, "</tr></thead><tbody>\n");
}

void html_row(struct strbuf *out)
{
	strbuf_add(out, "<tr>");
}

void html_row_head(struct strbuf *out, const char *class, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "th scope=\"row\"", class, format, args);
	va_end(args);
}

void html_cell(struct strbuf *out, const char *class, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_element(out, "td", class, format, args);
	va_end(args);
}

void html_row_end(struct strbuf *out)
{
	strbuf_add(out, "</tr>\n");
}

void html_table_end(struct strbuf *out)
{
	strbuf_add(out, "</tbody></table></div>\n");
}
