/* script_summary.c - what a script says of itself in its first comment. */
#include "engine/cli/script_summary.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"

enum { FILE_BYTES = 1 << 20 };

/* Add the next line of a comment, its dashes left out. Returns what follows it; NULL: the paragraph
 * has ended. */
static const char *add_comment_line(const char *line, struct strbuf *out)
{
	size_t length;

	if (strncmp(line, "--", 2) != 0)
		return NULL;
	line += 2 + strspn(line + 2, "- ");
	length = strcspn(line, "\n");
	if (length == 0)
		return NULL;
	strbuf_add(out, out->length > 0 ? " " : "");
	strbuf_add_bytes(out, line, length);
	return line[length] ? line + length + 1 : NULL;
}

void script_summary(const char *path, struct strbuf *out)
{
	struct strbuf comment = {0};
	const char *dash;
	char *text;
	size_t n_bytes;

	if (file_read(path, FILE_BYTES, &text, &n_bytes, NULL))
		return;
	for (const char *line = text; line;)
		line = add_comment_line(line, &comment);
	dash = strstr(strbuf_text(&comment), " - ");
	strbuf_add(out, dash ? dash + 3 : strbuf_text(&comment));
	out->is_failed |= comment.is_failed;
	strbuf_fini(&comment);
	free(text);
}
