/* cuda_pacer.c - a thread that opens gates when their time has come.
 *
 * A host function that sleeps until then would do without it. But the driver may call the host
 * functions of a process one after the other, as it does where it has one thread for all: the ops
 * of all stages of a worker would then take turns, and what tells of messages wait for them. */
#include "engine/device/cuda_pacer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"

struct opening {
	uint32_t *gate;
	uint32_t number;
	int64_t at_ns;
};

struct cuda_pacer {
	pthread_t thread;
	pthread_mutex_t lock; /* of all below, and of what gates hold */
	pthread_cond_t changed;
	bool is_stopped;
	struct opening *openings; /* one a stream at most, so they are few */
	size_t n_openings, capacity;
};

static void open_gate(const struct opening *opening)
{
	uint32_t now = __atomic_load_n(opening->gate, __ATOMIC_RELAXED);

	if ((int32_t)(opening->number - now) > 0)
		__atomic_store_n(opening->gate, opening->number, __ATOMIC_RELEASE);
}

/* Open what is due; returns when the next is, INT64_MAX: there is none. */
static int64_t open_due(struct cuda_pacer *pacer)
{
	int64_t now_ns = clock_monotonic_ns(), next_ns = INT64_MAX;
	size_t n_left = 0;

	for (size_t i = 0; i < pacer->n_openings; i++) {
		const struct opening opening = pacer->openings[i];

		if (opening.at_ns <= now_ns) {
			open_gate(&opening);
			continue;
		}
		next_ns = opening.at_ns < next_ns ? opening.at_ns : next_ns;
		pacer->openings[n_left++] = opening;
	}
	pacer->n_openings = n_left;
	return next_ns;
}

static void await(struct cuda_pacer *pacer, int64_t until_ns)
{
	const struct timespec until = {.tv_sec = until_ns / NS_PER_S,
	                               .tv_nsec = until_ns % NS_PER_S};

	if (until_ns == INT64_MAX)
		(void)pthread_cond_wait(&pacer->changed, &pacer->lock);
	else
		(void)pthread_cond_timedwait(&pacer->changed, &pacer->lock, &until);
}

static void *run(void *context)
{
	struct cuda_pacer *pacer = context;

	(void)pthread_mutex_lock(&pacer->lock);
	while (!pacer->is_stopped)
		await(pacer, open_due(pacer));
	(void)pthread_mutex_unlock(&pacer->lock);
	return NULL;
}

static void init_waiting(struct cuda_pacer *pacer)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&pacer->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&pacer->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

int cuda_pacer_new(struct cuda_pacer **out, struct err *err)
{
	struct cuda_pacer *pacer = array_new(1, sizeof(*pacer));
	int rc;

	if (!pacer)
		return err_set(err, -ENOMEM, "out of memory for a device");
	init_waiting(pacer);
	rc = pthread_create(&pacer->thread, NULL, run, pacer);
	if (rc) {
		pacer->is_stopped = true;
		cuda_pacer_free(pacer);
		return err_set(err, -rc, "no thread to hold ops of a GPU to their times: %s",
		               strerror(rc));
	}
	*out = pacer;
	return 0;
}

/* What cannot be kept for later is opened at once: that is too early, but nothing hangs. */
static bool keep(struct cuda_pacer *pacer, const struct opening *opening)
{
	struct opening *openings;

	if (pacer->is_stopped || opening->at_ns <= clock_monotonic_ns())
		return false;
	openings = array_grow(pacer->openings, &pacer->capacity, pacer->n_openings + 1,
	                      sizeof(*openings));
	if (!openings)
		return false;
	pacer->openings = openings;
	openings[pacer->n_openings++] = *opening;
	return true;
}

void cuda_pacer_open(struct cuda_pacer *pacer, uint32_t *gate, uint32_t number, int64_t at_ns)
{
	const struct opening opening = {gate, number, at_ns};

	(void)pthread_mutex_lock(&pacer->lock);
	if (keep(pacer, &opening))
		(void)pthread_cond_signal(&pacer->changed);
	else
		open_gate(&opening);
	(void)pthread_mutex_unlock(&pacer->lock);
}

void cuda_pacer_stop(struct cuda_pacer *pacer)
{
	(void)pthread_mutex_lock(&pacer->lock);
	pacer->is_stopped = true;
	(void)pthread_cond_signal(&pacer->changed);
	(void)pthread_mutex_unlock(&pacer->lock);
	(void)pthread_join(pacer->thread, NULL);
}

void cuda_pacer_free(struct cuda_pacer *pacer)
{
	if (!pacer)
		return;
	(void)pthread_cond_destroy(&pacer->changed);
	(void)pthread_mutex_destroy(&pacer->lock);
	free(pacer->openings);
	free(pacer);
}
