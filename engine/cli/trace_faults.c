/* trace_faults.c - the faults of a slow-link trace, in the shortest pipeline that can have them. */
#include "engine/cli/trace_faults.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/format/slow_link_trace.h"
#include "engine/scenario/topology.h"

/* The highest stage that a link "a_b" names: the trace does not say how long its pipeline is. */
static int highest_stage(const char *text)
{
	long highest = 1;

	for (const char *at = text; *at;) {
		char *end;
		bool is_behind_bar = at > text && at[-1] == '_';
		long number;

		if (!isdigit((unsigned char)*at)) {
			at++;
			continue;
		}
		number = strtol(at, &end, 10);
		if ((is_behind_bar || *end == '_') && number > highest)
			highest = number;
		at = end;
	}
	return highest < TOPOLOGY_STAGES_MAX ? (int)highest : TOPOLOGY_STAGES_MAX - 1;
}

int trace_faults_parse(const char *name, const char *text, size_t n_bytes, int down_stage,
                       struct trace_faults *out, struct err *err)
{
	struct trace_faults faults = {.n_links = highest_stage(text)};
	struct slow_link_trace trace;
	int rc;

	if (down_stage > faults.n_links)
		faults.n_links = down_stage;
	rc = slow_link_trace_parse(name, text, n_bytes,
	                           (struct trace_rules){faults.n_links, TRACE_DETECT}, &trace, err);
	if (rc)
		return rc;
	rc = slow_link_trace_faults(&trace, down_stage, 0, &faults.faults, &faults.n_faults, err);
	faults.n_warnings = trace.n_warnings;
	slow_link_trace_fini(&trace);
	if (rc == 0)
		*out = faults;
	return rc;
}

void trace_faults_fini(struct trace_faults *faults)
{
	free(faults->faults);
	faults->faults = NULL;
}
