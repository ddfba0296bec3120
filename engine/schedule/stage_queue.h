/* stage_queue.h - which stage decides next: all stages in a heap, by time, then by number. */
#ifndef ENGINE_SCHEDULE_STAGE_QUEUE_H
#define ENGINE_SCHEDULE_STAGE_QUEUE_H

#include <stdint.h>

#include "engine/base/err.h"

/* The time of a stage that has nothing to decide. */
static const int64_t STAGE_QUEUE_NEVER = INT64_MAX;

struct stage_queue {
	int n_stages;
	int64_t *at_ns; /* of each stage */
	int *heap;      /* stages, the first decides next */
	int *place;     /* of each stage in heap */
};

/* All stages at time 0. */
int stage_queue_init(struct stage_queue *queue, int n_stages, struct err *err);
void stage_queue_fini(struct stage_queue *queue);
void stage_queue_reset(struct stage_queue *queue);

/* Move a stage to another time. O(log S). */
void stage_queue_set(struct stage_queue *queue, int stage, int64_t at_ns);

/* The stage with the smallest time; −1 when all are at STAGE_QUEUE_NEVER. */
int stage_queue_first(const struct stage_queue *queue);

#endif
