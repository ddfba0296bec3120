/* work_run.h - any kind of work on a span of its items; with what the first and the last stage do.
 */
#ifndef ENGINE_MODEL_WORK_RUN_H
#define ENGINE_MODEL_WORK_RUN_H

#include "engine/model/work_spans.h"

MODEL_KERNEL void span_embed(const struct work_embed *w, size_t first, size_t n)
{
	const size_t width = (size_t)w->width, n_tokens = (size_t)w->n_tokens;

	for (size_t r = first; r < first + n; r++) {
		const uint8_t token = *token_of(w->tokens, w->n_tokens, r);
		const float *position = w->position_rows + r % n_tokens * width;

		for (size_t i = 0; i < width; i++)
			w->rows[r * width + i] = w->token_rows[token * width + i] + position[i];
	}
}

MODEL_KERNEL void span_embed_weight(const struct work_embed_weight *w, size_t first, size_t n)
{
	const size_t width = (size_t)w->width, n_tokens = (size_t)w->n_tokens;

	for (size_t r = 0; r < (size_t)w->n_rows; r++) {
		const uint8_t token = *token_of(w->tokens, w->n_tokens, r);
		const float *d = w->d_rows + r * width;
		float *token_row = w->token_rows + token * width;
		float *position_row = w->position_rows + r % n_tokens * width;

		for (size_t i = first; i < first + n; i++)
			token_row[i] += d[i];
		for (size_t i = first; i < first + n; i++)
			position_row[i] += d[i];
	}
}

MODEL_KERNEL void span_cross_entropy(const struct work_entropy *w, size_t first, size_t n)
{
	for (size_t r = first; r < first + n; r++)
		w->losses[r] = kernel_cross_entropy(w->logits + r * (size_t)w->width, w->width,
		                                    token_of(w->tokens, w->n_tokens, r)[1]);
}

MODEL_KERNEL void span_cross_entropy_backward(const struct work_entropy *w, size_t first, size_t n)
{
	for (size_t r = first; r < first + n; r++)
		kernel_cross_entropy_backward(w->width, token_of(w->tokens, w->n_tokens, r)[1],
		                              w->scale, w->logits + r * (size_t)w->width);
}

MODEL_KERNEL void sum_losses(const struct work_loss *w)
{
	double sum = 0;

	for (int r = 0; r < w->n_rows; r++)
		sum += w->losses[r];
	*w->loss = (w->is_first ? 0 : *w->loss) + sum / w->n_rows / w->n_microbatches;
}

MODEL_KERNEL void span_adam(const struct work_adam *w, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		kernel_adam(w->step, w->gradients[i] * w->scale, &w->parameters[i], &w->first[i],
		            &w->second[i]);
}

MODEL_KERNEL void work_run(const struct work *work, size_t first, size_t n)
{
	switch (work->kind) {
	case WORK_CLEAR:
		span_clear(work->clear, first, n);
		break;
	case WORK_NORM:
		span_norm(&work->norm, first, n);
		break;
	case WORK_NORM_BACKWARD:
		span_norm_backward(&work->norm_backward, first, n);
		break;
	case WORK_NORM_WEIGHT:
		span_norm_weight(&work->norm_weight, first, n);
		break;
	case WORK_SET_ROWS:
		span_set_rows(&work->rows, first, n);
		break;
	case WORK_ADD_TO_ROWS:
		span_add_to_rows(&work->rows, first, n);
		break;
	case WORK_SUM_COLUMNS:
		span_sum_columns(&work->columns, first, n);
		break;
	case WORK_GELU:
		span_gelu(&work->gelu, first, n);
		break;
	case WORK_GELU_BACKWARD:
		span_gelu_backward(&work->gelu_backward, first, n);
		break;
	case WORK_SOFTMAX:
		span_softmax(&work->softmax, first, n);
		break;
	case WORK_SOFTMAX_BACKWARD:
		span_softmax_backward(&work->softmax, first, n);
		break;
	case WORK_EMBED:
		span_embed(&work->embed, first, n);
		break;
	case WORK_EMBED_WEIGHT:
		span_embed_weight(&work->embed_weight, first, n);
		break;
	case WORK_CROSS_ENTROPY:
		span_cross_entropy(&work->entropy, first, n);
		break;
	case WORK_CROSS_ENTROPY_BACKWARD:
		span_cross_entropy_backward(&work->entropy, first, n);
		break;
	case WORK_LOSS:
		sum_losses(&work->loss);
		break;
	case WORK_ADAM:
		span_adam(&work->adam, first, n);
		break;
	}
}

#endif
