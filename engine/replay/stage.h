/* stage.h - one stage of a worker: its model, device and data plane, and the plan it runs. */
#ifndef ENGINE_REPLAY_STAGE_H
#define ENGINE_REPLAY_STAGE_H

#include "engine/dataplane/dataplane.h"
#include "engine/replay/board.h"
#include "engine/replay/live.h"
#include "engine/sim/world.h"

/* What all stages of a worker have in common. Borrowed. */
struct stage_config {
	const struct live_config *live;
	const struct model_config *model;
	struct transport *transport; /* shaped */
	struct board *board;
	struct world *world;
	uint64_t run;
	int replica;
	size_t payload_bytes;
	int n_stages;                  /* of the worker */
	struct payload_area reachable; /* by its devices; payloads of the transport may lie there */

	/* How long faults hold a message, real time. */
	int64_t (*hold_ns)(void *context, const struct message *message);
	void *hold_context;

	/* An op has started at which a fault starts or ends. NULL: nobody wants to know. */
	void (*op_started)(void *context);
	void *op_started_context;
};

/* What is true of an iteration for all stages. Borrowed during it. */
struct stage_iteration {
	const struct plan *plan; /* in force */
	const struct plane_rules *rules;
	const struct sim_world *view;
	int attempt;
	int iteration;
	int64_t real_start_ns;
};

struct stage;

int stage_open(const struct stage_config *config, int index, struct stage **out, struct err *err);
void stage_close(struct stage *stage);

struct dataplane *stage_plane(struct stage *stage);
struct device *stage_device(struct stage *stage);
struct model_stage *stage_model(struct stage *stage);
struct arithmetic *stage_arithmetic(struct stage *stage);

/* Time of one F, B and W of the model on this CPU, mean; all is loaded then that they need. Leaves
 * the model as it was. */
int stage_measure(struct stage *stage, int64_t *op_cpu_ns_out, struct err *err);

/* unit_copy: of a plan that the stage has not had before, as dataplane_begin() wants it. */
int stage_begin(struct stage *stage, const struct stage_iteration *iteration,
                const struct plan *unit_copy, struct err *err);

/* Note the ops at which faults start or end and that have started; collect ops that have ended and
 * issue what may be issued. */
int stage_advance(struct stage *stage, struct err *err);

/* Will an op of this stage have to be noted yet? */
bool stage_has_ops_to_note(const struct stage *stage);

bool stage_is_done(const struct stage *stage);

/* The rules of the plane changed inside the iteration, at now_ns. */
void stage_switched(struct stage *stage, const struct plane_rules *rules, int64_t now_ns);

/* After the iteration: times of messages, statistics and loss to the board. One that was not done
 * has no loss. */
int stage_report(struct stage *stage, struct err *err);

#endif
