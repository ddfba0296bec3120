/* schedule_fixture.h - a request with storage of its own, for the tests of schedules. */
#ifndef TESTS_UNIT_SCHEDULE_FIXTURE_H
#define TESTS_UNIT_SCHEDULE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/schedule/order.h"
#include "tests/tap.h"

enum { FIXTURE_STAGES_MAX = 16 };

struct fixture {
	int64_t op_ns[OP_KINDS][FIXTURE_STAGES_MAX];
	int64_t link_ns[FIXTURE_STAGES_MAX];
	int64_t healthy_ns[FIXTURE_STAGES_MAX];
	int limits[FIXTURE_STAGES_MAX];
	struct schedule_request request;
	uint64_t seed;
	uint64_t n_draws;
};

/* Every op takes op_ns, every link nothing, no limits. The request points into fixture. */
static inline void fixture_init(struct fixture *fixture, int n_stages, int n_microbatches,
                                int64_t op_ns)
{
	memset(fixture, 0, sizeof(*fixture));
	for (int s = 0; s < n_stages; s++)
		for (int kind = OP_F; kind <= OP_W; kind++)
			fixture->op_ns[kind][s] = op_ns;
	fixture->request.times.n_stages = n_stages;
	for (int kind = OP_F; kind <= OP_W; kind++)
		fixture->request.times.op_ns[kind] = fixture->op_ns[kind];
	fixture->request.times.link_ns = fixture->link_ns;
	fixture->request.healthy_link_ns = fixture->healthy_ns;
	fixture->request.n_microbatches = n_microbatches;
}

static inline int64_t fixture_draw(struct fixture *fixture, int64_t n)
{
	return (int64_t)(rng_mix(fixture->seed, fixture->n_draws++) % (uint64_t)n);
}

/* Times, delays and limits of all kinds: equal ones, very different ones, none; the same for the
 * same seed. */
static inline void fixture_random(struct fixture *fixture, uint64_t seed)
{
	int n_stages = 1 + (int)(rng_mix(seed, 1) % 12), n_mb = 1 + (int)(rng_mix(seed, 2) % 40);
	int64_t base;

	fixture_init(fixture, n_stages, n_mb, 10);
	fixture->seed = seed;
	fixture->n_draws = 10;
	base = 1 + fixture_draw(fixture, 30);
	for (int s = 0; s < n_stages; s++) {
		for (int kind = OP_F; kind <= OP_W; kind++)
			fixture->op_ns[kind][s] =
				base * (seed % 8 > 0) + fixture_draw(fixture, base);
		fixture->healthy_ns[s] = seed % 3 > 0 ? fixture_draw(fixture, 3) : 0;
		fixture->link_ns[s] = fixture->healthy_ns[s];
		if (fixture_draw(fixture, 4) == 0)
			fixture->link_ns[s] += fixture_draw(fixture, 20 * base);
		fixture->limits[s] = (int)fixture_draw(fixture, 2 * n_stages + 1);
	}
	fixture->request.has_straggler = fixture_draw(fixture, 2) == 1;
	fixture->request.limits = fixture_draw(fixture, 2) == 1 ? fixture->limits : NULL;
}

/* Make the plan of letters; false and a failed check when it cannot be. */
static inline bool fixture_plan(struct fixture *fixture, const char *const *letters,
                                struct plan *out)
{
	struct err err = {0};

	if (plan_init(out, fixture->request.times.n_stages, fixture->request.n_microbatches, &err))
		return tap_ok(false, "a plan is made: %s", err.text);
	if (plan_from_letters(out, letters, &fixture->request.times, &err)) {
		plan_fini(out);
		return tap_ok(false, "a plan is made from letters: %s", err.text);
	}
	return true;
}

/* The letters of a stage; out holds 3·N and a NUL. */
static inline const char *plan_letters(const struct plan *plan, int stage, char *out)
{
	const struct plan_op *ops = plan_stage(plan, stage);
	int n_ops = OP_KINDS * plan->n_microbatches;

	for (int i = 0; i < n_ops; i++)
		out[i] = op_kind_letter(ops[i].kind);
	out[n_ops] = '\0';
	return out;
}

#endif
