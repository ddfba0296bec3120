/* options.c - the table of options, and the loop that reads a command line by it. */
#include "engine/cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/nearest.h"
#include "engine/base/units.h"
#include "engine/scenario/scenario.h"
#include "reports/display.h"

enum argument_kind {
	ARGUMENT_NONE,  /* sets a bool */
	ARGUMENT_COUNT, /* an int64_t in [low, high] */
	ARGUMENT_TEXT,  /* a const char * */
	ARGUMENT_LIST,  /* one more of a text_list */
};

struct option_spec {
	const char *name;
	const char *argument; /* as help shows it; NULL: it takes none */
	enum argument_kind kind;
	size_t offset; /* in struct options */
	unsigned groups;
	int64_t low, high;
	const char *help;
};

#define PLACE(member) offsetof(struct options, member)

static const struct option_spec specs[] = {
	{"set", "NAME=VALUE", ARGUMENT_LIST, PLACE(assignments), OPTIONS_SCENARIO, 0, 0,
         "set an option that the scenario declares; repeatable"},
	/* Before the one of scenarios: trace takes both, and finds out which is meant. */
	{"iterations", "A-B", ARGUMENT_TEXT, PLACE(range), OPTIONS_TRACE, 0, 0,
         "of a run: the iterations to export, not only chosen ones"},
	{"all", NULL, ARGUMENT_NONE, PLACE(wants_all), OPTIONS_TRACE, 0, 0,
         "of a run: export all its iterations"},
	{"iterations", "K", ARGUMENT_COUNT, PLACE(iterations), OPTIONS_SCENARIO, 1,
         SCENARIO_ITERATIONS_MAX, "run K iterations instead of the scenario's number"},
	{"seed", "N", ARGUMENT_COUNT, PLACE(seed), OPTIONS_SCENARIO, 0, INT64_MAX,
         "draw jitter from seed N instead of the scenario's"},
	{"schedule", "NAME", ARGUMENT_LIST, PLACE(schedules), OPTIONS_RUN | OPTIONS_PLAN, 0, 0,
         "this schedule instead of the scenario's; repeatable except for plan"},
	{"repeat", "K", ARGUMENT_COUNT, PLACE(repeat), OPTIONS_RUN, 1, SCENARIO_REPEATS_MAX,
         "run every schedule K times, interleaved; 5 or more give intervals"},
	{"control", NULL, ARGUMENT_NONE, PLACE(has_control), OPTIONS_RUN, 0, 0,
         "run the first schedule once more in every repeat: how far apart equal things are"},
	{"oracle", NULL, ARGUMENT_NONE, PLACE(is_oracle), OPTIONS_RUN | OPTIONS_PLAN, 0, 0,
         "tell adaptation the injected delays instead of letting it detect them"},
	{"no-ops", NULL, ARGUMENT_NONE, PLACE(skips_ops), OPTIONS_RUN, 0, 0,
         "keep iterations only, not every operator"},
	{"messages", NULL, ARGUMENT_NONE, PLACE(wants_messages), OPTIONS_RUN, 0, 0,
         "keep every message of a run in virtual time, too; of a live one they are kept"},
	{"dry-run", NULL, ARGUMENT_NONE, PLACE(is_dry_run), OPTIONS_RUN, 0, 0,
         "print the fault timeline and the effective settings; run nothing"},
	{"at", "ITERATION", ARGUMENT_COUNT, PLACE(at), OPTIONS_PLAN, 0, SCENARIO_ITERATIONS_MAX,
         "the plan in force at that iteration instead of the initial one"},
	{"csv", "FILE", ARGUMENT_TEXT, PLACE(csv), OPTIONS_PLAN, 0, 0,
         "export the orders as PyTorch pipelining CSV; - is standard output"},
	{"as", "WHAT", ARGUMENT_TEXT, PLACE(as), OPTIONS_IMPORT, 0, 0,
         "what to make of it: profile, record, table, schedule or faults"},
	{"out", "FILE", ARGUMENT_TEXT, PLACE(out), OPTIONS_IMPORT, 0, 0,
         "write to FILE instead of standard output"},
	{"names", "REGEX", ARGUMENT_TEXT, PLACE(names), OPTIONS_IMPORT, 0, 0,
         "ranges of a trace that are ops, with groups (?<kind>…), (?<mb>…), (?<stage>…)"},
	{"words", "WHOSE", ARGUMENT_TEXT, PLACE(words), OPTIONS_IMPORT, 0, 0,
         "names of kinds: pytorch (default), zero-bubble, adaptra or megatron"},
	{"microbatches", "N", ARGUMENT_COUNT, PLACE(microbatches), OPTIONS_IMPORT, 1,
         SCENARIO_MICROBATCHES_MAX,
         "of an iteration of a training log, so that its timers make a profile"},
	{"with-comms", NULL, ARGUMENT_NONE, PLACE(has_comms), OPTIONS_PLAN | OPTIONS_IMPORT, 0, 0,
         "with sends and receives in the CSV"},
	{"stage", "STAGE", ARGUMENT_COUNT, PLACE(stage), OPTIONS_TRACE | OPTIONS_IMPORT, 0,
         TOPOLOGY_STAGES_MAX - 1, "the stage whose RNIC the trace loses (default 0)"},
	{"sim", NULL, ARGUMENT_NONE, PLACE(is_virtual), OPTIONS_NIGHTLY, 0, 0,
         "in virtual time, which has no noise, instead of for real"},
	{"junit", "FILE", ARGUMENT_TEXT, PLACE(junit), OPTIONS_NIGHTLY, 0, 0,
         "write the verdicts as JUnit XML, too"},
	{"metrics", "FILE", ARGUMENT_TEXT, PLACE(metrics), OPTIONS_NIGHTLY, 0, 0,
         "write the night's numbers as OpenMetrics text, too"},
	{"csv", "FILE", ARGUMENT_TEXT, PLACE(csv), OPTIONS_NIGHTLY, 0, 0,
         "write the histories as CSV for change-point tools, too"},
	{"html", "FILE", ARGUMENT_TEXT, PLACE(html), OPTIONS_NIGHTLY, 0, 0,
         "write the histories as a page, too: a chart a metric, with what changed and why"},
	{"force", NULL, ARGUMENT_NONE, PLACE(is_forced), OPTIONS_FORCE, 0, 0,
         "compare stored runs although their workloads differ"},
	{"store", "FILE", ARGUMENT_TEXT, PLACE(store), OPTIONS_STORE, 0, 0,
         "the results database instead of the one in your data folder"},
	{"json", NULL, ARGUMENT_NONE, PLACE(is_json), OPTIONS_JSON, 0, 0,
         "print one JSON document"},
	{"html", "FILE", ARGUMENT_TEXT, PLACE(html), OPTIONS_REPORT, 0, 0,
         "write a page with all pictures instead; - is standard output"},
	{"csv", "TABLE", ARGUMENT_TEXT, PLACE(csv), OPTIONS_REPORT, 0, 0,
         "print one table as CSV instead: schedules, events, op, message, …"},
	{"html", "FILE", ARGUMENT_TEXT, PLACE(html), OPTIONS_FIGURES, 0, 0,
         "write the page to FILE; - is standard output"},
	{"speed", "S", ARGUMENT_TEXT, PLACE(speed), OPTIONS_LIVE, 0, 0,
         "profile time over real time, instead of the scenario's"},
	{"device", "NAME", ARGUMENT_TEXT, PLACE(device), OPTIONS_LIVE, 0, 0,
         "where ops run: paced (default) or cpu; on a GPU cuda or paced-cuda"},
	{"transport", "NAME", ARGUMENT_TEXT, PLACE(transport), OPTIONS_LIVE, 0, 0,
         "what moves tensors between stages: tcp, verbs, loopback on one host, nccl between GPUs, "
         "or auto (default): nccl where each stage has a GPU, else tcp; a list, verbs,tcp, is one "
         "for each rail"},
	{"rdma-device", "LIST", ARGUMENT_TEXT, PLACE(rdma_devices), OPTIONS_LIVE, 0, 0,
         "of verbs: NAME[:PORT] for each rail, with {link} and {side} where links have their own"},
	{"delegates", "NAME", ARGUMENT_TEXT, PLACE(delegates), OPTIONS_LIVE, 0, 0,
         "where delegates work: threads of their own, loop of the worker, or auto (default)"},
	{"injector", "NAME", ARGUMENT_TEXT, PLACE(injector), OPTIONS_LIVE, 0, 0,
         "what makes links slow: auto (default), shaped, stream; in a lab netem, relay, rate, "
         "link, dry_run"},
	{"lab", "NAME", ARGUMENT_TEXT, PLACE(lab), OPTIONS_LIVE, 0, 0,
         "where hosts are: none (default), or netns: network namespaces that the run makes"},
	{"allow-interface", "LIST", ARGUMENT_TEXT, PLACE(interfaces), OPTIONS_LIVE, 0, 0,
         "NAME[,NAME]: interfaces of this machine that dead RNICs may take down, rail by rail"},
	{"undo", NULL, ARGUMENT_NONE, PLACE(wants_undo), OPTIONS_DOCTOR, 0, 0,
         "put right what killed runs left on interfaces; runs that go on are left alone"},
	{"columns", "N", ARGUMENT_COUNT, PLACE(columns), OPTIONS_COMMON, 60, 1000,
         "make lines for a terminal of N columns"},
	{"quiet", NULL, ARGUMENT_NONE, PLACE(is_quiet), OPTIONS_COMMON, 0, 0,
         "no progress and no hints on standard error"},
	{"help", NULL, ARGUMENT_NONE, PLACE(wants_help), OPTIONS_COMMON, 0, 0, "show this help"},
};

#undef PLACE

enum { N_SPECS = sizeof(specs) / sizeof(specs[0]), HELP_COLUMN = 25 };

/* The options that a command line is being read into. */
struct parser {
	const char *command;
	unsigned groups;
	const char *const *args;
	int n_args;
	int at;
	struct options *out;
	struct err *err;
};

static void *member(struct options *options, const struct option_spec *spec)
{
	return (char *)options + spec->offset;
}

static int parse_count(const struct option_spec *spec, const char *value, int64_t *out,
                       struct err *err)
{
	if (units_parse_count(value, spec->low, spec->high, out, err))
		return err_wrap(err, "--%s", spec->name);
	return 0;
}

static void append(struct text_list *list, const char *text)
{
	list->items[list->n_items++] = text;
}

static int store_value(const struct option_spec *spec, const char *value, struct parser *parser)
{
	void *place = member(parser->out, spec);

	switch (spec->kind) {
	case ARGUMENT_NONE:
		*(bool *)place = true;
		return 0;
	case ARGUMENT_COUNT:
		return parse_count(spec, value, place, parser->err);
	case ARGUMENT_TEXT:
		if (!*value)
			return err_set(parser->err, -EINVAL, "--%s is empty; write --%s %s",
			               spec->name, spec->name, spec->argument);
		*(const char **)place = value;
		return 0;
	case ARGUMENT_LIST:
		append(place, value);
		return 0;
	}
	return 0;
}

/* Not an option of this command: of another one, or of none. */
static int refuse(const struct parser *parser, const char *name, size_t length)
{
	const char *names[N_SPECS];
	const char *nearest;
	size_t n_names = 0;
	char found[64] = "";

	memcpy(found, name, length < sizeof(found) - 1 ? length : sizeof(found) - 1);
	for (size_t i = 0; i < N_SPECS; i++) {
		if (strcmp(specs[i].name, found) == 0)
			return err_set(parser->err, -EINVAL,
			               "%s does not take --%s; adaptra-bench help %s lists what it "
			               "takes",
			               parser->command, found, parser->command);
		if (specs[i].groups & parser->groups)
			names[n_names++] = specs[i].name;
	}
	nearest = nearest_name(found, names, n_names);
	if (nearest)
		return err_set(parser->err, -EINVAL, "unknown option --%s; did you mean --%s?",
		               found, nearest);
	return err_set(parser->err, -EINVAL,
	               "unknown option --%s; adaptra-bench help %s lists what it takes", found,
	               parser->command);
}

int options_refuse_alone(const char *text, struct err *err)
{
	const char *name = text + strspn(text, "-");
	size_t length = strcspn(name, "=");
	const char *names[N_SPECS + 1] = {"version"};
	const char *nearest;

	for (size_t i = 0; i < N_SPECS; i++) {
		if (strlen(specs[i].name) == length && !memcmp(name, specs[i].name, length))
			return err_set(err, -EINVAL,
			               "%s stands before any command; write adaptra-bench COMMAND "
			               "%s",
			               text, text);
		names[i + 1] = specs[i].name;
	}
	nearest = nearest_name(name, names, N_SPECS + 1);
	if (nearest)
		return err_set(err, -EINVAL, "unknown option %s; did you mean --%s?", text,
		               nearest);
	return err_set(err, -EINVAL,
	               "unknown option %s; adaptra-bench help COMMAND lists what a command takes",
	               text);
}

static const struct option_spec *find(const struct parser *parser, const char *name, size_t length)
{
	for (size_t i = 0; i < N_SPECS; i++)
		if (strlen(specs[i].name) == length && !memcmp(specs[i].name, name, length) &&
		    (specs[i].groups & parser->groups))
			return &specs[i];
	return NULL;
}

/* name or name=value, without the dashes. */
static int parse_option(struct parser *parser, const char *text)
{
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : NULL;
	const struct option_spec *spec = find(parser, text, length);

	if (!spec)
		return refuse(parser, text, length);
	if (spec->kind == ARGUMENT_NONE && value)
		return err_set(parser->err, -EINVAL, "--%s takes no value; '%s' was given",
		               spec->name, value);
	if (spec->kind != ARGUMENT_NONE && !value) {
		if (parser->at == parser->n_args)
			return err_set(parser->err, -EINVAL, "--%s needs a value; write --%s %s",
			               spec->name, spec->name, spec->argument);
		value = parser->args[parser->at++];
	}
	return store_value(spec, value, parser);
}

static int parse(struct parser *parser)
{
	bool is_over = false;
	int rc = 0;

	while (rc == 0 && parser->at < parser->n_args) {
		const char *text = parser->args[parser->at++];

		if (is_over || text[0] != '-' || text[1] == '\0')
			append(&parser->out->arguments, text);
		else if (strcmp(text, "--") == 0)
			is_over = true;
		else if (strcmp(text, "-h") == 0)
			parser->out->wants_help = true;
		else if (text[1] == '-')
			rc = parse_option(parser, text + 2);
		else
			rc = err_set(parser->err, -EINVAL,
			             "unknown option %s; options are written with two dashes, and "
			             "'--' ends them",
			             text);
	}
	return rc;
}

int options_parse(const char *command, unsigned groups, const char *const *args, int n_args,
                  struct options *out, struct err *err)
{
	struct parser parser = {command, groups | OPTIONS_COMMON, args, n_args, 0, out, err};
	struct text_list *lists[] = {&out->assignments, &out->schedules, &out->arguments};

	*out = (struct options){.seed = -1, .at = -1};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		lists[i]->items = array_new((size_t)n_args, sizeof(char *));
		if (!lists[i]->items)
			return err_set(err, -ENOMEM, "out of memory");
	}
	return parse(&parser);
}

void options_fini(struct options *options)
{
	free(options->assignments.items);
	free(options->schedules.items);
	free(options->arguments.items);
}

void options_describe(unsigned groups, const struct report_style *style, struct strbuf *out)
{
	for (size_t i = 0; i < N_SPECS; i++) {
		const struct option_spec *spec = &specs[i];
		const char *argument = spec->argument ? spec->argument : "";

		if (!spec->help || !(spec->groups & (groups | OPTIONS_COMMON)))
			continue;
		strbuf_addf(out, "  --%s%s%-*s ", spec->name, *argument ? " " : "",
		            (int)(HELP_COLUMN - strlen("  -- ") - strlen(spec->name) -
		                  (*argument != 0)),
		            argument);
		display_add_wrapped(out, spec->help, HELP_COLUMN, HELP_COLUMN, style);
	}
}
