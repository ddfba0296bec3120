/* format_openmetrics.c - OpenMetrics text, read back by a reader that takes nothing else. */
#include "engine/format/openmetrics.h"

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { NAME_BYTES = 64, FAMILIES_MOST = 8, MATCHES = 5 };

/* Where the reader stands. */
struct reader {
	char families[FAMILIES_MOST][NAME_BYTES]; /* seen; the last one is open */
	int n_families;
	char kind[NAME_BYTES];
	int place; /* 1 TYPE, 2 UNIT, 3 HELP, 4 samples */
	double bucket, bound, infinite;
	bool has_ended;
	const char *complaint;
};

static void refuse(struct reader *reader, const char *complaint)
{
	if (!reader->complaint)
		reader->complaint = complaint;
}

/* Does all of line match? parts: its parentheses, as copies in the caller's storage. */
static bool matches(const char *line, const char *pattern, char parts[MATCHES][NAME_BYTES * 4])
{
	regmatch_t found[MATCHES];
	regex_t regex;
	bool is_match;

	if (regcomp(&regex, pattern, REG_EXTENDED))
		return false;
	is_match = regexec(&regex, line, MATCHES, found, 0) == 0;
	regfree(&regex);
	for (int i = 1; is_match && i < MATCHES; i++)
		snprintf(parts[i], NAME_BYTES * 4, "%.*s",
		         found[i].rm_so < 0 ? 0 : (int)(found[i].rm_eo - found[i].rm_so),
		         found[i].rm_so < 0 ? "" : line + found[i].rm_so);
	return is_match;
}

#define NAME  "([a-zA-Z_:][a-zA-Z0-9_:]*)"
#define LABEL "[a-zA-Z_][a-zA-Z0-9_]*=\"([^\"\\\\]|\\\\[\\\\n\"])*\""

static void read_type(struct reader *reader, const char *name, const char *kind)
{
	for (int i = 0; i < reader->n_families; i++)
		if (strcmp(reader->families[i], name) == 0)
			refuse(reader, "a family twice");
	if (reader->n_families == FAMILIES_MOST)
		return refuse(reader, "too many families for this test");
	snprintf(reader->families[reader->n_families++], NAME_BYTES, "%.63s", name);
	snprintf(reader->kind, NAME_BYTES, "%.63s", kind);
	reader->place = 1;
	reader->bucket = reader->infinite = -1;
	reader->bound = -INFINITY;
}

static const char *open_family(const struct reader *reader)
{
	return reader->n_families ? reader->families[reader->n_families - 1] : "";
}

static void read_about(struct reader *reader, const char *name, int place, const char *unit)
{
	size_t n = strlen(name), n_unit = strlen(unit);

	if (strcmp(name, open_family(reader)) != 0 || reader->place >= place)
		refuse(reader, "what is said of a family stands elsewhere");
	if (place == 2 &&
	    (n_unit + 1 > n || name[n - n_unit - 1] != '_' || strcmp(name + n - n_unit, unit) != 0))
		refuse(reader, "a unit that is not the name's end");
	reader->place = place;
}

/* Buckets ascend to +Inf, whose count is the histogram's. */
static void read_histogram(struct reader *reader, const char *suffix, const char *le, double value)
{
	double bound = strcmp(le, "+Inf") == 0 ? INFINITY : atof(le);

	if (strcmp(suffix, "_bucket") == 0) {
		if (reader->infinite >= 0) { /* the next histogram of the family */
			reader->infinite = reader->bucket = -1;
			reader->bound = -INFINITY;
		}
		if (!*le || !(bound > reader->bound) || value < reader->bucket)
			refuse(reader, "buckets that do not ascend");
		reader->bound = bound;
		reader->bucket = value;
		reader->infinite = isinf(bound) ? value : -1;
	} else if (strcmp(suffix, "_count") == 0) {
		if (value != reader->infinite)
			refuse(reader, "a count that is not that of all buckets");
	} else if (strcmp(suffix, "_sum") != 0) {
		refuse(reader, "a sample that a histogram has not");
	}
}

static void read_sample(struct reader *reader, const char *name, const char *labels,
                        const char *number)
{
	size_t n = strlen(open_family(reader));
	const char *suffix = name + n, *le = strstr(labels, ",le=\"");
	char bound[NAME_BYTES] = "";

	if (reader->place < 1 || strncmp(name, open_family(reader), n) != 0)
		return refuse(reader, "a sample of another family");
	reader->place = 4;
	if (!le)
		le = strstr(labels, "{le=\"");
	if (le)
		snprintf(bound, sizeof(bound), "%.*s", (int)strcspn(le + 5, "\""), le + 5);
	if (strcmp(reader->kind, "histogram") == 0)
		read_histogram(reader, suffix, bound, atof(number));
	else if (strcmp(suffix, strcmp(reader->kind, "counter") == 0 ? "_total" : "") != 0)
		refuse(reader, "a suffix that its kind has not");
}

static void read_line(struct reader *reader, const char *line)
{
	char parts[MATCHES][NAME_BYTES * 4];

	if (reader->has_ended)
		refuse(reader, "a line behind the end");
	else if (strcmp(line, "# EOF") == 0)
		reader->has_ended = true;
	else if (matches(line, "^# TYPE " NAME " (gauge|counter|histogram)$", parts))
		read_type(reader, parts[1], parts[2]);
	else if (matches(line, "^# UNIT " NAME " ([a-z]+)$", parts))
		read_about(reader, parts[1], 2, parts[2]);
	else if (matches(line, "^# HELP " NAME " ([^\\\\\"]|\\\\[\\\\n])+$", parts))
		read_about(reader, parts[1], 3, "");
	else if (matches(line, "^" NAME "(\\{" LABEL "(," LABEL ")*\\})? [-+0-9.eInfNa]+$", parts))
		read_sample(reader, parts[1], strchr(line, '{') ? strchr(line, '{') : "",
		            strrchr(line, ' ') + 1);
	else
		refuse(reader, "a line that is none");
}

/* NULL: text keeps to the format. */
static const char *complaint_about(const char *text)
{
	struct reader reader = {0};
	char *copy = strdup(text), *at = copy;

	for (char *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		read_line(&reader, at);
	}
	if (*at || !reader.has_ended)
		refuse(&reader, "no end");
	free(copy);
	return reader.complaint;
}

static const struct openmetrics_family seconds = {"adaptra_iteration_seconds",
                                                  OPENMETRICS_HISTOGRAM, "seconds",
                                                  "Time of one training iteration."},
				       ratio = {"adaptra_speedup_ratio", OPENMETRICS_GAUGE, "ratio",
                                                "Over \"another\"\\schedule."},
				       faults = {"adaptra_faults", OPENMETRICS_COUNTER, NULL,
                                                 "Asked for."};

static void write_all(struct strbuf *out)
{
	static const double values[] = {0.5, 0.7, NAN, 3, 0.1}, bounds[] = {0.2, 0.8};
	static const struct openmetrics_label labels[] = {
		{"schedule", "csv:a \"b\"\\c\nd"}, {"plane", "stream"}, {"transport", "\xff"}};
	const struct openmetrics_values measured = {values, 5, bounds, 2};

	openmetrics_begin(out, &seconds);
	openmetrics_histogram(out, &seconds, (struct openmetrics_labels){labels, 3}, &measured);
	openmetrics_histogram(out, &seconds, (struct openmetrics_labels){NULL, 0},
	                      &(struct openmetrics_values){0});
	openmetrics_begin(out, &ratio);
	openmetrics_sample(out, &ratio, (struct openmetrics_labels){labels, 1}, 1.72);
	openmetrics_sample(out, &ratio, (struct openmetrics_labels){NULL, 0}, NAN);
	openmetrics_begin(out, &faults);
	openmetrics_sample(out, &faults, (struct openmetrics_labels){&labels[1], 1}, 3);
	openmetrics_end(out);
}

/* The reader is of no use if it takes everything. */
static void refuses(const char *text, const char *from, const char *to, const char *name)
{
	struct strbuf damaged = {0};
	const char *at = strstr(text, from);

	if (tap_ok(at != NULL, "there is a '%s'", from)) {
		strbuf_add_bytes(&damaged, text, (size_t)(at - text));
		strbuf_addf(&damaged, "%s%s", to, at + strlen(from));
		tap_ok(complaint_about(strbuf_text(&damaged)) != NULL, "the reader refuses %s",
		       name);
	}
	strbuf_fini(&damaged);
}

/* Prometheus' own reader, where it is. It reads its older format, to which UNIT and EOF are
 * comments; what it finds fault with in names is no mistake, and ends with 3. */
static void test_promtool(const char *text)
{
	FILE *pipe;
	int status;

	if (system("command -v promtool >/dev/null")) {
		tap_skip("promtool is not here; package prometheus");
		return;
	}
	pipe = popen("promtool check metrics >/dev/null 2>&1", "w");
	if (!tap_ok(pipe != NULL, "promtool starts"))
		return;
	(void)fputs(text, pipe);
	status = WEXITSTATUS(pclose(pipe));
	tap_ok(status == 0 || status == 3, "promtool can read it");
}

int main(void)
{
	struct strbuf out = {0};
	const char *text;

	write_all(&out);
	text = strbuf_text(&out);
	tap_is_str(complaint_about(text), NULL, "what is written keeps to the format");
	tap_contains(text,
	             "adaptra_iteration_seconds_bucket{schedule=\"csv:a \\\"b\\\"\\\\c\\nd\","
	             "plane=\"stream\",transport=\"\xef\xbf\xbd\",le=\"0.8\"} 3\n",
	             "buckets count up to their bound, labels are escaped");
	tap_contains(text, "le=\"+Inf\"} 4\n", "what is no number is not counted");
	tap_contains(text, "adaptra_iteration_seconds_sum 0\n", "nothing adds up to nothing");
	tap_contains(text, "adaptra_faults_total{plane=\"stream\"} 3\n", "a counter is a total");
	tap_contains(text, "adaptra_speedup_ratio NaN\n", "what is no number says so");
	test_promtool(text);
	refuses(text, "# EOF\n", "", "a text that does not end");
	refuses(text, "# UNIT adaptra_speedup_ratio ratio", "# UNIT adaptra_speedup_ratio seconds",
	        "another unit");
	refuses(text, "le=\"0.8\"} 3", "le=\"0.8\"} 0", "a bucket that goes down");
	refuses(text, "_total", "", "a counter without its suffix");
	refuses(text, "\\nd\"", "\nd\"", "a line feed in a label");
	refuses(text, "_count{", "_total{", "a suffix of another kind");
	refuses(text, "# TYPE adaptra_faults counter", "# TYPE adaptra_speedup_ratio gauge",
	        "a family twice");
	strbuf_fini(&out);
	return tap_done();
}
