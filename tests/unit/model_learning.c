/* model_learning.c - first parameters, Adam, and a loss that falls on the corpus. */
#include <errno.h>
#include <math.h>

#include "engine/model/layout.h"
#include "tests/unit/model_fixture.h"

static bool are_equal(const struct model_stage *a, size_t a_at, const struct model_stage *b,
                      size_t b_at, size_t n_floats)
{
	size_t n;

	return memcmp(model_parameters(a, &n) + a_at, model_parameters(b, &n) + b_at,
	              n_floats * sizeof(float)) == 0;
}

static struct model_stage *stage_of(struct model_config config, int stage)
{
	struct model_stage *model = NULL;
	struct err err = {0};

	model_stage_new(&config, stage, arithmetic_host(), &model, &err);
	tap_is_str(err.text, "", "stage %d of %d is made", stage, config.n_stages);
	return model;
}

static void check_first_parameters(void)
{
	struct model_config config = model_default_config(2, 2, 5);
	struct model_config other_seed = config;
	struct model_stage *first = stage_of(config, 0), *again = stage_of(config, 0);
	struct model_stage *last = stage_of(config, 1), *other;
	struct layout layouts[2];
	const struct layout_block *block = &layouts[0].block;
	size_t n_weights;

	other_seed.seed = 6;
	other = stage_of(other_seed, 0);
	for (int stage = 0; stage < 2; stage++)
		layout_init(&config, stage, &layouts[stage]);
	n_weights = block->qkv_bias - block->qkv_weight;
	tap_ok(are_equal(first, 0, again, 0, layouts[0].n_floats), "a seed gives the same twice");
	tap_ok(!are_equal(first, layouts[0].token, other, layouts[0].token, 1),
	       "another seed gives another token");
	tap_ok(!are_equal(first, layouts[0].blocks + block->qkv_weight, other,
	                  layouts[0].blocks + block->qkv_weight, n_weights),
	       "and another block");
	tap_ok(!are_equal(first, layouts[0].blocks + block->qkv_weight, last,
	                  layouts[1].blocks + block->qkv_weight, n_weights),
	       "two layers differ");
	model_stage_free(first);
	model_stage_free(again);
	model_stage_free(last);
	model_stage_free(other);
}

/* Adam in doubles, on one parameter. */
struct adam {
	double parameter, first, second;
	int n_steps;
};

static void adam_step(struct adam *adam, double rate, double gradient)
{
	adam->n_steps++;
	adam->first = 0.9 * adam->first + 0.1 * gradient;
	adam->second = 0.95 * adam->second + 0.05 * gradient * gradient;
	adam->parameter -= rate * (adam->first / (1 - pow(0.9, adam->n_steps))) /
	                   (sqrt(adam->second / (1 - pow(0.95, adam->n_steps))) + 1e-8);
}

static void check_adam(void)
{
	struct model_config config = model_default_config(1, 1, 5);
	struct pipeline p;
	struct adam *want;
	double worst = 0;
	size_t n;

	pipeline_init(&p, &config);
	model_parameters(p.stages[0], &n);
	want = calloc(n, sizeof(*want));
	for (size_t i = 0; i < n; i++)
		want[i].parameter = (double)model_parameters(p.stages[0], &n)[i];
	for (int step = 0; step < 5; step++) {
		const float *gradients;

		pipeline_run(&p, 1);
		gradients = model_gradients(p.stages[0], &n);
		for (size_t i = 0; i < n; i++)
			adam_step(&want[i], config.learning_rate, (double)gradients[i] * 0.5);
		model_step(p.stages[0], 0.5f, NULL);
		p.iteration++;
	}
	for (size_t i = 0; i < n; i++)
		worst = tap_worst(worst, fabs(want[i].parameter -
		                              (double)model_parameters(p.stages[0], &n)[i]));
	tap_note("after 5 steps of %g, largest error %.2g", config.learning_rate, worst);
	tap_ok(worst < 1e-3 * config.learning_rate, "five steps of Adam are right");
	tap_ok(model_gradients(p.stages[0], &n)[0] == 0 && pipeline_loss(p.stages[0]) == 0,
	       "a step leaves no gradients and no loss");
	free(want);
	pipeline_fini(&p);
}

/* Mean of n losses. */
static double train(struct pipeline *p, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += pipeline_iterate(p, 1) / n;
	return sum;
}

static void check_learning(void)
{
	struct model_config config = model_default_config(2, 4, 42);
	struct pipeline p;
	double start, end;

	pipeline_init(&p, &config);
	start = train(&p, 1);
	tap_is_number(start, log(256), 0.15, "at first every byte is as good as any other");
	train(&p, 280);
	end = train(&p, 20);
	tap_note("loss %.3f at first, %.3f after 300 iterations", start, end);
	/* Letters by how common they are give 2.9; more than that has to be seen in context. */
	tap_ok(end < 2.75, "after 300 iterations the loss is below what letter counts alone give");
	pipeline_fini(&p);
}

int main(void)
{
	check_first_parameters();
	check_adam();
	check_learning();
	return tap_done();
}
