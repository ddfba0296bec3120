/* fault.c - when a fault is in force, and what it adds to a message. */
#include "engine/scenario/fault.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "engine/base/rng.h"

const char *fault_kind_name(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_DELAY:
		return "delay";
	case FAULT_RATE:
		return "rate";
	case FAULT_SLOW_STAGE:
		return "slow";
	case FAULT_DOWN:
		return "down";
	case FAULT_LOSS:
		return "loss";
	}
	return "?";
}

const char *delay_model_name(enum delay_model model)
{
	switch (model) {
	case DELAY_LATENCY:
		return "latency";
	case DELAY_RATE:
		return "rate";
	case DELAY_OCCUPANCY:
		return "occupancy";
	}
	return "?";
}

const char *distribution_name(enum distribution distribution)
{
	switch (distribution) {
	case DISTRIBUTION_UNIFORM:
		return "uniform";
	case DISTRIBUTION_NORMAL:
		return "normal";
	case DISTRIBUTION_PARETO:
		return "pareto";
	case DISTRIBUTION_PARETONORMAL:
		return "paretonormal";
	}
	return "?";
}

bool fault_is_on_link(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_DELAY:
	case FAULT_RATE:
	case FAULT_LOSS:
		return true;
	case FAULT_SLOW_STAGE:
	case FAULT_DOWN:
		return false;
	}
	return false;
}

bool fault_is_of_packets(const struct fault *fault)
{
	return fault->kind == FAULT_LOSS || fault->allows_reordering;
}

const char *moment_op_text(const struct moment *moment, char text[MOMENT_TEXT_BYTES])
{
	snprintf(text, MOMENT_TEXT_BYTES, "%c%d of stage %d", op_kind_letter(moment->op),
	         moment->microbatch, moment->stage);
	return text;
}

/* Within one microbatch forwards go up the stages, backwards come down, and a W follows its B. */
bool moment_op_precedes(const struct moment *a, const struct moment *b)
{
	if (a->microbatch > b->microbatch || a->op > b->op)
		return false;
	switch (a->op) {
	case OP_F:
		return b->op != OP_F || a->stage <= b->stage;
	case OP_B:
		return a->stage >= b->stage;
	case OP_W:
		return a->stage == b->stage;
	}
	return false;
}

bool fault_has_op(const struct fault *fault)
{
	return fault->start.kind == MOMENT_OP || fault->end.kind == MOMENT_OP;
}

bool fault_is_active(const struct fault *fault, int iteration, int64_t now_ns)
{
	int64_t here = fault->start.kind == MOMENT_TIME ? now_ns : iteration;

	assert(!fault_has_op(fault));
	if (fault->start.kind == MOMENT_NEVER || here < fault->start.value)
		return false;
	/* The end of a DOWN that starts at an iteration and lasts for a time is known only to who
	 * saw it start; until then it is in force. */
	if (fault->end.kind != fault->start.kind)
		return true;
	return here < fault->end.value;
}

bool fault_may_be_active(const struct fault *fault, int iteration)
{
	switch (fault->start.kind) {
	case MOMENT_NEVER:
		return false;
	case MOMENT_TIME:
		return true;
	case MOMENT_ITERATION:
	case MOMENT_OP:
		break;
	}
	if (iteration < fault->start.value)
		return false;
	if (fault->end.kind == MOMENT_ITERATION)
		return iteration < fault->end.value;
	return fault->end.kind != MOMENT_OP || iteration <= fault->end.value;
}

static double draw(enum distribution distribution, uint64_t bits)
{
	switch (distribution) {
	case DISTRIBUTION_UNIFORM:
		return 2 * rng_uniform(bits) - 1;
	case DISTRIBUTION_NORMAL:
		return rng_normal(bits);
	case DISTRIBUTION_PARETO:
		return rng_pareto(bits);
	case DISTRIBUTION_PARETONORMAL:
		return rng_paretonormal(bits);
	}
	return 0;
}

/* The key is what the fault is, not its place in the list: adding another fault leaves these draws
 * as they were. */
static uint64_t message_bits(const struct fault *fault, uint64_t seed, int iteration,
                             int microbatch)
{
	uint64_t bits = rng_mix(seed, (uint64_t)fault->from_stage);

	bits = rng_mix(bits, (uint64_t)fault->to_stage);
	bits = rng_mix(bits, (uint64_t)fault->start.kind);
	bits = rng_mix(bits, (uint64_t)fault->start.value);
	if (fault->start.kind == MOMENT_OP) {
		bits = rng_mix(bits, (uint64_t)fault->start.stage);
		bits = rng_mix(bits, (uint64_t)fault->start.op);
		bits = rng_mix(bits, (uint64_t)fault->start.microbatch);
	}
	bits = rng_mix(bits, (uint64_t)iteration);
	return rng_mix(bits, (uint64_t)microbatch);
}

int64_t fault_delay_ns(const struct fault *fault, uint64_t seed, int iteration, int microbatch)
{
	double delay_ns;

	if (fault->jitter_ns == 0)
		return fault->delay_ns;
	delay_ns = draw(fault->distribution, message_bits(fault, seed, iteration, microbatch)) *
	                   (double)fault->jitter_ns +
	           (double)fault->delay_ns;
	if (!(delay_ns > 0))
		return 0;
	if (delay_ns > (double)FAULT_DELAY_MAX_NS)
		return FAULT_DELAY_MAX_NS;
	return (int64_t)llround(delay_ns);
}
