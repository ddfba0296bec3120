/* model_fixture.h - all stages of a model in one process, run in any order that is allowed. */
#ifndef TESTS_UNIT_MODEL_FIXTURE_H
#define TESTS_UNIT_MODEL_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/model/arithmetic.h"
#include "engine/model/corpus.h"
#include "engine/model/model.h"
#include "tests/tap.h"

enum { STAGES_MAX = 8, MICROBATCHES_MAX = 16 };

struct pipeline {
	struct model_config config;
	struct model_stage *stages[STAGES_MAX];
	/* What goes into a stage, forward and, from its successor, backward. */
	float *activations[STAGES_MAX + 1][MICROBATCHES_MAX];
	float *gradients[STAGES_MAX + 1][MICROBATCHES_MAX];
	int n_done[STAGES_MAX][3];
	int iteration;
};

static inline void pipeline_init(struct pipeline *p, const struct model_config *config)
{
	struct err err = {0};

	*p = (struct pipeline){.config = *config};
	for (int stage = 0; stage < config->n_stages; stage++)
		if (model_stage_new(config, stage, arithmetic_host(), &p->stages[stage], &err))
			tap_is_str(err.text, "", "stage %d is made", stage);
	for (int stage = 0; stage <= config->n_stages; stage++) {
		for (int i = 0; i < config->n_microbatches; i++) {
			p->activations[stage][i] = malloc(model_message_bytes(config));
			p->gradients[stage][i] = malloc(model_message_bytes(config));
		}
	}
}

static inline void pipeline_fini(struct pipeline *p)
{
	for (int stage = 0; stage <= p->config.n_stages; stage++) {
		for (int i = 0; i < p->config.n_microbatches; i++) {
			free(p->activations[stage][i]);
			free(p->gradients[stage][i]);
		}
	}
	for (int stage = 0; stage < p->config.n_stages; stage++)
		model_stage_free(p->stages[stage]);
}

/* One operator, with the buffers that its place in the pipeline gives it. */
static inline int pipeline_op(struct pipeline *p, int stage, enum model_op op, int microbatch,
                              struct err *err)
{
	struct model_stage *model = p->stages[stage];
	const bool is_first = stage == 0, is_last = stage == p->config.n_stages - 1;
	uint8_t *tokens = malloc(model_token_bytes(&p->config));
	int rc;

	corpus_microbatch(&p->config, p->iteration, 0, microbatch, tokens);
	if (op == MODEL_FORWARD)
		rc = model_forward(model, microbatch, is_first || is_last ? tokens : NULL,
		                   is_first ? NULL : p->activations[stage][microbatch],
		                   is_last ? NULL : p->activations[stage + 1][microbatch], err);
	else if (op == MODEL_BACKWARD_INPUT)
		rc = model_backward_input(model, microbatch,
		                          is_last ? NULL : p->gradients[stage + 1][microbatch],
		                          is_first ? NULL : p->gradients[stage][microbatch], err);
	else
		rc = model_backward_weight(model, microbatch, err);
	free(tokens);
	if (!rc)
		p->n_done[stage][op]++;
	return rc;
}

/* Whether the next op of this kind has what it needs. */
static inline bool pipeline_is_ready(const struct pipeline *p, int stage, enum model_op op)
{
	const int *done = p->n_done[stage];
	const int next = done[op];

	if (next == p->config.n_microbatches)
		return false;
	if (op == MODEL_BACKWARD_WEIGHT)
		return done[MODEL_BACKWARD_INPUT] > next;
	if (op == MODEL_FORWARD)
		return next - done[MODEL_BACKWARD_WEIGHT] < p->config.n_slots &&
		       (stage == 0 || p->n_done[stage - 1][MODEL_FORWARD] > next);
	return done[MODEL_FORWARD] > next && (stage == p->config.n_stages - 1 ||
	                                      p->n_done[stage + 1][MODEL_BACKWARD_INPUT] > next);
}

/* One of the ops that are ready, by chance. False: none is. */
static inline bool pipeline_choose(const struct pipeline *p, uint64_t bits, int *stage_out,
                                   enum model_op *op_out)
{
	const int n_kinds = 3 * p->config.n_stages;
	int n_ready = 0;

	for (int i = 0; i < n_kinds; i++)
		n_ready += pipeline_is_ready(p, i / 3, (enum model_op)(i % 3));
	if (n_ready == 0)
		return false;
	n_ready = (int)(bits % (uint64_t)n_ready);
	for (int i = 0; i < n_kinds; i++) {
		*stage_out = i / 3;
		*op_out = (enum model_op)(i % 3);
		if (pipeline_is_ready(p, *stage_out, *op_out) && n_ready-- == 0)
			break;
	}
	return true;
}

static inline double pipeline_loss(const struct model_stage *model)
{
	struct err err = {0};
	double loss = NAN;

	if (model_loss(model, &loss, &err))
		tap_is_str(err.text, "", "the loss is told");
	return loss;
}

/* All ops of an iteration in an order drawn from seed, without the step; returns the loss. */
static inline double pipeline_run(struct pipeline *p, uint64_t seed)
{
	struct err err = {0};
	enum model_op op = MODEL_FORWARD;
	int stage = 0;

	memset(p->n_done, 0, sizeof(p->n_done));
	for (uint64_t i = 0; pipeline_choose(p, rng_mix(seed, i), &stage, &op); i++)
		if (pipeline_op(p, stage, op, p->n_done[stage][op], &err)) {
			tap_is_str(err.text, "", "an allowed op succeeds");
			break;
		}
	return pipeline_loss(p->stages[p->config.n_stages - 1]);
}

/* The same with the step. */
static inline double pipeline_iterate(struct pipeline *p, uint64_t seed)
{
	struct err err = {0};
	double loss = pipeline_run(p, seed);

	for (int stage = 0; stage < p->config.n_stages; stage++)
		if (model_step(p->stages[stage], 1, &err))
			tap_is_str(err.text, "", "an iteration ends");
	p->iteration++;
	return loss;
}

/* Parameters (or gradients) of all stages, one after the other: the layout of a single stage. The
 * caller frees them. */
static inline float *pipeline_floats(struct pipeline *p, bool are_gradients, size_t *n_out)
{
	float *all = NULL;
	size_t n_all = 0;

	for (int stage = 0; stage < p->config.n_stages; stage++) {
		size_t n;
		const float *some = are_gradients ? model_gradients(p->stages[stage], &n)
		                                  : model_parameters(p->stages[stage], &n);

		all = realloc(all, (n_all + n) * sizeof(float));
		memcpy(all + n_all, some, n * sizeof(float));
		n_all += n;
	}
	*n_out = n_all;
	return all;
}

#endif
