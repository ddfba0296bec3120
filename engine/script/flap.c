/* flap.c - an RNIC that goes down again and again: a fault for every time. */
#include "engine/script/flap.h"

#include <math.h>

enum { FLAPS_MAX = 1000 };

bool flap_is_one(const struct flap *flap)
{
	return flap->period.kind != MOMENT_NEVER;
}

int64_t flap_down(const struct flap *flap)
{
	return llround(flap->duty_ratio * (double)flap->period.value);
}

/* A time that is counted from an iteration or an op is known only to the run. */
static bool check_kinds(struct script *script, const struct part *part, const struct flap *flap,
                        const struct fault *whole)
{
	bool is_by_time = flap->period.kind == MOMENT_TIME;

	if (flap->period.kind == MOMENT_OP)
		complain_field(script, part, "period",
		               "period is ab.op; write ab.time \"2s\" or ab.iter(10)");
	else if (whole->end.kind == MOMENT_NEVER)
		complain_field(script, part, "period", "an RNIC that flaps needs an end; write %s",
		               is_by_time ? "lasts = ab.time \"20s\"" : "lasts = ab.iter(100)");
	else if (whole->start.kind != flap->period.kind || whole->end.kind != flap->period.kind)
		complain_field(script, part, "period",
		               is_by_time ? "a period that is a time goes with at and lasts that "
		                            "are times, such as at = ab.time \"2s\""
		                          : "a period of iterations goes with at and lasts of "
		                            "iterations, such as at = ab.iter(10)");
	else
		return true;
	return false;
}

static void check_amounts(struct script *script, const struct part *part, const struct flap *flap,
                          const struct fault *whole)
{
	int64_t down = flap_down(flap), lasts = whole->end.value - whole->start.value;

	if (flap->period.value == 0)
		complain_field(script, part, "period", "period is 0; such a flap never ends");
	else if (down < 1 || down >= flap->period.value)
		complain_field(script, part, "duty",
		               "duty leaves %s of a period; the RNIC has to be down for a part of "
		               "it, %s",
		               down < 1 ? "nothing" : "all",
		               flap->period.kind == MOMENT_TIME ? "and up for the rest"
		                                                : "in whole iterations");
	else if (lasts / flap->period.value >= FLAPS_MAX)
		complain_field(script, part, "period",
		               "the RNIC would flap %lld times; %d are the most",
		               (long long)(lasts / flap->period.value), FLAPS_MAX);
}

void flap_check(struct script *script, const struct part *part, const struct flap *flap,
                const struct fault *whole)
{
	if (check_kinds(script, part, flap, whole))
		check_amounts(script, part, flap, whole);
}

bool flap_part(const struct flap *flap, const struct fault *whole, int64_t number,
               struct fault *part_out)
{
	int64_t start, end;

	if (!flap_is_one(flap)) {
		*part_out = *whole;
		return number == 0;
	}
	start = whole->start.value + number * flap->period.value;
	end = start + flap_down(flap);
	if (start >= whole->end.value)
		return false;
	*part_out = *whole;
	part_out->start.value = start;
	part_out->end.value = end < whole->end.value ? end : whole->end.value;
	return true;
}
