/* adaptra_search.c - the published system's planner: greedy orders for fictitious delays, the best
 * is kept.
 *
 * For each fictitious delay 0, 5, …, c ms on the slow links a greedy B > F > W order is made and
 * replayed with the true delay; ties go to the smallest (DESIGN.md section 4, fact 5). The
 * published search knew one delay; with several, a link's fictitious delay is no more than its own
 * true one. c itself is tried, too, and beyond a second the step grows, so that the search has an
 * end. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/schedule/policy_internal.h"

enum { TRIALS_MAX = 200 };

static const int64_t STEP_NS = 5 * (int64_t)NS_PER_MS;

struct search {
	const struct schedule_request *request;
	int64_t *link_ns; /* what the order is made for */
	struct plan trial;
	struct plan *best;
	bool has_best;
};

/* What the link takes beyond its healthy time. */
static int64_t extra_ns(const struct schedule_request *request, int link)
{
	int64_t healthy_ns = request->healthy_link_ns ? request->healthy_link_ns[link] : 0;
	int64_t extra = request->times.link_ns[link] - healthy_ns;

	return request->has_straggler && extra > 0 ? extra : 0;
}

static int64_t most_extra_ns(const struct schedule_request *request)
{
	int64_t most = 0;

	for (int i = 0; i + 1 < request->times.n_stages; i++)
		most = extra_ns(request, i) > most ? extra_ns(request, i) : most;
	return most;
}

/* Make the order for one fictitious delay, time it with the true ones, keep it if it is better. */
static int try_delay(struct search *search, int64_t fictitious_ns, struct err *err)
{
	struct schedule_request fictitious = *search->request;
	struct list_rules rules = {.limits = search->request->limits};
	struct plan swap;
	int rc;

	for (int i = 0; i + 1 < fictitious.times.n_stages; i++) {
		int64_t extra = extra_ns(search->request, i);
		int64_t healthy_ns = search->request->times.link_ns[i] - extra;

		search->link_ns[i] = healthy_ns + (extra < fictitious_ns ? extra : fictitious_ns);
	}
	fictitious.times.link_ns = search->link_ns;
	rc = list_schedule(&fictitious, &rules, &search->trial, err);
	rc = rc ? rc : plan_time(&search->trial, &search->request->times, err);
	if (rc || (search->has_best && search->trial.makespan_ns >= search->best->makespan_ns))
		return rc;
	swap = *search->best;
	*search->best = search->trial;
	search->trial = swap;
	search->has_best = true;
	return 0;
}

static int try_all(struct search *search, struct err *err)
{
	int64_t most_ns = most_extra_ns(search->request);
	int64_t step_ns = STEP_NS * (1 + most_ns / STEP_NS / TRIALS_MAX);
	int rc = 0;

	for (int64_t delay_ns = 0; delay_ns < most_ns && rc == 0; delay_ns += step_ns)
		rc = try_delay(search, delay_ns, err);
	return rc ? rc : try_delay(search, most_ns, err);
}

static int fill(const struct schedule_request *request, struct plan *plan, struct err *err)
{
	struct search search = {.request = request, .best = plan};
	int rc;

	search.link_ns = array_new((size_t)plan->n_stages, sizeof(*search.link_ns));
	if (!search.link_ns)
		return err_set(err, -ENOMEM, "no memory to schedule %d stages", plan->n_stages);
	rc = plan_init(&search.trial, plan->n_stages, plan->n_microbatches, err);
	if (rc == 0) {
		rc = try_all(&search, err);
		plan_fini(&search.trial);
	}
	free(search.link_ns);
	return rc;
}

static int adaptra_search_make(const struct schedule_request *request, struct plan *out,
                               struct err *err)
{
	return policy_make(request, fill, out, err);
}

const struct schedule_ops adaptra_search_ops = {
	.name = "adaptra-search",
	.summary = "best greedy order over fictitious delays (published)",
	.plane = PLANE_STREAM,
	.adaptation = SCHEDULE_REPLANS,
	.make = adaptra_search_make,
};
