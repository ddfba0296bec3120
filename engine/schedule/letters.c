/* letters.c - a plan from one string of letters a stage, as orders are recorded and drawn. */
#include <errno.h>

#include "engine/schedule/policy_internal.h"

static int put_letter(struct op_writer *writer, int stage, int n_microbatches, char letter,
                      struct err *err)
{
	enum op_kind kind;

	if (!letter)
		return err_set(err, -EINVAL,
		               "the order of stage %d ends after %d letters; wanted %d", stage,
		               writer->n_ops, OP_KINDS * n_microbatches);
	if (!op_kind_parse(letter, &kind))
		return err_set(err, -EINVAL,
		               "letter %d of stage %d's order is '%c'; wanted F, B or W",
		               writer->n_ops + 1, stage, letter);
	if (writer->next[kind] == n_microbatches)
		return err_set(err, -EINVAL, "the order of stage %d has more than %d %c", stage,
		               n_microbatches, letter);
	op_put(writer, kind);
	return 0;
}

int plan_from_letters(struct plan *plan, const char *const *letters, const struct plan_times *times,
                      struct err *err)
{
	for (int s = 0; s < plan->n_stages; s++) {
		struct op_writer writer = op_writer_at(plan, s);

		for (int i = 0; i < OP_KINDS * plan->n_microbatches; i++) {
			int rc = put_letter(&writer, s, plan->n_microbatches, letters[s][i], err);

			if (rc)
				return rc;
		}
	}
	return plan_time(plan, times, err);
}
