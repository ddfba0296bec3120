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
struct nccl_ending {
	ncclResult_t (*end)(ncclComm_t);
	ncclComm_t communicator;
	int64_t until_ns; /* it is waited for */
	int n_users;
	int is_over;
};

static void release(struct nccl_ending *ending)
{
	if (__atomic_sub_fetch(&ending->n_users, 1, __ATOMIC_ACQ_REL) == 0)
		free(ending);
}

/* What it says cannot change anything any more. */
static void *run(void *argument)
{
	struct nccl_ending *ending = argument;

	(void)ending->end(ending->communicator);
	__atomic_store_n(&ending->is_over, 1, __ATOMIC_RELEASE);
	release(ending);
	return NULL;
}

struct nccl_ending *nccl_ending_begin(ncclResult_t (*end)(ncclComm_t), ncclComm_t communicator)
{
	struct nccl_ending *ending = malloc(sizeof(*ending));
	pthread_t thread;

	if (ending)
		*ending = (struct nccl_ending){end, communicator, clock_monotonic_ns() + limit_ns,
		                               2, 0};
	if (!ending || pthread_create(&thread, NULL, run, ending) != 0) {
		free(ending);
		(void)end(communicator);
		return NULL;
	}
	(void)pthread_detach(thread);
	return ending;
}

bool nccl_ending_is_over(const struct nccl_ending *ending)
{
	return !ending || __atomic_load_n(&ending->is_over, __ATOMIC_ACQUIRE) ||
	       clock_monotonic_ns() > ending->until_ns;
}

void nccl_ending_await(struct nccl_ending *ending)
{
	while (!nccl_ending_is_over(ending))
		clock_sleep_ns(look_again_ns);
	if (ending)
		release(ending);
}
