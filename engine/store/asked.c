/* asked.c - the rows of what a scenario asks for: its events and their faults. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/store/row_internal.h"
#include "engine/store/store_internal.h"

static void add_moment(struct row *row, const char *iteration, const char *ns,
                       const struct moment *moment)
{
	bool is_in_iteration = moment->kind == MOMENT_ITERATION || moment->kind == MOMENT_OP;

	row_int_if(row, iteration, is_in_iteration, moment->value);
	row_int_if(row, ns, moment->kind == MOMENT_TIME, moment->value);
}

/* Names of the columns of an op, and the text in one of them. */
struct op_columns {
	const char *stage, *op, *microbatch;
	char letter[2];
};

static void add_op(struct row *row, struct op_columns *columns, const struct moment *moment)
{
	bool is_op = moment->kind == MOMENT_OP;

	columns->letter[0] = op_kind_letter(moment->op);
	row_int_if(row, columns->stage, is_op, moment->stage);
	row_text_if(row, columns->op, is_op, columns->letter);
	row_int_if(row, columns->microbatch, is_op, moment->microbatch);
}

static int insert_fault(struct store *store, int64_t run, size_t index, const struct fault *fault,
                        sqlite3_stmt **kept, struct err *err)
{
	bool is_delay = fault->kind == FAULT_DELAY, is_down = fault->kind == FAULT_DOWN;
	bool is_loss = fault->kind == FAULT_LOSS;
	bool has_jitter = is_delay && fault->jitter_ns > 0;
	struct op_columns start = {"start_stage", "start_op", "start_microbatch", ""};
	struct op_columns end = {"end_stage", "end_op", "end_microbatch", ""};
	struct row row = {0};

	row_int(&row, "run", run);
	row_int(&row, "fault", (int64_t)index);
	row_int(&row, "event", fault->event);
	row_text(&row, "kind", fault_kind_name(fault->kind));
	row_int_if(&row, "script_line", fault->script_line > 0, fault->script_line);
	add_moment(&row, "start_iteration", "start_ns", &fault->start);
	add_moment(&row, "end_iteration", "end_ns", &fault->end);
	row_int(&row, "from_stage", fault->from_stage);
	row_int(&row, "to_stage", fault->to_stage);
	row_text_if(&row, "delay_model", is_delay, delay_model_name(fault->model));
	row_int_if(&row, "delay_ns", is_delay, fault->delay_ns);
	row_int_if(&row, "jitter_ns", is_delay, fault->jitter_ns);
	row_text_if(&row, "distribution", has_jitter, distribution_name(fault->distribution));
	row_int_if(&row, "rate_bits_per_s", fault->kind == FAULT_RATE, fault->rate_bits_per_s);
	row_real(&row, "slowdown", fault->kind == FAULT_SLOW_STAGE ? fault->slowdown : NAN);
	row_int_if(&row, "rail", is_down, fault->rail);
	row_int_if(&row, "is_permanent", is_down, fault->is_permanent);
	row_real(&row, "loss_ratio", is_loss ? fault->loss_ratio : NAN);
	row_real(&row, "loss_correlation_ratio", is_loss ? fault->loss_correlation_ratio : NAN);
	row_int_if(&row, "allows_reordering", has_jitter, fault->allows_reordering);
	add_op(&row, &start, &fault->start);
	add_op(&row, &end, &fault->end);
	return row_insert(&row, store, "fault", kept, err);
}

/* The links that an event's faults are on, ascending, each once: "2-3 3-4". NULL: out of memory. */
static char *event_links(const struct scenario *scenario, size_t event)
{
	struct strbuf text = {0};
	int n_links = scenario->topology.n_stages - 1;
	bool *has_fault = array_new(n_links > 0 ? (size_t)n_links : 0, sizeof(*has_fault));

	if (!has_fault)
		return NULL;
	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];
		int link =
			fault->from_stage < fault->to_stage ? fault->from_stage : fault->to_stage;

		if (fault->event >= 0 && (size_t)fault->event == event && link >= 0 &&
		    link < n_links && fault->from_stage != fault->to_stage)
			has_fault[link] = true;
	}
	strbuf_add(&text, "");
	for (int link = 0; link < n_links; link++)
		if (has_fault[link])
			strbuf_addf(&text, "%s%d-%d", text.length ? " " : "", link, link + 1);
	free(has_fault);
	return strbuf_take(&text);
}

static int insert_published(struct store *store, int64_t run, size_t index,
                            const struct event *event, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < event->n_published && !rc; i++) {
		struct row row = {0};

		row_int(&row, "run", run);
		row_int(&row, "event", (int64_t)index);
		row_text(&row, "schedule", event->published[i].schedule);
		row_int(&row, "p50_ns", event->published[i].p50_ns);
		rc = row_insert(&row, store, "event_published", NULL, err);
	}
	return rc;
}

static int insert_event(struct store *store, int64_t run, const struct scenario *scenario,
                        size_t index, struct err *err)
{
	const struct event *event = &scenario->events[index];
	char *links = event_links(scenario, index);
	struct row row = {0};
	int rc;

	if (!links)
		return store_fail_memory(store, err);
	row_int(&row, "run", run);
	row_int(&row, "event", (int64_t)index);
	row_text(&row, "label", event->label);
	row_text(&row, "links", links);
	row_int_if(&row, "first_iteration", event->first_iteration >= 0, event->first_iteration);
	row_int_if(&row, "last_iteration", event->last_iteration >= 0, event->last_iteration);
	rc = row_insert(&row, store, "event", NULL, err);
	free(links);
	return rc ? rc : insert_published(store, run, index, event, err);
}

int asked_insert(struct store *store, int64_t run, const struct scenario *scenario, struct err *err)
{
	sqlite3_stmt *kept = NULL;
	int rc = 0;

	for (size_t i = 0; i < scenario->n_events && !rc; i++)
		rc = insert_event(store, run, scenario, i, err);
	for (size_t i = 0; i < scenario->n_faults && !rc; i++)
		rc = insert_fault(store, run, i, &scenario->faults[i], &kept, err);
	sqlite3_finalize(kept);
	return rc;
}
