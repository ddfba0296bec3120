/* reports_sample.c - comparisons made by hand, for the tests of reports. */
#include "tests/reports_sample.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tests/tap.h"

enum { TRACE_ITERATIONS = 1200, TRACE_WARMUP = 10, TRACE_SAMPLES = 24, TRACE_DOWN = 1030 };
enum { TRACE_CHECKPOINT = 1000, TRACE_SCHEDULES = 3, TRACE_SLOW = 9, TRACE_EVENTS = 10 };
enum { RANDOM_SCHEDULES = 9, RANDOM_EVENTS = 12, RANDOM_ITERATIONS = 3000 };

static const double RESTART_S = 95;

/* Event, published medians in ms of 1F1B, ZB, and the adaptive rerun: data of the published
 * large-scale run. */
static const struct {
	const char *label, *links;
	int first, last;
	double published_ms[TRACE_SCHEDULES];
} slow_links[TRACE_SLOW] = {
	{"2-3: 30 ms", "2-3", 15, 84, {2675.3, 2269.9, 1794.7}},
	{"0-1, 5-6: 40 ms", "0-1 5-6", 120, 189, {2512.1, 3068.7, 1748.4}},
	{"6-7: 20 ms", "6-7", 230, 299, {1899.6, 1895, 1698.5}},
	{"2-3, 3-4, 6-7: 50 ms", "2-3 3-4 6-7", 340, 409, {3831.9, 4385.7, 1883.6}},
	{"5-6: 60 ms", "5-6", 450, 519, {2951.4, 3756.6, 1788.7}},
	{"1-2, 6-7: 60 ms", "1-2 6-7", 560, 629, {2960.5, 4159.3, 1829.9}},
	{"0-1, 4-5: 20 ms", "0-1 4-5", 670, 739, {1917.7, 1956.3, 1851.7}},
	{"0-1, 1-2, 2-3: 40 ms", "0-1 1-2 2-3", 780, 849, {3271.8, 3682.6, 2041.3}},
	{"4-5, 5-6: 50 ms", "4-5 5-6", 890, 959, {3833.9, 4328.5, 1807.9}},
};

static const struct {
	const char *name, *plane;
	double healthy_ms, factor, compute_ms;
} trace_schedules[TRACE_SCHEDULES] = {
	{"1f1b", "stream", 1221.4, 0.962, 902.1},
	{"zb", "stream", 1104.9, 1.021, 902.1},
	{"adaptra", "stream, delegate", 1131.2, 0.93, 915.6},
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

static double *numbers(size_t n)
{
	double *values = need(calloc(n ? n : 1, sizeof(double)));

	for (size_t i = 0; i < n; i++)
		values[i] = NAN;
	return values;
}

static void fill_header(struct comparison *out, const char *title, int n_iterations, int n_warmup)
{
	out->comparison = 12;
	out->created = text("2026-01-31T08:00:05Z");
	out->store_path = text("/srv/adaptra-bench/results.db");
	out->scenario_title = text(title);
	out->scenario_path = text("scenarios/trace1200.lua");
	out->mode = text("sim");
	out->backends = text("device virtual, transport virtual, injector virtual");
	out->settings_json = text("{\"seed\":42,\"delay_model\":\"occupancy\",\"queues\":6}");
	out->seed = 42;
	out->speed = 1;
	out->n_stages = 8;
	out->n_replicas = 1;
	out->n_microbatches = 24;
	out->n_iterations_asked = n_iterations;
	out->n_warmup = n_warmup;
}

static void fill_speedups(struct comparison *out)
{
	size_t n = out->n_schedules;

	out->speedups = need(calloc(n * n + 1, sizeof(*out->speedups)));
	for (size_t of = 0; of < n; of++)
		for (size_t over = 0; over < n; over++) {
			double ratio = out->schedules[over].total_s / out->schedules[of].total_s;
			double steady_ratio =
				out->schedules[over].p50_ms / out->schedules[of].p50_ms;
			int is_done = strcmp(out->schedules[of].status, "done") == 0 &&
			              strcmp(out->schedules[over].status, "done") == 0;

			if (of == over)
				continue;
			out->speedups[out->n_speedups++] = (struct comparison_speedup){
				.of = of,
				.over = over,
				.ratio = is_done ? ratio : NAN,
				.low = NAN,
				.high = NAN,
				.pairs = 1,
				.steady = paired_of(&steady_ratio, is_done ? 1 : 0),
			};
		}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nearest-rank, good enough for what is made up. */
static double quantile(const double *ms, int first, int end, double ratio)
{
	double *sorted = need(malloc((size_t)(end - first + 1) * sizeof(double))), value;
	int n = 0;

	for (int i = first; i < end; i++)
		if (!isnan(ms[i]))
			sorted[n++] = ms[i];
	qsort(sorted, (size_t)n, sizeof(double), compare_doubles);
	value = n ? sorted[(int)((n - 1) * ratio)] : NAN;
	free(sorted);
	return value;
}

/* Quantiles, total and shares from iteration_ms and what was repeated. */
static void fill_summary(struct comparison_schedule *schedule, int n_asked, int n_warmup,
                         double compute_ms)
{
	double sum = 0, counted = 0;
	int n_counted = 0;

	for (int i = 0; i < n_asked; i++) {
		if (isnan(schedule->iteration_ms[i]))
			continue;
		schedule->n_iterations++;
		sum += schedule->iteration_ms[i];
		counted += i >= n_warmup ? schedule->iteration_ms[i] : 0;
		n_counted += i >= n_warmup;
	}
	schedule->total_s = sum / 1e3 + schedule->repeated_s;
	schedule->p50_ms = quantile(schedule->iteration_ms, n_warmup, n_asked, 0.5);
	schedule->p95_ms = quantile(schedule->iteration_ms, n_warmup, n_asked, 0.95);
	schedule->samples_per_s =
		schedule->n_iterations * (double)TRACE_SAMPLES / schedule->total_s;
	schedule->mean_ms = n_counted ? counted / n_counted : NAN;
	schedule->compute_ms = n_counted ? compute_ms : NAN;
	schedule->wait_ms = 0.75 * (schedule->mean_ms - compute_ms);
	schedule->blocked_ms = 0.25 * (schedule->mean_ms - compute_ms);
	schedule->bubble_ratio = 1 - schedule->compute_ms / schedule->mean_ms;
	schedule->blocked_ratio = schedule->blocked_ms / schedule->mean_ms;
	schedule->repeat_total_s = numbers(1);
	schedule->repeat_total_s[0] = schedule->total_s;
	schedule->repeat_p50_ms = numbers(1);
	schedule->repeat_p50_ms[0] = schedule->p50_ms;
	schedule->n_repeats = 1;
}

static void fill_trace_schedule(struct comparison_schedule *schedule, size_t which)
{
	double *ms = schedule->iteration_ms = numbers(TRACE_ITERATIONS);
	int is_adaptive = which == 2;

	for (int i = 0; i < TRACE_ITERATIONS; i++)
		ms[i] = trace_schedules[which].healthy_ms;
	for (size_t e = 0; e < TRACE_SLOW; e++)
		for (int i = slow_links[e].first; i <= slow_links[e].last; i++) {
			/* An adaptive schedule is as slow as the others until it notices. */
			int column = is_adaptive && i < slow_links[e].first + 2 ? 1 : (int)which;

			ms[i] = slow_links[e].published_ms[column] * trace_schedules[which].factor;
		}
	schedule->name = text(trace_schedules[which].name);
	schedule->plane = text(trace_schedules[which].plane);
	schedule->status = text("done");
	schedule->restart_iterations = need(calloc(1, sizeof(int)));
	if (!is_adaptive) {
		schedule->restart_iterations[schedule->n_restart_iterations++] = TRACE_DOWN;
		schedule->n_restarts = 1;
		schedule->repeated_s =
			RESTART_S + (TRACE_DOWN - TRACE_CHECKPOINT) * ms[TRACE_DOWN] / 1e3;
	}
	schedule->is_adaptive = is_adaptive;
	if (is_adaptive) {
		schedule->n_replans = TRACE_SLOW;
		schedule->first_replan = slow_links[0].first + 2;
	}
	fill_summary(schedule, TRACE_ITERATIONS, TRACE_WARMUP, trace_schedules[which].compute_ms);
}

static void fill_trace_events(struct comparison *out)
{
	out->events = need(calloc(TRACE_EVENTS, sizeof(*out->events)));
	out->n_events = TRACE_EVENTS;
	for (size_t e = 0; e < TRACE_EVENTS; e++) {
		struct comparison_event *event = &out->events[e];
		int is_slow = e < TRACE_SLOW;

		event->label = text(is_slow ? slow_links[e].label : "RNIC of stage 3 down");
		event->links = text(is_slow ? slow_links[e].links : "");
		event->first_iteration = is_slow ? slow_links[e].first : TRACE_DOWN;
		event->last_iteration = is_slow ? slow_links[e].last : TRACE_DOWN;
		event->p50_ms = numbers(out->n_schedules);
		event->published_ms = numbers(out->n_schedules);
		for (size_t s = 0; s < out->n_schedules; s++) {
			event->p50_ms[s] =
				quantile(out->schedules[s].iteration_ms, event->first_iteration,
			                 event->last_iteration + 1, 0.5);
			if (is_slow)
				event->published_ms[s] =
					slow_links[e].published_ms[s % TRACE_SCHEDULES];
		}
	}
}

static struct comparison trace_of(size_t n_schedules)
{
	struct comparison out = {0};

	fill_header(&out, "Nine slow links and a dead RNIC", TRACE_ITERATIONS, TRACE_WARMUP);
	out.note = text(
		"1F1B was published with sequence length 1024 and the others with 256: published "
		"ratios against 1F1B are not like for like, those here are.");
	out.schedules = need(calloc(n_schedules, sizeof(*out.schedules)));
	out.n_schedules = n_schedules;
	for (size_t s = 0; s < n_schedules; s++)
		fill_trace_schedule(&out.schedules[s], s % TRACE_SCHEDULES);
	fill_speedups(&out);
	fill_trace_events(&out);
	return out;
}

struct comparison sample_trace(void)
{
	return trace_of(TRACE_SCHEDULES);
}

struct comparison sample_long_names(size_t n_schedules)
{
	struct comparison out = trace_of(n_schedules);

	for (size_t s = 0; s < n_schedules; s++) {
		free(out.schedules[s].name);
		if (asprintf(&out.schedules[s].name, "csv:orders/a_long_name_%zu.csv", s) < 0)
			abort();
	}
	return out;
}

struct comparison sample_single(int n_iterations, int n_complete)
{
	struct comparison out = {0};
	struct comparison_schedule *schedule = need(calloc(1, sizeof(*schedule)));

	fill_header(&out, "Smoke", n_iterations, 0);
	out.schedules = schedule;
	out.n_schedules = 1;
	schedule->name = text("zb");
	schedule->plane = text("stream");
	schedule->status = text(n_complete == n_iterations ? "done" : "interrupted");
	schedule->iteration_ms = numbers((size_t)n_iterations);
	schedule->restart_iterations = need(calloc(1, sizeof(int)));
	for (int i = 0; i < n_complete; i++)
		schedule->iteration_ms[i] = 752.84 + i;
	fill_summary(schedule, n_iterations, 0, 600);
	fill_speedups(&out);
	return out;
}

/* xorshift64*, Vigna 2016: the tests must not depend on the generator under test elsewhere. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

int sample_below(uint64_t *state, int n)
{
	return (int)((next(state) >> 33) % (uint64_t)n);
}

/* Of any size, now and then no number at all. */
static double any_number(uint64_t *state)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e300, 1e-300};

	if (sample_below(state, 8) == 0)
		return odd[sample_below(state, (int)(sizeof(odd) / sizeof(odd[0])))];
	return exp(sample_below(state, 4000) / 100.0 - 12);
}

static char *any_text(uint64_t *state)
{
	static const char *const odd[] = {
		"",
		"zb",
		"a name that is far longer than any column could be expected to be",
		"\033[2J\033[31mred",
		"line\nfeed\ttab",
		"\xff\xfe broken",
		"\"quoted\\\"",
		"日本語の名前はとても長いです日本語の名前はとても長いです",
		"e\xcc\x81\xcc\x81 combining",
		"averyveryveryveryveryveryveryveryveryveryveryveryveryveryverylongword",
	};

	return text(odd[sample_below(state, (int)(sizeof(odd) / sizeof(odd[0])))]);
}

static void fill_random_schedule(struct comparison_schedule *schedule, size_t s, int n_asked,
                                 uint64_t *state)
{
	double *values[] = {
		&schedule->total_s,       &schedule->p50_ms,       &schedule->p95_ms,
		&schedule->samples_per_s, &schedule->bubble_ratio, &schedule->blocked_ratio,
		&schedule->mean_ms,       &schedule->compute_ms,   &schedule->wait_ms,
		&schedule->blocked_ms,    &schedule->repeated_s,
	};
	char *base = any_text(state);

	if (asprintf(&schedule->name, "%s #%zu", base, s) < 0)
		abort();
	free(base);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		*values[i] = any_number(state);
	schedule->plane = text("stream");
	schedule->status = sample_below(state, 3) ? text("done") : any_text(state);
	schedule->n_repeats = sample_below(state, 4);
	schedule->n_iterations = sample_below(state, n_asked + 1);
	schedule->n_restarts = sample_below(state, 3);
	schedule->is_adaptive = sample_below(state, 2);
	schedule->n_replans = sample_below(state, 3);
	schedule->first_replan = sample_below(state, 1000);
	schedule->iteration_ms = numbers((size_t)n_asked);
	for (int i = 0; i < n_asked; i++)
		schedule->iteration_ms[i] = any_number(state);
	schedule->restart_iterations = need(calloc(3, sizeof(int)));
	for (int i = 0; i < schedule->n_restarts; i++)
		schedule->restart_iterations[schedule->n_restart_iterations++] =
			sample_below(state, n_asked + 2) - 1;
	schedule->repeat_total_s = numbers(4);
	schedule->repeat_p50_ms = numbers(4);
	for (int i = 0; i < schedule->n_repeats; i++) {
		schedule->repeat_total_s[i] = any_number(state);
		schedule->repeat_p50_ms[i] = any_number(state);
	}
}

static void fill_random_event(struct comparison *out, struct comparison_event *event,
                              uint64_t *state)
{
	event->label = any_text(state);
	event->links = text(sample_below(state, 2) ? "0-1 2-3" : "");
	event->first_iteration = sample_below(state, out->n_iterations_asked + 2) - 1;
	event->last_iteration = sample_below(state, out->n_iterations_asked + 2) - 1;
	event->p50_ms = numbers(out->n_schedules);
	event->published_ms = numbers(out->n_schedules);
	for (size_t s = 0; s < out->n_schedules; s++) {
		event->p50_ms[s] = any_number(state);
		if (sample_below(state, 2))
			event->published_ms[s] = any_number(state);
	}
}

static struct paired any_paired(uint64_t *state)
{
	double numbers[5];

	for (int i = 0; i < 5; i++)
		numbers[i] = any_number(state);
	return (struct paired){numbers[0], numbers[1], numbers[2],
	                       numbers[3], numbers[4], sample_below(state, 9)};
}

static void shake_speedups(struct comparison *out, uint64_t *state)
{
	for (size_t i = 0; i < out->n_speedups; i++) {
		if (sample_below(state, 2))
			continue;
		out->speedups[i].pairs = sample_below(state, 9);
		out->speedups[i].low = any_number(state);
		out->speedups[i].high = any_number(state);
		out->speedups[i].steady = any_paired(state);
	}
}

struct comparison sample_random(uint64_t seed)
{
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	struct comparison out = {0};
	size_t n_schedules = (size_t)sample_below(&state, RANDOM_SCHEDULES);
	size_t n_events = (size_t)sample_below(&state, RANDOM_EVENTS);

	fill_header(&out, "",
	            sample_below(&state, 4) ? sample_below(&state, RANDOM_ITERATIONS)
	                                    : sample_below(&state, 4),
	            sample_below(&state, 20));
	free(out.scenario_title);
	free(out.store_path);
	free(out.settings_json);
	out.scenario_title = any_text(&state);
	out.store_path = any_text(&state);
	out.settings_json = sample_below(&state, 2) ? any_text(&state) : text(" {\"a\": [1, {}]} ");
	out.note = any_text(&state);
	out.warning = sample_below(&state, 2) ? any_text(&state) : NULL;
	out.comparison = sample_below(&state, 3);
	out.schedules = need(calloc(n_schedules + 1, sizeof(*out.schedules)));
	for (; out.n_schedules < n_schedules; out.n_schedules++)
		fill_random_schedule(&out.schedules[out.n_schedules], out.n_schedules,
		                     out.n_iterations_asked, &state);
	fill_speedups(&out);
	shake_speedups(&out, &state);
	if (sample_below(&state, 2)) {
		out.control.schedule = any_text(&state);
		out.control.steady = any_paired(&state);
		out.control.total = any_paired(&state);
	}
	out.events = need(calloc(n_events + 1, sizeof(*out.events)));
	for (; out.n_events < n_events; out.n_events++)
		fill_random_event(&out, &out.events[out.n_events], &state);
	return out;
}

/* Step over a colour, ESC [ digits m. Any other use of ESC stays, and is found to be a control
 * character. */
static const char *skip_color(const char *at)
{
	size_t n;

	if (at[0] != '\033' || at[1] != '[')
		return at;
	n = 2 + strspn(at + 2, "0123456789");
	return at[n] == 'm' ? skip_color(at + n + 1) : at;
}

int sample_widest_line(const char *text)
{
	int widest = 0, width = 0;
	mbstate_t state = {0};
	const char *end = text + strlen(text);

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return -1;
	for (text = skip_color(text); *text; text = skip_color(text)) {
		wchar_t c;
		size_t n = mbrtowc(&c, text, (size_t)(end - text), &state);

		if (n == (size_t)-1 || n == (size_t)-2 || (c != L'\n' && wcwidth(c) < 0))
			return -1;
		width = c == L'\n' ? 0 : width + wcwidth(c);
		widest = width > widest ? width : widest;
		text += n;
	}
	return widest;
}

bool sample_fits(const char *text, int columns, const char *name, ...)
{
	int widest = sample_widest_line(text);
	char sentence[256];
	va_list args;

	va_start(args, name);
	(void)vsnprintf(sentence, sizeof(sentence), name, args);
	va_end(args);
	return tap_ok(widest > 0 && widest <= columns, "%s (%d columns)", sentence, widest);
}
