/* fault_clashes.c - which faults cannot both be true.
 *
 * Two faults clash when they are of one kind on one target and their intervals meet, or when one is
 * by iteration and the other by time, because then nobody can say whether they meet. Faults are
 * sorted by kind, target and start, so that each has to be compared only with the one of its target
 * that reaches furthest. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/scenario/validate_internal.h"

enum { CLASHES_MAX = 100 };

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
	if (fault_has_end_after(f))
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

int fault_check_clashes(const struct scenario *scenario, struct scenario_mistakes *mistakes)
{
	size_t n = scenario->n_faults;
	const struct fault **sorted = array_new(n, sizeof(const struct fault *));
	int rc;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &scenario->faults[i];
	qsort(sorted, n, sizeof(const struct fault *), compare_faults);
	rc = check_clashes(sorted, n, mistakes);
	free(sorted);
	return rc;
}
