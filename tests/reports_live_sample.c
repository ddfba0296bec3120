/* reports_live_sample.c - live comparisons made by hand, for the tests of reports. */
#include "tests/reports_live_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reports_sample.h"

enum { SCHEDULES = 5, EVENTS = 2, WARMUP = 5, STAGES = 4, LOSSES_MOST = 3 };

static const struct {
	const char *name, *plane;
	double healthy_ms, slow_ms, late_ms; /* late: the last event's */
	double error_ratio;
} schedules[SCHEDULES] = {
	{"1f1b", "stream", 332.4, 553.1, 461.7, 0.01},
	{"zb", "stream", 271.9, 604.2, 401.3, 0.02},
	{"adaptra", "stream, delegate", 270.3, 296.8, 399.2, 0.03},
	{"zb-cpu", "delegate", 275.2, 310.9, 402.8, 0.04},
	{"hold", "stream, delegate", 281.6, 299.4, 405.5, 0.05},
};

static const struct {
	const char *label, *links;
	int first, last;
} events[EVENTS] = {
	{"1-2: 25 ms", "1-2", 10, 24},
	{"stage 3: 1.5 times slower", "", 30, 39},
};

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static char *text(const char *value)
{
	return need(strdup(value));
}

static double *array(size_t n)
{
	return need(calloc(n ? n : 1, sizeof(double)));
}

/* The loss of a model that learns. */
static double loss_at(int iteration)
{
	return 1.5 + 4.045 * 12 / (12 + iteration);
}

static void add_losses(struct comparison_schedule *schedule)
{
	schedule->losses = need(calloc(1, sizeof(*schedule->losses)));
	schedule->n_losses = 1;
	schedule->losses[0] = (struct comparison_losses){7, 0, array(LIVE_ITERATIONS),
	                                                 .missing = -1, .conflict = -1};
	for (int i = 0; i < LIVE_ITERATIONS; i++)
		schedule->losses[0].loss[i] = loss_at(i);
	memcpy(schedule->loss_digest, "0123456789abcdef", LOSS_DIGEST_BYTES);
}

static void add_facts(struct comparison_schedule *schedule, size_t which)
{
	const double in_lab = which == 1 ? 1 : NAN; /* one of them was */

	schedule->has_facts = true;
	schedule->facts = (struct comparison_facts){
		.n_workers = 2,
		.speed = 10,
		.lowered_from = NAN,
		.payload_bytes = 8192,
		.n_ops = 6432,
		.late_mean_us = 3.127 + (double)which,
		.late_max_us = 214.5 * (double)(which + 1),
		.n_overruns = which == 1 ? 3 : 0,
		.op_cpu_us = 31.08,
		.foreign_cores = which == 2 ? 0.31 : 0.02,
		.between_s = 0.0713,
		.n_applied = 4 * in_lab,
		.apply_mean_us = 131.6 * in_lab,
		.apply_max_us = 412 * in_lab,
		.n_outages = 1 * in_lab,
		.notice_max_us = 64.2 * in_lab,
		.recover_max_ms = 1238.1 * in_lab,
		.n_packets = 12345 * in_lab,
		.n_lost = 12 * in_lab,
		.n_dropped = 0 * in_lab,
		.n_relayed = 12001 * in_lab,
		.relay_mean_us = 41.3 * in_lab,
		.relay_p99_us = 310 * in_lab,
		.relay_max_us = 2219 * in_lab,
	};
}

static double slowed(double ms, size_t which, bool is_live)
{
	return is_live ? ms : ms / (1 + schedules[which].error_ratio);
}

static void fill_schedule(struct comparison_schedule *out, size_t which, bool is_live)
{
	double healthy = slowed(schedules[which].healthy_ms, which, is_live);

	out->name = text(schedules[which].name);
	out->plane = text(schedules[which].plane);
	out->status = text("done");
	out->n_repeats = 1;
	out->n_iterations = LIVE_ITERATIONS;
	out->restart_iterations = need(calloc(1, sizeof(int)));
	out->repeat_total_s = array(1);
	out->repeat_p50_ms = array(1);
	out->iteration_ms = array(LIVE_ITERATIONS);
	for (int i = 0; i < LIVE_ITERATIONS; i++) {
		double ms = healthy;

		if (i >= events[0].first && i <= events[0].last)
			ms = slowed(schedules[which].slow_ms, which, is_live);
		if (i >= events[1].first && i <= events[1].last)
			ms = slowed(schedules[which].late_ms, which, is_live);
		out->iteration_ms[i] = ms;
		out->total_s += ms / 1e3;
	}
	out->repeat_total_s[0] = out->total_s;
	out->mean_ms = out->total_s / LIVE_ITERATIONS * 1e3;
	out->p50_ms = out->repeat_p50_ms[0] = healthy;
	out->p95_ms = slowed(schedules[which].slow_ms, which, is_live);
	out->samples_per_s = LIVE_ITERATIONS * 8 / out->total_s;
	out->compute_ms = 240;
	out->wait_ms = out->mean_ms - 240;
	out->bubble_ratio = out->wait_ms / out->mean_ms;
	if (!is_live)
		return;
	add_losses(out);
	add_facts(out, which);
}

static void fill_events(struct comparison *out, bool is_live)
{
	out->events = need(calloc(EVENTS, sizeof(*out->events)));
	for (; out->n_events < EVENTS; out->n_events++) {
		struct comparison_event *event = &out->events[out->n_events];

		event->label = text(events[out->n_events].label);
		event->links = text(events[out->n_events].links);
		event->first_iteration = events[out->n_events].first;
		event->last_iteration = events[out->n_events].last;
		event->p50_ms = array(out->n_schedules);
		event->published_ms = array(out->n_schedules);
		for (size_t s = 0; s < out->n_schedules; s++) {
			event->p50_ms[s] = out->schedules[s].iteration_ms[event->first_iteration];
			event->published_ms[s] = NAN;
		}
	}
	if (!is_live)
		out->events[EVENTS - 1].p50_ms[0] = schedules[0].late_ms / 1.2;
}

/* The first event's link, one way; the last schedule never met it, and of the first nobody counted
 * packets. */
static void fill_links(struct comparison *out)
{
	struct comparison_link *link = need(calloc(1, sizeof(*link)));

	out->links = link;
	out->n_links = 1;
	*link = (struct comparison_link){1,
	                                 2,
	                                 25,
	                                 2.5,
	                                 0.001,
	                                 1000,
	                                 text("latency"),
	                                 need(calloc(out->n_schedules, sizeof(*link->passed)))};
	for (size_t s = 0; s < out->n_schedules; s++) {
		const double met = s > 0 && s + 1 == out->n_schedules ? NAN : 1;
		const double counted = s == 0 ? NAN : met;

		link->passed[s] = (struct comparison_passed){
			.n_messages = 240 * met,
			.extra_ms = (25.31 + (double)s) * met,
			.extra_p50_ms = (25.02 + (double)s) * met,
			.extra_p95_ms = (29.9 + (double)s) * met,
			.goodput_mbit_per_s = 431.25 * met,
			.n_packets = 12345 * counted,
			.n_lost = 12 * counted,
			.held_ms = 25.08 * counted,
			.n_resent = 13 * met,
		};
	}
}

static struct comparison_speedup speedup(const struct comparison *comparison, size_t of,
                                         size_t over)
{
	const struct comparison_schedule *a = &comparison->schedules[of];
	const struct comparison_schedule *b = &comparison->schedules[over];
	double steady_ratio = b->p50_ms / a->p50_ms;

	return (struct comparison_speedup){of,  over, b->total_s / a->total_s,    NAN,
	                                   NAN, 1,    paired_of(&steady_ratio, 1)};
}

static void fill_speedups(struct comparison *out)
{
	size_t n = out->n_schedules;

	out->speedups = need(calloc(n * n + 1, sizeof(*out->speedups)));
	for (size_t of = 0; of < n; of++)
		for (size_t over = 0; over < n; over++)
			if (of != over)
				out->speedups[out->n_speedups++] = speedup(out, of, over);
}

struct comparison sample_smoke(size_t n_schedules, bool is_live)
{
	struct comparison out = {
		.comparison = is_live ? 8 : 7,
		.simulated = is_live ? 7 : 0,
		.created = text("2026-01-31T08:00:05Z"),
		.store_path = text("/srv/adaptra-bench/results.db"),
		.scenario_title = text("Smoke test"),
		.scenario_path = text("scenarios/smoke.lua"),
		.mode = text(is_live ? "live" : "sim"),
		.speed = is_live ? 10 : 1,
		.backends = text(is_live ? "device paced, transport tcp, injector shaped"
	                                 : "device virtual, transport virtual, injector virtual"),
		.settings_json = text("{\"seed\":1}"),
		.seed = 1,
		.n_stages = STAGES,
		.n_replicas = 1,
		.n_microbatches = 8,
		.n_iterations_asked = LIVE_ITERATIONS,
		.n_warmup = WARMUP,
	};

	out.schedules = need(calloc(n_schedules, sizeof(*out.schedules)));
	for (; out.n_schedules < n_schedules; out.n_schedules++)
		fill_schedule(&out.schedules[out.n_schedules], out.n_schedules, is_live);
	fill_events(&out, is_live);
	if (is_live)
		fill_links(&out);
	fill_speedups(&out);
	return out;
}

static double any_number(uint64_t *state)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e300, 1e-300, 2.5, 2.5};

	if (sample_below(state, 3) == 0)
		return odd[sample_below(state, (int)(sizeof(odd) / sizeof(odd[0])))];
	return exp(sample_below(state, 4000) / 100.0 - 12);
}

static void add_random_links(struct comparison *comparison, uint64_t *state)
{
	size_t n = (size_t)sample_below(state, 30);

	comparison->links = need(calloc(n + 1, sizeof(*comparison->links)));
	for (; comparison->n_links < n; comparison->n_links++) {
		struct comparison_link *link = &comparison->links[comparison->n_links];
		size_t n_numbers = comparison->n_schedules * sizeof(*link->passed) / sizeof(double);

		*link = (struct comparison_link){
			sample_below(state, 9),
			sample_below(state, 9),
			any_number(state),
			any_number(state),
			any_number(state),
			any_number(state),
			text(sample_below(state, 2) ? "rate" : ""),
			need(calloc(comparison->n_schedules + 1, sizeof(*link->passed)))};
		for (size_t i = 0; i < n_numbers; i++)
			((double *)link->passed)[i] = any_number(state);
	}
}

void sample_add_random_live(struct comparison *comparison, uint64_t seed)
{
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 7;
	int n = comparison->n_iterations_asked;

	comparison->speed = any_number(&state);
	if (sample_below(&state, 2)) {
		free(comparison->mode);
		comparison->mode = text("live");
	}
	for (size_t s = 0; s < comparison->n_schedules; s++) {
		struct comparison_schedule *schedule = &comparison->schedules[s];
		double *facts = (double *)&schedule->facts;

		schedule->has_facts = sample_below(&state, 2);
		for (size_t i = 0; i < sizeof(schedule->facts) / sizeof(double); i++)
			facts[i] = any_number(&state);
		schedule->losses = need(calloc(LOSSES_MOST, sizeof(*schedule->losses)));
		schedule->n_losses = (size_t)sample_below(&state, LOSSES_MOST + 1);
		for (size_t r = 0; r < schedule->n_losses; r++) {
			schedule->losses[r] = (struct comparison_losses){
				(uint64_t)sample_below(&state, 2), (int)r, array((size_t)n),
				sample_below(&state, 4) ? -1 : 0, sample_below(&state, 4) ? -1 : n};
			for (int i = 0; i < n; i++)
				schedule->losses[r].loss[i] = any_number(&state);
		}
	}
	add_random_links(comparison, &state);
}
