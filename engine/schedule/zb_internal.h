/* zb_internal.h - one zero-bubble order under one setting of the heuristic's switches. */
#ifndef ENGINE_SCHEDULE_ZB_INTERNAL_H
#define ENGINE_SCHEDULE_ZB_INTERNAL_H

#include "engine/schedule/policy_internal.h"
#include "engine/schedule/stage_queue.h"

/* How many forwards a stage may be ahead of its backwards. */
enum zb_lead {
	ZB_LEAD_SHAPE, /* 2·(S − i) − 1, what uniform times need */
	ZB_LEAD_CEIL,  /* as many as start before the first B arrives */
	ZB_LEAD_FLOOR, /* as many as end before the first B arrives */
	ZB_LEAD_FREE,  /* what the limit allows: F goes on while no B is ready */
};

enum { ZB_LEADS = 4, ZB_FILLS = 3 };

struct zb_rules {
	enum zb_lead lead;
	int fill;        /* a W fits a gap of fill / 2 times its length */
	bool makes_room; /* at the limit W makes room for F before B goes on */
};

/* F or B, or neither yet. */
enum zb_turn { ZB_TURN_NONE, ZB_TURN_F, ZB_TURN_B };

struct zb_stage {
	/* The same for every setting. */
	int64_t first_f_ns; /* earliest start of the first forward */
	int64_t first_b_ns; /* earliest start of the first backward */
	int64_t pace_ns;    /* slowest forward from stage 0 to here, at least 1 */
	int cap;            /* most forwards before the first backward */
	int limit;

	/* Of the order that is being made. */
	struct op_writer writer;
	int64_t clock_ns; /* end of the last op placed */
	int64_t left_ns;  /* of the ops not placed yet */
	int warmup;
	enum zb_turn last;
};

struct zb {
	const struct schedule_request *request;
	struct zb_rules rules;
	struct stage_queue queue;
	struct zb_stage *stages;
	int64_t *end_ns[2]; /* of each F and B, by stage and microbatch */
	int64_t best_ns;    /* the makespan to beat; INT64_MAX: none yet */
};

/* Make the order of zb->rules in plan. Returns its makespan, or INT64_MAX as soon as it cannot beat
 * best_ns. */
int64_t zb_build(struct zb *zb, struct plan *plan);

#endif
