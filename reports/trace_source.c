/* trace_source.c - a stored run, read as far as a picture of it needs. */
#include "reports/trace_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void trace_source_fini(struct trace_source *source)
{
	stored_runs_fini(source->run, source->run ? 1 : 0);
	stored_pipeline_fini(&source->pipeline);
	free(source->iterations);
	stored_faults_fini(source->faults, source->n_faults);
	stored_decisions_fini(source->decisions, source->n_decisions);
}

static int read_run(struct trace_source *source, int64_t number, struct err *err)
{
	struct stored_run *runs;
	size_t n_runs;
	int rc = store_read_runs(source->store, &(struct store_query){.run = number}, &runs,
	                         &n_runs, err);

	if (rc)
		return rc;
	if (n_runs == 0) {
		stored_runs_fini(runs, n_runs);
		return err_set(err, -ENOENT,
		               "there is no run %" PRId64
		               " in '%s'; adaptra-bench list runs shows what there is",
		               number, store_path(source->store));
	}
	source->run = runs;
	return 0;
}

int trace_source_read(struct trace_source *source, int64_t number, struct err *err)
{
	struct store *store = source->store;
	int rc = read_run(source, number, err);

	if (!rc)
		rc = store_read_pipeline(store, number, &source->pipeline, err);
	if (!rc)
		rc = store_read_iterations(store, number, &source->iterations,
		                           &source->n_iterations, err);
	if (!rc)
		rc = store_read_faults(store, number, &source->faults, &source->n_faults, err);
	if (!rc)
		rc = store_read_decisions(store, number, &source->decisions, &source->n_decisions,
		                          err);
	return rc;
}

int trace_source_ops(const struct trace_source *source, size_t i, struct record_op **out,
                     size_t *n_out, struct err *err)
{
	struct store_iteration which = {source->run->run, source->iterations[i].attempt,
	                                source->iterations[i].iteration};

	return store_read_ops(source->store, &which, out, n_out, err);
}

bool trace_source_is_in_force(const struct stored_fault *fault,
                              const struct record_iteration *iteration)
{
	int64_t end_ns = iteration->start_ns + iteration->duration_ns;

	/* One that a failure ended at once has no length. */
	if (fault->applied_ns < 0 ||
	    (fault->applied_ns >= end_ns && fault->applied_ns != iteration->start_ns))
		return false;
	return fault->cleared_ns < 0 || iteration->start_ns < fault->cleared_ns;
}

bool trace_source_has_fault(const struct trace_source *source,
                            const struct record_iteration *iteration)
{
	for (size_t i = 0; i < source->n_faults; i++)
		if (trace_source_is_in_force(&source->faults[i], iteration))
			return true;
	return false;
}
