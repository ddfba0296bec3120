/* trace_faults.h - the faults of a slow-link trace, in the shortest pipeline that can have them. */
#ifndef ENGINE_CLI_TRACE_FAULTS_H
#define ENGINE_CLI_TRACE_FAULTS_H

#include <stddef.h>

#include "engine/base/err.h"
#include "engine/scenario/fault.h"

struct trace_faults {
	struct fault *faults;
	size_t n_faults;
	int n_links;       /* of the shortest pipeline with all links and the stage below */
	size_t n_warnings; /* lines that end a delay without naming links */
};

/* name stands in sentences; down_stage loses its RNIC where the trace has one lost. Free with
 * trace_faults_fini(). Errors as of slow_link_trace_parse(). */
int trace_faults_parse(const char *name, const char *text, size_t n_bytes, int down_stage,
                       struct trace_faults *out, struct err *err);
void trace_faults_fini(struct trace_faults *faults);

#endif
