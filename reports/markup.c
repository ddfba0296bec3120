/* markup.c - text inside HTML and SVG: whatever it holds, it stays text. */
#include "reports/markup.h"

#include "reports/display.h"

/* What stands for a character that means something in markup; NULL: itself. */
static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

void markup_add(struct strbuf *out, const char *text)
{
	static const struct report_style style = {.has_unicode = true};
	struct strbuf shown = {0};

	display_add(&shown, text, &style);
	for (const char *c = strbuf_text(&shown); *c; c++) {
		const char *name = entity(*c);

		if (name)
			strbuf_add(out, name);
		else
			strbuf_add_char(out, *c);
	}
	out->is_failed |= shown.is_failed;
	strbuf_fini(&shown);
}

void markup_vaddf(struct strbuf *out, const char *format, va_list args)
{
	struct strbuf text = {0};

	strbuf_vaddf(&text, format, args);
	markup_add(out, strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void markup_addf(struct strbuf *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	markup_vaddf(out, format, args);
	va_end(args);
}
