/* slow_link_faults.c - turns the states of a slow-link trace into faults. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/format/slow_link_trace.h"

/* The states from first up to end in which a link has one delay. link -1: the lost RNIC. */
struct stretch {
	size_t first;
	size_t end;
	int64_t delay_ns;
	int link;
};

struct stretches {
	struct stretch *items;
	size_t n;
	size_t capacity;
};

static int compare_stretches(const void *left, const void *right)
{
	const struct stretch *a = left;
	const struct stretch *b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->delay_ns != b->delay_ns)
		return a->delay_ns < b->delay_ns ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

static int add_stretch(struct stretches *stretches, struct stretch stretch, struct err *err)
{
	struct stretch *items = array_grow(stretches->items, &stretches->capacity, stretches->n + 1,
	                                   sizeof(*items));

	if (items == NULL)
		return err_set(err, -ENOMEM, "out of memory for the faults of a trace");
	stretches->items = items;
	items[stretches->n++] = stretch;
	return 0;
}

static int64_t delay_at(const struct slow_link_trace *trace, size_t state, int link)
{
	return state < trace->n_states ? trace->states[state].delays_ns[link] : 0;
}

static int find_stretches(const struct slow_link_trace *trace, struct stretches *stretches,
                          struct err *err)
{
	bool is_rnic_lost = false;
	int rc = 0;

	for (int link = 0; link < trace->n_links; link++) {
		size_t first = 0;

		for (size_t state = 1; state <= trace->n_states && rc == 0; state++) {
			int64_t delay_ns = delay_at(trace, first, link);

			if (state < trace->n_states && delay_at(trace, state, link) == delay_ns)
				continue;
			if (delay_ns > 0)
				rc = add_stretch(stretches,
				                 (struct stretch){first, state, delay_ns, link},
				                 err);
			first = state;
		}
	}
	for (size_t state = 0; state < trace->n_states && rc == 0 && !is_rnic_lost; state++) {
		is_rnic_lost = trace->states[state].is_rnic_lost;
		if (is_rnic_lost)
			rc = add_stretch(stretches, (struct stretch){state, trace->n_states, 0, -1},
			                 err);
	}
	return rc;
}

static int set_moment(const struct slow_link_trace *trace, size_t state, int64_t origin_ns,
                      struct moment *out, struct err *err)
{
	int64_t value;

	*out = (struct moment){.kind = MOMENT_NEVER};
	if (state == trace->n_states)
		return 0;
	value = trace->states[state].moment;
	out->kind = MOMENT_ITERATION;
	if (trace->kind == TRACE_BY_TIME) {
		out->kind = MOMENT_TIME;
		if (__builtin_add_overflow(value, origin_ns, &value) || value < 0)
			return err_set(err, -EINVAL,
			               "line %d of the trace: its time cannot be moved by %lld ns",
			               trace->states[state].line, (long long)origin_ns);
	}
	out->value = value;
	return 0;
}

static int set_fault(const struct slow_link_trace *trace, const struct stretch *stretch,
                     int64_t origin_ns, struct fault *fault, struct err *err)
{
	int rc;

	*fault = (struct fault){.kind = FAULT_DELAY,
	                        .from_stage = stretch->link,
	                        .to_stage = stretch->link + 1,
	                        .model = DELAY_OCCUPANCY,
	                        .delay_ns = stretch->delay_ns};
	rc = set_moment(trace, stretch->first, origin_ns, &fault->start, err);
	if (rc == 0)
		rc = set_moment(trace, stretch->end, origin_ns, &fault->end, err);
	return rc;
}

/* From sorted stretches. */
static int fill_faults(const struct slow_link_trace *trace, const struct stretches *stretches,
                       int down_stage, int64_t origin_ns, struct fault *faults, struct err *err)
{
	int event = 0;

	for (size_t i = 0; i < stretches->n; i++) {
		const struct stretch *stretch = &stretches->items[i];
		int rc = set_fault(trace, stretch, origin_ns, faults, err);

		if (rc < 0)
			return rc;
		event += i > 0 &&
		         (stretch->first != stretch[-1].first || stretch->end != stretch[-1].end ||
		          stretch->delay_ns != stretch[-1].delay_ns);
		faults->event = event;
		if (stretch->link < 0) {
			faults->kind = FAULT_DOWN;
			faults->from_stage = down_stage;
			faults->to_stage = down_stage;
			faults++;
			continue;
		}
		faults[1] = faults[0];
		faults[1].from_stage = stretch->link + 1;
		faults[1].to_stage = stretch->link;
		faults += 2;
	}
	return 0;
}

static int check_down_stage(const struct slow_link_trace *trace, int down_stage, struct err *err)
{
	for (size_t i = 0; i < trace->n_states; i++)
		if (trace->states[i].is_rnic_lost &&
		    (down_stage < 0 || down_stage > trace->n_links))
			return err_set(
				err, -EINVAL,
				"line %d of the trace loses an RNIC; stage %d was named for it, "
				"wanted 0 to %d",
				trace->states[i].line, down_stage, trace->n_links);
	return 0;
}

int slow_link_trace_faults(const struct slow_link_trace *trace, int down_stage, int64_t origin_ns,
                           struct fault **faults_out, size_t *n_out, struct err *err)
{
	struct stretches stretches = {0};
	struct fault *faults = NULL;
	int rc = check_down_stage(trace, down_stage, err);

	if (rc == 0)
		rc = find_stretches(trace, &stretches, err);
	if (rc < 0)
		goto free_stretches;
	if (stretches.n > 1)
		qsort(stretches.items, stretches.n, sizeof(*stretches.items), compare_stretches);
	faults = array_new(2 * stretches.n, sizeof(*faults));
	if (faults == NULL) {
		rc = err_set(err, -ENOMEM, "out of memory for the faults of a trace");
		goto free_stretches;
	}
	rc = fill_faults(trace, &stretches, down_stage, origin_ns, faults, err);
	if (rc < 0) {
		free(faults);
		goto free_stretches;
	}
	*faults_out = faults;
	*n_out = 2 * stretches.n;
	for (size_t i = 0; i < stretches.n; i++)
		*n_out -= stretches.items[i].link < 0;

free_stretches:
	free(stretches.items);
	return rc;
}
