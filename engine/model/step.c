/* step.c - ends an iteration: Adam moves the parameters along the summed gradients. */
#include <errno.h>
#include <math.h>

#include "engine/model/kernels.h"
#include "engine/model/stage_internal.h"

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
	struct kernel_adam_step step;

	if (n_done < model->config.n_microbatches)
		return err_set(err, -EPERM,
		               "the iteration cannot end on stage %d: %d of %d microbatches are "
		               "done",
		               model->stage, n_done, model->config.n_microbatches);
	step = adam_step(model->config.learning_rate, ++model->n_steps);
	for (size_t i = 0; i < model->layout.n_floats; i++)
		kernel_adam(step, model->gradients[i] * scale, &model->parameters[i],
		            &model->first_moments[i], &model->second_moments[i]);
	model_abandon(model);
	return 0;
}
