/* stage_internal.h - what stage.c (a stage's ops) and stage_start.c (when they start) share. */
#ifndef ENGINE_REPLAY_STAGE_INTERNAL_H
#define ENGINE_REPLAY_STAGE_INTERNAL_H

#include <math.h>

#include "engine/replay/stage.h"
#include "engine/schedule/channel.h"

/* What a kernel is given. */
struct stage_op {
	struct stage *stage;
	enum op_kind kind;
	int microbatch;
	int noted_as; /* of the world's ops at which faults start or end; -1: not, or no more */
	struct device_event *begin, *end;
};

struct stage {
	struct stage_config config;
	int index;
	struct device *device;
	struct device_stream *compute;
	struct model_stage *model;
	struct dataplane *plane;
	uint8_t *tokens;
	struct stage_op *ops;
	int n_ops;
	int n_issued;
	int n_ended;
	int n_to_note;
	const struct stage_iteration *iteration;
	struct plane_rules rules; /* in force from switched_ns on */
	int64_t switched_ns;      /* of the iteration; its messages cost nothing before */
	int64_t last_end_ns;      /* scheduled end of the last op that ended, real time */
	int *producer[2]; /* op of the neighbour whose message comes here, [F, B][microbatch] */
};

/* Which of its neighbours an op waits for; 0: none. */
static inline int stage_op_source(const struct stage *stage, enum op_kind kind)
{
	if (kind == OP_F && stage->index > 0)
		return -1;
	if (kind == OP_B && stage->index < stage->config.model->n_stages - 1)
		return 1;
	return 0;
}

static inline bool stage_op_sends(const struct stage *stage, enum op_kind kind)
{
	const struct plan_op op = {.kind = kind};

	return plan_op_sends(stage->iteration->plan, stage->index, &op);
}

/* What a W of a whole backward sends is its B's gradient. */
static inline enum op_kind stage_message_kind(enum op_kind kind)
{
	return kind == OP_F ? OP_F : OP_B;
}

static inline int64_t stage_profile_ns(const struct stage *stage, int64_t real_ns)
{
	return llround((double)(real_ns - stage->iteration->real_start_ns) *
	               stage->config.live->speed);
}

/* Of a stretch of time. */
static inline int64_t stage_profile_span_ns(const struct stage *stage, int64_t real_ns)
{
	return llround((double)real_ns * stage->config.live->speed);
}

/* stage_start.c: which ops of the iteration that begins are to be noted on the board when they
 * start. */
void stage_find_ops(struct stage *stage);

/* stage_start.c: note those that have started, by the device's clock, however late it is seen. */
int stage_note_ops(struct stage *stage, struct err *err);

/* stage_start.c: profile time that an op (argument) takes when it starts at start_ns, real time. */
int64_t stage_ask_duration(void *argument, int64_t start_ns);

#endif
