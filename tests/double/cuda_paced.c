/* cuda_paced.c - ops on a paced GPU take their time by the device's clock, however late they are.
 */
#include "tests/unit/device_fixture.h"

enum { N_OPS = 4, TRIES = 20 };

static const int64_t op_ns = 40 * NS_PER_MS;

struct asked {
	int n;
	int64_t starts_ns[N_OPS];
};

static int64_t ask(void *argument, int64_t start_ns)
{
	struct asked *asked = argument;

	asked->starts_ns[asked->n++] = start_ns;
	return op_ns;
}

static int compute(void *argument, struct err *err)
{
	(void)argument;
	(void)err;
	return 0;
}

/* Ends of ops behind a hold, and before; false: the machine kept one longer than it lasts. */
static bool run_ops(struct device *device, struct asked *asked, int64_t at_ns,
                    int64_t ends_ns[N_OPS + 1])
{
	struct device_stream *stream = fixture_stream(device);
	struct device_flag *flag = device_alloc(device, sizeof(*flag), true);
	struct device_event *events[N_OPS + 1];

	device->stats = (struct device_stats){0};
	asked->n = 0;
	device_flag_set(flag, at_ns);
	device_issue_as_of(device, at_ns);
	(void)device_hold(stream, flag, NULL);
	events[0] = fixture_record(stream);
	for (int i = 0; i < N_OPS; i++) {
		(void)device_launch_asking(stream, compute, asked, ask, NULL);
		events[i + 1] = fixture_record(stream);
	}
	(void)fixture_finish(events[N_OPS]);
	for (int i = 0; i <= N_OPS; i++) {
		int64_t real_ns = 0;

		(void)device_query(events[i], &ends_ns[i], &real_ns, NULL);
		if (real_ns < ends_ns[i])
			tap_ok(false, "event %d was seen %lld ns before its time", i,
			       (long long)(ends_ns[i] - real_ns));
	}
	return device->stats.n_overruns == 0;
}

static void check_pacing(double speed)
{
	struct device *device = fixture_open("paced-cuda", 0, speed, NULL);
	int64_t want_ns = (int64_t)((double)op_ns / speed), ends_ns[N_OPS + 1], at_ns = 0;
	struct asked asked = {0};
	int n_tries = 0, n_right = 0;

	do
		at_ns = clock_monotonic_ns();
	while (!run_ops(device, &asked, at_ns, ends_ns) && ++n_tries < TRIES);
	tap_is_int(ends_ns[0], at_ns, "speed %g: what is behind a hold begins at its moment",
	           speed);
	for (int i = 0; i < N_OPS; i++)
		n_right +=
			ends_ns[i + 1] - ends_ns[i] == want_ns && asked.starts_ns[i] == ends_ns[i];
	tap_is_int(n_right, N_OPS, "an op takes its duration to the ns, from the end of the last");
	tap_is_int(device->stats.n_ops, N_OPS, "each is counted");
	tap_ok(device->stats.late_ns_sum >= 0 &&
	               device->stats.late_ns_max <= device->stats.late_ns_sum,
	       "with how late it was: %lld ns in all", (long long)device->stats.late_ns_sum);
	device_close(device);
}

static void sleep_long(void *argument)
{
	clock_sleep_ns(*(const int64_t *)argument);
}

/* A kernel that takes its time on the stream. */
static int overrun(void *argument, struct err *err)
{
	static int64_t long_ns = 40 * NS_PER_MS;

	return device_call(argument, sleep_long, &long_ns, err);
}

static void check_overrun(void)
{
	struct device *device = fixture_open("paced-cuda", 0, 1, NULL);
	struct device_stream *stream = fixture_stream(device);
	struct device_event *begin = fixture_record(stream), *end;
	int64_t took_ns = 0;

	(void)device_launch(stream, overrun, stream, op_ns / 4, NULL);
	end = fixture_record(stream);
	(void)fixture_finish(end);
	(void)device_elapsed(begin, end, &took_ns, NULL);
	tap_ok(took_ns >= op_ns, "an op that takes longer ends when it really ends: %lld ns",
	       (long long)took_ns);
	tap_is_int(device->stats.n_overruns, 1, "and is counted as such");
	device_close(device);
}

/* Ops of two stages, each on a GPU's device of its own, as in one worker: the one's time is not the
 * other's. Where they took turns the short ones would be late by a long one, each time it is tried.
 */
static void check_beside(void)
{
	struct device *devices[] = {fixture_open("paced-cuda", 0, 1, NULL),
	                            fixture_open("paced-cuda", 0, 1, NULL)};
	struct device_stream *streams[] = {fixture_stream(devices[0]), fixture_stream(devices[1])};
	int64_t late_ns = INT64_MAX;

	for (int try = 0; try < TRIES && late_ns > op_ns / 2; try++) {
		struct device_event *ends[2];

		for (int i = 0; i < 2; i++) {
			devices[i]->stats = (struct device_stats){0};
			for (int k = 0; k < N_OPS; k++)
				(void)device_launch(streams[i], compute, NULL,
				                    i == 0 ? op_ns : op_ns / 8, NULL);
			ends[i] = fixture_record(streams[i]);
		}
		(void)fixture_finish(ends[0]);
		(void)fixture_finish(ends[1]);
		late_ns = devices[0]->stats.late_ns_max > devices[1]->stats.late_ns_max
		                  ? devices[0]->stats.late_ns_max
		                  : devices[1]->stats.late_ns_max;
		late_ns += devices[0]->stats.overrun_ns_sum + devices[1]->stats.overrun_ns_sum;
	}
	tap_ok(late_ns <= op_ns / 2, "ops of two stages are held beside each other: %lld ns late",
	       (long long)late_ns);
	device_close(devices[0]);
	device_close(devices[1]);
}

int main(void)
{
	check_beside();
	check_pacing(1);
	check_pacing(2);
	check_overrun();
	return tap_done();
}
