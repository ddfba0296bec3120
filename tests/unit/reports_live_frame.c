/* reports_live_frame.c - a run that goes on, drawn for terminals of several sizes. */
#include "reports/live_frame.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"
#include "reports/display.h"
#include "tests/scenario_fixture.h"
#include "tests/tap.h"

enum { STAGES = 4, MICROBATCHES = 8, MANY_STAGES = 64 };

static const struct watch_stage stages[STAGES] = {
	{WATCH_OP, OP_B, 3, 12},
	{WATCH_INPUT, OP_F, 7, 7},
	{WATCH_OP, OP_W, 2, 17},
	{WATCH_NOTHING, OP_F, 0, 3 * MICROBATCHES},
};

static const struct watch_moment moment = {
	.attempt = 1,
	.iteration = 1199,
	.run_ns = INT64_C(5) * NS_PER_S,
	.plane = PLANE_DELEGATE,
	.n_stages = STAGES,
	.n_ops = 3 * MICROBATCHES,
	.stages = stages,
};

static struct fault delay(int from_stage, int to_stage, int64_t delay_ns)
{
	return (struct fault){
		.kind = FAULT_DELAY,
		.start = {.kind = MOMENT_ITERATION, .value = 10},
		.end = {.kind = MOMENT_NEVER},
		.from_stage = from_stage,
		.to_stage = to_stage,
		.delay_ns = delay_ns,
	};
}

static struct live_frame frame_of(const struct scenario *scenario)
{
	return (struct live_frame){
		.moment = &moment,
		.scenario = scenario,
		.label = "adaptra, repeat 1 of 2",
		.n_iterations = 2000,
		.done_ratio = 0.61,
		.elapsed_ns = INT64_C(125) * NS_PER_S,
		.left_ns = INT64_C(80) * NS_PER_S,
		.measured_ns = INT64_C(1030) * NS_PER_S,
		.simulated_ns = INT64_C(1000) * NS_PER_S,
	};
}

/* The widest line, colours left out. */
static int widest(const char *text)
{
	const struct report_style style = {.has_unicode = true};
	char line[512];
	int most = 0;

	for (size_t n; *text; text += n + (text[n] == '\n')) {
		int width;

		n = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		width = display_width(line, &style);
		most = width > most ? width : most;
	}
	return most;
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void test_goldens(const struct live_frame *frame)
{
	static const struct {
		const char *name;
		struct report_style style;
		int columns, rows;
	} cases[] = {
		{"unicode", {.has_unicode = true}, 80, 23},
		{"color", {.has_unicode = true, .has_color = true}, 80, 23},
		{"ascii", {0}, 60, 23},
		{"narrow", {.has_unicode = true}, 32, 23},
		{"short", {.has_unicode = true}, 80, 7},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf out = {0};
		char path[128];
		int n = live_frame_add(frame, cases[i].columns, cases[i].rows, &cases[i].style,
		                       &out);

		snprintf(path, sizeof(path), "tests/golden/reports/frame_%s.txt", cases[i].name);
		tap_is_golden(strbuf_text(&out), path, "a frame: %s", cases[i].name);
		tap_is_int(lines_of(strbuf_text(&out)), n, "has as many lines as it says");
		strbuf_fini(&out);
	}
}

/* Any size, and more stages than there are rows. */
static void test_sizes(const struct live_frame *frame)
{
	static struct watch_stage many[MANY_STAGES];
	struct watch_moment long_moment = moment;
	struct live_frame long_frame = *frame;
	int n_wide = 0, n_high = 0;

	long_moment.n_stages = MANY_STAGES;
	long_moment.stages = many;
	long_frame.moment = &long_moment;
	long_frame.measured_ns = -1;
	long_frame.left_ns = -1;
	for (int columns = 1; columns <= 200; columns++)
		for (int rows = 3; rows <= 80; rows += 7) {
			const struct report_style style = {.has_unicode = columns % 2};
			struct strbuf out = {0};

			(void)live_frame_add(columns % 3 ? frame : &long_frame, columns, rows,
			                     &style, &out);
			n_wide += widest(strbuf_text(&out)) > columns;
			n_high += lines_of(strbuf_text(&out)) > rows;
			strbuf_fini(&out);
		}
	tap_is_int(n_wide, 0, "no line is wider than the terminal, whatever that is");
	tap_is_int(n_high, 0, "no frame is higher");
}

static void test_restart(const struct live_frame *frame)
{
	const struct report_style style = {0};
	struct watch_moment restarting = moment;
	struct live_frame again = *frame;
	struct strbuf out = {0};

	restarting.is_restarting = true;
	restarting.iteration = 3;
	again.moment = &restarting;
	(void)live_frame_add(&again, 80, 24, &style, &out);
	tap_contains(strbuf_text(&out), "iteration 4 of 2,000, attempt 2, the job starts again\n",
	             "a restart is told");
	tap_ok(!strstr(strbuf_text(&out), "ms"), "faults that are not in force are not");
	strbuf_fini(&out);
}

int main(void)
{
	struct fault faults[] = {
		delay(1, 2, 30 * NS_PER_MS),
		delay(2, 1, 30 * NS_PER_MS),
		delay(3, 2, 5 * NS_PER_MS),
		delay(0, 1, 1 * NS_PER_MS),
		{.kind = FAULT_DOWN,
	         .start = {.kind = MOMENT_ITERATION, .value = 1199},
	         .end = {.kind = MOMENT_NEVER},
	         .from_stage = 0,
	         .to_stage = 0},
	};
	struct scenario scenario = {.faults = faults, .n_faults = 5};
	struct live_frame frame = frame_of(&scenario);

	faults[3].end = (struct moment){.kind = MOMENT_ITERATION, .value = 20};
	test_goldens(&frame);
	test_sizes(&frame);
	test_restart(&frame);
	return tap_done();
}
