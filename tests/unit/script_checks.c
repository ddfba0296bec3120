/* script_checks.c - checks over results, good, failing and broken. */
#include "tests/unit/script_text.h"

static const struct check_schedule results[] = {
	{.name = "1f1b", .total_s = 9, .p50_ms = 30, .iterations = 100, .restarts = 1},
	{.name = "adaptra", .total_s = 3, .p50_ms = 10, .iterations = 100},
};

static void expect(const struct check_result *got, const char *name, enum check_state state,
                   const char *detail)
{
	tap_is_str(got->name, name, "'%s' is in its place", name);
	tap_is_int(got->state, state, "'%s' has the right state", name);
	tap_is_str(got->detail, detail, "'%s' says why", name);
}

static struct script *load(const char *checks)
{
	char *text = script_around("", checks);
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};

	if (script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err))
		tap_ok(false, "the script loads: %s", err.text);
	scenario_mistakes_fini(&mistakes);
	free(text);
	return script;
}

static void check_states(void)
{
	struct script *script = load(
		"checks = { b_fails = function(r) return r.adaptra.p50_ms > r['1f1b'].p50_ms end,\n"
		"a_holds = function(r) return r.adaptra.restarts == 0 and r['1f1b'].iterations == "
		"100 end,\n"
		"c_typo = function(r) return r.adaptra.p5_ms < 1 end,\n"
		"d_missing = function(r) return r.adaptr.p50_ms < 1 end,\n"
		"e_number = function(r) return 1 end,\n"
		"f_error = function(r) error('as it were') end,\n"
		"g_memory = function(r) return #('x'):rep(1 << 30) > 0 end,\n"
		"h_after = function(r) r.adaptra = nil return true end,\n"
		"h_late = function(r) return require('adaptra').option('x', 1) == 1 end,\n"
		"h_later = function(r) return require('adaptra').profile('gpt-a10') ~= nil end,\n"
		"i_own = function(r) return rawget(r, 'adaptra') ~= nil end }\n");
	const struct check_result *got;
	struct err err = {0};
	size_t n = 0;

	if (!script || script_run_checks(script, results, 2, &got, &n, &err)) {
		tap_ok(false, "checks run: %s", err.text);
		return;
	}
	if (!tap_is_int((int64_t)n, 11, "every check is run"))
		return;
	expect(&got[0], "a_holds", CHECK_HELD, "");
	expect(&got[1], "b_fails", CHECK_FAILED, "");
	expect(&got[2], "c_typo", CHECK_BROKEN,
	       "x.lua:6: a schedule's result has no p5_ms; did you mean p50_ms?");
	expect(&got[3], "d_missing", CHECK_BROKEN,
	       "x.lua:7: schedule \"adaptr\" was not compared; did you mean \"adaptra\"?");
	expect(&got[4], "e_number", CHECK_BROKEN,
	       "x.lua:8: the check gave a number; it must give true or false");
	expect(&got[5], "f_error", CHECK_BROKEN, "x.lua:9: as it were");
	tap_is_int(got[6].state, CHECK_BROKEN, "a check that needs too much memory is broken");
	expect(&got[7], "h_after", CHECK_HELD, "");
	expect(&got[8], "h_late", CHECK_BROKEN,
	       "x.lua:12: ab.option has no effect in a check; declare it above the scenario");
	expect(&got[9], "h_later", CHECK_BROKEN, "x.lua:13: ab.profile has no effect in a check");
	expect(&got[10], "i_own", CHECK_HELD, "");
	tap_is_int(script_run_checks(script, results, 2, &got, &n, &err), 0,
	           "checks can run again");
	script_free(script);
}

static void check_odd(void)
{
	struct script *script = load("");
	const struct check_result *got;
	struct err err = {0};
	size_t n = 9;

	if (script && script_run_checks(script, results, 2, &got, &n, &err) == 0)
		tap_is_int((int64_t)n, 0, "a scenario without checks has none");
	script_free(script);
	script = load(
		"checks = (function() local t = {} t.a = function() for k in pairs(t) do t[k] = "
		"nil end return true end t.b = t.a return t end)()");
	if (script && script_run_checks(script, results, 2, &got, &n, &err) == 0) {
		tap_is_int((int64_t)n, 2, "checks that take each other away are all answered for");
		tap_is_int(got[0].state, CHECK_HELD, "the first one ran");
		tap_is_int(got[1].state, CHECK_BROKEN, "the one that is gone is broken");
	}
	script_free(script);
}

int main(void)
{
	script_folder_open();
	check_states();
	check_odd();
	script_folder_close();
	return tap_done();
}
