/* validate_internal.h - what validate_faults.c (each fault) and fault_clashes.c (pairs) share. */
#ifndef ENGINE_SCENARIO_VALIDATE_INTERNAL_H
#define ENGINE_SCENARIO_VALIDATE_INTERNAL_H

#include "engine/scenario/scenario.h"

/* How long it lasts is a time of its own. */
static inline bool fault_has_end_after(const struct fault *f)
{
	return f->end.kind == MOMENT_TIME &&
	       (f->start.kind == MOMENT_OP ||
	        (f->kind == FAULT_DOWN && f->start.kind == MOMENT_ITERATION));
}

/* fault_clashes.c: a sentence for each pair of statements that cannot both be true; -ENOMEM. */
int fault_check_clashes(const struct scenario *scenario, struct scenario_mistakes *mistakes);

#endif
