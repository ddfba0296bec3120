/* nccl_ending.c - ends communicators without standing where NCCL does. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/transport/nccl_internal.h"

static const int64_t limit_ns = 300 * NS_PER_MS;
static const int64_t look_again_ns = 100 * NS_PER_US;

/* Shared by the thread and who waits for it; the last one frees it. */
struct ending {
	ncclResult_t (*end)(ncclComm_t);
	ncclComm_t communicator;
	int n_users;
	int is_over;
};

static void release(struct ending *ending)
{
	if (__atomic_sub_fetch(&ending->n_users, 1, __ATOMIC_ACQ_REL) == 0)
		free(ending);
}

/* What it says cannot change anything any more. */
static void *run(void *argument)
{
	struct ending *ending = argument;

	(void)ending->end(ending->communicator);
	__atomic_store_n(&ending->is_over, 1, __ATOMIC_RELEASE);
	release(ending);
	return NULL;
}

static bool is_over_within(const struct ending *ending, int64_t ns)
{
	int64_t end_ns = clock_monotonic_ns() + ns;

	while (!__atomic_load_n(&ending->is_over, __ATOMIC_ACQUIRE)) {
		if (clock_monotonic_ns() > end_ns)
			return false;
		clock_sleep_ns(look_again_ns);
	}
	return true;
}

bool nccl_ending_begin(ncclResult_t (*end)(ncclComm_t), ncclComm_t communicator)
{
	struct ending *ending = malloc(sizeof(*ending));
	bool is_over;
	pthread_t thread;

	if (ending)
		*ending = (struct ending){end, communicator, 2, 0};
	if (!ending || pthread_create(&thread, NULL, run, ending) != 0) {
		free(ending);
		(void)end(communicator);
		return true;
	}
	(void)pthread_detach(thread);
	is_over = is_over_within(ending, limit_ns);
	release(ending);
	return is_over;
}
