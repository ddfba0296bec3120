/* stage.c - runs a stage's plan on its device, op after op.
 *
 * Where the host waits (the presets of the stream plane) an op is issued when the one before it has
 * ended; otherwise a few are issued ahead. Times are read from pairs of events once they have
 * ended; they are the device clock's, and how much later an end was seen is recorded beside them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/model/corpus.h"
#include "engine/replay/stage_internal.h"
#include "engine/replay/streams.h"
#include "engine/schedule/channel.h"

enum {
	OPS_AHEAD = 4,
	MEASURED_ROUNDS = 100,
	MEASURED_ROUNDS_MIN = 5,
	MEASURED_MS = 2000, /* on a slow machine, where fewer rounds have to do */
};

static int64_t monotonic_ns(void *context)
{
	(void)context;
	return clock_monotonic_ns();
}

static int run_forward(struct stage_op *op, struct err *err)
{
	struct stage *stage = op->stage;
	int iteration = stage->iteration ? stage->iteration->iteration : 0;
	bool is_end = stage->index == 0 || stage->index == stage->config.model->n_stages - 1;

	if (is_end)
		corpus_microbatch(stage->config.model, iteration, stage->config.replica,
		                  op->microbatch, stage->tokens);
	return model_forward(stage->model, op->microbatch, is_end ? stage->tokens : NULL,
	                     dataplane_input(stage->plane, OP_F, op->microbatch),
	                     dataplane_output(stage->plane, OP_F, op->microbatch), err);
}

static int kernel(void *argument, struct err *err)
{
	struct stage_op *op = argument;
	struct stage *stage = op->stage;

	switch (op->kind) {
	case OP_F:
		return run_forward(op, err);
	case OP_B:
		return model_backward_input(stage->model, op->microbatch,
		                            dataplane_input(stage->plane, OP_B, op->microbatch),
		                            dataplane_output(stage->plane, OP_B, op->microbatch),
		                            err);
	case OP_W:
		return model_backward_weight(stage->model, op->microbatch, err);
	}
	return 0;
}

static int open_ops(struct stage *stage, struct err *err)
{
	int rc = 0;

	stage->n_ops = OP_KINDS * stage->config.model->n_microbatches;
	stage->ops = array_new((size_t)stage->n_ops, sizeof(*stage->ops));
	if (!stage->ops)
		return err_set(err, -ENOMEM, "no memory for the ops of stage %d", stage->index);
	for (int i = 0; rc == 0 && i < stage->n_ops; i++) {
		stage->ops[i].stage = stage;
		rc = device_event_new(stage->device, &stage->ops[i].begin, err);
		if (rc == 0)
			rc = device_event_new(stage->device, &stage->ops[i].end, err);
	}
	return rc;
}

static int open_parts(struct stage *stage, struct err *err)
{
	const struct live_config *live = stage->config.live;
	const struct streams streams = streams_of_live(live, stage->config.n_stages);
	struct device_config device = {
		.n_issue_queues = 0,
		.speed = live->speed,
		.unit = stage->config.replica * stage->config.model->n_stages + stage->index,
		.n_streams = streams.n_of_stage,
		.n_devices = streams.n_sharing,
	};
	struct dataplane_config plane = {
		.stage = stage->index,
		.n_stages = stage->config.model->n_stages,
		.n_microbatches = stage->config.model->n_microbatches,
		.replica = stage->config.replica,
		.n_rails = live->scenario->topology.n_rails,
		.n_queues = live->scenario->n_queues,
		.run = stage->config.run,
		.tensor_bytes = model_message_bytes(stage->config.model),
		.payload_bytes = stage->config.payload_bytes,
		.n_copy_streams = streams.n_copying,
		.reachable = stage->config.reachable,
		.failover_ns =
			(int64_t)((double)live->scenario->recovery.failover_ns / live->speed),
		.transport = stage->config.transport,
		.uses_exchanges = live->exchange != NULL,
		.hold_ns = stage->config.hold_ns,
		.hold_context = stage->config.hold_context,
		.occupies_streams = live->occupies_streams,
		.clock_ns = monotonic_ns,
	};
	int rc = live->device->open(&device, &stage->device, err);

	if (rc)
		return rc;
	plane.device = stage->device;
	rc = device_stream_new(stage->device, &stage->compute, err);
	rc = rc ? rc
	        : model_stage_new(stage->config.model, stage->index, stage->compute->arithmetic,
	                          &stage->model, err);
	rc = rc ? rc : dataplane_open(&plane, &stage->plane, err);
	return rc ? rc : open_ops(stage, err);
}

int stage_open(const struct stage_config *config, int index, struct stage **out, struct err *err)
{
	size_t n_microbatches = (size_t)config->model->n_microbatches;
	struct stage *stage = array_new(1, sizeof(*stage));
	int rc;

	if (!stage)
		return err_set(err, -ENOMEM, "no memory for stage %d", index);
	stage->config = *config;
	stage->index = index;
	stage->tokens = array_new(model_token_bytes(config->model), 1);
	stage->producer[0] = array_new(n_microbatches, sizeof(int));
	stage->producer[1] = array_new(n_microbatches, sizeof(int));
	rc = stage->tokens && stage->producer[0] && stage->producer[1]
	             ? open_parts(stage, err)
	             : err_set(err, -ENOMEM, "no memory for stage %d", index);
	if (rc) {
		stage_close(stage);
		return err_wrap(err, "stage %d", index);
	}
	*out = stage;
	return 0;
}

void stage_close(struct stage *stage)
{
	if (!stage)
		return;
	dataplane_close(stage->plane);
	model_stage_free(stage->model);
	device_close(stage->device);
	free(stage->ops);
	free(stage->tokens);
	free(stage->producer[0]);
	free(stage->producer[1]);
	free(stage);
}

struct dataplane *stage_plane(struct stage *stage)
{
	return stage->plane;
}

struct device *stage_device(struct stage *stage)
{
	return stage->device;
}

struct model_stage *stage_model(struct stage *stage)
{
	return stage->model;
}

struct arithmetic *stage_arithmetic(struct stage *stage)
{
	return stage->compute->arithmetic;
}

/* Of a device of its own one round loads libraries and kernels; its time says nothing. */
static bool is_measured_on(const struct stage *stage, int round, int64_t end_ns)
{
	if (stage->device->has_own_memory)
		return round < 1;
	return round < MEASURED_ROUNDS_MIN ||
	       (round < MEASURED_ROUNDS && clock_monotonic_ns() < end_ns);
}

int stage_measure(struct stage *stage, int64_t *op_cpu_ns_out, struct err *err)
{
	int64_t best_ns = INT64_MAX, end_ns = clock_monotonic_ns() + MEASURED_MS * NS_PER_MS;
	int rc = 0;

	if (!stage->device->runs_kernels) {
		*op_cpu_ns_out = 0;
		return 0;
	}
	for (int round = 0; rc == 0 && is_measured_on(stage, round, end_ns); round++) {
		/* CPU time: what others take meanwhile is no part of it. */
		int64_t start_ns = clock_thread_cpu_ns();

		for (enum op_kind kind = OP_F; rc == 0 && kind <= OP_W; kind++)
			rc = kernel(&(struct stage_op){.stage = stage, .kind = kind}, err);
		if (clock_thread_cpu_ns() - start_ns < best_ns)
			best_ns = clock_thread_cpu_ns() - start_ns;
		rc = rc ? rc : model_abandon(stage->model, err);
	}
	if (rc == 0)
		*op_cpu_ns_out = best_ns / OP_KINDS;
	return rc;
}

/* Whose arrival is to be noted here: the ops of both neighbours that send to this stage. */
static void find_producers(struct stage *stage)
{
	const struct plan *plan = stage->iteration->plan;
	int per_stage = stage->n_ops;

	for (int side = 0; side < 2; side++) {
		int from = stage->index + (side ? 1 : -1);

		for (int i = 0; from >= 0 && from < plan->n_stages && i < per_stage; i++) {
			const struct plan_op *op = plan_stage(plan, from) + i;

			if (plan_op_sends(plan, from, op) && (op->kind == OP_F) == (side == 0))
				stage->producer[side][op->microbatch] = from * per_stage + i;
		}
	}
}

int stage_begin(struct stage *stage, const struct stage_iteration *iteration,
                const struct plan *unit_copy, struct err *err)
{
	const struct plan_op *ops = plan_stage(iteration->plan, stage->index);

	stage->iteration = iteration;
	stage->rules = *iteration->rules;
	stage->switched_ns = iteration->real_start_ns;
	stage->n_issued = stage->n_ended = 0;
	stage->last_end_ns = iteration->real_start_ns;
	stage->device->stats = (struct device_stats){0};
	for (int i = 0; i < stage->n_ops; i++) {
		stage->ops[i].kind = ops[i].kind;
		stage->ops[i].microbatch = ops[i].microbatch;
		stage->ops[i].noted_as = -1;
	}
	stage_find_ops(stage);
	find_producers(stage);
	return dataplane_begin(stage->plane, iteration->rules, unit_copy, iteration->attempt,
	                       iteration->iteration, err);
}

static int issue(struct stage *stage, struct stage_op *op, struct err *err)
{
	int rc = 0;

	device_issue_as_of(stage->device, stage->last_end_ns);
	if (stage_op_source(stage, op->kind))
		rc = dataplane_receive(stage->plane, stage->compute, op->kind, op->microbatch, err);
	rc = rc ? rc : device_record(op->begin, stage->compute, err);
	rc = rc ? rc : device_launch_asking(stage->compute, kernel, op, stage_ask_duration, err);
	rc = rc ? rc : device_record(op->end, stage->compute, err);
	if (rc == 0 && stage_op_sends(stage, op->kind))
		rc = dataplane_send(stage->plane, stage->compute, op->end,
		                    stage_message_kind(op->kind), op->microbatch, err);
	return rc;
}

static struct sim_op_times *times_of(struct stage *stage, int op)
{
	return board_times(stage->config.board, stage->config.replica) +
	       stage->index * stage->n_ops + op;
}

/* When the input of an op was there: it is known here, and its producer's record needs it, too. */
static void note_input(struct stage *stage, const struct stage_op *op, struct sim_op_times *times)
{
	int source = stage_op_source(stage, op->kind);
	struct sim_op_times *producer;
	int64_t arrived_ns;

	if (!source) {
		times->ready_ns = 0;
		return;
	}
	arrived_ns = dataplane_arrived_ns(stage->plane, op->kind, op->microbatch);
	if (arrived_ns < 0)
		return;
	times->ready_ns = stage_profile_ns(stage, arrived_ns);
	producer = board_times(stage->config.board, stage->config.replica) +
	           stage->producer[source > 0][op->microbatch];
	producer->arrive_ns = times->ready_ns;
	producer->unseen_ns = stage_profile_span_ns(
		stage, dataplane_unseen_ns(stage->plane, op->kind, op->microbatch));
}

static int collect(struct stage *stage, struct stage_op *op, struct err *err)
{
	struct sim_op_times *times = times_of(stage, stage->n_ended);
	int64_t begin_ns = 0, end_ns = 0, seen_ns = 0;
	int rc = device_query(op->end, &end_ns, &seen_ns, err);

	if (rc != 1)
		return rc;
	rc = device_query(op->begin, &begin_ns, NULL, err);
	if (rc < 0)
		return rc;
	times->start_ns = stage_profile_ns(stage, begin_ns);
	times->end_ns = stage_profile_ns(stage, end_ns);
	times->late_ns = stage_profile_ns(stage, seen_ns) - times->end_ns;
	note_input(stage, op, times);
	stage->last_end_ns = end_ns;
	stage->n_ended++;
	return 1;
}

static int issue_more(struct stage *stage, struct err *err)
{
	int n_ahead = stage->rules.kind == PLANE_STREAM && stage->rules.host_waits ? 1 : OPS_AHEAD;
	int rc = 0;

	while (rc == 0 && stage->n_issued < stage->n_ops &&
	       stage->n_issued - stage->n_ended < n_ahead) {
		rc = issue(stage, &stage->ops[stage->n_issued], err);
		stage->n_issued++;
	}
	return rc;
}

int stage_advance(struct stage *stage, struct err *err)
{
	int rc = stage_note_ops(stage, err);

	if (rc < 0)
		return rc;
	rc = 1;
	while (rc == 1 && stage->n_ended < stage->n_issued)
		rc = collect(stage, &stage->ops[stage->n_ended], err);
	return rc < 0 ? rc : issue_more(stage, err);
}

bool stage_is_done(const struct stage *stage)
{
	return stage->n_ended == stage->n_ops;
}

void stage_switched(struct stage *stage, const struct plane_rules *rules, int64_t now_ns)
{
	stage->rules = *rules;
	stage->switched_ns = now_ns;
}

/* Of ops that the iteration ended before: which ran then, and whose input was there. */
static void report_rest(struct stage *stage)
{
	for (int i = stage->n_ended; i < stage->n_ops; i++) {
		const struct stage_op *op = &stage->ops[i];
		int64_t begin_ns;

		note_input(stage, op, times_of(stage, i));
		/* An event that cannot be asked has not been seen to pass either. */
		if (i < stage->n_issued && device_query(op->begin, &begin_ns, NULL, NULL) == 1)
			times_of(stage, i)->start_ns = stage_profile_ns(stage, begin_ns);
	}
}

static int report_loss(struct stage *stage, double *out, struct err *err)
{
	*out = NAN;
	if (!stage->device->runs_kernels || !stage_is_done(stage))
		return 0;
	return model_loss(stage->model, out, err);
}

int stage_report(struct stage *stage, struct err *err)
{
	struct board_stage *board =
		board_stage(stage->config.board, stage->config.replica, stage->index);

	for (int i = 0; i < stage->n_ended; i++) {
		const struct stage_op *op = &stage->ops[i];
		struct sim_op_times *times = times_of(stage, i);
		struct dataplane_moments moments;
		struct dataplane_path path;
		enum op_kind kind;

		if (!stage_op_sends(stage, op->kind))
			continue;
		kind = stage_message_kind(op->kind);
		path = dataplane_path(stage->plane, kind, op->microbatch);
		times->rail = (int16_t)path.rail;
		times->queue = path.queue;
		times->n_resends = (int16_t)path.n_resends;
		moments = dataplane_sent(stage->plane, kind, op->microbatch);
		if (moments.started_ns >= 0)
			times->transfer_start_ns = stage_profile_ns(stage, moments.started_ns);
		times->left_late_ns = stage_profile_span_ns(
			stage, dataplane_left_late_ns(stage->plane, kind, op->microbatch));
		if (moments.done_ns >= 0)
			times->transfer_end_ns = stage_profile_ns(stage, moments.done_ns);
	}
	report_rest(stage);
	board->stats = stage->device->stats;
	return report_loss(stage, &board->loss, err);
}
