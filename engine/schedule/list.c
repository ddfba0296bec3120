/* list.c - list scheduling: each stage takes the best op that is ready, as soon as it is idle.
 *
 * Algorithms 3 and 4 step through time; here a heap holds for each stage when it has something to
 * decide next: the end of its op, or, while it idles, the next arrival that is known. Stages decide
 * in the order of these times, so all that arrives by then is known. Every kind is run in
 * microbatch order, and messages of one link and kind do not overtake each other, so only a stage's
 * next op of each kind can be ready.
 *
 * It cannot get stuck: take the last stage that has ops left and nothing under way. Its backwards
 * wait for nothing but the stage after it, which has run them, so all its forwards have been
 * followed by B and W; then no limit holds its next F, and the stage before is stuck, too; but
 * stage 0 waits for nobody. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/schedule/plan_internal.h"
#include "engine/schedule/policy_internal.h"
#include "engine/schedule/stage_queue.h"

static const int64_t NOT_KNOWN = INT64_MAX;

struct list_stage {
	struct op_writer writer;
	int64_t free_ns; /* end of the op that it runs or ran last */
	int warmup;
	int limit; /* 0: none */
};

struct list {
	const struct schedule_request *request;
	const struct list_rules *rules;
	struct stage_queue queue;
	struct list_stage *stages;
	int64_t *ready_ns[2]; /* of each F and B, by stage and microbatch */
};

static size_t at(const struct list *list, int stage, int microbatch)
{
	return (size_t)stage * (size_t)list->request->n_microbatches + (size_t)microbatch;
}

static void list_fini(struct list *list)
{
	stage_queue_fini(&list->queue);
	free(list->stages);
	free(list->ready_ns[OP_F]);
	free(list->ready_ns[OP_B]);
}

static void set_stages(struct list *list, struct plan *plan)
{
	const struct list_rules *rules = list->rules;
	int cap = plan->n_microbatches;

	for (int s = 0; s < plan->n_stages; s++) {
		struct list_stage *stage = &list->stages[s];
		const char *reason;

		stage->writer = op_writer_at(plan, s);
		stage->limit = rules->limits ? rules->limits[s] : 0;
		if (!rules->warmups)
			continue;
		cap = policy_cap(list->request, rules->limits, s, cap, &reason);
		cap = rules->warmups[s] < cap ? rules->warmups[s] : cap;
		cap = cap > 1 ? cap : 1;
		stage->warmup = cap;
	}
}

static int list_init(struct list *list, const struct schedule_request *request,
                     const struct list_rules *rules, struct plan *plan, struct err *err)
{
	size_t n_stages = (size_t)plan->n_stages;
	size_t n = n_stages * (size_t)plan->n_microbatches;
	struct list fresh = {.request = request, .rules = rules};
	int rc = stage_queue_init(&fresh.queue, plan->n_stages, err);

	if (rc)
		return rc;
	fresh.stages = array_new(n_stages, sizeof(*fresh.stages));
	fresh.ready_ns[OP_F] = array_new(n, sizeof(int64_t));
	fresh.ready_ns[OP_B] = array_new(n, sizeof(int64_t));
	if (!fresh.stages || !fresh.ready_ns[OP_F] || !fresh.ready_ns[OP_B]) {
		list_fini(&fresh);
		return err_set(err, -ENOMEM, "no memory to schedule %d stages", plan->n_stages);
	}
	/* Stage 0's forwards are ready from the start. */
	for (size_t i = (size_t)plan->n_microbatches; i < n; i++)
		fresh.ready_ns[OP_F][i] = NOT_KNOWN;
	for (size_t i = 0; i < n; i++)
		fresh.ready_ns[OP_B][i] = NOT_KNOWN;
	set_stages(&fresh, plan);
	*list = fresh;
	return 0;
}

/* When the stage's next op of this kind can start as far as its input goes. */
static int64_t next_ready_ns(const struct list *list, int s, enum op_kind kind)
{
	const struct op_writer *writer = &list->stages[s].writer;

	if (writer->next[kind] == list->request->n_microbatches)
		return NOT_KNOWN;
	if (kind == OP_W)
		return writer->next[OP_W] < writer->next[OP_B] ? 0 : NOT_KNOWN;
	return list->ready_ns[kind][at(list, s, writer->next[kind])];
}

static bool is_ready(const struct list *list, int s, enum op_kind kind, int64_t now_ns)
{
	const struct list_stage *stage = &list->stages[s];

	if (kind == OP_F && op_is_full(&stage->writer, stage->limit))
		return false;
	return next_ready_ns(list, s, kind) <= now_ns;
}

/* The op that an idle stage runs now; false: none. */
static bool choose(const struct list *list, int s, int64_t now_ns, enum op_kind *out)
{
	static const enum op_kind by_priority[OP_KINDS] = {OP_B, OP_F, OP_W};
	const struct list_stage *stage = &list->stages[s];
	bool is_warming = stage->writer.next[OP_F] < stage->warmup;
	bool is_waiting = list->rules->waits_for_backward && stage->writer.next[OP_B] == 0;

	if (is_warming || is_waiting) {
		*out = is_warming ? OP_F : OP_B;
		return is_ready(list, s, *out, now_ns);
	}
	for (int i = 0; i < OP_KINDS; i++) {
		*out = by_priority[i];
		if (is_ready(list, s, *out, now_ns))
			return true;
	}
	return false;
}

/* An input of stage s will be there at ready_ns; an idle stage looks again then. */
static void deliver(struct list *list, int s, enum op_kind kind, int microbatch, int64_t ready_ns)
{
	int64_t look_ns = list->stages[s].free_ns;

	list->ready_ns[kind][at(list, s, microbatch)] = ready_ns;
	look_ns = ready_ns > look_ns ? ready_ns : look_ns;
	if (look_ns < list->queue.at_ns[s])
		stage_queue_set(&list->queue, s, look_ns);
}

static void start(struct list *list, int s, enum op_kind kind, int64_t now_ns)
{
	const struct plan_times *times = &list->request->times;
	struct list_stage *stage = &list->stages[s];
	int64_t end_ns = now_ns + times->op_ns[kind][s];
	int microbatch = stage->writer.next[kind];

	op_put(&stage->writer, kind);
	stage->free_ns = end_ns;
	stage_queue_set(&list->queue, s, end_ns);
	if (kind == OP_F && s + 1 < times->n_stages)
		deliver(list, s + 1, OP_F, microbatch, end_ns + times->link_ns[s]);
	else if (kind == OP_F)
		deliver(list, s, OP_B, microbatch, end_ns);
	else if (kind == OP_B && s > 0)
		deliver(list, s - 1, OP_B, microbatch, end_ns + times->link_ns[s - 1]);
}

/* Nothing is ready: look again when the first input arrives that is known to be on its way. */
static void idle(struct list *list, int s, int64_t now_ns)
{
	int64_t look_ns = STAGE_QUEUE_NEVER;

	for (int kind = OP_F; kind <= OP_B; kind++) {
		int64_t ready_ns = next_ready_ns(list, s, (enum op_kind)kind);

		if (ready_ns > now_ns && ready_ns < look_ns)
			look_ns = ready_ns;
	}
	stage_queue_set(&list->queue, s, look_ns);
}

static void fill(struct list *list)
{
	int s;

	while ((s = stage_queue_first(&list->queue)) >= 0) {
		int64_t now_ns = list->queue.at_ns[s];
		enum op_kind kind;

		if (choose(list, s, now_ns, &kind))
			start(list, s, kind, now_ns);
		else
			idle(list, s, now_ns);
	}
	for (s = 0; s < list->request->times.n_stages; s++)
		assert(list->stages[s].writer.n_ops == OP_KINDS * list->request->n_microbatches);
}

int list_schedule(const struct schedule_request *request, const struct list_rules *rules,
                  struct plan *plan, struct err *err)
{
	struct list list;
	int rc = plan_times_check(&request->times, request->n_microbatches, err);

	rc = rc ? rc : list_init(&list, request, rules, plan, err);
	if (rc)
		return rc;
	fill(&list);
	list_fini(&list);
	return 0;
}
