/* validate_faults.c - ranges of faults. */
#include <errno.h>
#include <stdlib.h>

#include "engine/scenario/validate_internal.h"

static int complain_stage(struct scenario_mistakes *mistakes, const struct fault *f, int stage,
                          int n_stages)
{
	return scenario_mistake_add(
		mistakes, f->script_line,
		"stage %d is not in a pipeline of %d stages; stages are 0 to %d", stage, n_stages,
		n_stages - 1);
}

static int check_target(const struct scenario *s, const struct fault *f,
                        struct scenario_mistakes *mistakes)
{
	int n = s->topology.n_stages;
	int low = f->from_stage < f->to_stage ? f->from_stage : f->to_stage;
	int high = f->from_stage < f->to_stage ? f->to_stage : f->from_stage;
	bool is_on_link = fault_is_on_link(f);

	if (is_on_link && (low < 0 || high >= n || high - low != 1)) {
		if (n == 1)
			return scenario_mistake_add(
				mistakes, f->script_line,
				"link \"%d->%d\" is in a pipeline of one stage, "
				"which has no links",
				f->from_stage, f->to_stage);
		return scenario_mistake_add(
			mistakes, f->script_line,
			"link \"%d->%d\" does not join neighbours in a pipeline "
			"of %d stages; links are \"0-1\" to \"%d-%d\"",
			f->from_stage, f->to_stage, n, n - 2, n - 1);
	}
	if (!is_on_link && (f->from_stage < 0 || f->from_stage >= n))
		return complain_stage(mistakes, f, f->from_stage, n);
	if (f->kind == FAULT_DOWN && (f->rail < 0 || f->rail >= s->topology.n_rails))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "rail %d is not one of the %d rails of a stage; "
		                            "rails are 0 to %d",
		                            f->rail, s->topology.n_rails, s->topology.n_rails - 1);
	return 0;
}

static int check_delay(const struct fault *f, struct scenario_mistakes *mistakes)
{
	if (f->delay_ns < 0 || f->delay_ns > FAULT_DELAY_MAX_NS || f->jitter_ns < 0 ||
	    f->jitter_ns > FAULT_DELAY_MAX_NS)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "delay and jitter must be 0 to 24 hours");
	if (f->delay_ns == 0 && f->jitter_ns == 0)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "a delay of 0 without jitter has no effect; "
		                            "leave the fault out");
	if (f->allows_reordering && (f->jitter_ns == 0 || f->model != DELAY_LATENCY))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "packets overtake each other only by jitter of a path "
		                            "(model = \"latency\"); leave out reordering");
	return 0;
}

static int check_loss(const struct fault *f, struct scenario_mistakes *mistakes)
{
	if (!(f->loss_ratio >= FAULT_LOSS_MIN && f->loss_ratio <= 1))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "loss is %g; it must be %g to 1, or 100 %%",
		                            f->loss_ratio, FAULT_LOSS_MIN);
	if (!(f->loss_correlation_ratio >= 0 && f->loss_correlation_ratio < 1))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "correlation is %g; it must be less than 1, or 100 %%",
		                            f->loss_correlation_ratio);
	if (f->loss_ratio >= 1 && f->loss_correlation_ratio > 0)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "correlation has no effect where every packet is lost; "
		                            "leave it out");
	return 0;
}

static int check_amount(const struct fault *f, struct scenario_mistakes *mistakes)
{
	switch (f->kind) {
	case FAULT_DELAY:
		return check_delay(f, mistakes);
	case FAULT_RATE:
		if (f->rate_bits_per_s < 1)
			return scenario_mistake_add(mistakes, f->script_line,
			                            "a rate must be at least 1 bit/s");
		if (f->rate_bits_per_s > INT64_C(1) << 60)
			return scenario_mistake_add(mistakes, f->script_line,
			                            "a rate must be at most 2^60 bit/s");
		return 0;
	case FAULT_SLOW_STAGE:
		if (!(f->slowdown >= 1 && f->slowdown <= FAULT_SLOWDOWN_MAX))
			return scenario_mistake_add(mistakes, f->script_line,
			                            "factor is %g; it must be 1 to %d", f->slowdown,
			                            FAULT_SLOWDOWN_MAX);
		return 0;
	case FAULT_DOWN:
		return 0;
	case FAULT_LOSS:
		return check_loss(f, mistakes);
	}
	return 0;
}

/* Where a fault starts or ends at an op, that must exist. */
static int check_op(const struct scenario *s, const struct fault *f, const struct moment *moment,
                    struct scenario_mistakes *mistakes)
{
	int n_stages = s->topology.n_stages, n_microbatches = s->n_microbatches;

	if (moment->value < 0 || moment->value >= s->n_iterations)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "the fault %s at an op of iteration %lld; iterations "
		                            "are 0 to %d",
		                            moment == &f->start ? "starts" : "ends",
		                            (long long)moment->value, s->n_iterations - 1);
	if (moment->stage < 0 || moment->stage >= n_stages)
		return complain_stage(mistakes, f, moment->stage, n_stages);
	/* A workload that has not been read is complained about elsewhere. */
	if (n_microbatches > 0 && (moment->microbatch < 0 || moment->microbatch >= n_microbatches))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "there is no %c%d in an iteration of %d microbatches; "
		                            "microbatches are 0 to %d",
		                            op_kind_letter(moment->op), moment->microbatch,
		                            n_microbatches, n_microbatches - 1);
	return 0;
}

static int check_start(const struct scenario *s, const struct fault *f,
                       struct scenario_mistakes *mistakes)
{
	if (f->start.kind == MOMENT_OP)
		return check_op(s, f, &f->start, mistakes);
	if (f->start.kind == MOMENT_NEVER || f->start.value < 0)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "a fault starts at iteration 0 or time 0 or later");
	if (f->start.kind == MOMENT_ITERATION && f->start.value >= s->n_iterations)
		return scenario_mistake_add(mistakes, f->script_line,
		                            "the fault starts at iteration %lld, but the last "
		                            "iteration is %d",
		                            (long long)f->start.value, s->n_iterations - 1);
	return 0;
}

/* Does its end come before its start, or at it, under every schedule? An iteration's edge comes
 * before its ops. */
static bool ends_too_early(const struct fault *f)
{
	if (f->end.kind != MOMENT_OP)
		return f->end.value <= f->start.value;
	if (f->start.kind != MOMENT_OP || f->end.value != f->start.value)
		return f->end.value < f->start.value;
	return moment_op_precedes(&f->end, &f->start);
}

static int check_end(const struct scenario *s, const struct fault *f,
                     struct scenario_mistakes *mistakes)
{
	bool is_by_time = f->start.kind == MOMENT_TIME;

	if (f->end.kind == MOMENT_NEVER || (fault_has_end_after(f) && f->end.value > 0))
		return 0;
	if (!fault_has_end_after(f) && is_by_time != (f->end.kind == MOMENT_TIME))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "a fault that starts at an iteration lasts for "
		                            "iterations, one that starts at a time for a time");
	if (f->end.kind == MOMENT_OP) {
		size_t n_before = mistakes->n_sentences;
		int rc = check_op(s, f, &f->end, mistakes);

		if (rc || mistakes->n_sentences > n_before)
			return rc;
	}
	if (fault_has_end_after(f) || ends_too_early(f))
		return scenario_mistake_add(mistakes, f->script_line,
		                            "the fault ends before it starts");
	return 0;
}

static int check_interval(const struct scenario *s, const struct fault *f,
                          struct scenario_mistakes *mistakes)
{
	size_t n_before = mistakes->n_sentences;
	int rc = check_start(s, f, mistakes);

	return rc || mistakes->n_sentences > n_before ? rc : check_end(s, f, mistakes);
}

/* Each op at which something starts or ends costs the simulator a pass over its iteration. */
static int check_ops(const struct scenario *s, bool *are_few_out,
                     struct scenario_mistakes *mistakes)
{
	struct moment *ops;
	size_t n, n_together = 0;
	int rc = scenario_list_ops(s, &ops, &n);

	*are_few_out = rc == 0;
	for (size_t i = 0; rc == 0 && *are_few_out && i < n; i++) {
		n_together = i > 0 && ops[i].value == ops[i - 1].value ? n_together + 1 : 1;
		*are_few_out = n_together <= SCENARIO_OPS_MAX;
		if (!*are_few_out)
			rc = scenario_mistake_add(mistakes, 0,
			                          "faults start or end at more than %d ops of "
			                          "iteration %lld; use fewer",
			                          SCENARIO_OPS_MAX, (long long)ops[i].value);
	}
	free(ops);
	return rc;
}

/* The first thing that is wrong with a fault. */
static int check_fault(const struct scenario *s, const struct fault *f,
                       struct scenario_mistakes *mistakes)
{
	size_t n_before = mistakes->n_sentences;
	int rc = check_target(s, f, mistakes);

	if (rc == 0 && mistakes->n_sentences == n_before)
		rc = check_amount(f, mistakes);
	if (rc == 0 && mistakes->n_sentences == n_before && f->kind == FAULT_RATE &&
	    scenario_message_bytes(s) == 0)
		rc = scenario_mistake_add(mistakes, f->script_line,
		                          "a rate slows messages by their size, and this workload "
		                          "has none; give it message = \"4MiB\", or use a delay "
		                          "with model = \"rate\"");
	if (rc == 0 && mistakes->n_sentences == n_before)
		rc = check_interval(s, f, mistakes);
	return rc;
}

int scenario_validate_faults(const struct scenario *scenario, struct scenario_mistakes *mistakes)
{
	size_t n = scenario->n_faults, n_before = mistakes->n_sentences;
	bool has_few_ops = true;
	int told_event = -1, rc = 0;

	/* What is wrong with a statement is wrong with each of its faults; once is enough. */
	for (size_t i = 0; i < n && rc == 0; i++) {
		size_t n_found = mistakes->n_sentences;

		if (scenario->faults[i].event == told_event)
			continue;
		rc = check_fault(scenario, &scenario->faults[i], mistakes);
		if (mistakes->n_sentences > n_found)
			told_event = scenario->faults[i].event;
	}
	if (rc == 0)
		rc = check_ops(scenario, &has_few_ops, mistakes);
	if (rc == 0 && has_few_ops)
		rc = fault_check_clashes(scenario, mistakes);
	if (rc)
		return rc;
	return mistakes->n_sentences > n_before ? -EINVAL : 0;
}
