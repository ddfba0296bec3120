/* replay_watch.c - tests what is shown of a run in real time while it goes on. */
#include <stddef.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/live_case.h"
#include "tests/tap.h"

enum {
	N_STAGES = 4,
	N_MICROBATCHES = 4,
	N_ITERATIONS = 5,
	N_OPS = OP_KINDS * N_MICROBATCHES,
	TRIES = 5
};

static const int64_t PAUSE_NS = NS_PER_S / 10;

/* What was seen; counts of what cannot be. */
struct notes {
	struct watcher watcher;
	int n_looks, n_restarting;
	int n_odd_stages, n_odd_moments;
	int64_t looking_ns; /* CPU time */
	bool has_begun, has_waited;
};

static bool is_odd(const struct watch_stage *stage)
{
	if (stage->n_ended < 0 || stage->n_ended > N_OPS)
		return true;
	if (stage->doing == WATCH_NOTHING)
		return stage->n_ended != N_OPS;
	return stage->n_ended == N_OPS || stage->microbatch < 0 ||
	       stage->microbatch >= N_MICROBATCHES ||
	       (stage->kind == OP_W && stage->doing == WATCH_INPUT);
}

static void look(struct watcher *watcher, const struct watch_moment *moment)
{
	struct notes *notes = (struct notes *)watcher;

	int64_t begun_ns = clock_thread_cpu_ns();

	notes->n_looks++;
	notes->n_restarting += moment->is_restarting;
	notes->n_odd_moments += moment->n_stages != N_STAGES || moment->n_ops != N_OPS ||
	                        moment->iteration < 0 || moment->iteration >= N_ITERATIONS ||
	                        moment->attempt > 1 || moment->plane != PLANE_STREAM;
	for (int stage = 0; stage < N_STAGES; stage++) {
		notes->n_odd_stages += is_odd(&moment->stages[stage]);
		notes->has_begun |= moment->stages[stage].n_ended > 0;
		notes->has_waited |= moment->stages[stage].doing == WATCH_INPUT;
	}
	notes->looking_ns += clock_thread_cpu_ns() - begun_ns;
}

/* An RNIC dies in iteration 3, and the job takes half a second to start again. */
static void init(struct live_case *c)
{
	live_case_init(c, N_STAGES, N_MICROBATCHES, 2, 1);
	live_case_pace(c, 1);
	c->scenario.n_iterations = N_ITERATIONS;
	c->scenario.recovery = (struct recovery){
		.checkpoint_every = 2, .restart_ns = NS_PER_S / 2, .failover_ns = 40 * NS_PER_MS};
	(void)scenario_fixture_fault(&c->scenario,
	                             (struct fault){.kind = FAULT_DOWN,
	                                            .start = {.kind = MOMENT_ITERATION, .value = 3},
	                                            .end = {.kind = MOMENT_NEVER},
	                                            .from_stage = 2,
	                                            .to_stage = 2});
}

int main(void)
{
	struct notes notes = {.watcher = {look}};
	int64_t took_ns = 0, watching_ns = 0;
	struct live_case c;

	init(&c);
	c.watcher = &notes.watcher;
	/* On a machine that stalls there may be little to see. */
	for (int i = 0; i < TRIES && !(notes.has_begun && notes.has_waited); i++) {
		tap_is_int(live_case_run(&c, "1f1b"), 0, "a watched run ends: %s", c.err.text);
		took_ns += 2 * PAUSE_NS + c.took_ns; /* and a look at the start and the restart */
		watching_ns += c.facts.watching_ns;
	}
	tap_ok(notes.n_looks > 0, "it was looked at, %d times", notes.n_looks);
	tap_ok(notes.n_looks <= took_ns / PAUSE_NS,
	       "ten times a second at most, but for the start and the restart");
	tap_is_int(notes.n_odd_moments, 0, "and always was somewhere in its iterations");
	tap_is_int(notes.n_odd_stages, 0, "as were its stages in their plans");
	tap_ok(notes.has_begun, "ops were seen to end");
	tap_ok(notes.has_waited, "and stages to wait for their neighbours");
	tap_ok(notes.n_restarting > 0, "and the job to start again");
	tap_ok(watching_ns >= notes.looking_ns && watching_ns < took_ns,
	       "what watching took is known: %.3f ms", (double)watching_ns / NS_PER_MS);
	c.watcher = NULL;
	tap_is_int(live_case_run(&c, "1f1b"), 0, "a run that nobody watches ends: %s", c.err.text);
	tap_is_int(c.facts.watching_ns, 0, "and watching took nothing");
	live_case_fini(&c);
	return tap_done();
}
