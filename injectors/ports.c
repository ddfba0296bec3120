/* ports.c - the ports at which a fault acts, and faults in words. */
#include <errno.h>

#include "engine/base/units.h"
#include "injectors/injector_internal.h"

static int act_at(const struct injector *injector, const struct injector_target *target,
                  injector_act *act, void *context, struct err *err)
{
	const struct injector_config *config = &injector->config;
	struct injector_port port = {.target = *target};
	int rc = config->locate(config->locate_context, target, &port.port, err);

	return rc || !act ? rc : act(&port, context, err);
}

static int check_stages(const struct topology *topology, const struct fault *fault, struct err *err)
{
	int step = fault->to_stage - fault->from_stage;
	bool is_wanted = fault->kind == FAULT_DOWN ? step == 0 : step == 1 || step == -1;

	if (fault->from_stage < 0 || fault->from_stage >= topology->n_stages ||
	    fault->to_stage < 0 || fault->to_stage >= topology->n_stages || !is_wanted)
		return err_set(err, -EINVAL, "stages %d and %d are not those of a fault '%s'",
		               fault->from_stage, fault->to_stage, fault_kind_name(fault->kind));
	return 0;
}

int injector_each_port(const struct injector *injector, const struct fault *fault,
                       injector_act *act, void *context, struct err *err)
{
	const struct topology *topology = injector->config.topology;
	bool is_one_rail = fault->kind == FAULT_DOWN;
	int n_rails = is_one_rail ? 1 : topology->n_rails;
	int first = check_stages(topology, fault, err);

	if (first)
		return first;
	for (int i = 0; i < topology->n_replicas * n_rails; i++) {
		const struct injector_target target = {
			.replica = i / n_rails,
			.from_stage = fault->from_stage,
			.to_stage = fault->to_stage,
			.rail = is_one_rail ? fault->rail : i % n_rails,
		};
		struct err own = {0};
		int rc = act_at(injector, &target, act, context, &own);

		if (rc && !first)
			first = err_set(err, rc, "%s", own.text);
	}
	return first;
}

/* What does the fault, when the one that was asked does not. */
static const char *alternative_to(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_DELAY:
		return fault->allows_reordering        ? "netem and relay do"
		       : fault->model == DELAY_RATE    ? "rate, netem, relay and shaped do"
		       : fault->model == DELAY_LATENCY ? "netem, relay and shaped do"
		                                       : "only shaped does";
	case FAULT_RATE:
		return "rate, netem, relay and shaped do";
	case FAULT_SLOW_STAGE:
		return "the device does, without an injector";
	case FAULT_DOWN:
		return "link does";
	case FAULT_LOSS:
		return "netem and relay do";
	}
	return "none does";
}

int injector_refuse(const struct injector *injector, const struct fault *fault, struct err *err)
{
	struct strbuf text = {0};
	int rc;

	injector_describe(&text, fault);
	rc = err_set(err, -ENOTSUP, "injector %s cannot do '%s'; %s", injector->ops->name,
	             strbuf_text(&text), alternative_to(fault));
	strbuf_fini(&text);
	return rc;
}

static void describe_delay(struct strbuf *text, const struct fault *fault)
{
	char delay[UNITS_TEXT_BYTES], jitter[UNITS_TEXT_BYTES];

	strbuf_addf(text, "%s more (%s)", units_format_duration(fault->delay_ns, delay),
	            delay_model_name(fault->model));
	if (fault->jitter_ns > 0)
		strbuf_addf(text, " with jitter %s (%s)",
		            units_format_duration(fault->jitter_ns, jitter),
		            distribution_name(fault->distribution));
	if (fault->allows_reordering)
		strbuf_add(text, ", packets may overtake,");
	strbuf_addf(text, " on %d->%d", fault->from_stage, fault->to_stage);
}

static void describe_loss(struct strbuf *text, const struct fault *fault)
{
	strbuf_addf(text, "%.4g %% of packets lost", fault->loss_ratio * 100);
	if (fault->loss_correlation_ratio > 0)
		strbuf_addf(text, " with correlation %.4g %%", fault->loss_correlation_ratio * 100);
	strbuf_addf(text, " on %d->%d", fault->from_stage, fault->to_stage);
}

void injector_describe(struct strbuf *text, const struct fault *fault)
{
	char rate[UNITS_TEXT_BYTES];

	switch (fault->kind) {
	case FAULT_DELAY:
		describe_delay(text, fault);
		break;
	case FAULT_RATE:
		strbuf_addf(text, "at most %s on %d->%d",
		            units_format_rate(fault->rate_bits_per_s, rate), fault->from_stage,
		            fault->to_stage);
		break;
	case FAULT_SLOW_STAGE:
		strbuf_addf(text, "stage %d slower, times %.4g", fault->from_stage,
		            fault->slowdown);
		break;
	case FAULT_DOWN:
		strbuf_addf(text, "rail %d of stage %d down", fault->rail, fault->from_stage);
		break;
	case FAULT_LOSS:
		describe_loss(text, fault);
		break;
	}
}
