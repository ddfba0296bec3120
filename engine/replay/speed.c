/* speed.c - how fast a live run may be: ops that last too short a time leave the model no room. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/replay/live_internal.h"

enum { MODEL_SHARE = 10 }; /* of an op's time: the model takes at most one part in so many */

double live_round_speed(double speed)
{
	double unit = pow(10, floor(log10(speed)) - 1);

	return floor(speed / unit) * unit;
}

/* Of all stages together: the model's own time for an op of each kind, and what these ops take. */
struct op_sums {
	double cpu_ns, paced_ns;
	int n_ops;
};

static struct op_sums sum_ops(const struct live *live)
{
	const struct scenario *scenario = live->config.scenario;
	struct op_sums sums = {.n_ops = OP_KINDS * scenario->topology.n_stages};

	for (int stage = 0; stage < scenario->topology.n_stages; stage++) {
		const struct profile_stage *profile = &scenario->profile.stages[stage];

		sums.cpu_ns += OP_KINDS * (double)board_stage(&live->board, 0, stage)->op_cpu_ns;
		sums.paced_ns += (double)(profile->forward_ns + profile->backward_input_ns +
		                          profile->backward_weight_ns) /
		                 live->config.speed;
	}
	return sums;
}

/* The speed at which the model takes exactly as much of an op as it may. */
static double fastest(const struct live *live, const struct op_sums *sums)
{
	if (strcmp(live->config.device->name, "paced") != 0 || sums->cpu_ns <= 0)
		return INFINITY;
	return live->config.speed * sums->paced_ns / MODEL_SHARE / sums->cpu_ns;
}

int speed_check(const struct live *live, struct err *err)
{
	struct op_sums sums = sum_ops(live);
	double most = fastest(live, &sums);
	char own[UNITS_TEXT_BYTES], tenth[UNITS_TEXT_BYTES];

	if (live->config.is_speed_found || live->config.speed <= most)
		return 0;
	units_format_duration(llround(sums.cpu_ns / sums.n_ops), own);
	units_format_duration(llround(sums.paced_ns / sums.n_ops / MODEL_SHARE), tenth);
	if (most < LIVE_SPEED_LEAST)
		return err_set(err, -EINVAL,
		               "the model's own time for an op is %s, and a tenth of what an op "
		               "takes at speed %g is %s; no speed is low enough, so use a workload "
		               "whose ops take longer",
		               own, live->config.speed, tenth);
	return err_set(err, -EINVAL,
	               "the model's own time for an op is %s, and a tenth of what an op takes at "
	               "speed %g is %s; use --speed %g or less",
	               own, live->config.speed, tenth, live_round_speed(most));
}

double speed_fastest(const struct live *live)
{
	struct op_sums sums = sum_ops(live);

	return fastest(live, &sums);
}
