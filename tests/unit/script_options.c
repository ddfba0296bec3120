/* script_options.c - declared options and --set. */
#include "tests/unit/script_text.h"

static const char options_text[] =
	"local ab = require 'adaptra'\n"
	"local delay = ab.option('delay', '30ms', 'how slow')\n"
	"local n = ab.option('microbatches', 8, 'N')\n"
	"local permanent = ab.option('is-permanent', false, 'for good')\n"
	"return ab.scenario { title = 't', topology = ab.pipeline { stages = 4 },\n"
	"workload = ab.profile 'uniform-10ms' { microbatches = n }, schedules = { '1f1b' },\n"
	"iterations = 100, faults = { ab.delay { link = '1-2', delay = delay },\n"
	"ab.down { stage = 1, permanent = permanent, at = ab.iter(5) } } }\n";

static struct script *load(const char *const *assignments, size_t n,
                           struct scenario_mistakes *mistakes)
{
	struct script *script = NULL;
	struct err err = {0};

	(void)script_load_bytes(options_text, strlen(options_text), assignments, n, &script,
	                        mistakes, &err);
	return script;
}

static void check_defaults(char *digest_out)
{
	struct scenario_mistakes mistakes = {0};
	struct script *script = load(NULL, 0, &mistakes);

	if (!tap_ok(script, "a script with options loads without --set"))
		return;
	tap_is_int((int64_t)script_n_options(script), 3, "options are listed");
	tap_is_str(script_option_at(script, 0).name, "delay", "in the order of their declaration");
	tap_is_str(script_option_at(script, 1).value, "8", "a number's value is there as text");
	tap_is_str(script_option_at(script, 2).default_value, "false", "and so is a truth's");
	tap_is_str(script_option_at(script, 0).help, "how slow", "with their help");
	tap_is_int(script_scenario(script)->faults[0].delay_ns, 30000000, "defaults are in force");
	snprintf(digest_out, 17, "%s", script_scenario(script)->text_digest);
	script_free(script);
}

static void check_set(const char *digest)
{
	const char *const assignments[] = {"delay=60ms", "microbatches=12", "is-permanent=true"};
	struct scenario_mistakes mistakes = {0};
	struct script *script = load(assignments, 3, &mistakes);

	if (!tap_ok(script, "a script loads with --set"))
		return;
	tap_is_int(script_scenario(script)->faults[0].delay_ns, 60000000, "--set gives a text");
	tap_is_int(script_scenario(script)->n_microbatches, 12, "--set gives a number");
	tap_ok(script_scenario(script)->faults[2].is_permanent, "--set gives a truth");
	tap_is_str(script_option_at(script, 0).default_value, "30ms", "the default is still known");
	tap_ok(strcmp(script_scenario(script)->text_digest, digest) != 0,
	       "options count for the script's digest");
	script_free(script);
}

static void refuse(const char *const *assignments, size_t n, const char *sentence)
{
	struct scenario_mistakes mistakes = {0};
	struct script *script = load(assignments, n, &mistakes);

	tap_is_str(mistakes.n_sentences > 0 ? mistakes.sentences[0] : NULL, sentence,
	           "--set %s: %s", assignments[n - 1], sentence);
	tap_ok(!script && mistakes.n_sentences == 1, "and nothing else");
	scenario_mistakes_fini(&mistakes);
	script_free(script);
}

static void check_refusals(void)
{
	refuse((const char *const[]){"dealy=60ms"}, 1,
	       "--set dealy=60ms: the script has no option \"dealy\"; did you mean \"delay\"?");
	refuse((const char *const[]){"colour=red"}, 1,
	       "--set colour=red: the script has no option \"colour\"; it has, for example, "
	       "\"delay\"");
	refuse((const char *const[]){"delay"}, 1, "--set delay: write --set NAME=VALUE");
	refuse((const char *const[]){"=3"}, 1, "--set =3: write --set NAME=VALUE");
	refuse((const char *const[]){"delay=60ms", "delay=70ms"}, 2,
	       "--set delay=70ms: delay is set twice");
	refuse((const char *const[]){"microbatches=many"}, 1,
	       "--set microbatches=many: the option takes a number");
	refuse((const char *const[]){"is-permanent=1"}, 1,
	       "--set is-permanent=1: the option takes true or false");
	refuse((const char *const[]){"microbatches=0"}, 1,
	       "x.lua:6: microbatches is the number 0; it must be 1 to 65536");
	refuse((const char *const[]){"delay=60"}, 1,
	       "x.lua:7: delay: duration '60' has no unit; write a number and ns, us, ms, s, min "
	       "or "
	       "h, such as 30ms");
	script_expect_before("ab.option('a', 1) ab.option('a', 2)",
	                     "x.lua:1: option \"a\" is declared twice",
	                     "an option twice is refused");
	script_expect_before(
		"ab.option('A b', 1)",
		"x.lua:1: option \"A b\" needs a name of small letters, digits, _ and -",
		"an option needs a name that can be typed");
	script_expect_before(
		"ab.option('a')",
		"x.lua:1: option \"a\" needs a default: a text, a number, true or false",
		"an option needs a default");
}

int main(void)
{
	char digest[17] = "";

	script_folder_open();
	check_defaults(digest);
	check_set(digest);
	check_refusals();
	script_folder_close();
	return tap_done();
}
