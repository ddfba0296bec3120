/* clock.h - real time. Virtual time is a number that the simulator carries. */
#ifndef ENGINE_BASE_CLOCK_H
#define ENGINE_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
int64_t clock_monotonic_ns(void);

/* CPU time of the calling thread: what others do meanwhile is not in it. */
int64_t clock_thread_cpu_ns(void);

/* CLOCK_REALTIME, since 1970. */
int64_t clock_realtime_ns(void);

/* Sleep about that long; a signal may end it earlier. */
void clock_sleep_ns(int64_t ns);

#endif
