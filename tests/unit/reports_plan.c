/* reports_plan.c - plans as people and programs read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/schedule/order.h"
#include "reports/plan_order.h"
#include "reports/report.h"
#include "tests/reports_sample.h"
#include "tests/tap.h"

enum { STAGES = 4, MICROBATCHES = 24, LETTERS_BYTES = 3 * MICROBATCHES + 1, MS_NS = 1000000 };
enum { RANDOM_ORDERS = 300 };

static const struct report_style unicode = {.columns = 80, .has_unicode = true};
static const struct report_style ascii = {.columns = 80};
static const struct report_style colored = {.columns = 80, .has_unicode = true, .has_color = true};

static const int64_t forward_ns[STAGES] = {10 * MS_NS, 10 * MS_NS, 10 * MS_NS, 12 * MS_NS};
static const int64_t input_ns[STAGES] = {11 * MS_NS, 11 * MS_NS, 11 * MS_NS, 13 * MS_NS};
static const int64_t weight_ns[STAGES] = {9 * MS_NS, 9 * MS_NS, 9 * MS_NS, 9 * MS_NS};
static const int64_t link_ns[STAGES - 1] = {0, 30 * MS_NS, 0};
static const int64_t tolerated_ns[STAGES] = {12500000, -1, 0, 0};
static const struct plan_times times = {STAGES, {forward_ns, input_ns, weight_ns}, link_ns};

/* n forwards, then B, W, F in turn while there are forwards, then B, W: the letters of 1F1B. */
static void fill_letters(char *out, int n_first)
{
	int n_forwards = n_first;

	memset(out, 'F', (size_t)n_first);
	out += n_first;
	for (int i = 0; i < MICROBATCHES; i++) {
		*out++ = 'B';
		*out++ = 'W';
		if (n_forwards < MICROBATCHES) {
			*out++ = 'F';
			n_forwards++;
		}
	}
	*out = '\0';
}

static bool make_plan(struct plan *plan)
{
	char letters[STAGES][LETTERS_BYTES];
	const char *rows[STAGES];
	struct err err = {0};

	for (int s = 0; s < STAGES; s++) {
		fill_letters(letters[s], STAGES - s);
		rows[s] = letters[s];
	}
	if (plan_init(plan, STAGES, MICROBATCHES, &err) == 0 &&
	    plan_from_letters(plan, rows, &times, &err) == 0 &&
	    plan_add_clamp(plan, (struct plan_clamp){1, 9, 3, "microbatches"}, &err) == 0)
		return true;
	return tap_ok(false, "a plan can be made: %s", err.text);
}

static struct plan_report report_of(const struct plan *plan)
{
	return (struct plan_report){
		.scenario_title = "One slow link",
		.schedule = "1f1b",
		.plane = "stream",
		.iteration = 17,
		.plan = plan,
		.times = &times,
		.tolerated_delay_ns = tolerated_ns,
		.warning = "stages 1 and 2 would wait for each other where sends are not buffered",
	};
}

static void test_golden(void)
{
	static const struct {
		const struct report_style *style;
		const char *path;
	} cases[] = {{&unicode, "tests/golden/reports/plan_unicode.txt"},
	             {&ascii, "tests/golden/reports/plan_ascii.txt"},
	             {&colored, "tests/golden/reports/plan_color.txt"}};
	struct plan_report report;
	struct strbuf out = {0};
	struct plan plan;

	if (!make_plan(&plan))
		return;
	report = report_of(&plan);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		report_plan_terminal(&report, cases[i].style, &out);
		tap_is_golden(strbuf_text(&out), cases[i].path, "a plan reads as it did (%s)",
		              cases[i].path);
		sample_fits(strbuf_text(&out), 80, "and fits into 80 columns");
		strbuf_clear(&out);
	}
	report_plan_json(&report, &out);
	tap_is_golden(strbuf_text(&out), "tests/golden/reports/plan.json",
	              "a plan is the document that it was");
	strbuf_fini(&out);
	plan_fini(&plan);
}

/* The picture's letters of one stage: what runs in each column. */
static void test_picture(void)
{
	static const int64_t unit[1] = {MS_NS};
	const struct plan_times unit_times = {1, {unit, unit, unit}, NULL};
	const char *letters[1] = {"FBW"};
	struct plan_report report;
	struct strbuf out = {0};
	struct err err = {0};
	struct plan plan;

	if (plan_init(&plan, 1, 1, &err) || plan_from_letters(&plan, letters, &unit_times, &err)) {
		tap_ok(false, "a plan of three ops can be made: %s", err.text);
		return;
	}
	report = report_of(&plan);
	report.times = &unit_times;
	report.warning = "";
	report_plan_terminal(&report, &ascii, &out);
	tap_contains(strbuf_text(&out), "an iteration of 1 stage and 1 microbatch takes",
	             "one is not several");
	tap_contains(
		strbuf_text(&out),
		"\n  0  "
		"FFFFFFFFFFFFFFFFFFFFFFFFFBBBBBBBBBBBBBBBBBBBBBBBBBWWWWWWWWWWWWWWWWWWWWWWWWW\n",
		"each of three equal ops fills a third of the picture");
	strbuf_fini(&out);
	plan_fini(&plan);
}

/* Write out what a compact order stands for. */
static void expand(const char *text, struct strbuf *out)
{
	while (*text) {
		const char *end = *text == '(' ? strchr(text, ')') : text + strcspn(text, " ");
		int n_times = *text == '(' ? atoi(end + 2) : 1;

		for (int t = 0; t < n_times; t++)
			for (const char *op = text + (*text == '('); op < end;
			     op += strcspn(op, " )") + 1)
				strbuf_addf(out, "%s%c%d", out->length ? " " : "", *op,
				            atoi(op + 1) + t);
		text = end + strcspn(end, " ");
		text += *text == ' ';
	}
}

/* Any order of the ops, as if drawn from a hat, with stretches in sequence. */
static void shuffle(struct plan_op *ops, int n_ops, unsigned *seed)
{
	for (int i = 0; i < n_ops; i++)
		ops[i] = (struct plan_op){.kind = (enum op_kind)(i % 3), .microbatch = i / 3};
	for (int swaps = rand_r(seed) % n_ops; swaps > 0; swaps--) {
		int a = rand_r(seed) % n_ops, b = rand_r(seed) % n_ops;
		struct plan_op held = ops[a];

		ops[a] = ops[b];
		ops[b] = held;
	}
}

static void test_compact_orders(void)
{
	struct plan plan;
	struct err err = {0};
	unsigned seed = 1;
	int n_bad = 0;

	if (plan_init(&plan, 1, MICROBATCHES, &err))
		return;
	for (int i = 0; i < RANDOM_ORDERS; i++) {
		struct strbuf compact = {0}, expanded = {0};
		char *want;

		shuffle(plan.ops, 3 * MICROBATCHES, &seed);
		want = plan_order_text(&plan, 0);
		plan_order_compact(&plan, 0, "*", &compact);
		expand(strbuf_text(&compact), &expanded);
		n_bad += !want || strcmp(strbuf_text(&expanded), want) != 0;
		free(want);
		strbuf_fini(&compact);
		strbuf_fini(&expanded);
	}
	tap_is_int(n_bad, 0, "%d random orders are what their compact form expands to",
	           RANDOM_ORDERS);
	plan_fini(&plan);
}

int main(void)
{
	test_golden();
	test_picture();
	test_compact_orders();
	return tap_done();
}
