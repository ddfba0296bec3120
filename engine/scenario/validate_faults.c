/* validate_faults.c - ranges of faults, and which of them cannot both be true.
 *
 * Two faults clash when they are of one kind on one target and their intervals meet, or when one is
 * by iteration and the other by time, because then nobody can say whether they meet. Faults are
 * sorted by kind, target and start, so that each has to be compared only with the one of its target
 * that reaches furthest. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/scenario/scenario.h"

enum { CLASHES_MAX = 100 };

static int complain_stage(struct scenario_mistakes *mistakes, const struct fault *f, int stage,
                          int n_stages)
{
	return scenario_mistake_add(
		mistakes, f->script_line,
		"stage %d is not in a pipeline of %d stages; stages are 0 to %d", stage, n_stages,
		n_stages - 1);
}

static int check_target(const struct scenario *s, const struct fault *f,
                        struct scenario_mistakes *mistakes)
{
	int n = s->topology.n_stages;
	int low = f->from_stage < f->to_stage ? f->from_stage : f->to_stage;
	int high = f->from_stage < f->to_stage ? f->to_stage : f->from_stage;
	bool is_on_link = f->kind == FAULT_DELAY || f->kind == FAULT_RATE;

	if (is_on_link && (low < 0 || high >= n || high - low != 1)) {
		if (n == 1)
			return scenario_mistake_add(
				mistakes, f->script_line,
				"link \"%d->%d\" is in a pipeline of one stage, "
				"which has no links",
				f->from_stage, f->to_stage);
		return scenario_mistake_add(
			mistakes, f->script_line,
			"link \"%d->%d\" does not join neighbours in a pipeline "
			"of %d stages; links are \"0-1\" to \"%d-%d\"",
			f->from_stage, f->to_stage, n, n - 2, n - 1);
	}
	if (!is_on_link && (f->from_stage < 0 || f->from_stage >= n))
		return complain_stage(mistakes, f, f->from_stage, n);
	if (f->kind == FAULT_DOWN && (f->rail < 0 || f->rail >= s->topology.n_rails))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "rail %d is not one of the %d rails of a stage; "
		                            "rails are 0 to %d",
		                            f->rail, s->topology.n_rails, s->topology.n_rails - 1);
	return 0;
}

static int check_amount(const struct fault *f, struct scenario_mistakes *mistakes)
{
	switch (f->kind) {
	case FAULT_DELAY:
		if (f->delay_ns < 0 || f->delay_ns > FAULT_DELAY_MAX_NS || f->jitter_ns < 0 ||
		    f->jitter_ns > FAULT_DELAY_MAX_NS)
			return scenario_mistake_add(mistakes, f->script_line,
			                            "delay and jitter must be 0 to 24 hours");
		if (f->delay_ns == 0 && f->jitter_ns == 0)
			return scenario_mistake_add(mistakes, f->script_line,
			                            "a delay of 0 without jitter has no effect; "
			                            "leave the fault out");
		return 0;
	case FAULT_RATE:
		if (f->rate_bits_per_s < 1)
			return scenario_mistake_add(mistakes, f->script_line,
			                            "a rate must be at least 1 bit/s");
		if (f->rate_bits_per_s > INT64_C(1) << 60)
			return scenario_mistake_add(mistakes, f->script_line,
			                            "a rate must be at most 2^60 bit/s");
		return 0;
	case FAULT_SLOW_STAGE:
		if (!(f->slowdown >= 1 && f->slowdown <= FAULT_SLOWDOWN_MAX))
			return scenario_mistake_add(mistakes, f->script_line,
			                            "factor is %g; it must be 1 to %d", f->slowdown,
			                            FAULT_SLOWDOWN_MAX);
		return 0;
	case FAULT_DOWN:
		return 0;
	}
	return 0;
}

/* How long DOWN lasts after a start by iteration is a time of its own. */
static bool has_end_after(const struct fault *f)
{
	return f->kind == FAULT_DOWN && f->start.kind == MOMENT_ITERATION &&
	       f->end.kind == MOMENT_TIME;
}

static int check_interval(const struct scenario *s, const struct fault *f,
                          struct scenario_mistakes *mistakes)
{
	if (f->start.kind == MOMENT_NEVER || f->start.value < 0)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "a fault starts at iteration 0 or time 0 or later");
	if (f->start.kind == MOMENT_ITERATION && f->start.value >= s->n_iterations)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "the fault starts at iteration %lld, but the last "
		                            "iteration is %d",
		                            (long long)f->start.value, s->n_iterations - 1);
	if (f->end.kind == MOMENT_NEVER || (has_end_after(f) && f->end.value > 0))
		return 0;
	if (f->end.kind != f->start.kind)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "a fault that starts at an iteration lasts for "
		                            "iterations, one that starts at a time for a time");
	if (f->end.value <= f->start.value)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "the fault ends before it starts");
	return 0;
}

/* The first thing that is wrong with a fault. */
static int check_fault(const struct scenario *s, const struct fault *f,
                       struct scenario_mistakes *mistakes)
{
	size_t n_before = mistakes->n_sentences;
	int rc = check_target(s, f, mistakes);

	if (rc == 0 && mistakes->n_sentences == n_before)
		rc = check_amount(f, mistakes);
	if (rc == 0 && mistakes->n_sentences == n_before && f->kind == FAULT_RATE &&
	    scenario_message_bytes(s) == 0)
		rc = scenario_mistake_add(mistakes, f->script_line,
		                          "a rate slows messages by their size, and this workload "
		                          "has none; give it message = \"4MiB\", or use a delay "
		                          "with model = \"rate\"");
	if (rc == 0 && mistakes->n_sentences == n_before)
		rc = check_interval(s, f, mistakes);
	return rc;
}

/* Sign of a − b. */
static int order_of(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_targets(const struct fault *a, const struct fault *b)
{
	int order = order_of((int64_t)a->kind, (int64_t)b->kind);

	if (order == 0)
		order = order_of(a->from_stage, b->from_stage);
	if (order == 0)
		order = order_of(a->to_stage, b->to_stage);
	if (order == 0)
		order = order_of(a->kind == FAULT_DOWN ? a->rail : 0,
		                 b->kind == FAULT_DOWN ? b->rail : 0);
	return order;
}

static int compare_faults(const void *left, const void *right)
{
	const struct fault *a = *(const struct fault *const *)left;
	const struct fault *b = *(const struct fault *const *)right;
	int order = compare_targets(a, b);

	if (order == 0)
		order = order_of((int64_t)a->start.kind, (int64_t)b->start.kind);
	if (order == 0)
		order = order_of(a->start.value, b->start.value);
	if (order == 0)
		order = order_of(a->event, b->event);
	return order;
}

static int64_t reach(const struct fault *f)
{
	if (has_end_after(f))
		return f->start.value + 1;
	return f->end.kind == MOMENT_NEVER ? INT64_MAX : f->end.value;
}

static void target_text(const struct fault *f, struct strbuf *out)
{
	if (f->kind == FAULT_DELAY || f->kind == FAULT_RATE)
		strbuf_addf(out, "link \"%d->%d\"", f->from_stage, f->to_stage);
	else if (f->kind == FAULT_SLOW_STAGE)
		strbuf_addf(out, "stage %d", f->from_stage);
	else
		strbuf_addf(out, "rail %d of stage %d", f->rail, f->from_stage);
}

static int complain_clash(const struct fault *a, const struct fault *b,
                          struct scenario_mistakes *mistakes)
{
	struct strbuf text = {0};
	const char *kind = fault_kind_name(a->kind);
	int rc;

	target_text(a, &text);
	if (a->event == b->event)
		strbuf_addf(&text, " is named twice in one %s fault", kind);
	else
		strbuf_addf(&text, " already has a %s fault", kind);
	if (a->event != b->event && a->script_line > 0)
		strbuf_addf(&text, " from line %d", a->script_line);
	if (a->start.kind != b->start.kind)
		strbuf_add(&text,
		           ", and one is by iteration, the other by time: they cannot be told "
		           "apart; use one kind of moment");
	else if (a->event != b->event)
		strbuf_addf(&text, " at that %s; end one before the other starts",
		            a->start.kind == MOMENT_TIME ? "time" : "iteration");
	rc = text.is_failed
	             ? -ENOMEM
	             : scenario_mistake_add(mistakes, b->script_line, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	return rc;
}

/* Pairs of statements that were complained about; a clash in both directions of a link is one
 * mistake. */
struct clashes {
	int n;
	int events[CLASHES_MAX][2];
};

static bool is_told(struct clashes *told, int a, int b)
{
	for (int i = 0; i < told->n; i++)
		if (told->events[i][0] == a && told->events[i][1] == b)
			return true;
	if (told->n == CLASHES_MAX)
		return true;
	told->events[told->n][0] = a;
	told->events[told->n][1] = b;
	told->n++;
	return false;
}

static int check_clashes(const struct fault **sorted, size_t n, struct scenario_mistakes *mistakes)
{
	struct clashes told = {0};
	const struct fault *furthest = NULL;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct fault *f = sorted[i];

		if (!furthest || compare_targets(furthest, f) != 0) {
			furthest = f;
			continue;
		}
		if ((furthest->start.kind != f->start.kind || f->start.value < reach(furthest)) &&
		    !is_told(&told, furthest->event, f->event))
			rc = complain_clash(furthest, f, mistakes);
		if (furthest->start.kind != f->start.kind || reach(f) > reach(furthest))
			furthest = f;
	}
	return rc;
}

int scenario_validate_faults(const struct scenario *scenario, struct scenario_mistakes *mistakes)
{
	size_t n = scenario->n_faults, n_before = mistakes->n_sentences;
	const struct fault **sorted;
	int told_event = -1, rc = 0;

	/* What is wrong with a statement is wrong with each of its faults; once is enough. */
	for (size_t i = 0; i < n && rc == 0; i++) {
		size_t n_found = mistakes->n_sentences;

		if (scenario->faults[i].event == told_event)
			continue;
		rc = check_fault(scenario, &scenario->faults[i], mistakes);
		if (mistakes->n_sentences > n_found)
			told_event = scenario->faults[i].event;
	}
	sorted = array_new(n, sizeof(const struct fault *));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &scenario->faults[i];
	qsort(sorted, n, sizeof(const struct fault *), compare_faults);
	if (rc == 0)
		rc = check_clashes(sorted, n, mistakes);
	free(sorted);
	if (rc)
		return rc;
	return mistakes->n_sentences > n_before ? -EINVAL : 0;
}
