/* format_slow_link_trace.c - slow-link traces are read, become faults, and are written as they
 * were. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/format/slow_link_trace.h"
#include "tests/tap.h"

enum { LINKS = 7 };

static bool read_trace(const char *text, enum trace_kind kind, struct slow_link_trace *trace)
{
	struct err err = {0};
	int rc = slow_link_trace_parse("t.trace", text, strlen(text),
	                               (struct trace_rules){LINKS, kind}, trace, &err);

	return tap_is_str(rc < 0 ? err.text : "", "", "it is read: %.20s", text);
}

static void check_by_iteration(void)
{
	struct slow_link_trace trace;

	if (!read_trace("10;1_2;0.030\r\n40;1_2;0.00\n\n 60 ; 0_1 , 3_2 ; 0.045 \n70;;0.00\n"
	                "75;0_1,1_2;0.02,0.0355\n90;;inf",
	                TRACE_DETECT, &trace))
		return;
	tap_is_int(trace.kind, TRACE_BY_ITERATION, "whole numbers are iterations");
	tap_is_int((int64_t)trace.n_states, 6, "every line is a state");
	tap_is_int(trace.states[2].moment, 60, "the moment is the first field");
	tap_is_int(trace.states[2].line, 4, "blank lines count as lines");
	tap_is_int(trace.states[0].delays_ns[1], 30 * NS_PER_MS, "a delay is exact nanoseconds");
	tap_is_int(trace.states[1].delays_ns[1], 0, "0.00 ends a delay");
	tap_is_int(trace.states[2].delays_ns[0], 45 * NS_PER_MS, "one value is for all links");
	tap_is_int(trace.states[2].delays_ns[2], 45 * NS_PER_MS, "a link reads from either side");
	tap_is_int(trace.states[2].delays_ns[1], 0, "links that aren't listed are healthy");
	tap_is_int((int64_t)trace.n_warnings, 1, "0.00 without links is a warning");
	tap_is_int(trace.states[4].delays_ns[1], 35500 * NS_PER_US, "one value per link is read");
	tap_ok(trace.states[5].is_rnic_lost, "inf loses an RNIC");
	tap_ok(!trace.states[4].is_rnic_lost, "nothing else does");
	slow_link_trace_fini(&trace);
}

static void check_by_time(void)
{
	struct slow_link_trace trace;

	if (read_trace("0.125;0_1,1_2;0.020,0.035\n0.310;0_1,1_2;0.020,0.000\n", TRACE_DETECT,
	               &trace)) {
		tap_is_int(trace.kind, TRACE_BY_TIME, "a decimal point makes times");
		tap_is_int(trace.states[0].moment, 125 * NS_PER_MS, "a time is exact nanoseconds");
		slow_link_trace_fini(&trace);
	}
	if (read_trace("5;0_1;0.020\n7.5;0_1;0\n", TRACE_BY_TIME, &trace)) {
		tap_is_int(trace.states[0].moment, 5 * (int64_t)NS_PER_S,
		           "whole seconds can be asked for");
		slow_link_trace_fini(&trace);
	}
}

static const struct {
	const char *text;
	enum trace_kind kind;
	const char *want;
	const char *name;
} bad[] = {
	{"", TRACE_DETECT, "t.trace: is empty", "an empty file is no trace"},
	{"10;1_2", TRACE_DETECT, "line 1: wanted three fields", "two fields are refused"},
	{"10;1_2;0.1;", TRACE_DETECT, "line 1: wanted three fields", "four fields are refused"},
	{"10;1_2;0.1\nx;1_2;0", TRACE_DETECT, "line 2: starts with 'x'", "letters are refused"},
	{"-1;1_2;0.1", TRACE_DETECT, "line 1: starts with '-1'", "negative iterations are refused"},
	{";1_2;0.1", TRACE_DETECT, "line 1: starts with ''", "an empty first field is refused"},
	{"1.2.3;1_2;0.1", TRACE_DETECT, "line 1: starts with '1.2.3'", "two points are refused"},
	{".;1_2;0.1", TRACE_DETECT, "line 1: time '.'", "a point alone is refused"},
	{"10000001;1_2;0", TRACE_DETECT, "line 1: iteration '10000001'; wanted 0 to 10000000",
         "huge iterations are refused"},
	{"99999999999999999999;1_2;0", TRACE_DETECT, "line 1: iteration",
         "and those that overflow"},
	{"9999999999999999.5;1_2;0", TRACE_DETECT, "line 1: time", "huge times are refused"},
	{"10;1_2;0.1\n\n10;1_2;0", TRACE_DETECT,
         "line 3: iteration '10' is not after that of line 1", "a repeated iteration is refused"},
	{"10;1_2;0.1\n9;1_2;0", TRACE_DETECT, "line 2: iteration '9'", "going back is refused"},
	{"0.50;1_2;0.1\n0.5;1_2;0", TRACE_DETECT, "line 2: time '0.5'",
         "a repeated time is refused"},
	{"1;1_2;0.1\n2.5;1_2;0", TRACE_DETECT,
         "line 2: starts with a time, but the lines before with "
         "iterations",
         "mixed kinds are refused"},
	{"1.5;1_2;0.1\n2;1_2;0", TRACE_DETECT, "line 2: starts with an iteration",
         "either way round"},
	{"1.5;1_2;0.1", TRACE_BY_ITERATION, "line 1: starts with a time in a trace by iteration",
         "a kind that is asked for holds"},
	{"1;1-2;0.1", TRACE_DETECT, "line 1: link '1-2'; wanted two stages", "a link is a_b"},
	{"1;1_2_3;0.1", TRACE_DETECT, "line 1: link '1_2_3'", "a link has two stages"},
	{"1;1_2,;0.1", TRACE_DETECT, "line 1: link ''", "an empty link is refused"},
	{"1;1_3;0.1", TRACE_DETECT, "line 1: link '1_3' does not join neighbours",
         "links are short"},
	{"1;2_2;0.1", TRACE_DETECT, "line 1: link '2_2' does not join", "and have two ends"},
	{"1;7_8;0.1", TRACE_DETECT, "line 1: no link '7_8' in a pipeline of 8 stages",
         "an unknown link is refused"},
	{"1;99999999999_99999999998;1", TRACE_DETECT, "line 1: link", "so are links that overflow"},
	{"1;1_2,2_1;0.1", TRACE_DETECT, "line 1: link 1_2 is there twice", "a link is listed once"},
	{"1;1_2,2_3;0.1,0.2,0.3", TRACE_DETECT, "line 1: 3 delays for 2 links", "too many delays"},
	{"1;1_2,2_3,3_4;0.1,0.2", TRACE_DETECT, "line 1: 2 delays for 3 links", "too few delays"},
	{"1;1_2;", TRACE_DETECT, "line 1: delay ''", "an empty delay is refused"},
	{"1;1_2;-0.1", TRACE_DETECT, "line 1: delay '-0.1'", "a negative delay is refused"},
	{"1;1_2;30m", TRACE_DETECT, "line 1: delay '30m'", "a delay has no unit"},
	{"1;1_2;1e-3", TRACE_DETECT, "line 1: delay '1e-3'", "nor an exponent"},
	{"1;1_2;nan", TRACE_DETECT, "line 1: delay 'nan'", "nan is no delay"},
	{"1;1_2;99999999999", TRACE_DETECT,
         "line 1: delay '99999999999' is not a number of seconds",
         "a delay that overflows is refused"},
	{"1;1_2;86401", TRACE_DETECT, "line 1: a delay of 86401 s", "so is one of more than a day"},
	{"1;;0.1", TRACE_DETECT, "line 1: a delay without links", "a delay needs links"},
	{"1;;0,0", TRACE_DETECT, "line 1: 2 delays for 0 links", "and nothing needs no list"},
	{"1;1_2;inf", TRACE_DETECT, "line 1: inf is a lost RNIC", "inf names no link"},
};

static void check_bad(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct slow_link_trace trace = {.n_links = -1};
		struct err err = {0};

		tap_is_int(slow_link_trace_parse("t.trace", bad[i].text, strlen(bad[i].text),
		                                 (struct trace_rules){LINKS, bad[i].kind}, &trace,
		                                 &err),
		           -EINVAL, "%s", bad[i].name);
		tap_contains(err.text, bad[i].want, "and says where: %s", bad[i].name);
		tap_is_int(trace.n_links, -1, "and sets nothing: %s", bad[i].name);
	}
}

static void check_limits(void)
{
	struct slow_link_trace trace;
	struct strbuf text = {0};
	struct err err = {0};

	for (int i = 0; i < 20000; i++)
		strbuf_addf(&text, "%d;;0\n", i);
	tap_is_int(slow_link_trace_parse("t", strbuf_text(&text), text.length,
	                                 (struct trace_rules){1023, TRACE_DETECT}, &trace, &err),
	           -EFBIG, "lines times links have a limit");
	if (tap_is_int(slow_link_trace_parse("t", strbuf_text(&text), text.length,
	                                     (struct trace_rules){0, TRACE_DETECT}, &trace, &err),
	               0, "a pipeline of one stage has states without links")) {
		tap_is_int((int64_t)trace.n_warnings, 20000, "and every line is counted");
		slow_link_trace_fini(&trace);
	}
	tap_is_int(slow_link_trace_parse("t", "1;;0", 4, (struct trace_rules){1024, TRACE_DETECT},
	                                 &trace, &err),
	           -EINVAL, "no pipeline has 1024 links");
	tap_is_int(slow_link_trace_parse("t", "1;;\0", 4, (struct trace_rules){1, TRACE_DETECT},
	                                 &trace, &err),
	           -EINVAL, "a NUL byte is refused");
	strbuf_fini(&text);
}

/* "DELAY event from->to start end delay", a line each. */
static void describe(const struct fault *faults, size_t n_faults, struct strbuf *out)
{
	for (size_t i = 0; i < n_faults; i++)
		strbuf_addf(out, "%s %d %d->%d %lld %lld%s %lld\n", fault_kind_name(faults[i].kind),
		            faults[i].event, faults[i].from_stage, faults[i].to_stage,
		            (long long)faults[i].start.value, (long long)faults[i].end.value,
		            faults[i].end.kind == MOMENT_NEVER ? " never" : "",
		            (long long)faults[i].delay_ns);
}

static void check_faults(void)
{
	struct slow_link_trace trace;
	struct fault *faults = NULL;
	struct strbuf text = {0};
	struct err err = {0};
	size_t n_faults = 0;

	if (!read_trace("10;1_2,0_1;0.03\n20;0_1,1_2,2_3;0.03,0.04,0.03\n25;0_1;0.03\n30;;0\n"
	                "40;;inf\n45;;inf\n50;2_3;0.01\n",
	                TRACE_DETECT, &trace))
		return;
	tap_is_int(slow_link_trace_faults(&trace, 3, 0, &faults, &n_faults, &err), 0,
	           "a trace becomes faults");
	describe(faults, n_faults, &text);
	tap_is_str(strbuf_text(&text),
	           "delay 0 1->2 10 20 30000000\ndelay 0 2->1 10 20 30000000\n"
	           "delay 1 0->1 10 30 30000000\ndelay 1 1->0 10 30 30000000\n"
	           "delay 2 2->3 20 25 30000000\ndelay 2 3->2 20 25 30000000\n"
	           "delay 3 1->2 20 25 40000000\ndelay 3 2->1 20 25 40000000\n"
	           "down 4 3->3 40 0 never 0\n"
	           "delay 5 2->3 50 0 never 10000000\ndelay 5 3->2 50 0 never 10000000\n",
	           "one per direction and unbroken stretch, the lost RNIC once");
	tap_ok(faults[0].model == DELAY_OCCUPANCY, "the model is the artefact's");
	tap_ok(faults[0].start.kind == MOMENT_ITERATION, "the moments are iterations");
	free(faults);
	tap_is_int(slow_link_trace_faults(&trace, 8, 0, &faults, &n_faults, &err), -EINVAL,
	           "a lost RNIC needs a stage of the pipeline");
	tap_contains(err.text, "line 5", "and its line is named");
	slow_link_trace_fini(&trace);
	strbuf_fini(&text);
}

static void check_shared_events(void)
{
	struct slow_link_trace trace;
	struct fault *faults = NULL;
	struct strbuf text = {0};
	struct err err = {0};
	size_t n_faults = 0;

	if (!read_trace("1.5;0_1,4_5;0.03\n2.0;;0\n", TRACE_DETECT, &trace))
		return;
	slow_link_trace_faults(&trace, -1, NS_PER_S, &faults, &n_faults, &err);
	describe(faults, n_faults, &text);
	tap_is_str(strbuf_text(&text),
	           "delay 0 0->1 2500000000 3000000000 30000000\n"
	           "delay 0 1->0 2500000000 3000000000 30000000\n"
	           "delay 0 4->5 2500000000 3000000000 30000000\n"
	           "delay 0 5->4 2500000000 3000000000 30000000\n",
	           "links that are slow together are one event, times are moved");
	tap_ok(n_faults > 0 && faults[0].start.kind == MOMENT_TIME, "and they are times");
	free(faults);
	tap_is_int(slow_link_trace_faults(&trace, -1, INT64_MAX, &faults, &n_faults, &err), -EINVAL,
	           "times that overflow are refused");
	tap_is_int(slow_link_trace_faults(&trace, -1, -2 * (int64_t)NS_PER_S, &faults, &n_faults,
	                                  &err),
	           -EINVAL, "times before the run are refused");
	slow_link_trace_fini(&trace);
	strbuf_fini(&text);
}

static void check_written(const char *text, const char *want)
{
	struct slow_link_trace trace;
	struct fault *faults = NULL;
	struct strbuf out = {0};
	struct err err = {0};
	size_t n_faults = 0;

	if (!read_trace(text, TRACE_DETECT, &trace))
		return;
	slow_link_trace_faults(&trace, 2, 0, &faults, &n_faults, &err);
	tap_is_int(slow_link_trace_write(faults, n_faults, &out, &err), 0,
	           "its faults are written");
	tap_is_str(strbuf_text(&out), want, "and are the trace again");
	free(faults);
	strbuf_fini(&out);
	slow_link_trace_fini(&trace);
}

static const struct fault plain = {
	.kind = FAULT_DELAY,
	.start = {.kind = MOMENT_ITERATION, .value = 3},
	.end = {.kind = MOMENT_ITERATION, .value = 9},
	.from_stage = 1,
	.to_stage = 2,
	.delay_ns = 5,
};

static void check_unsayable(struct fault fault, int code, const char *want, const char *name)
{
	struct fault faults[2] = {fault, fault};
	struct strbuf out = {0};
	struct err err = {0};

	faults[1].from_stage = fault.to_stage;
	faults[1].to_stage = fault.from_stage;
	tap_is_int(slow_link_trace_write(faults, 2, &out, &err), code, "%s", name);
	tap_contains(err.text, want, "and the sentence says so: %s", name);
	tap_is_str(strbuf_text(&out), "", "and nothing is written: %s", name);
	strbuf_fini(&out);
}

static void check_all_unsayable(void)
{
	struct fault fault = plain;
	struct fault back = plain;
	struct fault down = {.kind = FAULT_DOWN,
	                     .start = {.kind = MOMENT_ITERATION, .value = 5},
	                     .end = {.kind = MOMENT_NEVER}};
	struct strbuf out = {0};
	struct err err = {0};

	back.from_stage = plain.to_stage;
	back.to_stage = plain.from_stage;
	fault.jitter_ns = 1;
	check_unsayable(fault, -ENOTSUP, "1->2 has jitter", "jitter isn't sayable");
	fault = plain;
	fault.kind = FAULT_RATE;
	check_unsayable(fault, -ENOTSUP, "limits a rate", "nor a rate");
	fault.kind = FAULT_SLOW_STAGE;
	check_unsayable(fault, -ENOTSUP, "slows computation", "nor a slow stage");
	fault = plain;
	fault.start.kind = MOMENT_TIME;
	check_unsayable(fault, -ENOTSUP, "by time", "nor a fault by time");
	fault.start.kind = MOMENT_OP;
	check_unsayable(fault, -ENOTSUP, "inside an iteration", "nor one that starts at an op");
	fault = plain;
	fault.end.kind = MOMENT_OP;
	check_unsayable(fault, -ENOTSUP, "inside an iteration", "nor one that ends at one");
	fault = plain;
	fault.to_stage = 4;
	check_unsayable(fault, -EINVAL, "neighbours", "a delay is between neighbours");
	fault = plain;
	fault.kind = FAULT_DOWN;
	check_unsayable(fault, -ENOTSUP, "plain loss", "an RNIC that comes back isn't sayable");
	fault.end.kind = MOMENT_NEVER;
	check_unsayable(fault, -ENOTSUP, "second lost RNIC", "nor a second lost RNIC");
	fault = plain;
	fault.delay_ns = -1;
	check_unsayable(fault, -EINVAL, "negative", "a negative delay is refused");
	tap_is_int(slow_link_trace_write(&plain, 1, &out, &err), -ENOTSUP,
	           "one direction alone isn't sayable");
	tap_contains(err.text, "link 1-2 differs between its directions", "and is named");
	tap_is_int(slow_link_trace_write((struct fault[]){plain, plain}, 2, &out, &err), -EINVAL,
	           "overlapping delays are refused");
	tap_is_int(slow_link_trace_write((struct fault[]){plain, back, down}, 3, &out, &err),
	           -ENOTSUP, "a link that is slow when an RNIC is lost isn't sayable");
	tap_contains(err.text, "link 1-2 is slow when an RNIC is lost at iteration 5",
	             "and is named");
	tap_is_int(slow_link_trace_write(NULL, 0, &out, &err), 0, "no faults are an empty trace");
	tap_is_str(strbuf_text(&out), "", "of no lines");
	strbuf_fini(&out);
}

int main(void)
{
	check_by_iteration();
	check_by_time();
	check_bad();
	check_limits();
	check_faults();
	check_shared_events();
	check_written("10;1_2;0.030\n40;1_2;0.00\n60;0_1,2_3;0.045\n70;1_2;0.0000005\n90;;inf\n",
	              "10;1_2;0.030\n40;1_2;0.00\n60;0_1,2_3;0.045\n70;1_2;0.0000005\n90;;inf\n");
	check_written("0;0_1,6_7;0.020,1.5\n5;0_1;0.020\n8;0_1;0.02\n",
	              "0;0_1,6_7;0.020,1.500\n5;0_1;0.020\n");
	check_all_unsayable();
	return tap_done();
}
