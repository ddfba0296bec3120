/* import_format.c - which foreign format a file has, told by its start. */
#include "engine/format/import_format.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "engine/format/dump_ops.h"
#include "engine/format/kineto.h"
#include "engine/format/op_log.h"
#include "engine/format/text_internal.h"
#include "engine/format/training_log.h"

/* What the formats of orders are written with. */
#define ORDER_CHARACTERS "0123456789FBWIfbwi.,;()_\" \tSENDRCVUHAGTLOP"

enum { PICKLE_MARK = 0x80 };

struct start {
	const char *text;
	size_t length;
};

static bool contains(const struct start *start, const char *word)
{
	return memmem(start->text, start->length, word, strlen(word)) != NULL;
}

static bool contains_any(const struct start *start, const char *const *words)
{
	for (; *words; words++)
		if (contains(start, *words))
			return true;
	return false;
}

/* A bracket may also open a log's time or rank. */
static bool is_json(const struct start *start)
{
	size_t at = 0;
	char next;

	while (at < start->length && strchr(" \t\r\n", start->text[at]) && start->text[at])
		at++;
	if (at == start->length)
		return false;
	next = at + 1 < start->length ? start->text[at + 1] : '{';
	return start->text[at] == '{' ||
	       (start->text[at] == '[' && next && strchr(" \t\r\n{]", next));
}

/* A trace that holds "pg_config" holds what no dump does; and what is neither is no trace either,
 * which its reader says. */
static enum import_format json_format(const struct start *start)
{
	static const char *const of_traces[] = {"\"traceEvents\"", "\"schemaVersion\"",
	                                        "\"deviceProperties\"", "\"ph\"", NULL};
	static const char *const of_dumps[] = {"\"entries\"", "\"pg_config\"", "\"pg_status\"",
	                                       "\"profiling_name\"", NULL};

	return !contains_any(start, of_traces) && contains_any(start, of_dumps)
	               ? IMPORT_FLIGHT_RECORDER
	               : IMPORT_KINETO;
}

/* "3, B, 41, 52": a letter alone in the second field, and a number behind it. */
static bool is_dump_line(struct text_span line)
{
	struct text_span field;

	if (!text_cut(&line, ',', &field) || !text_cut(&line, ',', &field))
		return false;
	field = text_trim(field);
	line = text_trim(line);
	return field.length == 1 && strchr("FBW", field.text[0]) != NULL && line.length > 0 &&
	       text_is_digit(line.text[0]);
}

static enum import_format text_format(const struct start *start)
{
	struct text_lines lines = {.at = start->text, .end = start->text + start->length};
	struct text_span line = {"", 0};

	if (start->length >= 5 &&
	    (memcmp(start->text, "[RANK", 5) == 0 || contains(start, "\n[RANK")))
		return IMPORT_OP_LOG;
	if (contains(start, "elapsed time per iteration"))
		return IMPORT_TRAINING_LOG;
	while (line.length == 0 && text_lines_next(&lines, &line))
		line = text_trim(line);
	for (size_t i = 0; i < line.length; i++)
		if (line.text[i] == '\0' || strchr(ORDER_CHARACTERS, line.text[i]) == NULL)
			return contains(start, ";") && text_is_digit(line.text[0])
			               ? IMPORT_SLOW_LINK_TRACE
			               : IMPORT_TRAINING_LOG;
	/* "(2F4;5B1)OVERLAP_F_B" has a semicolon, too. */
	if (memchr(line.text, ';', line.length) != NULL &&
	    memchr(line.text, '(', line.length) == NULL)
		return IMPORT_SLOW_LINK_TRACE;
	return is_dump_line(line) ? IMPORT_SIMULATOR_DUMP : IMPORT_ORDER;
}

int import_format_detect(struct input *input, enum import_format *out, struct err *err)
{
	struct start start;
	int rc = input_peek(input, &start.text, &start.length, err);

	if (rc < 0)
		return rc;
	if (start.length == 0)
		return err_set(err, -EINVAL, "%s: is empty", input_name(input));
	if ((unsigned char)start.text[0] == PICKLE_MARK)
		*out = IMPORT_FLIGHT_RECORDER;
	else
		*out = is_json(&start) ? json_format(&start) : text_format(&start);
	return 0;
}

const char *import_format_name(enum import_format format)
{
	switch (format) {
	case IMPORT_KINETO:
		return "a trace of the PyTorch profiler";
	case IMPORT_FLIGHT_RECORDER:
		return "a dump of the NCCL flight recorder";
	case IMPORT_OP_LOG:
		return "an operator log";
	case IMPORT_TRAINING_LOG:
		return "a training log";
	case IMPORT_SLOW_LINK_TRACE:
		return "a slow-link trace";
	case IMPORT_SIMULATOR_DUMP:
		return "a simulator's dump";
	case IMPORT_ORDER:
		return "a pipeline order";
	}
	return "?";
}

int import_format_read(enum import_format format, struct input *input,
                       const struct import_rules *rules, struct observed *out, struct err *err)
{
	switch (format) {
	case IMPORT_KINETO:
		return kineto_read(input, rules->names, out, err);
	case IMPORT_OP_LOG:
		return op_log_read(input, out, err);
	case IMPORT_TRAINING_LOG:
		return training_log_read(input, rules->n_microbatches, out, err);
	case IMPORT_SIMULATOR_DUMP:
		return dump_ops_read(input, out, err);
	case IMPORT_FLIGHT_RECORDER:
	case IMPORT_SLOW_LINK_TRACE:
	case IMPORT_ORDER:
		break;
	}
	return err_set(err, -EINVAL, "%s: is %s, which does not say how long ops took",
	               input_name(input), import_format_name(format));
}
