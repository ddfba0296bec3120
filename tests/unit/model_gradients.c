/* model_gradients.c - losses and gradients against a second model in doubles and its differences.
 */
#include "tests/unit/model_fixture.h"
#include "tests/unit/model_reference.h"

/* The differences are right to 1e-9, so what is left is float32: 24 bits, and some sums. */
static const double tolerance = 3e-6;
static const double nudge = 1e-4;

static struct model_config tiny_config(int n_stages)
{
	struct model_config config = model_default_config(n_stages, 2, 11);

	config.n_layers = 3;
	config.n_embedding = 6;
	config.n_heads = 2;
	config.n_tokens = 5;
	config.n_samples = 2;
	config.learning_rate = 0.03;
	return config;
}

/* A part of the parameters. */
struct part {
	const char *name;
	size_t start, end;
};

/* Loss of the iteration, as a function of the reference's parameters. */
static double loss_of(const struct reference *r, int iteration)
{
	uint8_t tokens[MICROBATCHES_MAX * ROWS_MAX];
	double loss = 0;

	for (int i = 0; i < r->config.n_microbatches; i++) {
		corpus_microbatch(&r->config, iteration, 0, i, tokens);
		loss += reference_loss(r, tokens, 0, NULL) / r->config.n_microbatches;
	}
	return loss;
}

static double slope_at(struct reference *r, int iteration, size_t i)
{
	const double was = r->parameters[i];
	double up, down;

	r->parameters[i] = was + nudge;
	up = loss_of(r, iteration);
	r->parameters[i] = was - nudge;
	down = loss_of(r, iteration);
	r->parameters[i] = was;
	return (up - down) / (2 * nudge);
}

static void check_part(struct reference *r, int iteration, const float *gradients,
                       const struct part *part)
{
	double worst = 0, most = 0;

	for (size_t i = part->start; i < part->end; i++) {
		double want = slope_at(r, iteration, i);

		most = tap_worst(most, fabs(want));
		worst = tap_worst(worst, fabs(want - (double)gradients[i]));
	}
	tap_note("%s: largest gradient %.3g, largest error %.2g of it", part->name, most,
	         worst / most);
	tap_ok(most > 0 && worst <= tolerance * most, "the gradient of %s is right", part->name);
}

static void check_block(struct reference *r, int iteration, const float *gradients, int block)
{
	const struct layout_block *at = &r->layout.block;
	const struct part parts[] = {
		{"first norm's gain", at->norm1_gain, at->norm1_bias},
		{"first norm's bias", at->norm1_bias, at->qkv_weight},
		{"queries, keys and values", at->qkv_weight, at->qkv_bias},
		{"their bias", at->qkv_bias, at->mix_weight},
		{"what mixes the heads", at->mix_weight, at->mix_bias},
		{"its bias", at->mix_bias, at->norm2_gain},
		{"second norm's gain", at->norm2_gain, at->norm2_bias},
		{"second norm's bias", at->norm2_bias, at->up_weight},
		{"MLP, up", at->up_weight, at->up_bias},
		{"MLP, up, bias", at->up_bias, at->down_weight},
		{"MLP, down", at->down_weight, at->down_bias},
		{"MLP, down, bias", at->down_bias, at->n_floats},
	};
	const size_t start = r->layout.blocks + (size_t)block * at->n_floats;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct part part = {parts[i].name, start + parts[i].start, start + parts[i].end};

		check_part(r, iteration, gradients, &part);
	}
}

static void check_ends(struct reference *r, int iteration, const float *gradients)
{
	const struct layout *at = &r->layout;
	const struct part parts[] = {
		{"tokens", at->token, at->position},
		{"positions", at->position, at->blocks},
		{"last norm's gain", at->head_gain, at->head_bias},
		{"last norm's bias", at->head_bias, at->head_weight},
		{"head", at->head_weight, at->n_floats},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		check_part(r, iteration, gradients, &parts[i]);
}

/* What a stage hands back is the slope of the loss in what it was handed. */
static void check_input_gradient(struct pipeline *p, const struct reference *r, int stage,
                                 int microbatch)
{
	const int n = (int)(model_message_bytes(&p->config) / sizeof(float));
	const float *got = p->gradients[stage][microbatch];
	double x[ROWS_MAX * WIDTH_MAX], worst = 0, most = 0;
	uint8_t tokens[MICROBATCHES_MAX * ROWS_MAX];

	corpus_microbatch(&p->config, p->iteration, 0, microbatch, tokens);
	for (int i = 0; i < n; i++)
		x[i] = (double)p->activations[stage][microbatch][i];
	for (int i = 0; i < n; i++) {
		const double was = x[i];
		double want;

		x[i] = was + nudge;
		want = reference_loss(r, tokens, stage, x);
		x[i] = was - nudge;
		want -= reference_loss(r, tokens, stage, x);
		x[i] = was;
		want /= 2 * nudge * p->config.n_microbatches;
		most = tap_worst(most, fabs(want));
		worst = tap_worst(worst, fabs(want - (double)got[i]));
	}
	tap_note("input of stage %d: largest gradient %.3g, largest error %.2g of it", stage, most,
	         worst / most);
	tap_ok(most > 0 && worst <= tolerance * most,
	       "the gradient that stage %d hands back for microbatch %d is right", stage,
	       microbatch);
}

int main(void)
{
	struct model_config config = tiny_config(3);
	struct pipeline p;
	struct reference r;
	float *parameters, *gradients;
	double loss;
	size_t n;

	/* Some steps first: at the start biases are 0 and gains 1, where mistakes can hide. */
	pipeline_init(&p, &config);
	for (int i = 0; i < 4; i++)
		pipeline_iterate(&p, 1);
	loss = pipeline_run(&p, 1);
	parameters = pipeline_floats(&p, false, &n);
	gradients = pipeline_floats(&p, true, &n);
	reference_init(&r, &config, parameters);
	tap_is_int((int64_t)n, (int64_t)r.layout.n_floats, "all parameters are there");
	tap_is_number(loss, loss_of(&r, p.iteration), 3e-6 * loss, "the loss is right");
	check_ends(&r, p.iteration, gradients);
	for (int block = 0; block < config.n_layers; block++)
		check_block(&r, p.iteration, gradients, block);
	for (int stage = 1; stage < config.n_stages; stage++)
		for (int i = 0; i < config.n_microbatches; i++)
			check_input_gradient(&p, &r, stage, i);
	free(r.parameters);
	free(parameters);
	free(gradients);
	pipeline_fini(&p);
	return tap_done();
}
