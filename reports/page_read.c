/* page_read.c - reads what a page shows beyond the numbers of its comparison, and chooses the
 * iterations to draw. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "reports/page_internal.h"

/* How far apart the schedules are under an event: the slowest over the fastest; of a single one,
 * how slow it is. NaN: not known. */
static double distance(const struct comparison *comparison, const struct comparison_event *event)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		least = fmin(least, event->p50_ms[i]);
		most = fmax(most, event->p50_ms[i]);
	}
	if (comparison->n_schedules == 1)
		return most;
	return least > 0 && isfinite(least) && isfinite(most) ? most / least : NAN;
}

static size_t choose_event(const struct comparison *comparison)
{
	size_t chosen = comparison->n_events;
	double furthest = 0;

	for (size_t i = 0; i < comparison->n_events; i++) {
		const struct comparison_event *event = &comparison->events[i];
		double apart = event->first_iteration < 0 ? NAN : distance(comparison, event);

		if (apart > furthest) {
			furthest = apart;
			chosen = i;
		}
	}
	return chosen;
}

/* May that iteration stand for the kind? */
static bool is_candidate(const struct page *page, const struct trace_source *source, size_t i,
                         enum page_kind kind)
{
	const struct record_iteration *row = &source->iterations[i];
	const struct comparison_event *event;

	if (!row->is_complete)
		return false;
	switch (kind) {
	case PAGE_HEALTHY:
		return row->iteration >= page->comparison->n_warmup &&
		       !trace_source_has_fault(source, row);
	case PAGE_FAULTY:
		if (page->event == page->comparison->n_events)
			return trace_source_has_fault(source, row);
		event = &page->comparison->events[page->event];
		return row->iteration >= event->first_iteration &&
		       row->iteration <= event->last_iteration;
	}
	return false;
}

/* The candidates are tried from this one on: the first, or the middle. */
static size_t first_choice(enum page_kind kind, size_t n_candidates)
{
	return kind == PAGE_HEALTHY ? 0 : n_candidates / 2;
}

static int read_chosen(const struct trace_source *source, size_t i, struct page_iteration *out,
                       struct err *err)
{
	const struct record_iteration *row = &source->iterations[i];
	struct page_iteration chosen = {
		.iteration = row->iteration,
		.start_ns = row->start_ns,
		.duration_ns = row->duration_ns,
		.compute_ns = row->compute_ns,
		.wait_ns = row->wait_ns,
		.blocked_ns = row->blocked_ns,
	};
	int rc = trace_source_ops(source, i, &chosen.ops, &chosen.n_ops, err);

	if (rc)
		return rc;
	if (chosen.n_ops > 0)
		rc = page_transfer(&chosen, source->run, &chosen.transfer_ns, err);
	if (rc || chosen.n_ops == 0)
		free(chosen.ops);
	else
		*out = chosen;
	return rc;
}

/* out stays as it is where no candidate has ops. */
static int choose(const struct page *page, const struct trace_source *source, enum page_kind kind,
                  struct page_iteration *out, struct err *err)
{
	size_t *candidates = array_new(source->n_iterations, sizeof(*candidates));
	size_t n = 0;
	int rc = 0;

	if (!candidates)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < source->n_iterations; i++)
		if (is_candidate(page, source, i, kind))
			candidates[n++] = i;
	for (size_t i = 0; i < n && !rc && out->n_ops == 0; i++)
		rc = read_chosen(source, candidates[(first_choice(kind, n) + i) % n], out, err);
	free(candidates);
	return rc;
}

static int read_run(struct page *page, struct store *store, size_t schedule, struct err *err)
{
	struct page_run *run = &page->runs[schedule];
	int rc;

	run->source.store = store;
	rc = trace_source_read(&run->source, page->comparison->schedules[schedule].run, err);
	for (int kind = 0; kind < PAGE_KINDS && !rc; kind++)
		if (run->source.pipeline.n_iterations_with_ops > 0)
			rc = choose(page, &run->source, (enum page_kind)kind, &run->chosen[kind],
			            err);
	return rc;
}

int page_read(struct page *page, struct store *store, const struct comparison *comparison,
              const struct report_extras *extras, struct err *err)
{
	int rc = 0;

	*page = (struct page){
		.comparison = comparison, .simulated = extras->simulated, .extras = *extras};
	page->event = choose_event(comparison);
	page->runs = array_new(comparison->n_schedules, sizeof(*page->runs));
	if (!page->runs)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < comparison->n_schedules && !rc; i++)
		rc = read_run(page, store, i, err);
	if (rc)
		page_fini(page);
	return rc;
}

void page_fini(struct page *page)
{
	for (size_t i = 0; page->runs && i < page->comparison->n_schedules; i++) {
		trace_source_fini(&page->runs[i].source);
		for (int kind = 0; kind < PAGE_KINDS; kind++)
			free(page->runs[i].chosen[kind].ops);
	}
	free(page->runs);
	*page = (struct page){0};
}
