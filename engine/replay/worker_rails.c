/* worker_rails.c - RNICs that die and come back, as a worker carries it out.
 *
 * The worker of the stage whose RNIC dies closes its sockets; everybody else finds out, and knows
 * from the order what is to follow. Where a site takes the RNIC down, nobody knows the moment: that
 * worker looks at its interface, and says on the board that it is gone, so that nobody has to wait
 * until a silent rail counts as lost; so does whoever is told by its transport before that. When a
 * rail is back all workers connect at the same moment: the one that the order names, or the edge of
 * the iteration. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/worker_internal.h"
#include "engine/transport/shaped.h"

enum { LOOK_NS = 50 * NS_PER_US };

int worker_connect(struct worker *worker, struct err *err)
{
	const struct board *board = worker->config->board;
	struct transport_address *addresses =
		array_new((size_t)board->n_stages, sizeof(*addresses));
	int rc;

	if (!addresses)
		return err_set(err, -ENOMEM, "no memory for addresses");
	for (int stage = 0; stage < board->n_stages; stage++)
		addresses[stage] = board_stage(board, worker->config->replica, stage)->address;
	rc = transport_connect(worker->transport, addresses,
	                       limits_connect_ns(worker->config->live), err);
	free(addresses);
	return rc;
}

static int64_t moment_ns(const struct worker *worker, int64_t profile_ns)
{
	return worker->run.order.real_start_ns +
	       llround((double)profile_ns / worker->config->live->speed);
}

/* Does a site take the RNIC down, so that it is noticed rather than known? */
static bool is_real(const struct worker *worker, const struct executor_outage *outage)
{
	return site_takes(worker->config->live->site, (size_t)outage->fault);
}

/* When an outage begins, since the iteration's start; WORLD_NOT_YET: at an op that has not started,
 * or unnoticed, as far as the board knows. */
static int64_t begins_ns(const struct worker *worker, const struct executor_outage *outage)
{
	const struct order *order = &worker->run.order;
	int64_t start_ns;

	if (is_real(worker, outage)) {
		int64_t noticed_ns =
			board_moment_ns(worker->config->board->noticed_ns, (size_t)outage->fault);

		return noticed_ns == 0 ? WORLD_NOT_YET
		                       : llround((double)(noticed_ns - order->real_start_ns) *
		                                 worker->config->live->speed);
	}
	if (outage->op < 0)
		return outage->at_ns;
	start_ns = world_op_ns(worker->world, outage->op);
	return start_ns == WORLD_NOT_YET ? start_ns : start_ns - worker->run.order.run_start_ns;
}

static bool has_come(const struct worker *worker, const struct executor_outage *outage,
                     int64_t now_ns)
{
	int64_t at_ns = begins_ns(worker, outage);

	return at_ns != WORLD_NOT_YET && now_ns >= moment_ns(worker, at_ns);
}

/* When one that has come and does not last is over, real time. */
static int64_t back_ns(const struct worker *worker, const struct executor_outage *outage)
{
	return moment_ns(worker, begins_ns(worker, outage) + outage->lasts_ns);
}

/* An end, in this worker, of a link between a stage and a neighbour of it. */
struct end {
	struct dataplane *plane;
	int peer;      /* at the other end */
	int neighbour; /* of the stage whose links were asked for: this end or the other */
};

/* The ends here of the links of stage; returns how many there are. */
static int find_ends(const struct worker *worker, int stage, struct end ends[4])
{
	int n = 0;

	for (int peer = stage - 1; peer <= stage + 1; peer += 2) {
		if (peer < 0 || peer >= worker->config->board->n_stages)
			continue;
		if (worker_stage(worker, stage))
			ends[n++] =
				(struct end){stage_plane(worker_stage(worker, stage)), peer, peer};
		if (worker_stage(worker, peer))
			ends[n++] =
				(struct end){stage_plane(worker_stage(worker, peer)), stage, peer};
	}
	return n;
}

static bool is_in(uint32_t mask, int i)
{
	return mask >> i & 1;
}

/* Has an outage of this iteration begun, and is it not over? */
static bool is_in_force(const struct worker *worker, int i)
{
	return is_in(worker->run.handled & ~worker->run.mended, i);
}

/* By an outage of this iteration, or by what the board said before it. */
static bool is_rail_out(const struct worker *worker, int stage, int rail)
{
	const struct order *order = &worker->run.order;

	if (worker->is_rail_down[stage * worker->config->board->n_rails + rail])
		return true;
	for (int i = 0; i < order->n_outages; i++)
		if (is_in_force(worker, i) && order->outages[i].stage == stage &&
		    order->outages[i].rail == rail)
			return true;
	return false;
}

/* A link is alive when the rail is at both its ends. */
static void tell_planes(const struct worker *worker, int stage, int rail, bool is_dead)
{
	struct end ends[4];
	int n = find_ends(worker, stage, ends);

	for (int i = 0; i < n; i++)
		if (is_dead || !is_rail_out(worker, ends[i].neighbour, rail))
			dataplane_set_rail(ends[i].plane, ends[i].peer, rail, is_dead);
}

/* All stages go over to delegates: a rail is gone that they could not do without. */
static int switch_plane(struct worker *worker, int64_t now_ns, struct err *err)
{
	struct worker_run *run = &worker->run;
	int rc = 0;

	if (run->rules.kind == PLANE_DELEGATE)
		return 0;
	run->rules = run->order.rules[PLANE_DELEGATE];
	shaped_set_plane(worker->transport, PLANE_DELEGATE, 0);
	worker_abort_exchanges(worker);
	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		rc = dataplane_switch(stage_plane(worker->stages[i]), &run->rules, now_ns, err);
		stage_switched(worker->stages[i], &run->rules, now_ns);
	}
	return rc;
}

/* A rail is gone that the stream plane cannot do without, and the job goes on. */
static bool ends_stream(const struct executor_outage *outage)
{
	return !outage->is_spare && !outage->is_fatal && outage->lasts_ns < 0;
}

/* What is to follow, before anything of it is felt. */
static int prepare(struct worker *worker, const struct executor_outage *outage, int64_t now_ns,
                   struct err *err)
{
	struct end ends[4];
	int n;

	if (outage->is_spare || outage->is_fatal)
		return 0;
	if (ends_stream(outage))
		return switch_plane(worker, now_ns, err);
	n = find_ends(worker, outage->stage, ends);
	for (int i = 0; i < n; i++)
		dataplane_expect_back(ends[i].plane, ends[i].peer, outage->rail,
		                      back_ns(worker, outage));
	return 0;
}

static int begin_outage(struct worker *worker, int i, int64_t now_ns, struct err *err)
{
	const struct executor_outage *outage = &worker->run.order.outages[i];
	int rc;

	worker->run.handled |= UINT32_C(1) << i;
	rc = prepare(worker, outage, now_ns, err);
	/* Who has nothing left to do closes nothing any more: nobody would know that it is to be
	 * mended. The coordinator sees to it that the next iteration begins without the rail. A
	 * socket that is closed by the worker itself tells its other end; one whose interface is
	 * gone does not. */
	if (rc || worker->run.is_done ||
	    (!worker_stage(worker, outage->stage) && !is_real(worker, outage)))
		return rc;
	return transport_set_rail(worker->transport, outage->stage, outage->rail, false, err);
}

/* What else is dead stays so: nobody at its other end would answer, and who is at this one does not
 * let anybody in who has mended it already. */
static int keep_dead(struct worker *worker, struct err *err)
{
	const struct order *order = &worker->run.order;
	int rc = 0;

	for (int i = 0; rc == 0 && i < order->n_outages; i++)
		if (is_in_force(worker, i))
			rc = transport_set_rail(worker->transport, order->outages[i].stage,
			                        order->outages[i].rail, false, err);
	return rc;
}

/* A rail of stage is there again. Until all ends have been made again, what is LOST is what was
 * there before. */
static int mend(struct worker *worker, int stage, int rail, struct err *err)
{
	size_t n = 0;
	int rc;

	tell_planes(worker, stage, rail, true);
	rc = transport_set_rail(worker->transport, stage, rail, false, err);
	rc = rc ? rc : transport_set_rail(worker->transport, stage, rail, true, err);
	rc = rc ? rc : keep_dead(worker, err);
	rc = rc ? rc : worker_connect(worker, err);
	rc = rc ? rc : worker_poll(worker, &n, err);
	if (rc)
		return err_wrap(err, "rail %d of stage %d could not be used again", rail, stage);
	tell_planes(worker, stage, rail, false);
	return 0;
}

/* An RNIC that a site took down is back when the site says so, which is no later than the moment
 * that everybody counts on, but for the time that it takes. */
static int await_rnic(const struct worker *worker, const struct executor_outage *outage,
                      struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + limits_connect_ns(worker->config->live);

	while (is_real(worker, outage) &&
	       board_moment_ns(worker->config->board->back_ns, (size_t)outage->fault) == 0) {
		if (clock_monotonic_ns() > end_ns)
			return err_set(err, -ETIMEDOUT, "rail %d of stage %d is not back",
			               outage->rail, outage->stage);
		clock_sleep_ns(LOOK_NS);
	}
	return 0;
}

static int end_outage(struct worker *worker, int i, struct err *err)
{
	const struct executor_outage *outage = &worker->run.order.outages[i];

	int rc = await_rnic(worker, outage, err);

	worker->run.mended |= UINT32_C(1) << i;
	return rc ? rc : mend(worker, outage->stage, outage->rail, err);
}

/* The first who notices that an RNIC is gone tells everybody. */
static void notice(const struct worker *worker, const struct executor_outage *outage, int64_t at_ns)
{
	int64_t *noticed_ns = &worker->config->board->noticed_ns[outage->fault], unnoticed = 0;

	(void)__atomic_compare_exchange_n(noticed_ns, &unnoticed, at_ns, false, __ATOMIC_RELEASE,
	                                  __ATOMIC_RELAXED);
}

/* Look at those of this worker. */
static void notice_rnics(struct worker *worker)
{
	const struct worker_config *config = worker->config;

	for (int i = 0; i < worker->run.order.n_outages; i++) {
		const struct executor_outage *outage = &worker->run.order.outages[i];

		if (is_in(worker->run.handled, i) || !is_real(worker, outage) ||
		    !worker_stage(worker, outage->stage) ||
		    config->live->site->ops->is_up(config->live->site, config->replica,
		                                   outage->stage, outage->rail))
			continue;
		notice(worker, outage, clock_monotonic_ns());
	}
}

int worker_begin_outages(struct worker *worker, int64_t now_ns, struct err *err)
{
	struct worker_run *run = &worker->run;
	int rc = 0;

	if (!run->is_done)
		notice_rnics(worker);
	for (int i = 0; rc == 0 && !run->is_done && i < run->order.n_outages; i++)
		if (!is_in(run->handled, i) && has_come(worker, &run->order.outages[i], now_ns))
			rc = begin_outage(worker, i, now_ns, err);
	return rc;
}

int worker_end_outages(struct worker *worker, int64_t now_ns, struct err *err)
{
	struct worker_run *run = &worker->run;
	int rc = 0;

	for (int i = 0; rc == 0 && i < run->order.n_outages; i++) {
		const struct executor_outage *outage = &run->order.outages[i];

		if (outage->lasts_ns >= 0 && is_in_force(worker, i) &&
		    now_ns >= back_ns(worker, outage))
			rc = end_outage(worker, i, err);
	}
	return rc;
}

/* Silence has been waited for already, and that is what delegates wait for before they send again.
 */
static int lose(struct worker *worker, const struct transport_event *event, struct err *err)
{
	struct dataplane *plane = stage_plane(worker_stage(worker, event->message.from_stage));
	struct transport_event lost = *event;

	if (lost.reason == -ETIMEDOUT)
		lost.at_ns -= limits_silence_ns(worker->config->live);
	return dataplane_event(plane, &lost, err);
}

/* Is the moment over at which it was to begin? */
static bool was_asked_for(const struct worker *worker, const struct executor_outage *outage,
                          int64_t at_ns)
{
	if (outage->op >= 0)
		return world_op_ns(worker->world, outage->op) != WORLD_NOT_YET;
	return at_ns >= moment_ns(worker, outage->at_ns);
}

/* Is it the reason of a loss? One that is far from its moment is not. Whose device says that its
 * rail is gone, at either end, has noticed what a site was to do. */
static bool explains(const struct worker *worker, const struct executor_outage *outage,
                     const struct transport_event *event)
{
	const struct message *lost = &event->message;

	if (outage->rail != lost->rail ||
	    (outage->stage != lost->from_stage && outage->stage != lost->to_stage))
		return false;
	/* Who is done notices nothing more: the coordinator sees to it. */
	if (!is_real(worker, outage) || worker->run.is_done)
		return has_come(worker, outage, event->at_ns);
	if (!was_asked_for(worker, outage, event->at_ns))
		return false;
	notice(worker, outage, event->at_ns);
	return true;
}

int worker_lose_rail(struct worker *worker, const struct transport_event *event, struct err *err)
{
	int rc = 0;

	/* One that is over cannot be the reason. */
	for (int i = 0; rc == 0 && i < worker->run.order.n_outages; i++)
		if (!is_in(worker->run.handled, i) &&
		    explains(worker, &worker->run.order.outages[i], event))
			rc = begin_outage(worker, i, event->at_ns, err);
	return rc ? rc : lose(worker, event, err);
}

/* Some have switched for one that is to come again, and have ended their exchanges: the stream
 * plane that the next iteration begins with has none anywhere. */
static void end_exchanges(struct worker *worker, uint32_t early)
{
	bool has_ended = false;

	for (int i = 0; i < worker->run.order.n_outages; i++)
		has_ended |= is_in(early, i) && ends_stream(&worker->run.order.outages[i]);
	if (has_ended)
		worker_abort_exchanges(worker);
	for (int i = 0; has_ended && i < worker->n_stages; i++)
		dataplane_end_exchanges(stage_plane(worker->stages[i]));
}

int worker_settle_outages(struct worker *worker, const struct order *step, struct err *err)
{
	int rc = 0;

	end_exchanges(worker, step->early);
	worker->run.handled |= step->handled;
	for (int i = 0; rc == 0 && i < worker->run.order.n_outages; i++)
		if ((worker->run.order.outages[i].lasts_ns >= 0 || is_in(step->early, i)) &&
		    is_in(step->handled & ~worker->run.mended, i))
			rc = end_outage(worker, i, err);
	return rc;
}

int worker_set_rails(struct worker *worker, struct err *err)
{
	const struct board *board = worker->config->board;
	int rc = 0;

	/* No outage of the iteration before says any more what is dead. */
	worker->run.mended = worker->run.handled;
	for (int i = 0; rc == 0 && i < board->n_stages * board->n_rails; i++) {
		int stage = i / board->n_rails, rail = i % board->n_rails;
		bool is_down = board->is_rail_down[i];

		if (is_down == worker->is_rail_down[i])
			continue;
		worker->is_rail_down[i] = is_down;
		if (!is_down) {
			rc = mend(worker, stage, rail, err);
			continue;
		}
		tell_planes(worker, stage, rail, true);
		rc = transport_set_rail(worker->transport, stage, rail, false, err);
	}
	return rc;
}
