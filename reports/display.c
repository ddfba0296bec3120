/* display.c - text measured and fitted by the columns that it takes on a terminal. */
#include "reports/display.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One character as it is shown. */
struct glyph {
	const char *text;
	size_t n_bytes; /* of text that it stands for */
	size_t n_shown; /* of shown */
	const char *shown;
	int width;
};

struct range {
	uint32_t first, last;
};

/* Unicode 15, EastAsianWidth.txt: the blocks that are W or F as a whole, and emoji. */
static const struct range wide[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
	{0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
	{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff},
	{0x20000, 0x3fffd},
};

/* The common combining marks, joiners and variation selectors. */
static const struct range combining[] = {
	{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
	{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

/* Invisible, or changing the direction of what follows: not for text that may be hostile. */
static const struct range unsafe[] = {
	{0x0, 0x1f},      {0x7f, 0x9f},     {0x200b, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfffe, 0xffff}, /* no characters, and not allowed in
                                                                 XML */
};

static bool is_in(uint32_t code, const struct range *ranges, size_t n_ranges)
{
	for (size_t i = 0; i < n_ranges; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* How the signs that sentences and titles are likely to hold are written without Unicode. */
static const struct {
	uint32_t code;
	const char *ascii;
} substitutes[] = {
	{0xb1, "+-"},  {0xb5, "u"},     {0xd7, "x"},    {0x2013, "-"},
	{0x2014, "-"}, {0x2026, "..."}, {0x2192, "->"}, {0x2212, "-"},
};

static const char *substitute(uint32_t code)
{
	for (size_t i = 0; i < sizeof(substitutes) / sizeof(substitutes[0]); i++)
		if (substitutes[i].code == code)
			return substitutes[i].ascii;
	return "?";
}

#define IS_IN(code, ranges) is_in(code, ranges, sizeof(ranges) / sizeof((ranges)[0]))

/* Decode one character; its length, or 0 when the bytes are not UTF-8. */
static size_t decode(const char *text, uint32_t *code_out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text;
	size_t n = p[0] < 0x80   ? 1
	           : p[0] < 0xc2 ? 0
	           : p[0] < 0xe0 ? 2
	           : p[0] < 0xf0 ? 3
	           : p[0] < 0xf5 ? 4
	                         : 0;
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (n == 0 || code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*code_out = code;
	return n;
}

bool display_is_utf8(const char *text)
{
	uint32_t code;
	size_t n;

	for (; *text; text += n)
		if ((n = decode(text, &code)) == 0)
			return false;
	return true;
}

/* The character at text, which is not at its end. */
static struct glyph glyph_at(const char *text, const struct report_style *style)
{
	struct glyph glyph = {.text = text, .n_bytes = 1, .shown = "?", .n_shown = 1, .width = 1};
	uint32_t code = 0;
	size_t n = decode(text, &code);

	if (n == 0)
		return glyph;
	glyph.n_bytes = n;
	if (IS_IN(code, unsafe))
		return glyph;
	if (n > 1 && !style->has_unicode) {
		glyph.shown = substitute(code);
		glyph.n_shown = strlen(glyph.shown);
		glyph.width = (int)glyph.n_shown;
		return glyph;
	}
	glyph.shown = text;
	glyph.n_shown = n;
	if (IS_IN(code, combining))
		glyph.width = 0;
	else if (IS_IN(code, wide))
		glyph.width = 2;
	return glyph;
}

int display_width(const char *text, const struct report_style *style)
{
	int width = 0;

	while (*text) {
		struct glyph glyph = glyph_at(text, style);

		width += glyph.width;
		text += glyph.n_bytes;
	}
	return width;
}

/* Add characters while they fit into width; returns what is left of text. */
static const char *add_some(struct strbuf *out, const char *text, int width,
                            const struct report_style *style)
{
	while (*text) {
		struct glyph glyph = glyph_at(text, style);

		if (glyph.width > width)
			break;
		strbuf_add_bytes(out, glyph.shown, glyph.n_shown);
		width -= glyph.width;
		text += glyph.n_bytes;
	}
	return text;
}

void display_add(struct strbuf *out, const char *text, const struct report_style *style)
{
	(void)add_some(out, text, INT32_MAX, style); /* nothing is left of it */
}

static const char *ellipsis(const struct report_style *style)
{
	return style->has_unicode ? "…" : "..";
}

static int ellipsis_width(const struct report_style *style)
{
	return style->has_unicode ? 1 : 2;
}

void display_add_cut(struct strbuf *out, const char *text, int width,
                     const struct report_style *style)
{
	if (display_width(text, style) <= width) {
		display_add(out, text, style);
	} else if (width < ellipsis_width(style)) {
		(void)add_some(out, text, width,
		               style); /* cut without a mark: there is no room for one */
	} else {
		(void)add_some(out, text, width - ellipsis_width(style),
		               style); /* the rest is the ellipsis */
		strbuf_add(out, ellipsis(style));
	}
}

void display_add_cut_middle(struct strbuf *out, const char *text, int width,
                            const struct report_style *style)
{
	int full = display_width(text, style), head, tail;

	if (full <= width || width < ellipsis_width(style) + 2) {
		display_add_cut(out, text, width, style);
		return;
	}
	head = (width - ellipsis_width(style)) / 3;
	tail = width - ellipsis_width(style) - head;
	text = add_some(out, text, head, style);
	strbuf_add(out, ellipsis(style));
	while (*text && display_width(text, style) > tail)
		text += glyph_at(text, style).n_bytes;
	display_add(out, text, style);
}

/* Copy the next word of *text into word and step over it; false at the end. */
static bool next_word(const char **text, struct strbuf *word)
{
	size_t n;

	*text += strspn(*text, " \t\r\n");
	n = strcspn(*text, " \t\r\n");
	strbuf_clear(word);
	strbuf_add_bytes(word, *text, n);
	*text += n;
	return n > 0;
}

void display_add_wrapped(struct strbuf *out, const char *text, int start, int indent,
                         const struct report_style *style)
{
	int columns = display_columns(style), column = start;
	struct strbuf word = {0};
	bool is_first = true;

	while (next_word(&text, &word)) {
		int width = display_width(strbuf_text(&word), style);

		if (!is_first && column + 1 + width > columns) {
			strbuf_addf(out, "\n%*s", indent, "");
			column = indent;
			is_first = true;
		}
		if (!is_first) {
			strbuf_add_char(out, ' ');
			column++;
		}
		display_add_cut(out, strbuf_text(&word), columns - column, style);
		column += width < columns - column ? width : columns - column;
		is_first = false;
	}
	strbuf_add_char(out, '\n');
	out->is_failed |= word.is_failed;
	strbuf_fini(&word);
}

void display_add_repeated(struct strbuf *out, const char *text, int n_times)
{
	for (int i = 0; i < n_times; i++)
		strbuf_add(out, text);
}

/* Select Graphic Rendition, ECMA-48: bold, faint, and the eight colours that every terminal has. */
static const char *tone_code(enum tone tone)
{
	switch (tone) {
	case TONE_PLAIN:
		return "";
	case TONE_STRONG:
		return "\033[1m";
	case TONE_DIM:
		return "\033[2m";
	case TONE_GOOD:
		return "\033[32m";
	case TONE_BAD:
		return "\033[31m";
	case TONE_FAULT:
		return "\033[33m";
	}
	return "";
}

void display_begin(struct strbuf *out, enum tone tone, const struct report_style *style)
{
	if (style->has_color)
		strbuf_add(out, tone_code(tone));
}

void display_end(struct strbuf *out, enum tone tone, const struct report_style *style)
{
	if (style->has_color && tone != TONE_PLAIN)
		strbuf_add(out, "\033[0m");
}

void display_end_line(struct strbuf *out, enum tone tone, const struct report_style *style)
{
	bool has_line_feed = out->length > 0 && out->text[out->length - 1] == '\n';

	if (has_line_feed)
		out->text[--out->length] = '\0';
	display_end(out, tone, style);
	if (has_line_feed)
		strbuf_add_char(out, '\n');
}

int display_columns(const struct report_style *style)
{
	if (style->columns < REPORT_COLUMNS_MIN)
		return REPORT_COLUMNS_MIN;
	return style->columns > REPORT_COLUMNS_MAX ? REPORT_COLUMNS_MAX : style->columns;
}
