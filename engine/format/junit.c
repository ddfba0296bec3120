/* junit.c - results as JUnit XML. */
#include "engine/format/junit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/utf8.h"

enum { SECONDS_BYTES = 19 }; /* "2026-01-31T02:00:00" */

/* XML 1.0, production 2, among what is UTF-8. */
static bool is_character(const unsigned char *text, size_t n)
{
	if (n == 1)
		return *text >= 0x20 || *text == '\t' || *text == '\n' || *text == '\r';
	return n != 3 || memcmp(text, "\xef\xbf", 2) != 0 || text[2] < 0xbe;
}

static const char *entity_of(unsigned char c)
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
	/* As they are, a reader makes blanks of them. */
	case '\t':
		return "&#9;";
	case '\n':
		return "&#10;";
	case '\r':
		return "&#13;";
	default:
		return NULL;
	}
}

/* ' name="value"' */
static void add_attribute(struct strbuf *out, const char *name, const char *value)
{
	const unsigned char *p = (const unsigned char *)(value ? value : "");

	strbuf_addf(out, " %s=\"", name);
	while (*p) {
		size_t n = utf8_length(p);
		const char *entity = entity_of(*p);

		if (n == 0)
			strbuf_add(out, "\xef\xbf\xbd");
		else if (entity)
			strbuf_add(out, entity);
		else if (is_character(p, n))
			strbuf_add_bytes(out, (const char *)p, n);
		p += n ? n : 1;
	}
	strbuf_add_char(out, '"');
}

/* Of the cases of one suite or of all. */
struct totals {
	size_t n, n_of[JUNIT_SKIPPED + 1];
	double time_s;
};

static void add_case_to(struct totals *totals, const struct junit_case *junit_case)
{
	totals->n++;
	totals->n_of[junit_case->result]++;
	totals->time_s += isfinite(junit_case->time_s) ? junit_case->time_s : 0;
}

static struct totals totals_of(const struct junit_suite *suites, size_t n_suites)
{
	struct totals totals = {0};

	for (size_t s = 0; s < n_suites; s++)
		for (size_t c = 0; c < suites[s].n_cases; c++)
			add_case_to(&totals, &suites[s].cases[c]);
	return totals;
}

static void add_totals(struct strbuf *out, const struct totals *totals)
{
	strbuf_addf(out,
	            " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
	            totals->n, totals->n_of[JUNIT_FAILURE], totals->n_of[JUNIT_ERROR],
	            totals->n_of[JUNIT_SKIPPED], totals->time_s);
}

static const char *element_of(enum junit_result result)
{
	switch (result) {
	case JUNIT_PASSED:
		return NULL;
	case JUNIT_FAILURE:
		return "failure";
	case JUNIT_ERROR:
		return "error";
	case JUNIT_SKIPPED:
		return "skipped";
	}
	return NULL;
}

static void add_case(struct strbuf *out, const char *suite, const struct junit_case *junit_case)
{
	const char *element = element_of(junit_case->result);

	strbuf_add(out, "  <testcase");
	add_attribute(out, "classname", suite);
	add_attribute(out, "name", junit_case->name);
	strbuf_addf(out, " time=\"%.3f\"", isfinite(junit_case->time_s) ? junit_case->time_s : 0);
	if (!element) {
		strbuf_add(out, "/>\n");
		return;
	}
	strbuf_addf(out, ">\n   <%s", element);
	if (junit_case->result != JUNIT_SKIPPED)
		add_attribute(out, "type", junit_case->type);
	add_attribute(out, "message", junit_case->message);
	strbuf_add(out, "/>\n  </testcase>\n");
}

static void add_properties(struct strbuf *out, const struct junit_suite *suite)
{
	if (suite->n_properties == 0)
		return;
	strbuf_add(out, "  <properties>\n");
	for (size_t i = 0; i < suite->n_properties; i++) {
		strbuf_add(out, "   <property");
		add_attribute(out, "name", suite->properties[i].name);
		add_attribute(out, "value", suite->properties[i].value);
		strbuf_add(out, "/>\n");
	}
	strbuf_add(out, "  </properties>\n");
}

static void add_suite(struct strbuf *out, const struct junit_suite *suite)
{
	struct totals totals = totals_of(suite, 1);
	struct strbuf timestamp = {0};

	strbuf_add_bytes(&timestamp, suite->timestamp, strnlen(suite->timestamp, SECONDS_BYTES));
	strbuf_add(out, " <testsuite");
	add_attribute(out, "name", suite->name);
	add_totals(out, &totals);
	add_attribute(out, "timestamp", strbuf_text(&timestamp));
	add_attribute(out, "hostname", suite->hostname);
	strbuf_add(out, ">\n");
	add_properties(out, suite);
	for (size_t i = 0; i < suite->n_cases; i++)
		add_case(out, suite->name, &suite->cases[i]);
	strbuf_add(out, " </testsuite>\n");
	out->is_failed |= timestamp.is_failed;
	strbuf_fini(&timestamp);
}

void junit_write(const char *name, const struct junit_suite *suites, size_t n_suites,
                 struct strbuf *out)
{
	struct totals totals = totals_of(suites, n_suites);

	strbuf_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	add_attribute(out, "name", name);
	add_totals(out, &totals);
	strbuf_add(out, ">\n");
	for (size_t i = 0; i < n_suites; i++)
		add_suite(out, &suites[i]);
	strbuf_add(out, "</testsuites>\n");
}
