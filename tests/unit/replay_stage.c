/* replay_stage.c - what a stage knows of its model's own speed. */
#include "engine/replay/stage.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/model/model.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum {
	AWAKE_US = 40,
	ASLEEP_NS = 1 * NS_PER_MS,
	N_TIMES_LONGER_MOST = 4,
	LARGE = 500, /* times as much to compute */
	LARGE_ROUNDS_MOST = 60
};

/* Let the thread run for a moment, then stand still for much longer, over and over, as on a machine
 * where it has to share its core with many others. */
static void be_held(int number)
{
	const struct itimerval next = {.it_value.tv_usec = AWAKE_US};

	(void)number;
	clock_sleep_ns(ASLEEP_NS);
	(void)setitimer(ITIMER_REAL, &next, NULL);
}

static int64_t measure(struct stage *stage, int64_t *took_ns_out)
{
	int64_t op_cpu_ns = -1, start_ns = clock_monotonic_ns();
	struct err err = {0};

	if (stage_measure(stage, &op_cpu_ns, &err))
		tap_ok(false, "a stage is measured, and not: %s", err.text);
	*took_ns_out = clock_monotonic_ns() - start_ns;
	return op_cpu_ns;
}

static void test_busy_machine(struct stage *stage)
{
	const struct itimerval never = {0};
	int64_t free_ns, held_ns, free_took_ns, held_took_ns;
	struct sigaction action = {.sa_handler = be_held};

	(void)measure(stage, &free_took_ns); /* caches and pages */
	free_ns = measure(stage, &free_took_ns);
	(void)sigaction(SIGALRM, &action, NULL);
	be_held(SIGALRM);
	held_ns = measure(stage, &held_took_ns);
	(void)setitimer(ITIMER_REAL, &never, NULL);
	tap_note("an op of the model: %lld ns, %lld ns; real time of both: %lld ns, %lld ns",
	         (long long)free_ns, (long long)held_ns, (long long)free_took_ns,
	         (long long)held_took_ns);
	tap_ok(free_ns > 0, "a model has a time of its own");
	tap_ok(held_took_ns > 2 * N_TIMES_LONGER_MOST * free_ns * OP_KINDS,
	       "a thread that is held up takes longer");
	tap_ok(held_ns < N_TIMES_LONGER_MOST * free_ns,
	       "but the model's own time for an op stays what it is");
}

/* As on a slow processor: whoever waits for a worker does so for some seconds only. */
static void test_slow_machine(struct stage *stage)
{
	int64_t start_ns = clock_thread_cpu_ns(), took_ns, op_ns, cpu_ns;

	op_ns = measure(stage, &took_ns);
	cpu_ns = clock_thread_cpu_ns() - start_ns;
	tap_note("%lld ns an op, measured in %lld ns of CPU time", (long long)op_ns,
	         (long long)cpu_ns);
	tap_ok(op_ns > 0, "a large model has a time of its own, too");
	tap_ok(cpu_ns < LARGE_ROUNDS_MOST * OP_KINDS * op_ns,
	       "which takes fewer rounds to find out");
}

/* ThreadSanitizer delivers a signal only when the thread calls something of its own. */
static bool has_signals(void)
{
#if defined(__SANITIZE_THREAD__)
	return false;
#else
	return true;
#endif
}

/* Nothing is sent. */
static void with_stage(int n_samples, void (*test)(struct stage *))
{
	static const struct transport_ops no_ops;
	struct transport transport = {.ops = &no_ops};
	struct model_config model = model_default_config(2, 2, 1);
	struct scenario scenario;
	struct live_config live = {.scenario = &scenario, .speed = 1};
	struct stage_config config = {
		.live = &live, .model = &model, .transport = &transport, .n_stages = 1};
	struct stage *stage = NULL;
	struct err err = {0};

	model.n_samples *= n_samples;
	config.payload_bytes = model_message_bytes(&model);
	scenario_fixture(&scenario, 2, 2, 10 * NS_PER_MS);
	if (device_find("cpu", &live.device, &err) || stage_open(&config, 0, &stage, &err))
		tap_ok(false, "a stage opens, and not: %s", err.text);
	else
		test(stage);
	stage_close(stage);
	scenario_fini(&scenario);
}

int main(void)
{
	if (!has_signals())
		return tap_skip_all("a thread cannot be held up under ThreadSanitizer");
	with_stage(1, test_busy_machine);
	with_stage(LARGE, test_slow_machine);
	return tap_done();
}
