/* cuda_clock.c - moments of a GPU on the host's clock.
 *
 * CUDA only says how much time lies between two events, in milliseconds as a float. So an anchor is
 * recorded between two looks at the host's clock, when nothing else is under way. It is renewed
 * because clocks drift apart, and because the float of a long time has few digits: at one second it
 * is exact to 60 ns, at ten to 1 us. */
#include <sched.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/cuda_internal.h"

enum { FIRST_TRIES = 100, RENEWAL_TRIES = 5, DRIFT_SHARE = 10000 };

static const int64_t limit_ns = 10 * (int64_t)NS_PER_S; /* for an empty stream to pass an event */
static const int64_t good_ns = 50 * NS_PER_US;          /* a bracket that is not improved upon */
static const int64_t renewal_ns = NS_PER_S;

/* Spins, since a thread that is put to sleep is woken late. */
static int await(struct cuda *cuda, cudaEvent_t event, int64_t began_ns, struct err *err)
{
	cudaError_t status;

	while ((status = cudaEventQuery(event)) == cudaErrorNotReady) {
		if (clock_monotonic_ns() - began_ns > limit_ns)
			return cuda_check(cuda, cudaErrorLaunchTimeout, "pass an event", err);
		(void)sched_yield();
	}
	return cuda_check(cuda, status, "pass an event", err);
}

static int make_events(struct cuda *cuda, struct err *err)
{
	struct cuda_clock *clock = &cuda->clock;
	cudaError_t status = cudaSuccess;

	if (!clock->anchor)
		status = cudaEventCreateWithFlags(&clock->anchor, cudaEventDefault);
	if (status == cudaSuccess && !clock->other)
		status = cudaEventCreateWithFlags(&clock->other, cudaEventDefault);
	return cuda_check(cuda, status, "make an event", err);
}

/* The event in use is left alone until another one is better: known to less than worst_ns. */
static int try_once(struct cuda *cuda, cudaStream_t stream, int64_t worst_ns, struct err *err)
{
	struct cuda_clock *clock = &cuda->clock;
	cudaEvent_t tried = clock->other;
	int64_t before_ns = clock_monotonic_ns(), bracket_ns;
	int rc = cuda_check(cuda, cudaEventRecord(tried, stream), "record an event", err);

	rc = rc ? rc : await(cuda, tried, before_ns, err);
	bracket_ns = clock_monotonic_ns() - before_ns;
	if (rc || bracket_ns >= worst_ns)
		return rc;
	clock->other = clock->anchor;
	clock->anchor = tried;
	clock->host_ns = before_ns + bracket_ns / 2;
	clock->bracket_ns = bracket_ns;
	return 0;
}

int cuda_clock_set(struct cuda *cuda, cudaStream_t stream, struct err *err)
{
	struct cuda_clock *clock = &cuda->clock;
	int rc = make_events(cuda, err);

	clock->bracket_ns = INT64_MAX;
	for (int i = 0; rc == 0 && i < FIRST_TRIES && clock->bracket_ns > good_ns; i++)
		rc = try_once(cuda, stream, clock->bracket_ns, err);
	clock->renewal_ns = clock->host_ns + renewal_ns;
	return rc;
}

/* What is known of the anchor becomes less with its age, since clocks drift. */
int cuda_clock_renew(struct cuda *cuda, cudaStream_t stream, struct err *err)
{
	struct cuda_clock *clock = &cuda->clock;
	int64_t now_ns = clock_monotonic_ns(), worst_ns;
	int rc = 0;

	if (now_ns < clock->renewal_ns)
		return 0;
	worst_ns = clock->bracket_ns + (now_ns - clock->host_ns) / DRIFT_SHARE;
	for (int i = 0; rc == 0 && i < RENEWAL_TRIES && clock->host_ns < now_ns; i++)
		rc = try_once(cuda, stream, worst_ns, err);
	clock->renewal_ns = clock_monotonic_ns() + renewal_ns;
	return rc;
}

int cuda_clock_moment(struct cuda *cuda, cudaEvent_t event, int64_t *ns_out, struct err *err)
{
	float ms = 0;
	int rc = cuda_check(cuda, cudaEventElapsedTime(&ms, cuda->clock.anchor, event),
	                    "tell the time between two events", err);

	if (rc == 0)
		*ns_out = cuda->clock.host_ns + (int64_t)((double)ms * (double)NS_PER_MS);
	return rc;
}

void cuda_clock_close(struct cuda_clock *clock)
{
	if (clock->anchor)
		(void)cudaEventDestroy(clock->anchor);
	if (clock->other)
		(void)cudaEventDestroy(clock->other);
}
