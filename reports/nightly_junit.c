/* nightly_junit.c - the last night as JUnit XML. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/junit.h"
#include "reports/nightly_exports.h"

enum { PROPERTIES = 3 };

/* A scenario's suite, and the texts that it borrows. */
struct suite {
	struct strbuf name;
	struct strbuf *names, *messages; /* [n_verdicts] */
	struct junit_case *cases;
	struct junit_property properties[PROPERTIES];
};

void nightly_short_name(const struct nightly_report *report, struct strbuf *out)
{
	const char *slash = strrchr(report->path, '/');
	const char *name = slash ? slash + 1 : report->path;
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".lua") == 0)
		n -= 4;
	strbuf_add_bytes(out, name, n);
}

static enum junit_result result_of(enum nightly_state state)
{
	switch (state) {
	case NIGHTLY_SHORT:
		return JUNIT_SKIPPED;
	case NIGHTLY_REGRESSION:
	case NIGHTLY_KNOWN:
		return JUNIT_FAILURE;
	case NIGHTLY_STEADY:
	case NIGHTLY_BETTER:
	case NIGHTLY_SUSPECT:
	case NIGHTLY_DISMISSED:
		return JUNIT_PASSED;
	}
	return JUNIT_ERROR;
}

static void fill_case(const struct nightly_report *report, size_t i, struct suite *suite)
{
	const struct nightly_verdict *verdict = &report->verdicts[i];
	struct junit_case *out = &suite->cases[i];
	struct strbuf *message = &suite->messages[i];

	strbuf_addf(&suite->names[i], "%s %s", report->history->schedules[verdict->schedule].name,
	            nightly_metric_name(verdict->metric));
	*out = (struct junit_case){.result = result_of(verdict->state), .type = "regression"};
	if (!isfinite(verdict->tonight)) {
		out->result = JUNIT_ERROR;
		out->type = "run";
		strbuf_add(message, "no run of tonight came to its end");
	} else if (out->result == JUNIT_FAILURE) {
		nightly_explain(report, verdict, message);
	} else {
		strbuf_addf(message, "%zu nights are too few", report->history->n_nights);
	}
	/* In profile time; of one metric, so that the suite's sum is its runs'. */
	if (verdict->metric == NIGHTLY_TOTAL_S)
		out->time_s = verdict->tonight;
}

static int fill_suite(const struct nightly_report *report, struct suite *suite,
                      struct junit_suite *out)
{
	const struct nightly_history *history = report->history;
	size_t n = report->n_verdicts, n_nights = history->n_nights;

	suite->names = array_new(n, sizeof(*suite->names));
	suite->messages = array_new(n, sizeof(*suite->messages));
	suite->cases = array_new(n, sizeof(*suite->cases));
	if (!suite->names || !suite->messages || !suite->cases)
		return 0;
	strbuf_add(&suite->name, "nightly.");
	nightly_short_name(report, &suite->name);
	for (size_t i = 0; i < n; i++)
		fill_case(report, i, suite);
	for (size_t i = 0; i < n; i++) {
		suite->cases[i].name = strbuf_text(&suite->names[i]);
		suite->cases[i].message = strbuf_text(&suite->messages[i]);
	}
	suite->properties[0] = (struct junit_property){"scenario", report->title};
	suite->properties[1] = (struct junit_property){"mode", report->mode};
	suite->properties[2] =
		(struct junit_property){"version", n_nights ? history->versions[n_nights - 1] : ""};
	*out = (struct junit_suite){
		.name = strbuf_text(&suite->name),
		.timestamp = n_nights ? history->created[n_nights - 1] : "",
		.hostname = report->host,
		.properties = suite->properties,
		.n_properties = PROPERTIES,
		.cases = suite->cases,
		.n_cases = n,
	};
	return 1;
}

static void suite_fini(struct suite *suite, size_t n_verdicts)
{
	for (size_t i = 0; i < n_verdicts; i++) {
		if (suite->names)
			strbuf_fini(&suite->names[i]);
		if (suite->messages)
			strbuf_fini(&suite->messages[i]);
	}
	strbuf_fini(&suite->name);
	free(suite->names);
	free(suite->messages);
	free(suite->cases);
}

void nightly_junit(const struct nightly_report *reports, size_t n_reports, struct strbuf *out)
{
	struct suite *suites = array_new(n_reports, sizeof(*suites));
	struct junit_suite *written = array_new(n_reports, sizeof(*written));
	int has_memory = suites && written;

	for (size_t i = 0; i < n_reports && has_memory; i++)
		has_memory = fill_suite(&reports[i], &suites[i], &written[i]);
	if (has_memory)
		junit_write("adaptra-bench", written, n_reports, out);
	else
		out->is_failed = 1;
	for (size_t i = 0; i < n_reports && suites; i++)
		suite_fini(&suites[i], reports[i].n_verdicts);
	free(suites);
	free(written);
}
