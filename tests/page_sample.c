/* page_sample.c - what a page shows beside its comparison, made by chance. */
#include "tests/page_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reports_sample.h"

enum { RANDOM_OPS = 200, RANDOM_ROWS = 12, OP_NS = 1000000 };

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static char *any_text(uint64_t *state)
{
	static const char *const odd[] = {
		"",
		"plain",
		"<script>alert(1)</script>",
		"a & b",
		"\"quoted\" 'twice'",
		"\033[2J\x01",
		"\xff\xfe",
		"日本語",
		"]]>",
		"&amp;",
		"--><",
		"\xef\xbf\xbf",
	};

	return need(strdup(odd[sample_below(state, (int)(sizeof(odd) / sizeof(odd[0])))]));
}

/* Around the times of an iteration, now and then far away. */
static int64_t any_ns(uint64_t *state)
{
	static const int64_t odd[] = {-1, 0, INT64_MAX / 4, -INT64_MAX / 4, 1};

	if (sample_below(state, 12) == 0)
		return odd[sample_below(state, 5)];
	return sample_below(state, 1000000000);
}

static void fill_iteration(struct page_iteration *out, uint64_t *state)
{
	*out = (struct page_iteration){
		.iteration = sample_below(state, 2000),
		.start_ns = any_ns(state),
		.duration_ns = any_ns(state),
		.compute_ns = any_ns(state),
		.wait_ns = any_ns(state),
		.blocked_ns = any_ns(state),
		.transfer_ns = any_ns(state),
		.n_ops = (size_t)sample_below(state, RANDOM_OPS),
	};
	out->ops = need(calloc(RANDOM_OPS, sizeof(*out->ops)));
	for (size_t i = 0; i < out->n_ops; i++)
		out->ops[i] = (struct record_op){
			.stage = sample_below(state, 12) - 1,
			.replica = sample_below(state, 3) / 2,
			.kind = (enum op_kind)sample_below(state, OP_KINDS),
			.microbatch = sample_below(state, 30) - 1,
			.start_ns = any_ns(state),
			.end_ns = any_ns(state),
			.message_request_ns = any_ns(state),
			.message_arrive_ns = any_ns(state),
		};
}

static void fill_faults(struct trace_source *source, uint64_t *state)
{
	source->n_faults = (size_t)sample_below(state, RANDOM_ROWS * 6);
	source->faults = need(calloc(RANDOM_ROWS * 6, sizeof(*source->faults)));
	for (size_t i = 0; i < source->n_faults; i++)
		source->faults[i] = (struct stored_fault){
			.event = sample_below(state, 60) - 1,
			.kind = any_text(state),
			.label = any_text(state),
			.from_stage = sample_below(state, 9),
			.to_stage = sample_below(state, 9),
			.delay_ns = any_ns(state),
			.asked_ns = any_ns(state),
			.applied_ns = any_ns(state),
			.cleared_ns = any_ns(state),
			.measured_ns = any_ns(state),
			.n_messages = sample_below(state, 5),
		};
}

static void fill_decisions(struct trace_source *source, uint64_t *state)
{
	static const char *const kinds[] = {"replan",   "switch_plane", "restart",
	                                    "failover", "recover",      "<none>"};

	source->n_decisions = (size_t)sample_below(state, RANDOM_ROWS);
	source->decisions = need(calloc(RANDOM_ROWS, sizeof(*source->decisions)));
	for (size_t i = 0; i < source->n_decisions; i++)
		source->decisions[i] = (struct stored_decision){
			.kind = need(strdup(kinds[sample_below(state, 6)])),
			.iteration = sample_below(state, 5000) - 1,
			.plane = any_text(state),
			.warmups = any_text(state),
			.clamped = any_text(state),
			.reason = any_text(state),
		};
}

static struct stored_run *any_run(uint64_t *state)
{
	static const char *const settings[] = {
		"{\"iterations\":7,\"option.a\":\"<b> & 'c'\",\"x\":[1,2]}",
		"{\"oracle\":true,\"option.a\":\"\\\"\\\\\",\"only\":null}",
		"{}",
		"not JSON",
	};
	struct stored_run *run = need(calloc(1, sizeof(*run)));
	char **texts[] = {
		&run->created,       &run->status,   &run->reason, &run->scenario_title,
		&run->scenario_path, &run->schedule, &run->plane,  &run->device,
		&run->transport,     &run->injector, &run->host,   &run->version,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = any_text(state);
	run->mode = need(strdup(sample_below(state, 2) ? "live" : "sim"));
	run->settings_json = need(strdup(settings[sample_below(state, 4)]));
	run->facts_json = need(strdup("{}"));
	run->speed = sample_below(state, 100) / 7.0;
	return run;
}

struct page sample_page(const struct comparison *comparison, const struct comparison *simulated,
                        uint64_t seed)
{
	uint64_t state = seed * 2654435761u + 1;
	struct page page = {.comparison = comparison, .simulated = simulated};

	page.event = (size_t)sample_below(&state, (int)comparison->n_events + 1);
	page.runs = need(calloc(comparison->n_schedules + 1, sizeof(*page.runs)));
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		struct page_run *run = &page.runs[i];

		if (sample_below(&state, 5) == 0)
			continue;
		run->source.run = any_run(&state);
		fill_faults(&run->source, &state);
		fill_decisions(&run->source, &state);
		for (int kind = 0; kind < PAGE_KINDS; kind++)
			fill_iteration(&run->chosen[kind], &state);
	}
	return page;
}

static void add_op(struct page_iteration *iteration, int stage, enum op_kind kind, int microbatch,
                   int64_t message_ns)
{
	int64_t start_ns = (int64_t)iteration->n_ops * OP_NS;
	int64_t end_ns = start_ns + OP_NS;

	iteration->ops[iteration->n_ops++] = (struct record_op){
		.stage = stage,
		.kind = kind,
		.microbatch = microbatch,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.message_request_ns = kind == OP_W ? -1 : end_ns,
		.message_arrive_ns = kind == OP_W ? -1 : end_ns + message_ns,
	};
	iteration->duration_ns = end_ns;
}

struct page_iteration sample_iteration(int n_stages, int n_microbatches, int64_t message_ns)
{
	struct page_iteration out = {.iteration = 3};

	out.ops = need(
		calloc((size_t)n_stages * (size_t)n_microbatches * OP_KINDS, sizeof(*out.ops)));
	for (int m = 0; m < n_microbatches; m++) {
		for (int stage = 0; stage < n_stages; stage++)
			add_op(&out, stage, OP_F, m, message_ns);
		for (int stage = n_stages - 1; stage >= 0; stage--) {
			add_op(&out, stage, OP_B, m, message_ns);
			add_op(&out, stage, OP_W, m, message_ns);
		}
	}
	out.compute_ns = (int64_t)out.n_ops * OP_NS;
	out.wait_ns = out.duration_ns * n_stages - out.compute_ns;
	return out;
}
