/* main.c - the table of subcommands, and the choice among them. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/model/blas_core.h"

enum { SIM_OPTIONS = OPTIONS_SCENARIO | OPTIONS_RUN | OPTIONS_STORE | OPTIONS_JSON };

static const struct command commands[] = {
	{"compare", "SCENARIO | RUN RUN…", "compare schedules of a scenario, or stored runs",
         "A scenario is run under every schedule it names, and stored. RUNs are numbers of stored "
         "runs. `adaptra-bench FILE.lua` is short for `adaptra-bench compare FILE.lua`.",
         SIM_OPTIONS | OPTIONS_FORCE | OPTIONS_LIVE, 1, -1, cmd_compare},
	{"sim", "SCENARIO", "run a scenario in virtual time", NULL, SIM_OPTIONS, 1, 1, cmd_sim},
	{"run", "SCENARIO", "run a scenario in real time", NULL, SIM_OPTIONS | OPTIONS_LIVE, 1, 1,
         cmd_run},
	{"plan", "SCENARIO --schedule NAME", "show what a schedule makes every stage do", NULL,
         OPTIONS_SCENARIO | OPTIONS_PLAN | OPTIONS_JSON, 1, 1, cmd_plan},
	{"report", "[RUN…]", "show the last comparison, or one of stored runs",
         "--html FILE writes one page that needs no other file and no script: iteration times with "
         "faults and decisions, where the time went, timelines of a healthy and a faulty "
         "iteration, "
         "distributions, links, losses, settings, and the command that makes it again. --csv TABLE "
         "prints one table: schedules, repeats, speedups, control, events, iterations, facts, "
         "losses or simulated of the report, or run, iteration, op, message, event, "
         "event_published, fault, fault_applied or decision as the database has them.",
         OPTIONS_STORE | OPTIONS_JSON | OPTIONS_FORCE | OPTIONS_REPORT, 0, -1, cmd_report},
	{"list", "[scenarios | schedules | profiles | devices | transports | runs]",
         "show what there is", "Without a word: a short list of everything.",
         OPTIONS_STORE | OPTIONS_JSON, 0, 1, cmd_list},
	{"nightly", "SCENARIO…", "run scenarios, and compare with the nights before",
         "Every scenario is run under its schedules as one more night of its history in the "
         "database. Where a median or a total became longer, by more than 2 % or the width of "
         "--control, for three nights and not by chance, a fresh run is made; if it says the "
         "same, the command ends with 1, once for each step. Histories are of one workload, mode, "
         "machine and backends. A scenario's own checks are not run.",
         SIM_OPTIONS | OPTIONS_LIVE | OPTIONS_NIGHTLY, 1, -1, cmd_nightly},
	{"trace", "import FILE.trace | export SCENARIO | export RUN FILE",
         "traces of slow links in and out; a stored run for Perfetto",
         "import prints a scenario with the faults of a slow-link trace; export prints a "
         "scenario's faults as such a trace. export of a RUN, the number of a stored one, writes "
         "a Chrome trace of every operator and message to FILE (- is standard output): of the "
         "first healthy iteration after warm-up and the first of each fault, or as the options "
         "say. ui.perfetto.dev and chrome://tracing open it.",
         OPTIONS_SCENARIO | OPTIONS_TRACE | OPTIONS_STORE, 2, 3, cmd_trace},
	{"import", "FILE… --as profile | record | table | schedule | faults",
         "make use of other programs' traces and logs",
         "FILEs are told by their content, compressed or not; - is standard input. A profile\n"
         "is made of traces of the PyTorch profiler, one a rank, of operator logs, or of a\n"
         "simulator's dump; a record is a run in the database of what they say happened, as\n"
         "report, compare and trace export take it; a table is the same, also of training\n"
         "logs, as CSV.\n"
         "A schedule, as PyTorch CSV, is made of any of these or of an order in any form;\n"
         "faults, as a scenario, of a slow-link trace or of dumps of the NCCL flight recorder.\n"
         "A file that is damaged makes nothing.",
         OPTIONS_IMPORT | OPTIONS_STORE, 1, -1, cmd_import},
	{"figures", "", "draw the published studies beside what was measured",
         "Simulates every study of the paper and writes one page: how delays, several slow links, "
         "one late message, slackness, changing delays and delegates cost each schedule, and the "
         "trace of 1,200 iterations, beside the published measurements. Without --html the page "
         "is figures.html beside the database.",
         OPTIONS_FIGURES, 0, 0, cmd_figures},
	{"validate", "[DIR]", "compare the simulator with measurements on real GPUs",
         "DIR holds the measurements; without it those that come with the program are taken. Ends "
         "with 1 when a limit is missed.",
         OPTIONS_JSON, 0, 1, cmd_validate},
	{"doctor", "", "say what this machine and build can do",
         "What live runs change outside of themselves (namespaces, interfaces, queueing "
         "disciplines) is written down before it is changed. A run that is killed, or a machine "
         "that is, leaves it there; --undo puts it right, and touches nothing else.",
         OPTIONS_STORE | OPTIONS_DOCTOR, 0, 0, cmd_doctor},
	{"help", "[COMMAND]", "explain a command", NULL, 0, 0, 1, cmd_help},
	{NULL, NULL, NULL, NULL, 0, 0, 0, NULL},
};

static bool is_script(const char *text)
{
	size_t length = strlen(text);

	return length > 4 && strcmp(text + length - 4, ".lua") == 0;
}

static bool has_script(int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (is_script(argv[i]))
			return true;
	return false;
}

static int wrong_arguments(const struct command *command, int n)
{
	const char *space = command->usage[0] ? " " : "";

	if (n < command->min_arguments)
		output_error("%s needs %s; write adaptra-bench %s%s%s", command->name,
		             n == 0 ? "something to work on" : "one more argument", command->name,
		             space, command->usage);
	else if (command->max_arguments == 0)
		output_error("%s takes no arguments; write adaptra-bench %s", command->name,
		             command->name);
	else
		output_error("%s does not take %d arguments; write adaptra-bench "
		             "%s%s%s",
		             command->name, n, command->name, space, command->usage);
	return EXIT_MISTAKE;
}

static int run(const struct command *command, const char *const *args, int n_args)
{
	struct cli cli = {commands, command, {0}};
	struct err err = {0};
	int code, n;

	if (options_parse(command->name, command->options, args, n_args, &cli.options, &err)) {
		output_error("%s", err.text);
		code = EXIT_MISTAKE;
		goto free_options;
	}
	n = (int)cli.options.arguments.n_items;
	if (cli.options.wants_help)
		code = help_command(&cli, command);
	else if (n < command->min_arguments ||
	         (command->max_arguments >= 0 && n > command->max_arguments))
		code = wrong_arguments(command, n);
	else
		code = command->run(&cli);

free_options:
	options_fini(&cli.options);
	return code;
}

static int print(const char *text)
{
	struct strbuf out = {0};
	int code;

	strbuf_add(&out, text);
	code = output_result(&out);
	strbuf_fini(&out);
	return code;
}

/* Without a command: a script among the arguments is compared; else all there is are questions. */
static int run_without_command(int argc, const char *const *argv)
{
	const struct cli cli = {commands, NULL, {0}};
	struct strbuf out = {0};
	struct err err = {0};
	int code;

	if (has_script(argc, argv))
		return run(command_find(commands, "compare"), argv + 1, argc - 1);
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		strbuf_addf(&out, "adaptra-bench %s\n", version_text());
		code = print(strbuf_text(&out));
	} else if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		help_overview(&cli, &out);
		code = print(strbuf_text(&out));
	} else if (argc > 1) {
		(void)options_refuse_alone(argv[1], &err); /* which is what is wanted */
		code = output_failure(&err);
	} else {
		help_overview(&cli, &out);
		output_error("no command was given");
		output_note(&cli.options, "%s", strbuf_text(&out));
		code = EXIT_MISTAKE;
	}
	strbuf_fini(&out);
	return code;
}

/* A file or a socket must not get the number of a standard stream that is closed: what is meant for
 * that stream would go into it. What is open for reading only refuses it, as a closed one does. */
static void occupy_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	const char *const *args = (const char *const *)argv;
	const struct command *command;

	blas_core_choose(argv);
	occupy_standard_streams();
	/* Only how characters look: numbers are written with a point everywhere. */
	(void)setlocale(LC_CTYPE, "");
	/* A reader that goes away and a limit on file sizes show as errors of write(). */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc < 2 || argv[1][0] == '-')
		return run_without_command(argc, args);
	command = command_find(commands, argv[1]);
	if (command)
		return run(command, args + 2, argc - 2);
	if (is_script(argv[1]))
		return run_without_command(argc, args);
	return command_refuse(commands, argv[1]);
}
