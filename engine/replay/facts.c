/* facts.c - what a live run cost, and who else used the machine meanwhile. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/live_internal.h"

/* Time that all cores together were busy, for anybody; 0 where the kernel does not tell. */
static int64_t machine_busy_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *file = fopen("/proc/stat", "re");
	int n = 0;

	if (!file)
		return 0;
	n = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
	           &iowait, &irq, &softirq);
	(void)fclose(file);
	if (n != 7)
		return 0;
	return (int64_t)(user + nice + system + irq + softirq) * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static int64_t time_of(const struct timeval *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + (int64_t)time->tv_usec * NS_PER_US;
}

/* This process's and its workers'. Those that still run are read from where the kernel keeps them.
 */
static int64_t own_busy_ns(const struct live *live)
{
	struct rusage self, children;
	int64_t sum_ns;

	(void)getrusage(RUSAGE_SELF, &self);
	(void)getrusage(RUSAGE_CHILDREN, &children);
	sum_ns = time_of(&self.ru_utime) + time_of(&self.ru_stime) + time_of(&children.ru_utime) +
	         time_of(&children.ru_stime);
	for (int i = 0; i < live->n_crew; i++) {
		char path[64];
		unsigned long long user = 0, system = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)live->crew[i].pid);
		file = live->crew[i].pid > 0 ? fopen(path, "re") : NULL;
		if (!file)
			continue;
		if (fscanf(file,
		           "%*d %*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
		           &user, &system) == 2)
			sum_ns += (int64_t)(user + system) * (NS_PER_S / sysconf(_SC_CLK_TCK));
		(void)fclose(file);
	}
	return sum_ns;
}

void facts_start(struct live *live)
{
	live->opened_ns = clock_monotonic_ns();
	live->cpu_busy_ns = machine_busy_ns() - own_busy_ns(live);
	live->facts.payload_bytes = (int64_t)live->payload_bytes;
}

void facts_begin_iteration(struct live *live, int64_t now_ns)
{
	if (live->ended_ns > 0)
		live->facts.between_ns += now_ns - live->ended_ns;
	live->begun_ns = now_ns;
}

void facts_end_iteration(struct live *live)
{
	live->ended_ns = clock_monotonic_ns();
}

void facts_add(struct live *live)
{
	int n = live->board.n_replicas * live->board.n_stages;

	for (int i = 0; i < n; i++) {
		const struct device_stats *stats = &live->board.stages[i].stats;

		live->facts.n_ops += stats->n_ops;
		live->facts.late_ns_sum += stats->late_ns_sum;
		live->facts.n_overruns += stats->n_overruns;
		if (stats->late_ns_max > live->facts.late_ns_max)
			live->facts.late_ns_max = stats->late_ns_max;
	}
}

struct live_facts live_facts(const struct executor *executor)
{
	const struct live *live = (const struct live *)executor;
	struct live_facts facts = live->facts;
	int64_t span_ns = clock_monotonic_ns() - live->opened_ns, sum_ns = 0;
	int n = live->board.n_stages;

	facts.payload_bytes = (int64_t)live->payload_bytes;
	facts.n_judged = executor->n_judged;
	facts.n_unsure = executor->n_unsure;
	for (int stage = 0; stage < n; stage++)
		sum_ns += board_stage(&live->board, 0, stage)->op_cpu_ns;
	facts.op_cpu_ns = n > 0 ? sum_ns / n : 0;
	if (live->cpu_busy_ns != 0 && span_ns > 0)
		facts.foreign_cores =
			(double)(machine_busy_ns() - own_busy_ns(live) - live->cpu_busy_ns) /
			(double)span_ns;
	if (facts.foreign_cores < 0)
		facts.foreign_cores = 0;
	return facts;
}
