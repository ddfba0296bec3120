/* delegates.c - where a worker's delegates work: in a thread of their own, or in its loop. */
#include "engine/replay/delegates.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CORES_PER_WORKER = 2 };

int delegates_parse(const char *name, enum delegates *out, struct err *err)
{
	static const char *const names[] = {"auto", "threads", "loop"};

	for (int i = DELEGATES_AUTO; i <= DELEGATES_LOOP; i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (enum delegates)i;
			return 0;
		}
	return err_set(err, -EINVAL, "delegates are '%.64s'; auto, threads and loop are possible",
	               name);
}

int delegates_cores(void)
{
	cpu_set_t cpus;

	/* More than a set holds: as many as are online. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&cpus);
}

bool delegates_are_threads(enum delegates asked, int n_workers, int n_cores)
{
	return asked == DELEGATES_AUTO ? n_workers * CORES_PER_WORKER <= n_cores
	                               : asked == DELEGATES_THREADS;
}

void delegates_describe(enum delegates asked, int n_workers, int n_cores,
                        char out[DELEGATES_TEXT_BYTES])
{
	const char *where = delegates_are_threads(asked, n_workers, n_cores)
	                            ? "threads of their own"
	                            : "the workers' loops";

	if (asked == DELEGATES_AUTO)
		snprintf(out, DELEGATES_TEXT_BYTES,
		         "in %s: %d core%s for %d worker%s, threads want %d", where, n_cores,
		         n_cores == 1 ? "" : "s", n_workers, n_workers == 1 ? "" : "s",
		         n_workers * CORES_PER_WORKER);
	else
		snprintf(out, DELEGATES_TEXT_BYTES, "in %s, as asked for", where);
}
