/* input_lines.c - an input, line by line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/input.h"
#include "engine/format/input_internal.h"

enum { LINES_BYTES_AT_FIRST = 1 << 16 };

/* Room and more text behind what is not taken yet. *n_out 0: the input has ended. */
static int read_more(struct input *input, size_t *n_out, struct err *err)
{
	size_t n_kept = input->lines_end - input->lines_at;
	char *lines;
	int rc;

	if (n_kept > INPUT_LINE_BYTES_MAX)
		return err_set(err, -EFBIG, "%s: line %llu is longer than %d bytes", input->name,
		               (unsigned long long)input->line + 1, INPUT_LINE_BYTES_MAX);
	if (n_kept > 0)
		memmove(input->lines, input->lines + input->lines_at, n_kept);
	input->lines_at = 0;
	input->lines_end = n_kept;
	lines = array_grow(input->lines, &input->lines_capacity, n_kept + LINES_BYTES_AT_FIRST, 1);
	if (lines == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", input->name);
	input->lines = lines;
	rc = input_read(input, lines + n_kept, input->lines_capacity - n_kept, n_out, err);
	if (rc == 0)
		input->lines_end += *n_out;
	return rc;
}

static int take(struct input *input, size_t length, const char **line_out, size_t *length_out,
                struct err *err)
{
	const char *line = input->lines + input->lines_at;

	input->line++;
	if (memchr(line, '\0', length) != NULL)
		return err_set(err, -EINVAL, "%s: line %llu has a NUL byte; wanted plain text",
		               input->name, (unsigned long long)input->line);
	if (input->line == 1 && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
		line += 3;
		length -= 3;
	}
	*line_out = line;
	*length_out = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
	return 1;
}

int input_next_line(struct input *input, const char **line_out, size_t *length_out, struct err *err)
{
	size_t n_looked_at = 0, n_more = 1;

	for (;;) {
		const char *at = input->lines + input->lines_at;
		size_t n = input->lines_end - input->lines_at;
		const char *stop =
			n > n_looked_at ? memchr(at + n_looked_at, '\n', n - n_looked_at) : NULL;
		int rc;

		if (stop != NULL || (n_more == 0 && n > 0)) {
			size_t length = stop ? (size_t)(stop - at) : n;

			rc = take(input, length, line_out, length_out, err);
			input->lines_at += length + (stop != NULL);
			return rc;
		}
		if (n_more == 0)
			return 0;
		n_looked_at = n;
		rc = read_more(input, &n_more, err);
		if (rc < 0)
			return rc;
	}
}
