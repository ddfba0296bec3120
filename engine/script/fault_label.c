/* fault_label.c - the name of an event, as a person would say it: "2-3, 6-7: 50 ms". */
#include <stdlib.h>

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/script/flap.h"

/* Both directions of a link stand one after the other, as read_target.c puts them. */
static void add_links(struct strbuf *text, const struct target *targets, size_t n_targets)
{
	for (size_t i = 0; i < n_targets; i++) {
		const struct target *t = &targets[i];
		bool is_both_ways = i + 1 < n_targets && t->from_stage == t[1].to_stage &&
		                    t->to_stage == t[1].from_stage;

		strbuf_addf(text, "%s%d%s%d", i == 0 ? "" : ", ", t->from_stage,
		            is_both_ways ? "-" : "->", t->to_stage);
		i += is_both_ways;
	}
}

static void add_stages(struct strbuf *text, const struct target *targets, size_t n_targets)
{
	strbuf_add(text, n_targets == 1 ? "stage " : "stages ");
	for (size_t i = 0; i < n_targets; i++)
		strbuf_addf(text, "%s%d", i == 0 ? "" : ", ", targets[i].from_stage);
}

/* Times and ops; whole iterations are said beside the label. */
static void add_moments(struct strbuf *text, const struct fault *fault)
{
	char op[MOMENT_TEXT_BYTES], span[UNITS_TEXT_BYTES];

	if (fault->start.kind != MOMENT_TIME && fault->end.kind == MOMENT_TIME)
		strbuf_addf(text, " for %s", units_format_duration(fault->end.value, span));
	if (fault->start.kind == MOMENT_OP)
		strbuf_addf(text, ", from %s", moment_op_text(&fault->start, op));
	if (fault->end.kind == MOMENT_OP)
		strbuf_addf(text, "%s to %s", fault->start.kind == MOMENT_OP ? "" : ",",
		            moment_op_text(&fault->end, op));
}

/* "for 1 s of every 2 s", "for 5 of every 10 iterations" */
static void add_flap(struct strbuf *text, const struct flap *flap)
{
	char down[UNITS_TEXT_BYTES], period[UNITS_TEXT_BYTES];

	if (flap->period.kind == MOMENT_TIME)
		strbuf_addf(text, " for %s of every %s",
		            units_format_duration(flap_down(flap), down),
		            units_format_duration(flap->period.value, period));
	else
		strbuf_addf(text, " for %lld of every %lld iterations", (long long)flap_down(flap),
		            (long long)flap->period.value);
}

char *fault_label(const struct fault *fault, const struct flap *flap, const struct target *targets,
                  size_t n_targets)
{
	struct strbuf text = {0};
	char amount[UNITS_TEXT_BYTES];

	switch (fault->kind) {
	case FAULT_DELAY:
		add_links(&text, targets, n_targets);
		strbuf_addf(&text, ": %s", units_format_duration(fault->delay_ns, amount));
		break;
	case FAULT_RATE:
		add_links(&text, targets, n_targets);
		strbuf_addf(&text, ": %s", units_format_rate(fault->rate_bits_per_s, amount));
		break;
	case FAULT_SLOW_STAGE:
		add_stages(&text, targets, n_targets);
		strbuf_addf(&text, ": %.4g times slower", fault->slowdown);
		break;
	case FAULT_DOWN:
		if (fault->rail == 0)
			strbuf_add(&text, "RNIC of ");
		else
			strbuf_addf(&text, "rail %d of ", fault->rail);
		add_stages(&text, targets, n_targets);
		strbuf_add(&text, " down");
		break;
	case FAULT_LOSS:
		add_links(&text, targets, n_targets);
		strbuf_addf(&text, ": %.4g %% lost", fault->loss_ratio * 100);
		break;
	}
	if (flap && flap_is_one(flap))
		add_flap(&text, flap);
	else
		add_moments(&text, fault);
	return strbuf_take(&text);
}
