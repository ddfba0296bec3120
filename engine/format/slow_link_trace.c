/* slow_link_trace.c - reads the published artefact's .trace files of slow links.
 *
 * A line "10;1_2,3_4;0.030" replaces the state of all links from iteration 10 on. With a decimal
 * point in the first field it is seconds instead; one file uses one kind. */
#include "engine/format/slow_link_trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/format/text_internal.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/topology.h"

enum { TRACE_CELLS_MAX = 16 << 20, SECONDS_BYTES = 64 };

struct trace_parser {
	const char *name;
	struct text_lines lines;
	enum trace_kind asked;
	struct slow_link_trace trace;
	size_t states_capacity;
	size_t cells_capacity;
	int *listed; /* links of the line under way, in its order */
	int n_listed;
};

static int refuse(const struct trace_parser *parser, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(const struct trace_parser *parser, struct err *err, const char *format, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, -EINVAL, "%s: line %zu: %s", parser->name, parser->lines.number, text);
}

static bool is_decimal(struct text_span span)
{
	size_t n_points = 0;

	for (size_t i = 0; i < span.length; i++) {
		if (!text_is_digit(span.text[i]) && span.text[i] != '.')
			return false;
		n_points += span.text[i] == '.';
	}
	return span.length > 0 && n_points <= 1;
}

/* Seconds as a decimal, exactly. */
static int parse_seconds(const struct trace_parser *parser, struct text_span span, const char *what,
                         int64_t *ns_out, struct err *err)
{
	char with_unit[SECONDS_BYTES + 2];
	char shown[TEXT_SHOWN_BYTES];

	if (!is_decimal(span))
		return refuse(parser, err, "%s '%s'; wanted seconds, such as 0.030", what,
		              text_show(span, shown));
	snprintf(with_unit, sizeof(with_unit), "%.*ss", (int)span.length, span.text);
	if (span.length > SECONDS_BYTES || units_parse_duration(with_unit, ns_out, NULL) < 0)
		return refuse(parser, err, "%s '%s' is not a number of seconds that can be kept",
		              what, text_show(span, shown));
	return 0;
}

/* The first line tells the kind unless the caller did. */
static int settle_kind(struct trace_parser *parser, bool has_point, struct err *err)
{
	enum trace_kind seen = has_point ? TRACE_BY_TIME : TRACE_BY_ITERATION;

	if (parser->trace.kind == TRACE_DETECT)
		parser->trace.kind = seen;
	if (parser->trace.kind == seen || parser->asked == TRACE_BY_TIME)
		return 0;
	if (parser->asked == TRACE_BY_ITERATION)
		return refuse(parser, err, "starts with a time in a trace by iteration");
	return refuse(parser, err,
	              "starts with %s, but the lines before with %s; if all are times, read the "
	              "trace as one by time",
	              has_point ? "a time" : "an iteration", has_point ? "iterations" : "times");
}

static int parse_moment(struct trace_parser *parser, struct text_span field,
                        struct slow_link_state *state, struct err *err)
{
	const struct slow_link_trace *trace = &parser->trace;
	char shown[TEXT_SHOWN_BYTES];
	struct text_span rest = field;
	int iteration = 0;
	int rc;

	if (!is_decimal(field))
		return refuse(parser, err, "starts with '%s'; wanted an iteration or seconds",
		              text_show(field, shown));
	rc = settle_kind(parser, memchr(field.text, '.', field.length) != NULL, err);
	if (rc < 0)
		return rc;
	if (trace->kind == TRACE_BY_TIME) {
		rc = parse_seconds(parser, field, "time", &state->moment, err);
		if (rc < 0)
			return rc;
	} else {
		if (text_take_count(&rest, SCENARIO_ITERATIONS_MAX, &iteration) < 0)
			return refuse(parser, err, "iteration '%s'; wanted 0 to %d",
			              text_show(field, shown), SCENARIO_ITERATIONS_MAX);
		state->moment = iteration;
	}
	if (trace->n_states > 0 && state->moment <= trace->states[trace->n_states - 1].moment)
		return refuse(parser, err,
		              "%s '%s' is not after that of line %d; the original tool would stop "
		              "reading here",
		              trace->kind == TRACE_BY_TIME ? "time" : "iteration",
		              text_show(field, shown), trace->states[trace->n_states - 1].line);
	return 0;
}

/* "1_2", in either order. -1: err says why not. */
static int parse_link(const struct trace_parser *parser, struct text_span span, struct err *err)
{
	char shown[TEXT_SHOWN_BYTES];
	struct text_span rest = span;
	int a = 0;
	int b = 0;
	int link;

	text_show(span, shown);
	if (text_take_count(&rest, TOPOLOGY_STAGES_MAX, &a) == -ENOENT || rest.length == 0 ||
	    rest.text[0] != '_')
		goto unreadable;
	rest.text++;
	rest.length--;
	if (text_take_count(&rest, TOPOLOGY_STAGES_MAX, &b) == -ENOENT || rest.length > 0)
		goto unreadable;
	link = a < b ? a : b;
	if (a - b != 1 && b - a != 1) {
		refuse(parser, err, "link '%s' does not join neighbours", shown);
		return -1;
	}
	if (link >= parser->trace.n_links) {
		refuse(parser, err, "no link '%s' in a pipeline of %d stages", shown,
		       parser->trace.n_links + 1);
		return -1;
	}
	return link;

unreadable:
	refuse(parser, err, "link '%s'; wanted two stages, such as 1_2", shown);
	return -1;
}

/* Marks each link in the row with -1 until its delay is known. */
static int parse_links(struct trace_parser *parser, struct text_span field, int64_t *row,
                       struct err *err)
{
	struct text_span piece;
	bool has_more = field.length > 0;

	parser->n_listed = 0;
	while (has_more) {
		int link;

		has_more = text_cut(&field, ',', &piece);
		link = parse_link(parser, text_trim(piece), err);
		if (link < 0)
			return -EINVAL;
		if (row[link] != 0)
			return refuse(parser, err, "link %d_%d is there twice", link, link + 1);
		row[link] = -1;
		parser->listed[parser->n_listed++] = link;
	}
	return 0;
}

static int count_pieces(struct text_span field)
{
	int n = 1;

	for (size_t i = 0; i < field.length; i++)
		n += field.text[i] == ',';
	return n;
}

static int parse_delays(struct trace_parser *parser, struct text_span field, int64_t *row,
                        struct err *err)
{
	int n_values = count_pieces(field);
	int64_t delay_ns = 0;
	struct text_span piece;

	if (n_values > 1 && n_values != parser->n_listed)
		return refuse(parser, err,
		              "%d delays for %d links; wanted one for all or one for each",
		              n_values, parser->n_listed);
	for (int i = 0; i < n_values; i++) {
		int rc;

		text_cut(&field, ',', &piece);
		rc = parse_seconds(parser, text_trim(piece), "delay", &delay_ns, err);
		if (rc < 0)
			return rc;
		if (delay_ns > FAULT_DELAY_MAX_NS)
			return refuse(parser, err,
			              "a delay of %lld s; at most %lld s can be asked for",
			              (long long)(delay_ns / NS_PER_S),
			              (long long)(FAULT_DELAY_MAX_NS / NS_PER_S));
		if (n_values > 1)
			row[parser->listed[i]] = delay_ns;
	}
	for (int i = 0; i < parser->n_listed && n_values == 1; i++)
		row[parser->listed[i]] = delay_ns;
	if (parser->n_listed == 0 && delay_ns != 0)
		return refuse(parser, err, "a delay without links; wanted some, or a delay of 0");
	parser->trace.n_warnings += parser->n_listed == 0;
	return 0;
}

static int parse_line(struct trace_parser *parser, struct text_span line,
                      struct slow_link_state *state, int64_t *row, struct err *err)
{
	struct text_span first;
	struct text_span links;
	struct text_span delays = line;
	int rc;

	if (!text_cut(&delays, ';', &first) || !text_cut(&delays, ';', &links) ||
	    (delays.length > 0 && memchr(delays.text, ';', delays.length) != NULL))
		return refuse(parser, err, "wanted three fields, as in 10;1_2;0.030");
	delays = text_trim(delays);
	rc = parse_moment(parser, text_trim(first), state, err);
	if (rc == 0)
		rc = parse_links(parser, text_trim(links), row, err);
	if (rc < 0)
		return rc;
	if (delays.length != 3 || memcmp(delays.text, "inf", 3) != 0)
		return parse_delays(parser, delays, row, err);
	if (parser->n_listed > 0)
		return refuse(parser, err,
		              "inf is a lost RNIC and names no link; wanted an empty second field");
	state->is_rnic_lost = true;
	return 0;
}

/* Room for one more state with all links healthy. */
static int grow(struct trace_parser *parser, struct err *err)
{
	struct slow_link_trace *trace = &parser->trace;
	size_t n_links = (size_t)trace->n_links;
	size_t n_cells = (trace->n_states + 1) * n_links;
	struct slow_link_state *states;
	int64_t *cells;

	if (n_cells > TRACE_CELLS_MAX || trace->n_states == TRACE_CELLS_MAX)
		return err_set(err, -EFBIG, "%s: line %zu: too many lines for %d links",
		               parser->name, parser->lines.number, trace->n_links);
	states = array_grow(trace->states, &parser->states_capacity, trace->n_states + 1,
	                    sizeof(*states));
	if (states != NULL)
		trace->states = states;
	cells = array_grow(trace->cells, &parser->cells_capacity, n_cells, sizeof(*cells));
	if (cells != NULL)
		trace->cells = cells;
	if (states == NULL || cells == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", parser->name);
	memset(cells + n_cells - n_links, 0, n_links * sizeof(*cells));
	states[trace->n_states] = (struct slow_link_state){.line = (int)parser->lines.number};
	return 0;
}

static int parse_lines(struct trace_parser *parser, struct err *err)
{
	struct slow_link_trace *trace = &parser->trace;
	struct text_span line;

	while (text_lines_next(&parser->lines, &line)) {
		int rc;

		line = text_trim(line);
		if (line.length == 0)
			continue;
		rc = grow(parser, err);
		if (rc == 0)
			rc = parse_line(parser, line, &trace->states[trace->n_states],
			                trace->cells + trace->n_states * (size_t)trace->n_links,
			                err);
		if (rc < 0)
			return rc;
		trace->n_states++;
	}
	if (trace->n_states == 0)
		return err_set(err, -EINVAL, "%s: is empty; wanted lines such as 10;1_2;0.030",
		               parser->name);
	for (size_t i = 0; i < trace->n_states; i++)
		trace->states[i].delays_ns = trace->cells + i * (size_t)trace->n_links;
	return 0;
}

int slow_link_trace_parse(const char *name, const char *text, size_t n_bytes,
                          struct trace_rules rules, struct slow_link_trace *out, struct err *err)
{
	struct trace_parser parser = {.name = name, .asked = rules.kind};
	int n_links = rules.n_links;
	int rc = text_lines_init(&parser.lines, name, text, n_bytes, err);

	if (rc < 0)
		return rc;
	if (n_links < 0 || n_links >= TOPOLOGY_STAGES_MAX)
		return err_set(err, -EINVAL, "%s: %d links; a pipeline has 0 to %d", name, n_links,
		               TOPOLOGY_STAGES_MAX - 1);
	parser.trace.kind = rules.kind;
	parser.trace.n_links = n_links;
	parser.listed = array_new((size_t)n_links, sizeof(*parser.listed));
	if (parser.listed == NULL)
		return err_set(err, -ENOMEM, "%s: out of memory", name);
	rc = parse_lines(&parser, err);
	free(parser.listed);
	if (rc < 0)
		slow_link_trace_fini(&parser.trace);
	else
		*out = parser.trace;
	return rc;
}

void slow_link_trace_fini(struct slow_link_trace *trace)
{
	free(trace->cells);
	free(trace->states);
	trace->cells = NULL;
	trace->states = NULL;
	trace->n_states = 0;
}
