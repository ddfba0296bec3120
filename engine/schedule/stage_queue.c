/* stage_queue.c - which stage decides next: an indexed binary heap. */
#include "engine/schedule/stage_queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

int stage_queue_init(struct stage_queue *queue, int n_stages, struct err *err)
{
	size_t n = (size_t)n_stages;
	struct stage_queue fresh = {
		.n_stages = n_stages,
		.at_ns = array_new(n, sizeof(*fresh.at_ns)),
		.heap = array_new(n, sizeof(*fresh.heap)),
		.place = array_new(n, sizeof(*fresh.place)),
	};

	if (!fresh.at_ns || !fresh.heap || !fresh.place) {
		stage_queue_fini(&fresh);
		return err_set(err, -ENOMEM, "no memory to schedule %d stages", n_stages);
	}
	stage_queue_reset(&fresh);
	*queue = fresh;
	return 0;
}

void stage_queue_fini(struct stage_queue *queue)
{
	free(queue->at_ns);
	free(queue->heap);
	free(queue->place);
}

void stage_queue_reset(struct stage_queue *queue)
{
	memset(queue->at_ns, 0, (size_t)queue->n_stages * sizeof(*queue->at_ns));
	for (int s = 0; s < queue->n_stages; s++) {
		queue->heap[s] = s;
		queue->place[s] = s;
	}
}

static bool is_before(const struct stage_queue *queue, int a, int b)
{
	if (queue->at_ns[a] != queue->at_ns[b])
		return queue->at_ns[a] < queue->at_ns[b];
	return a < b;
}

static void put(struct stage_queue *queue, int place, int stage)
{
	queue->heap[place] = stage;
	queue->place[stage] = place;
}

static int sift_up(struct stage_queue *queue, int place, int stage)
{
	while (place > 0 && is_before(queue, stage, queue->heap[(place - 1) / 2])) {
		put(queue, place, queue->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	return place;
}

static int sift_down(struct stage_queue *queue, int place, int stage)
{
	for (;;) {
		int child = 2 * place + 1;

		if (child >= queue->n_stages)
			return place;
		if (child + 1 < queue->n_stages &&
		    is_before(queue, queue->heap[child + 1], queue->heap[child]))
			child++;
		if (!is_before(queue, queue->heap[child], stage))
			return place;
		put(queue, place, queue->heap[child]);
		place = child;
	}
}

void stage_queue_set(struct stage_queue *queue, int stage, int64_t at_ns)
{
	if (queue->at_ns[stage] == at_ns)
		return;
	queue->at_ns[stage] = at_ns;
	put(queue, sift_down(queue, sift_up(queue, queue->place[stage], stage), stage), stage);
}

int stage_queue_first(const struct stage_queue *queue)
{
	int stage = queue->heap[0];

	return queue->at_ns[stage] == STAGE_QUEUE_NEVER ? -1 : stage;
}
