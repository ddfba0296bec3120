/* format_junit.c - JUnit documents, read back by a reader that takes nothing else. */
#include "engine/format/junit.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { ATTRIBUTES_MOST = 8, NAME_BYTES = 32, VALUE_BYTES = 512 };

struct attribute {
	char name[NAME_BYTES], value[VALUE_BYTES];
};

/* A tag: "<name …>", "<name …/>" or "</name>". */
struct tag {
	char name[NAME_BYTES];
	struct attribute attributes[ATTRIBUTES_MOST];
	int n_attributes;
	bool is_end, is_empty;
};

/* What is counted inside one suite, or in all. */
struct counts {
	long tests, failures, errors, skipped;
	double time_s;
};

/* The reader; complaint: why it stopped, NULL: it has not. */
struct reader {
	const char *at;
	const char *complaint;
	struct counts all, suite;
	int n_suites;
};

static bool refuse(struct reader *reader, const char *complaint)
{
	if (!reader->complaint)
		reader->complaint = complaint;
	return false;
}

static bool take(struct reader *reader, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(reader->at, text, n) != 0)
		return false;
	reader->at += n;
	return true;
}

static bool take_name(struct reader *reader, char out[NAME_BYTES])
{
	size_t n = 0;

	while (islower((unsigned char)reader->at[n]) && n < NAME_BYTES - 1)
		n++;
	memcpy(out, reader->at, n);
	out[n] = '\0';
	reader->at += n;
	return n > 0 || refuse(reader, "no name where one should be");
}

/* One character of a value; '\0': its end, or what cannot stand there. */
static char take_character(struct reader *reader)
{
	static const struct {
		const char *text;
		char c;
	} entities[] = {{"&amp;", '&'}, {"&lt;", '<'},   {"&gt;", '>'},  {"&quot;", '"'},
	                {"&#9;", '\t'}, {"&#10;", '\n'}, {"&#13;", '\r'}};

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
		if (take(reader, entities[i].text))
			return entities[i].c;
	if (strchr("<>&\"", *reader->at) || (unsigned char)*reader->at < 0x20)
		return '\0';
	return *reader->at++;
}

static bool take_value(struct reader *reader, char out[VALUE_BYTES])
{
	size_t n = 0;
	char c;

	if (!take(reader, "=\""))
		return refuse(reader, "no value behind a name");
	while (n < VALUE_BYTES - 1 && (c = take_character(reader)))
		out[n++] = c;
	out[n] = '\0';
	return take(reader, "\"") || refuse(reader, "a character that a value cannot have");
}

static bool take_attribute(struct reader *reader, struct tag *tag)
{
	struct attribute *attribute = &tag->attributes[tag->n_attributes];

	if (tag->n_attributes == ATTRIBUTES_MOST || !take_name(reader, attribute->name) ||
	    !take_value(reader, attribute->value))
		return refuse(reader, "too many attributes");
	for (int i = 0; i < tag->n_attributes; i++)
		if (strcmp(tag->attributes[i].name, attribute->name) == 0)
			return refuse(reader, "an attribute twice");
	tag->n_attributes++;
	return true;
}

/* The next tag, with nothing but blanks in front of it. */
static bool take_tag(struct reader *reader, struct tag *out)
{
	memset(out, 0, sizeof(*out));
	reader->at += strspn(reader->at, " \n");
	if (!take(reader, "<"))
		return refuse(reader, "text between elements");
	out->is_end = take(reader, "/");
	if (!take_name(reader, out->name))
		return false;
	while (!out->is_end && take(reader, " "))
		if (!take_attribute(reader, out))
			return false;
	out->is_empty = !out->is_end && take(reader, "/");
	return take(reader, ">") || refuse(reader, "a tag that does not end");
}

static const char *value_of(struct reader *reader, const struct tag *tag, const char *name)
{
	for (int i = 0; i < tag->n_attributes; i++)
		if (strcmp(tag->attributes[i].name, name) == 0)
			return tag->attributes[i].value;
	(void)refuse(reader, "an attribute is missing");
	return "";
}

/* The tag has exactly these attributes. */
static void need(struct reader *reader, const struct tag *tag, const char *names)
{
	char found[NAME_BYTES * ATTRIBUTES_MOST] = "";

	for (int i = 0; i < tag->n_attributes; i++) {
		strcat(found, i ? " " : "");
		strcat(found, tag->attributes[i].name);
	}
	if (strcmp(found, names) != 0)
		(void)refuse(reader, "other attributes than an element has");
}

static bool take_end(struct reader *reader, const char *name)
{
	struct tag tag;

	if (!take_tag(reader, &tag) || !tag.is_end || strcmp(tag.name, name) != 0)
		return refuse(reader, "an element that does not end where it should");
	return true;
}

static double number_of(struct reader *reader, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!isdigit((unsigned char)*text) || *end)
		(void)refuse(reader, "no number where one should be");
	return value;
}

static void check_counts(struct reader *reader, const struct tag *tag, const struct counts *counts)
{
	const struct {
		const char *name;
		double want;
	} numbers[] = {
		{"tests", (double)counts->tests},   {"failures", (double)counts->failures},
		{"errors", (double)counts->errors}, {"skipped", (double)counts->skipped},
		{"time", counts->time_s},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (fabs(number_of(reader, value_of(reader, tag, numbers[i].name)) -
		         numbers[i].want) > 0.01)
			(void)refuse(reader, "counts that do not add up");
}

/* What a case holds: one of three, or nothing. */
static void read_outcome(struct reader *reader)
{
	struct tag tag;

	if (!take_tag(reader, &tag))
		return;
	if (strcmp(tag.name, "failure") == 0)
		reader->suite.failures++;
	else if (strcmp(tag.name, "error") == 0)
		reader->suite.errors++;
	else if (strcmp(tag.name, "skipped") == 0)
		reader->suite.skipped++;
	else
		(void)refuse(reader, "an outcome that is none");
	need(reader, &tag, strcmp(tag.name, "skipped") == 0 ? "message" : "type message");
	if (!tag.is_empty)
		(void)refuse(reader, "something in an outcome");
	(void)take_end(reader, "testcase");
}

static void read_case(struct reader *reader, const struct tag *tag, const struct tag *suite)
{
	need(reader, tag, "classname name time");
	if (strcmp(value_of(reader, tag, "classname"), value_of(reader, suite, "name")) != 0)
		(void)refuse(reader, "a case of another suite");
	reader->suite.tests++;
	reader->suite.time_s += number_of(reader, value_of(reader, tag, "time"));
	if (!tag->is_empty)
		read_outcome(reader);
}

static void read_properties(struct reader *reader)
{
	struct tag tag;

	while (take_tag(reader, &tag) && !tag.is_end) {
		need(reader, &tag, "name value");
		if (strcmp(tag.name, "property") != 0 || !tag.is_empty)
			(void)refuse(reader, "something else among properties");
	}
}

static void read_suite(struct reader *reader, const struct tag *suite)
{
	struct tag tag;

	reader->suite = (struct counts){0};
	need(reader, suite, "name tests failures errors skipped time timestamp hostname");
	if (strlen(value_of(reader, suite, "timestamp")) != strlen("2026-01-31T02:00:00"))
		(void)refuse(reader, "a timestamp with a zone");
	while (!reader->complaint && take_tag(reader, &tag) && !tag.is_end) {
		if (strcmp(tag.name, "properties") == 0 && reader->suite.tests == 0)
			read_properties(reader);
		else if (strcmp(tag.name, "testcase") == 0)
			read_case(reader, &tag, suite);
		else
			(void)refuse(reader, "something else in a suite");
	}
	check_counts(reader, suite, &reader->suite);
	reader->all.tests += reader->suite.tests;
	reader->all.failures += reader->suite.failures;
	reader->all.errors += reader->suite.errors;
	reader->all.skipped += reader->suite.skipped;
	reader->all.time_s += reader->suite.time_s;
	reader->n_suites++;
}

/* NULL: text is a document as FORMATS has it. */
static const char *complaint_about(const char *text)
{
	struct reader reader = {.at = text};
	struct tag top, tag;

	if (!take(&reader, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
		return "another first line";
	if (!take_tag(&reader, &top) || strcmp(top.name, "testsuites") != 0)
		return "no suites";
	need(&reader, &top, "name tests failures errors skipped time");
	while (!reader.complaint && take_tag(&reader, &tag) && !tag.is_end)
		read_suite(&reader, &tag);
	check_counts(&reader, &top, &reader.all);
	if (!reader.complaint && strcmp(reader.at, "\n") != 0)
		return "something behind the end";
	return reader.complaint;
}

static const struct junit_case cases[] = {
	{"adaptra p50_ms", 20.1, JUNIT_PASSED, NULL, NULL},
	{"zb p50_ms", 21.6, JUNIT_FAILURE, "regression", "from 1 to 2 & more, \"for good\" <now>"},
	{"zb total_s", NAN, JUNIT_ERROR, "run", "line\nfeed,\ttab, bell\a, \x01, broken \xff\xc3("},
	{"verbs", 0, JUNIT_SKIPPED, NULL, "no RDMA device; \xef\xbf\xbf is no character"},
};
static const struct junit_property properties[] = {{"version", "0.1.0"}, {"mode", "sim"}};
static const struct junit_suite suites[] = {
	{"nightly.a", "2026-01-31T02:00:00Z", "node1", properties, 2, cases, 4},
	{"nightly.b \xe2\x82\xac", "2026-01-31T02:10:00", "node1", NULL, 0, cases, 1},
	{"empty", "2026-01-31T02:20:00", "", NULL, 0, NULL, 0},
};

/* Debian's own reader, where it is. */
static void test_xmllint(const char *text)
{
	FILE *pipe;
	int status;

	if (system("command -v xmllint >/dev/null")) {
		tap_skip("xmllint is not here; package libxml2-utils");
		return;
	}
	pipe = popen("xmllint --noout -", "w");
	if (!tap_ok(pipe != NULL, "xmllint starts"))
		return;
	(void)fputs(text, pipe);
	status = pclose(pipe);
	tap_is_int(status, 0, "xmllint finds it well formed");
}

static void test_written(void)
{
	struct strbuf out = {0}, none = {0};
	const char *text;

	junit_write("adaptra-bench", suites, 3, &out);
	text = strbuf_text(&out);
	tap_is_str(complaint_about(text), NULL, "what is written keeps to the format");
	tap_contains(text, "tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"61.800\"",
	             "all cases are counted");
	tap_contains(text, "message=\"from 1 to 2 &amp; more, &quot;for good&quot; &lt;now&gt;\"",
	             "markup is escaped");
	tap_contains(text, "line&#10;feed,&#9;tab, bell, , broken \xef\xbf\xbd\xef\xbf\xbd(\"",
	             "what XML has not is left out, what is not UTF-8 replaced");
	tap_contains(text, "no RDMA device;  is no character", "even if it is UTF-8");
	tap_contains(text, "nightly.b \xe2\x82\xac", "other characters stay");
	tap_contains(text, "timestamp=\"2026-01-31T02:00:00\"", "a zone is left out");
	test_xmllint(text);
	junit_write("none", NULL, 0, &none);
	tap_is_str(complaint_about(strbuf_text(&none)), NULL, "so does a document without suites");
	strbuf_fini(&out);
	strbuf_fini(&none);
}

/* The reader is of no use if it takes everything: the document with from in place of to. */
static void refuses(const char *from, const char *to, const char *name)
{
	struct strbuf out = {0}, damaged = {0};
	const char *text, *at;

	junit_write("adaptra-bench", suites, 3, &out);
	text = strbuf_text(&out);
	at = strstr(text, from);
	if (tap_ok(at != NULL, "there is a '%s'", from)) {
		strbuf_add_bytes(&damaged, text, (size_t)(at - text));
		strbuf_addf(&damaged, "%s%s", to, at + strlen(from));
		tap_ok(complaint_about(strbuf_text(&damaged)) != NULL, "the reader refuses %s",
		       name);
	}
	strbuf_fini(&out);
	strbuf_fini(&damaged);
}

int main(void)
{
	test_written();
	refuses("failures=\"1\"", "failures=\"2\"", "a wrong count");
	refuses("&amp;", "&", "a bare ampersand");
	refuses("</testcase>", "", "a case that does not end");
	refuses("</testcase>", "<skipped message=\"\"/></testcase>", "two outcomes");
	refuses("classname=\"nightly.a\"", "classname=\"a\"", "a case of another suite");
	refuses(" type=\"run\"", "", "an error without a type");
	refuses("02:00:00\"", "02:00:00Z\"", "a timestamp with a zone");
	return tap_done();
}
