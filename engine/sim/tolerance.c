/* tolerance.c - how much delay a link bears under a plan. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/sim/sim.h"

/* Beyond this no delay is tried: 2^40 ns are 18 minutes. */
static const int64_t most_ns = (int64_t)1 << 40;

/* What is tried: plan and link_ns are copies of the caller's. */
struct trial {
	struct plan plan;
	struct plan_times times;
	int64_t *link_ns;
	int link;
};

static int makespan_with(struct trial *trial, int64_t delay_ns, int64_t *out, struct err *err)
{
	int64_t healthy_ns = trial->link_ns[trial->link];
	int rc;

	trial->link_ns[trial->link] += delay_ns;
	rc = plan_time(&trial->plan, &trial->times, err);
	trial->link_ns[trial->link] = healthy_ns;
	if (rc == 0)
		*out = trial->plan.makespan_ns;
	return rc;
}

/* The largest delay up to most_ns that is borne: the growth beyond twice the delay is convex and 0
 * at 0. */
static int search(struct trial *trial, int64_t *out, struct err *err)
{
	int64_t base_ns, makespan_ns, borne_ns = 0, refused_ns = most_ns + 1;
	int rc = makespan_with(trial, 0, &base_ns, err);

	while (rc == 0 && refused_ns - borne_ns > 1) {
		int64_t delay_ns = borne_ns + (refused_ns - borne_ns) / 2;

		rc = makespan_with(trial, delay_ns, &makespan_ns, err);
		if (rc == 0 && makespan_ns - base_ns <= 2 * delay_ns)
			borne_ns = delay_ns;
		else
			refused_ns = delay_ns;
	}
	if (rc == 0)
		*out = borne_ns == most_ns ? -1 : borne_ns;
	return rc;
}

int sim_tolerated_delay(const struct plan *plan, const struct plan_times *times, int link,
                        int64_t *out, struct err *err)
{
	struct trial trial = {.times = *times, .link = link};
	int rc;

	trial.link_ns =
		array_copy(times->link_ns, (size_t)times->n_stages - 1, sizeof(*trial.link_ns));
	if (!trial.link_ns)
		return err_set(err, -ENOMEM, "no memory to try delays");
	trial.times.link_ns = trial.link_ns;
	rc = plan_copy(plan, &trial.plan, err);
	if (rc == 0) {
		rc = search(&trial, out, err);
		plan_fini(&trial.plan);
	}
	free(trial.link_ns);
	return rc;
}
