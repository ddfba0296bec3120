/* fault_clashes.c - which faults cannot both be true.
 *
 * Two faults of one kind on one target clash unless one is over when the other starts, whatever the
 * run turns out to be. Nobody can say that beforehand when one is by iteration and the other by
 * time, nor of two ops of one iteration that no dependency orders, nor of one that lasts for a time
 * from an op; those are refused, too. Faults are sorted by kind, target and start, so that each has
 * to be compared only with those that may still be in force. */
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

static bool is_by_time(const struct fault *f)
{
	return f->start.kind == MOMENT_TIME;
}

static int compare_faults(const void *left, const void *right)
{
	const struct fault *a = *(const struct fault *const *)left;
	const struct fault *b = *(const struct fault *const *)right;
	int order = compare_targets(a, b);

	if (order == 0)
		order = order_of(is_by_time(a), is_by_time(b));
	if (order == 0)
		order = order_of(a->start.value, b->start.value);
	if (order == 0)
		order = order_of((int64_t)a->start.kind, (int64_t)b->start.kind);
	if (order == 0)
		order = order_of(a->event, b->event);
	return order;
}

/* The first iteration, or moment, at which it surely is no longer in force. */
static int64_t reach(const struct fault *f)
{
	/* A rail that dies again while it is dead just stays dead. */
	if (fault_has_end_after(f))
		return f->kind == FAULT_DOWN ? f->start.value + 1 : INT64_MAX;
	if (f->end.kind == MOMENT_OP)
		return f->end.value + 1;
	return f->end.kind == MOMENT_NEVER ? INT64_MAX : f->end.value;
}

/* Does a end at an op of the iteration in which b starts at one? */
static bool meet_at_ops(const struct fault *a, const struct fault *b)
{
	return a->end.kind == MOMENT_OP && b->start.kind == MOMENT_OP &&
	       a->end.value == b->start.value;
}

/* Is a surely over when b starts? */
static bool is_before(const struct fault *a, const struct fault *b)
{
	if (is_by_time(a) != is_by_time(b))
		return false;
	if (reach(a) <= b->start.value)
		return true;
	return meet_at_ops(a, b) && moment_op_precedes(&a->end, &b->start);
}

static void target_text(const struct fault *f, struct strbuf *out)
{
	if (fault_is_on_link(f))
		strbuf_addf(out, "link \"%d->%d\"", f->from_stage, f->to_stage);
	else if (f->kind == FAULT_SLOW_STAGE)
		strbuf_addf(out, "stage %d", f->from_stage);
	else
		strbuf_addf(out, "rail %d of stage %d", f->rail, f->from_stage);
}

/* Why the two cannot be, after the target and who else is on it. */
static void add_reason(const struct fault *a, const struct fault *b, struct strbuf *text)
{
	bool is_after_op = (a->start.kind == MOMENT_OP && fault_has_end_after(a)) ||
	                   (b->start.kind == MOMENT_OP && fault_has_end_after(b));

	if (is_by_time(a) != is_by_time(b))
		strbuf_add(text, ", and one is by iteration, the other by time: they cannot be "
		                 "told apart; use one kind of moment");
	else if (is_after_op)
		strbuf_add(text, ", and when one that lasts for a time from an op is over cannot "
		                 "be told beforehand; let it last to an iteration or an op");
	else if (meet_at_ops(a, b) || meet_at_ops(b, a))
		strbuf_add(text, " in that iteration, and which of the ops comes first is for the "
		                 "schedule to say; end one at the op at which the other starts");
	else
		strbuf_addf(text, " at that %s; end one before the other starts",
		            is_by_time(a) ? "time" : "iteration");
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
	if (a->event != b->event || is_by_time(a) != is_by_time(b))
		add_reason(a, b, &text);
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

/* Faults of one target that may still be in force; none of them clashes with another, so that they
 * are few. */
struct open_faults {
	const struct fault **faults;
	size_t n, capacity;
};

/* Forget those that are over when f starts. */
static void drop_ended(struct open_faults *open, const struct fault *f)
{
	size_t n = 0;

	for (size_t i = 0; i < open->n; i++)
		if (is_by_time(open->faults[i]) != is_by_time(f) ||
		    reach(open->faults[i]) > f->start.value)
			open->faults[n++] = open->faults[i];
	open->n = n;
}

/* Of two that clash, the one that reaches further can clash with more. */
static int check_against(struct open_faults *open, const struct fault *f, struct clashes *told,
                         struct scenario_mistakes *mistakes)
{
	for (size_t i = 0; i < open->n; i++) {
		const struct fault *other = open->faults[i];
		int rc = 0;

		if (is_before(other, f) || is_before(f, other))
			continue;
		if (!is_told(told, other->event, f->event))
			rc = complain_clash(other, f, mistakes);
		if (is_by_time(other) != is_by_time(f) || reach(f) > reach(other))
			open->faults[i] = f;
		return rc;
	}
	open->faults[open->n++] = f;
	return 0;
}

static int check_clashes(const struct fault **sorted, size_t n, struct scenario_mistakes *mistakes)
{
	struct clashes told = {0};
	struct open_faults open = {0};
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct fault **grown = array_grow(open.faults, &open.capacity, open.n + 1,
		                                        sizeof(const struct fault *));

		if (!grown) {
			rc = -ENOMEM;
			break;
		}
		open.faults = grown;
		if (open.n > 0 && compare_targets(open.faults[0], sorted[i]) != 0)
			open.n = 0;
		drop_ended(&open, sorted[i]);
		rc = check_against(&open, sorted[i], &told, mistakes);
	}
	free(open.faults);
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
