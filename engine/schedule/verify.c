/* verify.c - proves that a plan can be run, or names the stage and op where it cannot.
 *
 * Checked in this order: each op once and F before B before W on every stage; no more activations
 * than the limits; no deadlock with unbounded buffers; no deadlock with rendezvous sends.
 *
 * The last one models a transport that buffers nothing. A stage posts the receive of an op just
 * before the op, and sends right after it: the activation after F, the gradient after B, or after W
 * where the backward is not split. Sends and receives block until both ends are there. Systems
 * without a split backward (gpipe, 1f1b) make one call of a send and of the receive that the next
 * op needs from the same neighbour, and so does the model for such plans; 1F1B would deadlock in
 * its first backward otherwise, and does not. Orders with a split backward send one by one, and
 * nearly all of them need buffers as soon as a stage has two forwards more under way than the next:
 * a warning, no error, for transports do buffer, up to some size. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/schedule/plan_internal.h"

/* How far a microbatch has come on a stage. */
enum progress { DONE_NOTHING, DONE_F, DONE_B, DONE_W };

static int check_op(const struct plan *plan, int stage, const struct plan_op *op,
                    unsigned char *progress, struct err *err)
{
	if ((unsigned)op->kind > OP_W)
		return err_set(err, -EINVAL, "stage %d has an op of unknown kind %d", stage,
		               op->kind);
	if (op->microbatch < 0 || op->microbatch >= plan->n_microbatches)
		return err_set(err, -EINVAL, "stage %d has %c%d; microbatches are 0 to %d", stage,
		               op_kind_letter(op->kind), op->microbatch, plan->n_microbatches - 1);
	if (progress[op->microbatch] > (unsigned char)op->kind)
		return err_set(err, -EINVAL, "stage %d has %c%d %s", stage,
		               op_kind_letter(op->kind), op->microbatch,
		               progress[op->microbatch] == op->kind + 1 ? "twice"
		                                                        : "after a later op of it");
	if (progress[op->microbatch] < (unsigned char)op->kind)
		return err_set(err, -EINVAL, "stage %d has %c%d before its %c%d", stage,
		               op_kind_letter(op->kind), op->microbatch,
		               op_kind_letter((enum op_kind)(op->kind - 1)), op->microbatch);
	progress[op->microbatch]++;
	return 0;
}

/* 3·N ops, each accepted once and in its place, are all there is: none can be missing. */
static int check_stage(const struct plan *plan, int stage, unsigned char *progress, struct err *err)
{
	const struct plan_op *ops = plan_stage(plan, stage);
	int n_ops = OP_KINDS * plan->n_microbatches;

	for (int m = 0; m < plan->n_microbatches; m++)
		progress[m] = DONE_NOTHING;
	for (int i = 0; i < n_ops; i++) {
		int rc = check_op(plan, stage, &ops[i], progress, err);

		if (rc)
			return rc;
		if (plan->merges_backward && ops[i].kind == OP_B &&
		    (i + 1 == n_ops || ops[i + 1].kind != OP_W ||
		     ops[i + 1].microbatch != ops[i].microbatch))
			return err_set(
				err, -EINVAL,
				"the plan says that no backward is split, but B%d of stage %d "
				"is not followed by its W",
				ops[i].microbatch, stage);
	}
	return 0;
}

static int check_ops(const struct plan *plan, struct err *err)
{
	unsigned char *progress = array_new((size_t)plan->n_microbatches, sizeof(*progress));
	int rc = 0;

	if (!progress)
		return err_set(err, -ENOMEM, "no memory to verify a plan");
	for (int s = 0; s < plan->n_stages && rc == 0; s++)
		rc = check_stage(plan, s, progress, err);
	free(progress);
	return rc;
}

static int check_limits(const struct plan *plan, const int *limits, struct err *err)
{
	for (int s = 0; limits && s < plan->n_stages; s++) {
		const struct plan_op *op = plan_stage(plan, s);
		int held = 0;

		if (limits[s] <= 0 || plan_peak_activations(plan, s) <= limits[s])
			continue;
		for (;; op++) {
			held += (op->kind == OP_F) - (op->kind == OP_W);
			if (held > limits[s])
				break;
		}
		return err_set(err, -EINVAL,
		               "stage %d holds %d activations at F%d; its activation limit is %d",
		               s, held, op->microbatch, limits[s]);
	}
	return 0;
}

/* One end of a message between a stage and its neighbour. */
struct message {
	bool is_posted;
	bool is_backward;
	int microbatch;
};

/* Where a stage is: it moves on when nothing that it has posted is left. */
struct post {
	int next;                /* the stage's next op */
	bool has_posted_receive; /* of the next op */
	struct message send;
	struct message receive;
};

struct rendezvous {
	const struct plan *plan;
	struct post *posts; /* one a stage */
	int *stack;         /* stages to look at */
	bool *is_stacked;
	int n_stacked;
};

static int n_stage_ops(const struct rendezvous *rendezvous)
{
	return OP_KINDS * rendezvous->plan->n_microbatches;
}

static struct message send_after(const struct plan *plan, int stage, const struct plan_op *op)
{
	enum op_kind last_of_backward = plan->merges_backward ? OP_W : OP_B;

	return (struct message){
		.is_posted = (op->kind == OP_F && stage + 1 < plan->n_stages) ||
	                     (op->kind == last_of_backward && stage > 0),
		.is_backward = op->kind != OP_F,
		.microbatch = op->microbatch,
	};
}

static struct message receive_before(const struct plan *plan, int stage, const struct plan_op *op)
{
	return (struct message){
		.is_posted = (op->kind == OP_F && stage > 0) ||
	                     (op->kind == OP_B && stage + 1 < plan->n_stages),
		.is_backward = op->kind == OP_B,
		.microbatch = op->microbatch,
	};
}

static void stack_post(struct rendezvous *rendezvous, int stage)
{
	if (rendezvous->is_stacked[stage])
		return;
	rendezvous->is_stacked[stage] = true;
	rendezvous->stack[rendezvous->n_stacked++] = stage;
}

/* Let a message pass if from has posted its send and to its receive. */
static void match(struct rendezvous *rendezvous, int from, int to)
{
	struct message *send = &rendezvous->posts[from].send;
	struct message *receive = &rendezvous->posts[to].receive;
	bool is_backward = to < from;

	if (!send->is_posted || !receive->is_posted || send->is_backward != is_backward ||
	    receive->is_backward != is_backward || send->microbatch != receive->microbatch)
		return;
	send->is_posted = false;
	receive->is_posted = false;
	stack_post(rendezvous, from);
	stack_post(rendezvous, to);
}

/* Run the next op and post what comes after it. */
static void run_op(const struct plan *plan, int stage, struct post *post)
{
	const struct plan_op *op = plan_stage(plan, stage) + post->next;
	struct message receive = {0};

	post->send = send_after(plan, stage, op);
	post->next++;
	post->has_posted_receive = false;
	if (!plan->merges_backward || !post->send.is_posted ||
	    post->next == OP_KINDS * plan->n_microbatches)
		return;
	/* Activations go to the stage that gradients come from, so opposite directions are one
	 * neighbour. */
	receive = receive_before(plan, stage, op + 1);
	if (receive.is_posted && receive.is_backward != post->send.is_backward) {
		post->receive = receive;
		post->has_posted_receive = true;
	}
}

/* Run a stage until it waits for the other end of a message, then let pass what can. */
static void run_post(struct rendezvous *rendezvous, int stage)
{
	const struct plan *plan = rendezvous->plan;
	struct post *post = &rendezvous->posts[stage];

	while (!post->send.is_posted && !post->receive.is_posted &&
	       post->next < n_stage_ops(rendezvous)) {
		if (post->has_posted_receive) {
			run_op(plan, stage, post);
			continue;
		}
		post->receive = receive_before(plan, stage, plan_stage(plan, stage) + post->next);
		post->has_posted_receive = true;
	}
	for (int other = stage - 1; other <= stage + 1; other += 2) {
		if (other < 0 || other >= plan->n_stages)
			continue;
		match(rendezvous, stage, other);
		match(rendezvous, other, stage);
	}
}

/* What keeps a stage, for a person: "stage 0 sends F1". Returns the number of bytes, as snprintf().
 */
static void describe_post(const struct rendezvous *rendezvous, int stage, char *out, size_t n_bytes)
{
	const struct post *post = &rendezvous->posts[stage];
	const struct message *message = post->send.is_posted ? &post->send : &post->receive;

	(void)snprintf(out, n_bytes, "stage %d %s %c%d", stage,
	               post->send.is_posted ? "sends" : "receives",
	               message->is_backward ? 'B' : 'F', message->microbatch);
}

static bool waits_for_next(const struct post *post)
{
	return (post->send.is_posted && !post->send.is_backward) ||
	       (post->receive.is_posted && post->receive.is_backward);
}

static bool waits_for_before(const struct post *post)
{
	return (post->send.is_posted && post->send.is_backward) ||
	       (post->receive.is_posted && !post->receive.is_backward);
}

/* Name the first two neighbours that wait for each other. There are two: the stages are a line, so
 * of those that are stuck the first cannot wait for the one before it for ever, nor the last for
 * the one after. */
static void warn(const struct rendezvous *rendezvous, char *warning)
{
	char first[64], second[64];
	int s = 0;

	while (s + 2 < rendezvous->plan->n_stages && !(waits_for_next(&rendezvous->posts[s]) &&
	                                               waits_for_before(&rendezvous->posts[s + 1])))
		s++;
	describe_post(rendezvous, s, first, sizeof(first));
	describe_post(rendezvous, s + 1, second, sizeof(second));
	(void)snprintf(warning, PLAN_WARNING_BYTES,
	               "the order needs buffered sends: it would deadlock where a send ends only "
	               "once its receive is posted (%s, %s)",
	               first, second);
}

static void run_rendezvous(struct rendezvous *rendezvous, char *warning)
{
	const struct plan *plan = rendezvous->plan;

	for (int s = plan->n_stages - 1; s >= 0; s--)
		stack_post(rendezvous, s);
	while (rendezvous->n_stacked > 0) {
		int stage = rendezvous->stack[--rendezvous->n_stacked];

		rendezvous->is_stacked[stage] = false;
		run_post(rendezvous, stage);
	}
	for (int s = 0; s < plan->n_stages; s++) {
		const struct post *post = &rendezvous->posts[s];

		if (post->next < n_stage_ops(rendezvous) || post->send.is_posted) {
			warn(rendezvous, warning);
			return;
		}
	}
}

static int check_rendezvous(const struct plan *plan, char *warning, struct err *err)
{
	size_t n = (size_t)plan->n_stages;
	struct rendezvous rendezvous = {
		.plan = plan,
		.posts = array_new(n, sizeof(*rendezvous.posts)),
		.stack = array_new(n, sizeof(*rendezvous.stack)),
		.is_stacked = array_new(n, sizeof(*rendezvous.is_stacked)),
	};
	int rc = 0;

	if (rendezvous.posts && rendezvous.stack && rendezvous.is_stacked)
		run_rendezvous(&rendezvous, warning);
	else
		rc = err_set(err, -ENOMEM, "no memory to verify a plan");
	free(rendezvous.posts);
	free(rendezvous.stack);
	free(rendezvous.is_stacked);
	return rc;
}

int plan_verify(const struct plan *plan, const int *limits, char *warning, struct err *err)
{
	char found[PLAN_WARNING_BYTES] = "";
	int rc;

	if (plan->n_stages < 1 || plan->n_microbatches < 1)
		return err_set(err, -EINVAL, "the plan has %d stages and %d microbatches",
		               plan->n_stages, plan->n_microbatches);
	rc = check_ops(plan, err);
	rc = rc ? rc : check_limits(plan, limits, err);
	rc = rc ? rc : plan_can_run(plan, err);
	/* Twice the work of the rest, so only where somebody wants to know. */
	if (rc == 0 && warning)
		rc = check_rendezvous(plan, found, err);
	if (rc == 0 && warning)
		(void)snprintf(warning, PLAN_WARNING_BYTES, "%s", found);
	return rc;
}
