/* step.c - ends an iteration: Adam moves the parameters along the summed gradients. */
#include <errno.h>
#include <math.h>

#include "engine/model/stage_internal.h"
#include "engine/model/work.h"

/* Kingma and Ba's values, but a shorter memory of squares, as is usual for GPTs (Brown and others,
 * 2020). */
static const double first_decay = 0.9;
static const double second_decay = 0.95;

static struct kernel_adam_step adam_step(double learning_rate, int64_t step)
{
	/* From the count alone, so that a step after a restart has the bits of one without. */
	return (struct kernel_adam_step){
		.rate = (float)(learning_rate / (1 - pow(first_decay, (double)step))),
		.first_decay = (float)first_decay,
		.second_decay = (float)second_decay,
		.second_correction = (float)(1 / (1 - pow(second_decay, (double)step))),
		.epsilon = 1e-8f,
	};
}

int model_step(struct model_stage *model, float scale, struct err *err)
{
	const int n_done = model->n_done[MODEL_BACKWARD_WEIGHT];
	struct work work = {.kind = WORK_ADAM, .n_items = model->layout.n_floats};

	if (n_done < model->config.n_microbatches)
		return err_set(err, -EPERM,
		               "the iteration cannot end on stage %d: %d of %d microbatches are "
		               "done",
		               model->stage, n_done, model->config.n_microbatches);
	work.adam = (struct work_adam){
		.step = adam_step(model->config.learning_rate, ++model->n_steps),
		.scale = scale,
		.gradients = model->gradients,
		.parameters = model->parameters,
		.first = model->first_moments,
		.second = model->second_moments,
	};
	arithmetic_run(model->arithmetic, &work);
	return model_abandon(model, err);
}
