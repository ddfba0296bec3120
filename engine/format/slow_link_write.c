/* slow_link_write.c - writes delay faults as a slow-link trace by iteration.
 *
 * Every start and end of a fault is a change; the changes of one iteration make a line, which names
 * all links that are slow from then on. A link may be slow in both directions only, by the same
 * amount, for the format knows no others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "engine/format/slow_link_trace.h"
#include "engine/scenario/topology.h"

enum { LINKS_MAX = TOPOLOGY_STAGES_MAX - 1, UPWARD = 1 };

/* link -1: an RNIC is lost. */
struct change {
	int64_t iteration;
	int64_t delay_ns; /* 0: the fault ends */
	int link;
	int direction; /* UPWARD: from the later stage to the earlier */
};

struct trace_writer {
	struct change *changes;
	size_t n_changes;
	int64_t delays_ns[2][LINKS_MAX];
	bool is_touched[LINKS_MAX]; /* by the changes of this iteration */
	struct strbuf text;         /* all lines */
	struct strbuf line;         /* links and delays, as last written */
	struct strbuf next_line;
};

static int cannot_say(const struct fault *fault, const char *what, struct err *err)
{
	return err_set(err, -ENOTSUP, "the %s fault of stages %d->%d %s, which a trace cannot say",
	               fault_kind_name(fault->kind), fault->from_stage, fault->to_stage, what);
}

/* NULL, or what of the fault has no place in a trace. */
static const char *unsayable(const struct fault *fault)
{
	if (fault_has_op(fault))
		return "starts or ends inside an iteration";
	switch (fault->kind) {
	case FAULT_DELAY:
		if (fault->jitter_ns > 0)
			return "has jitter";
		if (fault->start.kind != MOMENT_ITERATION || fault->end.kind == MOMENT_TIME)
			return "is by time";
		return NULL;
	case FAULT_DOWN:
		if (fault->start.kind != MOMENT_ITERATION)
			return "is by time";
		if (fault->end.kind != MOMENT_NEVER || fault->is_permanent || fault->rail != 0)
			return "is not the plain loss of rail 0";
		return NULL;
	case FAULT_RATE:
		return "limits a rate";
	case FAULT_SLOW_STAGE:
		return "slows computation";
	case FAULT_LOSS:
		return "loses packets";
	}
	return "is of an unknown kind";
}

static int check_fault(const struct fault *fault, struct err *err)
{
	int distance = fault->from_stage - fault->to_stage;
	const char *what = unsayable(fault);

	if (what != NULL)
		return cannot_say(fault, what, err);
	if (fault->from_stage < 0 || fault->to_stage < 0 || fault->from_stage > LINKS_MAX ||
	    fault->to_stage > LINKS_MAX ||
	    (fault->kind == FAULT_DELAY && distance != 1 && distance != -1))
		return err_set(err, -EINVAL, "a fault of stages %d->%d; wanted neighbours",
		               fault->from_stage, fault->to_stage);
	if (fault->delay_ns < 0 || fault->start.value < 0)
		return err_set(err, -EINVAL, "a fault of stages %d->%d with a negative number",
		               fault->from_stage, fault->to_stage);
	return 0;
}

static void add_changes(struct trace_writer *writer, const struct fault *fault)
{
	bool is_down = fault->kind == FAULT_DOWN;
	bool is_upward = fault->to_stage < fault->from_stage;
	struct change change = {
		.iteration = fault->start.value,
		.delay_ns = fault->delay_ns,
		.link = is_down     ? -1
	                : is_upward ? fault->to_stage
	                            : fault->from_stage,
		.direction = is_upward ? UPWARD : 0,
	};

	/* A delay of nothing, or for no time, is no fault. */
	if (!is_down && (fault->delay_ns == 0 || (fault->end.kind == MOMENT_ITERATION &&
	                                          fault->end.value <= fault->start.value)))
		return;
	writer->changes[writer->n_changes++] = change;
	if (is_down || fault->end.kind == MOMENT_NEVER)
		return;
	change.iteration = fault->end.value;
	change.delay_ns = 0;
	writer->changes[writer->n_changes++] = change;
}

/* By iteration; ends come before starts, so that one fault can follow another at once. */
static int compare_changes(const void *left, const void *right)
{
	const struct change *a = left;
	const struct change *b = right;

	if (a->iteration != b->iteration)
		return a->iteration < b->iteration ? -1 : 1;
	return (a->delay_ns > 0) - (b->delay_ns > 0);
}

static void add_seconds(struct strbuf *out, int64_t ns)
{
	char fraction[16];
	size_t n = 9;

	if (ns == 0) {
		strbuf_add(out, "0.00");
		return;
	}
	snprintf(fraction, sizeof(fraction), "%09lld", (long long)(ns % NS_PER_S));
	while (n > 3 && fraction[n - 1] == '0')
		n--;
	fraction[n] = '\0';
	strbuf_addf(out, "%lld.%s", (long long)(ns / NS_PER_S), fraction);
}

/* ";1_2,3_4;0.030": the links that are slow, or those that have just become healthy, since the
 * original tool ignores a line that names none. */
static void describe_links(struct trace_writer *writer, struct strbuf *out)
{
	const int64_t *delays_ns = writer->delays_ns[0];
	bool is_healthy = true;
	int64_t common_ns = -1;
	bool is_common = true;
	const char *separator = ";";

	for (int link = 0; link < LINKS_MAX; link++) {
		if (delays_ns[link] == 0)
			continue;
		is_common = is_common && (is_healthy || delays_ns[link] == common_ns);
		common_ns = delays_ns[link];
		is_healthy = false;
	}
	for (int link = 0; link < LINKS_MAX; link++) {
		if (is_healthy ? !writer->is_touched[link] : delays_ns[link] == 0)
			continue;
		strbuf_addf(out, "%s%d_%d", separator, link, link + 1);
		separator = ",";
	}
	separator = ";";
	if (is_common) {
		strbuf_add(out, separator);
		add_seconds(out, is_healthy ? 0 : common_ns);
		return;
	}
	for (int link = 0; link < LINKS_MAX; link++) {
		if (delays_ns[link] == 0)
			continue;
		strbuf_add(out, separator);
		add_seconds(out, delays_ns[link]);
		separator = ",";
	}
}

static int apply(struct trace_writer *writer, const struct change *change, struct err *err)
{
	int64_t *delay_ns = &writer->delays_ns[change->direction][change->link];

	if (change->delay_ns > 0 && *delay_ns > 0)
		return err_set(err, -EINVAL, "two delays of link %d-%d overlap at iteration %lld",
		               change->link, change->link + 1, (long long)change->iteration);
	*delay_ns = change->delay_ns;
	writer->is_touched[change->link] = true;
	return 0;
}

/* What is in force after an iteration's changes, as far as a trace can say it. */
static int check_state(const struct trace_writer *writer, int64_t iteration, bool is_rnic_lost,
                       struct err *err)
{
	for (int link = 0; link < LINKS_MAX; link++) {
		if (writer->delays_ns[0][link] != writer->delays_ns[UPWARD][link])
			return err_set(err, -ENOTSUP,
			               "link %d-%d differs between its directions from iteration "
			               "%lld, which a trace cannot say",
			               link, link + 1, (long long)iteration);
		if (is_rnic_lost && writer->delays_ns[0][link] > 0)
			return err_set(err, -ENOTSUP,
			               "link %d-%d is slow when an RNIC is lost at iteration %lld, "
			               "which a trace cannot say",
			               link, link + 1, (long long)iteration);
	}
	return 0;
}

/* Apply the changes of one iteration, *at the first of them, and write their line. */
static int write_iteration(struct trace_writer *writer, size_t *at, struct err *err)
{
	int64_t iteration = writer->changes[*at].iteration;
	bool is_rnic_lost = false;
	struct strbuf swap;
	int rc = 0;

	memset(writer->is_touched, 0, sizeof(writer->is_touched));
	for (; *at < writer->n_changes && writer->changes[*at].iteration == iteration; ++*at) {
		if (writer->changes[*at].link < 0)
			is_rnic_lost = true;
		else
			rc = apply(writer, &writer->changes[*at], err);
		if (rc < 0)
			return rc;
	}
	rc = check_state(writer, iteration, is_rnic_lost, err);
	if (rc < 0)
		return rc;
	strbuf_clear(&writer->next_line);
	if (is_rnic_lost)
		strbuf_add(&writer->next_line, ";;inf");
	else
		describe_links(writer, &writer->next_line);
	if (strcmp(strbuf_text(&writer->line), strbuf_text(&writer->next_line)) == 0)
		return 0;
	strbuf_addf(&writer->text, "%lld%s\n", (long long)iteration,
	            strbuf_text(&writer->next_line));
	writer->text.is_failed |= writer->next_line.is_failed;
	swap = writer->line;
	writer->line = writer->next_line;
	writer->next_line = swap;
	return 0;
}

static int write_faults(struct trace_writer *writer, const struct fault *faults, size_t n_faults,
                        struct err *err)
{
	bool has_down = false;
	size_t at = 0;
	int rc = 0;

	for (size_t i = 0; i < n_faults; i++) {
		rc = check_fault(&faults[i], err);
		if (rc < 0)
			return rc;
		if (faults[i].kind == FAULT_DOWN && has_down)
			return cannot_say(&faults[i], "is the second lost RNIC", err);
		has_down = has_down || faults[i].kind == FAULT_DOWN;
		add_changes(writer, &faults[i]);
	}
	if (writer->n_changes > 1)
		qsort(writer->changes, writer->n_changes, sizeof(*writer->changes),
		      compare_changes);
	while (at < writer->n_changes && rc == 0)
		rc = write_iteration(writer, &at, err);
	return rc;
}

int slow_link_trace_write(const struct fault *faults, size_t n_faults, struct strbuf *out,
                          struct err *err)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));
	int rc = -ENOMEM;

	if (writer == NULL)
		return err_set(err, -ENOMEM, "out of memory for a trace");
	writer->changes = array_new(2 * n_faults, sizeof(*writer->changes));
	if (writer->changes != NULL)
		rc = write_faults(writer, faults, n_faults, err);
	if (rc == 0) {
		strbuf_add(out, strbuf_text(&writer->text));
		out->is_failed |= writer->text.is_failed;
	}
	if (rc == -ENOMEM || (rc == 0 && out->is_failed))
		rc = err_set(err, -ENOMEM, "out of memory for a trace");
	strbuf_fini(&writer->text);
	strbuf_fini(&writer->line);
	strbuf_fini(&writer->next_line);
	free(writer->changes);
	free(writer);
	return rc;
}
