/* cmd_help.c - `help [COMMAND]`, and what --help prints. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "engine/cli/command.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/cli/script_options.h"
#include "engine/cli/stored.h"
#include "reports/display.h"

enum { NAMES_MAX = 64 };

const struct command *command_find(const struct command *commands, const char *name)
{
	for (const struct command *at = commands; at->name; at++)
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

int command_refuse(const struct command *commands, const char *name)
{
	const char *names[NAMES_MAX];
	const char *nearest;
	size_t n = 0;

	for (const struct command *at = commands; at->name && n < NAMES_MAX; at++)
		names[n++] = at->name;
	nearest = nearest_name(name, names, n);
	if (nearest)
		output_error("there is no command '%s'; did you mean '%s'?", name, nearest);
	else
		output_error("there is no command '%s'; adaptra-bench help lists them", name);
	return EXIT_MISTAKE;
}

void help_overview(const struct cli *cli, struct strbuf *out)
{
	strbuf_add(out,
	           "adaptra-bench compares schedules of pipeline-parallel training under faults.\n"
	           "\n"
	           "  adaptra-bench scenarios/trace1200.lua   the published trace of faults\n"
	           "  adaptra-bench FILE.lua [options]        the same with your own scenario\n"
	           "\n"
	           "Commands:\n");
	for (const struct command *at = cli->commands; at->name; at++)
		strbuf_addf(out, "  %-10s %s\n", at->name, at->summary);
	strbuf_add(out, "\n'adaptra-bench help COMMAND' explains one and lists its options,\n"
	                "'adaptra-bench --version' says which version this is.\n");
}

/* What the scenario lets --set change; one that cannot be loaded has told why by then. */
static int describe_scenario(const struct options *options, const char *name, struct strbuf *out)
{
	const struct report_style style = output_style(options);
	struct paths paths;
	struct script *script;
	struct err err = {0};
	char *path = NULL;
	int rc = paths_init(&paths, &err);

	if (rc)
		return output_failure(&err);
	rc = paths_find_scenario(&paths, name, &path, &err);
	if (rc == 0)
		rc = load_script(&paths, path, &script, &err);
	if (rc == 0) {
		strbuf_addf(out, "\nOptions of '%s':\n", path);
		if (script_n_options(script) == 0)
			strbuf_add(out, "  it declares none\n");
		script_options_describe(script, 2, &style, out);
		script_free(script);
	}
	free(path);
	paths_fini(&paths);
	return rc ? output_failure(&err) : EXIT_DONE;
}

int help_command(const struct cli *cli, const struct command *command)
{
	const struct text_list *arguments = &cli->options.arguments;
	const struct report_style style = output_style(&cli->options);
	struct strbuf out = {0}, usage = {0};
	int code = EXIT_DONE;

	strbuf_addf(&usage, "adaptra-bench %s %s [options]", command->name, command->usage);
	display_add_wrapped(&out, strbuf_text(&usage), 0, 4, &style);
	display_add_wrapped(&out, command->summary, 0, 0, &style);
	if (command->details) {
		strbuf_add_char(&out, '\n');
		display_add_wrapped(&out, command->details, 0, 0, &style);
	}
	strbuf_add(&out, "\nOptions:\n");
	options_describe(command->options, &style, &out);
	if (cli->command == command && (command->options & OPTIONS_SCENARIO) &&
	    arguments->n_items == 1 && !stored_is_run(arguments->items[0]))
		code = describe_scenario(&cli->options, arguments->items[0], &out);
	if (code == EXIT_DONE)
		code = output_result(&out);
	strbuf_fini(&usage);
	strbuf_fini(&out);
	return code;
}

int cmd_help(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;
	const struct command *command;
	struct strbuf out = {0};
	int code;

	if (arguments->n_items > 0) {
		command = command_find(cli->commands, arguments->items[0]);
		return command ? help_command(cli, command)
		               : command_refuse(cli->commands, arguments->items[0]);
	}
	help_overview(cli, &out);
	code = output_result(&out);
	strbuf_fini(&out);
	return code;
}
