/* model_order.c - the same bits for any dealing of layers and any order of F, B and W. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/child.h"
#include "tests/unit/model_fixture.h"

enum { N_ITERATIONS = 3, N_ORDERS = 12, DIGEST_BYTES = 256 };

static struct model_config config_of(int n_stages)
{
	struct model_config config = model_default_config(n_stages, 5, 7);

	config.n_layers = 6;
	return config;
}

/* Losses and parameters after some iterations, in the digits of their bits. */
static void digest_of(const struct model_config *config, uint64_t order_seed, char *out)
{
	struct pipeline p;
	uint64_t hash = 0;
	int length = 0;
	float *floats;
	size_t n;

	pipeline_init(&p, config);
	for (int i = 0; i < N_ITERATIONS; i++)
		length += snprintf(out + length, DIGEST_BYTES - (size_t)length, "%a ",
		                   pipeline_iterate(&p, rng_mix(order_seed, (uint64_t)i)));
	floats = pipeline_floats(&p, false, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t bits;

		memcpy(&bits, &floats[i], sizeof(bits));
		hash = rng_mix(hash, bits);
	}
	snprintf(out + length, DIGEST_BYTES - (size_t)length, "%016llx of %zu",
	         (unsigned long long)hash, n);
	free(floats);
	pipeline_fini(&p);
}

static void check_dealing(const char *want)
{
	for (int n_stages = 2; n_stages <= 6; n_stages++) {
		struct model_config config = config_of(n_stages);
		char got[DIGEST_BYTES];

		digest_of(&config, 1, got);
		tap_is_str(got, want, "%d stages give the bits of one", n_stages);
	}
}

static void check_orders(const char *want)
{
	for (uint64_t order = 0; order < N_ORDERS; order++) {
		struct model_config config = config_of(1 + (int)(order % 3));
		char got[DIGEST_BYTES];

		config.n_slots = 1 + (int)(order % 5);
		digest_of(&config, order, got);
		tap_is_str(got, want, "order %d gives the same, %d stages of %d slots", (int)order,
		           config.n_stages, config.n_slots);
	}
}

/* Another process has other addresses, and nothing ran before. */
static void check_another_process(const char *program, const char *want)
{
	char command[4200], got[DIGEST_BYTES] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' digest", program);
	pipe = popen(command, "r");
	tap_ok(pipe && fgets(got, sizeof(got), pipe), "the program runs once more");
	if (pipe)
		pclose(pipe);
	tap_is_str(got, want, "another process gives the same bits");
}

/* A worker is forked by a process that may have used OpenBLAS before. */
static void check_forked(const char *want)
{
	pid_t child = child_start();

	if (child == 0) {
		struct model_config config = config_of(2);
		char got[DIGEST_BYTES];

		digest_of(&config, 2, got);
		_exit(strcmp(got, want) != 0);
	}
	tap_is_int(child_wait(child), 0, "a forked process gives the same bits");
}

/* That equality says something: the same microbatches summed in another order differ. */
static void check_order_matters(void)
{
	struct model_config config = config_of(1);
	uint8_t *tokens = malloc(model_token_bytes(&config));
	struct model_stage *models[2] = {NULL, NULL};
	struct err err = {0};
	const float *sums[2];
	size_t n = 0;

	for (int side = 0; side < 2; side++) {
		model_stage_new(&config, 0, arithmetic_host(), &models[side], &err);
		for (int i = 0; i < config.n_microbatches; i++) {
			corpus_microbatch(&config, 0, 0, side ? config.n_microbatches - 1 - i : i,
			                  tokens);
			model_forward(models[side], i, tokens, NULL, NULL, &err);
			model_backward_input(models[side], i, NULL, NULL, &err);
			model_backward_weight(models[side], i, &err);
		}
		sums[side] = model_gradients(models[side], &n);
	}
	tap_is_str(err.text, "", "two models take the same microbatches in opposite orders");
	tap_ok(memcmp(sums[0], sums[1], n * sizeof(float)) != 0,
	       "and their sums differ in some bit");
	tap_is_number(pipeline_loss(models[0]), pipeline_loss(models[1]), 1e-9, "but not in value");
	model_stage_free(models[0]);
	model_stage_free(models[1]);
	free(tokens);
}

static void check_refused(struct pipeline *p, enum model_op op, int microbatch, int code,
                          const char *sentence)
{
	struct err err = {0};

	tap_is_int(pipeline_op(p, 1, op, microbatch, &err), code, "%c%d is refused", "FBW"[op],
	           microbatch);
	tap_contains(err.text, sentence, "and the reason is given");
}

static void allow(struct pipeline *p, int stage, enum model_op op, int microbatch)
{
	struct err err = {0};

	pipeline_op(p, stage, op, microbatch, &err);
	tap_is_str(err.text, "", "%c%d on stage %d is allowed", "FBW"[op], microbatch, stage);
}

static void check_refusals(const char *want_loss)
{
	struct model_config config = config_of(2);
	struct err err = {0};
	struct pipeline p;
	char loss[64];

	config.n_slots = 2;
	pipeline_init(&p, &config);
	allow(&p, 0, MODEL_FORWARD, 0);
	allow(&p, 0, MODEL_FORWARD, 1);
	check_refused(&p, MODEL_FORWARD, 1, -EPERM, "F1 on stage 1 is out of order: F0 comes next");
	check_refused(&p, MODEL_BACKWARD_INPUT, 0, -EPERM, "B0 on stage 1 comes before F0 is done");
	tap_is_int(model_backward_weight(p.stages[1], -1, NULL), -EPERM, "W-1 is refused");
	allow(&p, 1, MODEL_FORWARD, 0);
	allow(&p, 1, MODEL_FORWARD, 1);
	check_refused(&p, MODEL_FORWARD, 1, -EPERM, "F2 comes next");
	check_refused(&p, MODEL_FORWARD, 2, -ENOSPC, "F2 on stage 1 finds no free slot of 2; W0");
	check_refused(&p, MODEL_BACKWARD_WEIGHT, 0, -EPERM, "W0 on stage 1 comes before B0");
	check_refused(&p, MODEL_BACKWARD_INPUT, 1, -EPERM, "B0 comes next");
	tap_is_int(model_step(p.stages[1], 1, &err), -EPERM,
	           "a step inside an iteration is refused");
	tap_contains(err.text, "0 of 5 microbatches are done", "and says how far it is");
	for (int stage = 0; stage < 2; stage++)
		(void)model_abandon(p.stages[stage], NULL);
	snprintf(loss, sizeof(loss), "%a ", pipeline_run(&p, 3));
	tap_ok(strncmp(loss, want_loss, strlen(loss)) == 0,
	       "after all that, an iteration started anew has the same loss");
	check_refused(&p, MODEL_FORWARD, 5, -EPERM, "all 5 microbatches are done");
	pipeline_fini(&p);
}

static void check_buffers(void)
{
	struct model_config config = config_of(2);
	struct model_stage *first = NULL, *last = NULL;
	float *floats = calloc(1, model_message_bytes(&config));
	uint8_t *tokens = calloc(1, model_token_bytes(&config));
	struct err err = {0};

	model_stage_new(&config, 0, arithmetic_host(), &first, &err);
	model_stage_new(&config, 1, arithmetic_host(), &last, &err);
	tap_is_int(model_forward(first, 0, NULL, NULL, floats, &err), -EINVAL, "no tokens");
	tap_is_int(model_forward(first, 0, tokens, NULL, NULL, &err), -EINVAL, "no output");
	tap_is_int(model_forward(last, 0, tokens, NULL, NULL, &err), -EINVAL, "no input");
	tap_is_int(model_forward(last, 0, NULL, floats, NULL, &err), -EINVAL, "no targets");
	tap_contains(err.text, "stage 1 of 2 needs the buffer tokens", "the buffer is named");
	model_forward(first, 0, tokens, NULL, floats, &err);
	model_forward(last, 0, tokens, floats, NULL, &err);
	tap_is_int(model_backward_input(last, 0, NULL, NULL, &err), -EINVAL, "no input gradient");
	tap_is_int(model_backward_input(first, 0, NULL, NULL, &err), -EINVAL, "no output gradient");
	tap_is_int(model_backward_input(last, 0, NULL, floats, &err), 0,
	           "and what was refused can be done right");
	model_stage_free(first);
	model_stage_free(last);
	free(tokens);
	free(floats);
}

int main(int argc, char **argv)
{
	struct model_config config = config_of(1);
	char want[DIGEST_BYTES], program[4096] = "";

	digest_of(&config, 0, want);
	if (argc > 1)
		return printf("%s", want) < 0;
	tap_note("losses and hash of the parameters: %s", want);
	check_dealing(want);
	check_orders(want);
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		check_another_process(program, want);
	else
		tap_skip("no /proc here: %s cannot run itself", argv[0]);
	check_forked(want);
	check_order_matters();
	check_refusals(want);
	check_buffers();
	return tap_done();
}
