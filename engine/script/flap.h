/* flap.h - a DOWN that comes again every period, and is in force for a part of each. */
#ifndef ENGINE_SCRIPT_FLAP_H
#define ENGINE_SCRIPT_FLAP_H

#include "engine/script/reader.h"

struct flap {
	struct moment period; /* MOMENT_NEVER: it comes once */
	double duty_ratio;    /* of the period, in which it is in force */
};

bool flap_is_one(const struct flap *flap);

/* How long it is in force each time, in the period's unit. */
int64_t flap_down(const struct flap *flap);

/* Complain about a flap that cannot be; whole is in force from its first start to its last end. */
void flap_check(struct script *script, const struct part *part, const struct flap *flap,
                const struct fault *whole);

/* The fault of that time, from 0; false: there are fewer. One that comes once is the whole. */
bool flap_part(const struct flap *flap, const struct fault *whole, int64_t number,
               struct fault *part_out);

#endif
