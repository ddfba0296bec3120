/* model_reference.h - the same model written a second time, in doubles, one number at a time.
 *
 * Slow and plain, and sharing nothing with the engine but the layout of the parameters. */
#ifndef TESTS_UNIT_MODEL_REFERENCE_H
#define TESTS_UNIT_MODEL_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/layout.h"

enum { ROWS_MAX = 16, WIDTH_MAX = 8, WIDE_MAX = WIDTH_MAX * MODEL_MLP_RATIO };

/* Rows of one microbatch. */
typedef double rows[ROWS_MAX][WIDE_MAX];

struct reference {
	struct model_config config; /* of a single stage */
	struct layout layout;
	double *parameters;
};

static inline void reference_norm(int width, const double *gain, const double *bias,
                                  const double *x, double *y)
{
	double mean = 0, variance = 0;

	for (int i = 0; i < width; i++)
		mean += x[i] / width;
	for (int i = 0; i < width; i++)
		variance += (x[i] - mean) * (x[i] - mean) / width;
	for (int i = 0; i < width; i++)
		y[i] = (x[i] - mean) / sqrt(variance + 1e-5) * gain[i] + bias[i];
}

/* y = x weight + bias. */
static inline void reference_linear(int n_in, int n_out, const double *weight, const double *bias,
                                    const double *x, double *y)
{
	for (int o = 0; o < n_out; o++) {
		y[o] = bias ? bias[o] : 0;
		for (int i = 0; i < n_in; i++)
			y[o] += x[i] * weight[i * n_out + o];
	}
}

static inline double reference_gelu(double x)
{
	return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/* One row looks back along one head: what it finds, in out. */
static inline void reference_look(const struct model_config *config, const double (*qkv)[WIDE_MAX],
                                  int t, int column, double *out)
{
	const int size = config->n_embedding / config->n_heads;
	double weights[ROWS_MAX], sum = 0;

	for (int before = 0; before <= t; before++) {
		double score = 0;

		for (int i = column; i < column + size; i++)
			score += qkv[t][i] * qkv[before][config->n_embedding + i];
		weights[before] = exp(score / sqrt(size));
		sum += weights[before];
	}
	for (int i = column; i < column + size; i++) {
		out[i] = 0;
		for (int before = 0; before <= t; before++)
			out[i] += weights[before] / sum * qkv[before][2 * config->n_embedding + i];
	}
}

static inline void reference_block(const struct reference *r, int block, rows x)
{
	const struct layout_block *at = &r->layout.block;
	const double *p = r->parameters + r->layout.blocks + (size_t)block * at->n_floats;
	const int width = r->config.n_embedding, wide = width * MODEL_MLP_RATIO;
	const int n_tokens = r->config.n_tokens;
	const int n_rows = n_tokens * r->config.n_samples;
	double normed[WIDE_MAX], mixed[WIDE_MAX], added[WIDE_MAX];
	rows qkv;

	for (int row = 0; row < n_rows; row++) {
		reference_norm(width, p + at->norm1_gain, p + at->norm1_bias, x[row], normed);
		reference_linear(width, 3 * width, p + at->qkv_weight, p + at->qkv_bias, normed,
		                 qkv[row]);
	}
	for (int row = 0; row < n_rows; row++) {
		for (int head = 0; head < r->config.n_heads; head++)
			reference_look(&r->config, qkv + row / n_tokens * n_tokens, row % n_tokens,
			               head * (width / r->config.n_heads), mixed);
		reference_linear(width, width, p + at->mix_weight, p + at->mix_bias, mixed, added);
		for (int i = 0; i < width; i++)
			x[row][i] += added[i];
		reference_norm(width, p + at->norm2_gain, p + at->norm2_bias, x[row], normed);
		reference_linear(width, wide, p + at->up_weight, p + at->up_bias, normed, mixed);
		for (int i = 0; i < wide; i++)
			mixed[i] = reference_gelu(mixed[i]);
		reference_linear(wide, width, p + at->down_weight, p + at->down_bias, mixed, added);
		for (int i = 0; i < width; i++)
			x[row][i] += added[i];
	}
}

static inline double reference_head(const struct reference *r, const uint8_t *tokens, rows x)
{
	const struct layout *at = &r->layout;
	const int width = r->config.n_embedding, n_tokens = r->config.n_tokens;
	const int n_rows = n_tokens * r->config.n_samples;
	double loss = 0;

	for (int row = 0; row < n_rows; row++) {
		int target = tokens[row / n_tokens * (n_tokens + 1) + row % n_tokens + 1];
		double normed[WIDE_MAX], logits[MODEL_VOCABULARY], sum = 0;

		reference_norm(width, r->parameters + at->head_gain, r->parameters + at->head_bias,
		               x[row], normed);
		reference_linear(width, MODEL_VOCABULARY, r->parameters + at->head_weight, NULL,
		                 normed, logits);
		for (int i = 0; i < MODEL_VOCABULARY; i++)
			sum += exp(logits[i]);
		loss += log(sum) - logits[target];
	}
	return loss / n_rows;
}

static inline void reference_embed(const struct reference *r, const uint8_t *tokens, rows x)
{
	const int width = r->config.n_embedding, n_tokens = r->config.n_tokens;

	for (int row = 0; row < n_tokens * r->config.n_samples; row++) {
		int t = row % n_tokens;
		int token = tokens[row / n_tokens * (n_tokens + 1) + t];

		for (int i = 0; i < width; i++)
			x[row][i] = r->parameters[r->layout.token + (size_t)(token * width + i)] +
			            r->parameters[r->layout.position + (size_t)(t * width + i)];
	}
}

/* Mean cross-entropy of a microbatch. x is what goes into first_layer, NULL before the first. */
static inline double reference_loss(const struct reference *r, const uint8_t *tokens,
                                    int first_layer, const double *x)
{
	const int width = r->config.n_embedding;
	rows residual;

	for (int row = 0; x && row < r->config.n_tokens * r->config.n_samples; row++)
		memcpy(residual[row], x + row * width, (size_t)width * sizeof(double));
	if (!x)
		reference_embed(r, tokens, residual);
	for (int block = first_layer; block < r->config.n_layers; block++)
		reference_block(r, block, residual);
	return reference_head(r, tokens, residual);
}

/* parameters are those of all stages, one after the other. */
static inline void reference_init(struct reference *r, const struct model_config *config,
                                  const float *parameters)
{
	r->config = *config;
	r->config.n_stages = 1;
	layout_init(&r->config, 0, &r->layout);
	r->parameters = malloc(r->layout.n_floats * sizeof(double));
	for (size_t i = 0; i < r->layout.n_floats; i++)
		r->parameters[i] = (double)parameters[i];
}

#endif
