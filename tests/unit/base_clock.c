/* base_clock.c - checks real time. */
#include "engine/base/clock.h"

#include <time.h>

#include "tests/tap.h"

int main(void)
{
	const struct timespec nap = {.tv_nsec = 2000000};
	int64_t before_ns = clock_monotonic_ns(), last_ns = before_ns, took_ns;
	int64_t cpu_ns;
	int n_backwards = 0;

	for (int i = 0; i < 10000; i++) {
		int64_t now_ns = clock_monotonic_ns();

		n_backwards += now_ns < last_ns;
		last_ns = now_ns;
	}
	tap_is_int(n_backwards, 0, "monotonic time never goes back");
	cpu_ns = clock_thread_cpu_ns();
	before_ns = clock_monotonic_ns();
	clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	took_ns = clock_monotonic_ns() - before_ns;
	tap_ok(took_ns >= nap.tv_nsec, "a sleep of 2 ms takes at least that, found %lld ns",
	       (long long)took_ns);
	cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	tap_ok(cpu_ns >= 0 && cpu_ns < took_ns, "and hardly any CPU time, found %lld ns",
	       (long long)cpu_ns);
	tap_is_number((double)clock_realtime_ns() / 1e9, (double)time(NULL), 2,
	              "real time counts since 1970");
	return tap_done();
}
