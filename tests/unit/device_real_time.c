/* device_real_time.c - four paced devices in one polling thread keep to real time, as ratios. */
#include <math.h>
#include <sched.h>

#include "tests/unit/device_fixture.h"

enum { N_DEVICES = 4, N_OPS = 40, OP_NS = 2000000, N_TRIES = 20 };

struct stage {
	struct device *device;
	struct device_event *start;
	struct device_event *end;
};

/* About 30 us of work, small beside an op. */
static int compute(void *argument, struct err *err)
{
	volatile double *sum = argument;

	(void)err;
	for (int i = 1; i < 10000; i++)
		*sum += 1.0 / i;
	return 0;
}

static void issue(struct stage *stage, double speed, double *sum)
{
	struct device_stream *stream;

	stage->device = fixture_open("paced", 0, speed, NULL);
	stream = fixture_stream(stage->device);
	stage->start = fixture_record(stream);
	for (int i = 0; i < N_OPS; i++)
		(void)device_launch(stream, compute, sum, OP_NS, NULL);
	stage->end = fixture_record(stream);
}

/* What is due on all of them, then one computation, the one that should have begun first. */
static bool poll(struct stage *stages)
{
	struct device *first = NULL;
	int64_t first_ns = INT64_MAX;
	bool is_idle = true;

	for (int i = 0; i < N_DEVICES; i++) {
		struct device_state state = {0};

		(void)device_progress(stages[i].device, false, &state, NULL);
		is_idle &= state.is_idle;
		if (state.ready_ns < first_ns) {
			first_ns = state.ready_ns;
			first = stages[i].device;
		}
	}
	if (first && first_ns <= clock_monotonic_ns()) {
		struct device_state state;

		(void)device_progress(first, true, &state, NULL);
	}
	return !is_idle;
}

/* Real over planned time, of the slowest. */
static double run(double speed, int64_t *scheduled_ns_out)
{
	struct stage stages[N_DEVICES];
	double sums[N_DEVICES] = {0}, worst = 0;
	int64_t late_ns = 0, n_overruns = 0;

	for (int i = 0; i < N_DEVICES; i++)
		issue(&stages[i], speed, &sums[i]);
	while (poll(stages))
		(void)sched_yield();
	for (int i = 0; i < N_DEVICES; i++) {
		int64_t start_ns = 0, end_ns = 0;
		double planned_ns = N_OPS * (OP_NS / speed);

		(void)device_query(stages[i].start, &start_ns, NULL, NULL);
		(void)device_query(stages[i].end, NULL, &end_ns, NULL);
		(void)device_elapsed(stages[i].start, stages[i].end, scheduled_ns_out, NULL);
		if ((double)(end_ns - start_ns) / planned_ns > worst)
			worst = (double)(end_ns - start_ns) / planned_ns;
		late_ns += stages[i].device->stats.late_ns_sum;
		n_overruns += stages[i].device->stats.n_overruns;
		device_close(stages[i].device);
	}
	tap_note("speed %g: real over planned %.4f, mean lateness %.1f us, %lld overruns", speed,
	         worst, (double)late_ns / (N_DEVICES * N_OPS) / 1e3, (long long)n_overruns);
	return worst;
}

/* The best of some tries, the first that is below the limit: a machine that is busy otherwise may
 * stop the thread for many milliseconds, but a device that loses time loses it in each of them. */
static double best_of(double speed, double limit, int64_t *scheduled_ns_out)
{
	double best = run(speed, scheduled_ns_out);

	for (int i = 1; i < N_TRIES && best >= limit; i++)
		best = fmin(best, run(speed, scheduled_ns_out));
	return best;
}

int main(void)
{
	const double slow_limit = 1 + 0.5 * slowness_of_machine();
	const double fast_limit = 1 + slowness_of_machine();
	int64_t slow_ns = 0, fast_ns = 0;
	double slow = best_of(1, slow_limit, &slow_ns), fast = best_of(4, fast_limit, &fast_ns);

	tap_ok(slow >= 1 && slow < slow_limit, "80 ms of ops take %.4f of their time", slow);
	tap_ok(fast >= 1 && fast < fast_limit, "20 ms of ops take %.4f of their time", fast);
	tap_ok(slow_ns > fast_ns, "a higher speed is faster by the schedule: %.3f times",
	       (double)slow_ns / (double)fast_ns);
	return tap_done();
}
