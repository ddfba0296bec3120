/* trace_source.h - a stored run, read as far as a picture of it needs. */
#ifndef REPORTS_TRACE_SOURCE_H
#define REPORTS_TRACE_SOURCE_H

#include "engine/store/store.h"

/* Owns its parts but for the store. Ops are read one iteration at a time. Start zeroed. */
struct trace_source {
	struct store *store; /* borrowed */
	struct stored_run *run;
	struct stored_pipeline pipeline;
	struct record_iteration *iterations;
	size_t n_iterations;
	struct stored_fault *faults;
	size_t n_faults;
	struct stored_decision *decisions;
	size_t n_decisions;
};

/* Read run number from source->store; trace_source_fini() in any case. -ENOENT: there is no such
 * run. One made without ops says so in its pipeline. */
int trace_source_read(struct trace_source *source, int64_t number, struct err *err);
void trace_source_fini(struct trace_source *source);

/* The ops of the i-th iteration; the caller frees *out. */
int trace_source_ops(const struct trace_source *source, size_t i, struct record_op **out,
                     size_t *n_out, struct err *err);

/* Was the fault in force at any moment of the iteration? */
bool trace_source_is_in_force(const struct stored_fault *fault,
                              const struct record_iteration *iteration);

/* Was any? */
bool trace_source_has_fault(const struct trace_source *source,
                            const struct record_iteration *iteration);

#endif
