/* clock.c - real time. */
#include "engine/base/clock.h"

#include <time.h>

#include "engine/base/units.h"

static int64_t now_ns(clockid_t clock)
{
	struct timespec now = {0};

	/* Cannot fail: these clocks exist on every Linux and the pointer is good. */
	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_monotonic_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

int64_t clock_thread_cpu_ns(void)
{
	return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_realtime_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}

void clock_sleep_ns(int64_t ns)
{
	struct timespec span = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	(void)nanosleep(&span, NULL);
}
