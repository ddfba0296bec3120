/* predict.c - what the simulator says of a measured run, under the rules of its data plane. */
#include "engine/validate/predict.h"

#include "engine/schedule/order.h"
#include "engine/sim/net.h"

static const int64_t no_delay_ns[TRUTH_STAGES_MAX];

static struct plan_times times_of(const struct truth_profile *profile)
{
	struct plan_times times = {.n_stages = profile->n_stages, .link_ns = no_delay_ns};

	for (int kind = 0; kind < OP_KINDS; kind++)
		times.op_ns[kind] = profile->op_ns[kind];
	return times;
}

static int recorded_plan(const struct prediction *prediction, const struct plan_times *times,
                         struct plan *out, struct err *err)
{
	const struct truth_order *order = prediction->order;
	int rc = plan_init(out, order->n_stages, order->n_microbatches, err);

	if (rc)
		return rc;
	rc = plan_from_letters(out, order->letters, times, err);
	if (rc)
		plan_fini(out);
	return rc;
}

static int one_f_one_b_plan(const struct prediction *prediction, const struct plan_times *times,
                            struct plan *out, struct err *err)
{
	const struct schedule_ops *schedule = schedule_find("1f1b", err);
	struct schedule_request request = {.times = *times,
	                                   .healthy_link_ns = no_delay_ns,
	                                   .n_microbatches = prediction->n_microbatches};

	return schedule_make(schedule, &request, out, err);
}

int predict_makespan(const struct prediction *prediction, int64_t *out_ns, struct err *err)
{
	struct plan_times times = times_of(prediction->profile);
	struct shape messages[2 * TRUTH_STAGES_MAX] = {0};
	struct sim_world world = {.messages = messages};
	struct sim_outcome outcome;
	struct sim_net *net;
	struct plan plan;
	int rc = prediction->order ? recorded_plan(prediction, &times, &plan, err)
	                           : one_f_one_b_plan(prediction, &times, &plan, err);

	if (rc)
		return rc;
	for (int i = 0; i < 2 * TRUTH_STAGES_MAX; i++)
		messages[i].hold_ns = prediction->hold_ns[i];
	for (int kind = 0; kind < OP_KINDS; kind++)
		world.op_ns[kind] = prediction->profile->op_ns[kind];
	rc = sim_net_new(&plan, &prediction->rules, &net, err);
	if (rc == 0) {
		sim_net_run(net, &world, NULL, &outcome);
		*out_ns = outcome.makespan_ns;
		sim_net_free(net);
	}
	plan_fini(&plan);
	return rc;
}

void predict_slow_links(struct prediction *prediction, const struct truth_run *run)
{
	for (int link = 0; link < TRUTH_STAGES_MAX; link++) {
		int64_t hold_ns = run->is_slow[link] ? run->delay_ns : 0;

		prediction->hold_ns[sim_direction(link, false)] = hold_ns;
		prediction->hold_ns[sim_direction(link, true)] = hold_ns;
	}
}

void predict_confused_links(struct prediction *prediction, const struct truth_run *run)
{
	predict_slow_links(prediction, run);
	/* Stage 2's peer in a gradient send is rank 1, which the injector read as "next stage", 3.
	 */
	prediction->hold_ns[sim_direction(1, true)] = run->is_slow[2] ? run->delay_ns : 0;
}
