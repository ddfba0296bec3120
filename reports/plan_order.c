/* plan_order.c - a stage's order in few words.
 *
 * Pipeline orders are short patterns whose microbatches count up by one: a greedy search for the
 * pattern of up to PERIOD_MOST ops that covers most from here on finds them; ops that fit none
 * stand alone. */
#include "reports/plan_order.h"

#include <stdbool.h>

enum { PERIOD_MOST = 6, REPEATS_LEAST = 2 };

struct pattern {
	int period;
	int n_times;
};

/* How often the period ops at first are repeated, each time with microbatches one further. */
static int count_repeats(const struct plan_op *ops, int n_ops, int first, int period)
{
	int n = 1;

	for (;; n++) {
		for (int i = 0; i < period; i++) {
			int at = first + n * period + i;

			if (at >= n_ops || ops[at].kind != ops[at - period].kind ||
			    ops[at].microbatch != ops[at - period].microbatch + 1)
				return n;
		}
	}
}

/* The one that covers most; the shorter one where two cover the same. */
static struct pattern best_pattern(const struct plan_op *ops, int n_ops, int first)
{
	struct pattern best = {1, 1};

	for (int period = 1; period <= PERIOD_MOST && first + period <= n_ops; period++) {
		int n = count_repeats(ops, n_ops, first, period);

		if (n >= REPEATS_LEAST && n * period > best.n_times * best.period)
			best = (struct pattern){period, n};
	}
	return best;
}

void plan_order_compact(const struct plan *plan, int stage, const char *times, struct strbuf *out)
{
	const struct plan_op *ops = plan_stage(plan, stage);
	int n_ops = OP_KINDS * plan->n_microbatches, at = 0;

	while (at < n_ops) {
		struct pattern pattern = best_pattern(ops, n_ops, at);
		bool is_repeated = pattern.n_times > 1;

		strbuf_add(out, at ? " " : "");
		strbuf_add(out, is_repeated ? "(" : "");
		for (int i = 0; i < pattern.period; i++)
			strbuf_addf(out, "%s%c%d", i ? " " : "", op_kind_letter(ops[at + i].kind),
			            ops[at + i].microbatch);
		if (is_repeated)
			strbuf_addf(out, ")%s%d", times, pattern.n_times);
		at += pattern.period * pattern.n_times;
	}
}
