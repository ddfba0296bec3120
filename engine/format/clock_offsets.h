/* clock_offsets.h - puts what several ranks observed on one clock, by the messages between them.
 *
 * A message cannot arrive before it was sent. The smallest gaps there and back between two ranks
 * bound how far their clocks are apart: by half their sum around half their difference, as in
 * two-way time transfer. Ranks further away are reached over others, and bounds add up. */
#ifndef ENGINE_FORMAT_CLOCK_OFFSETS_H
#define ENGINE_FORMAT_CLOCK_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/observed.h"

struct clock_offsets {
	size_t n_messages;      /* whose send and receive were both found */
	int n_ranks;            /* with device clocks */
	int n_placed;           /* of them, on the lowest rank's clock now, itself included */
	int n_contradictory;    /* pairs of ranks whose gaps no offset explains: a clock drifted */
	int64_t uncertainty_ns; /* of the rank that is placed worst */
};

/* Shift the ops of every rank that can be placed. A send and its receive on one clock get wait_ns:
 * the end that began first waited for the other one. Sources must know their ranks. -ENOMEM. */
int clock_offsets_apply(struct observed *observed, struct clock_offsets *out, struct err *err);

#endif
