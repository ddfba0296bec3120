/* check.c - what virtual time has no model of. */
#include <errno.h>
#include <stdio.h>

#include "engine/sim/sim.h"

enum { LINE_BYTES = 32 };

static int refuse(const struct fault *fault, struct err *err)
{
	char line[LINE_BYTES] = "";

	if (fault->script_line > 0)
		snprintf(line, sizeof(line), " (line %d)", fault->script_line);
	return err_set(err, -ENOTSUP,
	               "virtual time has whole messages and no packets that could %s, as a fault "
	               "on link %d->%d%s asks for; run it live with --lab netns, where injectors "
	               "netem and relay do that",
	               fault->kind == FAULT_LOSS ? "be lost" : "overtake each other",
	               fault->from_stage, fault->to_stage, line);
}

int sim_check(const struct scenario *scenario, struct err *err)
{
	for (size_t i = 0; i < scenario->n_faults; i++)
		if (fault_is_of_packets(&scenario->faults[i]))
			return refuse(&scenario->faults[i], err);
	return 0;
}
