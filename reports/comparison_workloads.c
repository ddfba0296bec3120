/* comparison_workloads.c - runs whose workloads differ are not compared unless forced. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/settings.h"

enum { DIFFERENCES_MOST = 5 };

/* The columns of a run that its workload is made of. */
static void add_columns(const struct stored_run *a, const struct stored_run *b, struct strbuf *out)
{
	const struct {
		const char *name;
		int64_t a, b;
	} columns[] = {
		{"stages", a->n_stages, b->n_stages},
		{"replicas", a->n_replicas, b->n_replicas},
		{"microbatches", a->n_microbatches, b->n_microbatches},
		{"samples per iteration", a->samples_per_iteration, b->samples_per_iteration},
		{"iterations", a->n_iterations, b->n_iterations},
		{"warm-up", a->n_warmup, b->n_warmup},
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (columns[i].a != columns[i].b)
			strbuf_addf(out, "%s%s %" PRId64 " and %" PRId64, out->length ? ", " : "",
			            columns[i].name, columns[i].a, columns[i].b);
	if (a->seed != b->seed)
		strbuf_addf(out, "%sseed %" PRIu64 " and %" PRIu64, out->length ? ", " : "",
		            a->seed, b->seed);
}

/* Settings that repeat the columns, or name the script and not what is in it. */
static const char *const no_news[] = {
	"topology.stages",
	"topology.replicas",
	"microbatches",
	"iterations",
	"warmup",
	"seed",
	"profile.samples_per_microbatch",
	"title",
	"path",
	"digest",
	"profile.source",
	"imported.file.",
	NULL,
};

/* What differs between two runs, columns first. */
static void describe(const struct stored_run *a, const struct stored_run *b, struct strbuf *out)
{
	struct strbuf columns = {0}, settings = {0};
	struct err ignored = {0};

	add_columns(a, b, &columns);
	strbuf_add(out, strbuf_text(&columns));
	if (settings_add_differences(a->settings_json ? a->settings_json : "",
	                             b->settings_json ? b->settings_json : "", DIFFERENCES_MOST,
	                             no_news, &settings, &ignored) == 0 &&
	    settings.length > 0)
		strbuf_addf(out, "%s%s",
		            columns.length ? "; settings: " : "settings: ", strbuf_text(&settings));
	if (columns.length == 0 && settings.length == 0)
		strbuf_add(out, "faults or profile, which the settings do not show");
	out->is_failed |= columns.is_failed | settings.is_failed;
	strbuf_fini(&columns);
	strbuf_fini(&settings);
}

/* The first run whose workload is not the first's; 0: all agree. */
static size_t find_odd(const struct stored_run *runs, size_t n_runs)
{
	for (size_t i = 1; i < n_runs; i++)
		if (runs[i].workload_fingerprint != runs[0].workload_fingerprint)
			return i;
	return 0;
}

int comparison_check_workloads(const struct stored_run *runs, size_t n_runs, bool is_forced,
                               struct comparison *out, struct err *err)
{
	size_t odd = find_odd(runs, n_runs);
	struct strbuf text = {0};
	int rc = 0;

	if (odd == 0)
		return 0;
	strbuf_addf(&text, "%s workloads of runs %" PRId64 " and %" PRId64 " differ in ",
	            is_forced ? "Compared by force: the" : "the", runs[0].run, runs[odd].run);
	describe(&runs[0], &runs[odd], &text);
	if (text.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory");
	else if (is_forced)
		out->warning = strbuf_take(&text);
	else
		rc = err_set(err, -EINVAL, "%s; compare runs of one workload, or use --force",
		             strbuf_text(&text));
	strbuf_fini(&text);
	return rc;
}
