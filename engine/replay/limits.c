/* limits.c - what a run needs of the machine, so that it is refused before anything starts, and how
 * long an iteration may take before it counts as stuck. Memory: memory.c. */
#include <errno.h>
#include <math.h>
#include <sys/resource.h>

#include "engine/base/units.h"
#include "engine/replay/live_internal.h"
#include "engine/replay/worker_internal.h"

enum {
	WORKERS_MAX = 512,
	DESCRIPTORS_OWN = 32, /* standard streams, the database, sockets to the workers' control */
	STUCK_MS = 20000,
	STUCK_FACTOR = 3,
	SILENCE_LEAST_MS = 10000,
	CONNECT_LEAST_MS = 10000,
	JITTER_FACTOR = 20, /* beyond which no draw is waited for */
	SLOWEST_BYTES_PER_US = 100,
	LOST_MESSAGE_MS = 1000, /* in real time: some rounds of TCP's retransmission timer */
};

static const struct scenario *scenario_of(const struct live *live)
{
	return live->config.scenario;
}

/* Connections and listeners of a host's worker. */
static double n_descriptors(const struct live_config *config, int host)
{
	const struct topology *topology = &config->scenario->topology;
	int first = topology_first_stage(topology, host);
	int n = topology_stages_on_host(topology, host);
	double n_ends = 2.0 * n - (first == 0) - (first + n == topology->n_stages);

	return DESCRIPTORS_OWN + topology->n_rails * (n + n_ends * config->scenario->n_queues);
}

static int check_descriptors(const struct live *live, struct err *err)
{
	const struct topology *topology = &scenario_of(live)->topology;
	double need = DESCRIPTORS_OWN + topology->n_hosts * topology->n_replicas;
	struct rlimit limit;

	for (int host = 0; host < topology->n_hosts; host++)
		need = fmax(need, n_descriptors(&live->config, host));
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max == RLIM_INFINITY ||
	    need <= (double)limit.rlim_max)
		return 0;
	return err_set(err, -EINVAL,
	               "a process of this run needs %.0f file descriptors and may have %llu; use "
	               "more hosts, fewer rails or fewer queues, or raise the limit (ulimit -n)",
	               need, (unsigned long long)limit.rlim_max);
}

int limits_check(const struct live *live, struct err *err)
{
	const struct topology *topology = &scenario_of(live)->topology;
	int64_t n_workers = (int64_t)topology->n_hosts * topology->n_replicas;
	int rc;

	if (scenario_of(live)->n_queues > TRANSPORT_QUEUES_MAX)
		return err_set(err, -EINVAL,
		               "%d delegate queues a direction exist in virtual time only; %d are "
		               "the most here",
		               scenario_of(live)->n_queues, TRANSPORT_QUEUES_MAX);
	if (n_workers > WORKERS_MAX)
		return err_set(err, -EINVAL,
		               "%d hosts and %d replicas are %lld worker processes, %d are the "
		               "most; use fewer hosts or replicas",
		               topology->n_hosts, topology->n_replicas, (long long)n_workers,
		               WORKERS_MAX);
	rc = memory_check(live, err);
	return rc ? rc : check_descriptors(live, err);
}

void limits_raise(const struct live_config *config, int host)
{
	double need = n_descriptors(config, host);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || need <= (double)limit.rlim_cur)
		return;
	limit.rlim_cur = need < (double)limit.rlim_max ? (rlim_t)need : limit.rlim_max;
	/* Whoever finds no descriptor then says so. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* By how much a fault can make an iteration longer at most, when all its messages wait for each
 * other; profile time. */
static double fault_ns(const struct live *live, const struct fault *fault,
                       const struct executor_job *job)
{
	double n = live->model.n_microbatches;

	if (!fault_may_be_active(fault, job->iteration))
		return 0;
	switch (fault->kind) {
	case FAULT_DELAY:
		return 2 * n * ((double)fault->delay_ns + JITTER_FACTOR * (double)fault->jitter_ns);
	case FAULT_RATE:
		return n * 8e9 * (double)live->payload_bytes / (double)fault->rate_bits_per_s;
	case FAULT_SLOW_STAGE:
		return (fault->slowdown - 1) * (double)job->plan->makespan_ns;
	case FAULT_DOWN:
		return (double)job->failover_ns +
		       (double)limits_silence_ns(&live->config) * live->config.speed;
	case FAULT_LOSS:
		return 2 * n * LOST_MESSAGE_MS * live->config.speed * NS_PER_MS;
	}
	return 0;
}

/* The same of healthy links: one round trip a window, and the rate. */
static double links_ns(const struct live *live)
{
	const struct topology *topology = &scenario_of(live)->topology;
	double n = 2.0 * live->model.n_microbatches * topology->n_stages;
	double window = (double)scenario_of(live)->window_bytes;
	double payload = (double)live->payload_bytes;
	double n_trips = 1 + (window > 0 ? payload / window : 0);
	double rate = (double)topology->link_rate_bits_per_s;

	return n * (2 * n_trips * (double)topology->link_delay_ns +
	            (rate > 0 ? 8e9 * payload / rate : 0));
}

/* What the machine itself takes: computations and bytes, on one core. */
static double machine_ns(const struct live *live)
{
	double n = (double)live->model.n_microbatches * live->board.n_replicas, sum = 0;

	for (int stage = 0; stage < live->board.n_stages; stage++)
		sum += OP_KINDS * (double)board_stage(&live->board, 0, stage)->op_cpu_ns +
		       2e3 * (double)live->payload_bytes / SLOWEST_BYTES_PER_US;
	return n * sum;
}

/* An RNIC that is gone is seen at its own end, and the others are told. Where nobody tells them
 * they give up after what delegates wait for, and longer than a busy machine may keep an answer
 * back. */
int64_t limits_silence_ns(const struct live_config *config)
{
	const struct scenario *scenario = config->scenario;
	double longest_ns = 0, ns;
	bool has_rnic = false;

	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];

		has_rnic |= fault->kind == FAULT_DOWN && site_takes(config->site, i);
		if (fault->kind == FAULT_DELAY)
			longest_ns =
				fmax(longest_ns, (double)fault->delay_ns +
			                                 JITTER_FACTOR * (double)fault->jitter_ns);
	}
	ns = ((double)scenario->recovery.failover_ns + 2 * longest_ns) / config->speed;
	return has_rnic ? llround(fmax(ns, SILENCE_LEAST_MS * (double)NS_PER_MS)) : 0;
}

int64_t limits_connect_ns(const struct live_config *config)
{
	int ms = config->patience_ms / 2;

	return (ms > CONNECT_LEAST_MS ? ms : CONNECT_LEAST_MS) * (int64_t)NS_PER_MS;
}

int limits_patience_ms(const struct live *live)
{
	return live->config.patience_ms > 0 ? live->config.patience_ms : STUCK_MS;
}

int limits_timeout_ms(const struct live *live, const struct executor_job *job)
{
	const struct scenario *scenario = scenario_of(live);
	double ns = (double)job->plan->makespan_ns + links_ns(live), ms;

	for (size_t i = 0; i < scenario->n_faults; i++)
		ns += fault_ns(live, &scenario->faults[i], job);
	ms = limits_patience_ms(live) +
	     STUCK_FACTOR * (ns / live->config.speed + machine_ns(live)) / NS_PER_MS;
	return (int)fmin(ms, 1e9);
}
