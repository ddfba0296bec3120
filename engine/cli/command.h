/* command.h - what a subcommand is, what it is given, and how it may end. */
#ifndef ENGINE_CLI_COMMAND_H
#define ENGINE_CLI_COMMAND_H

#include <stddef.h>

#include "engine/cli/options.h"

/* STYLE.md, "Errors". */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_CHECK_FAILED = 1,
	EXIT_MISTAKE = 2, /* usage or scenario; nothing ran */
	EXIT_CANNOT = 3,  /* this machine or build */
	EXIT_RUN_FAILED = 4,
	EXIT_INTERRUPTED = 130,
};

/* One call of the program. Borrowed from main(). */
struct cli {
	const struct command *commands; /* ends with one without a name */
	const struct command *command;
	struct options options;
};

/* A row of main.c's table. */
struct command {
	const char *name;
	const char *usage;   /* behind the name, without options */
	const char *summary; /* one line */
	const char *details; /* a paragraph for `help NAME`; NULL: none */
	unsigned options;    /* enum option_group bits: what it takes */
	int min_arguments;
	int max_arguments; /* -1: any number */

	/* Do it, print, and return an exit code. */
	int (*run)(struct cli *cli);
};

const struct command *command_find(const struct command *commands, const char *name);

/* Say that there is no command name, and which is near. Returns EXIT_MISTAKE. */
int command_refuse(const struct command *commands, const char *name);

int cmd_compare(struct cli *cli);
int cmd_doctor(struct cli *cli);
int cmd_figures(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_import(struct cli *cli);
int cmd_list(struct cli *cli);
int cmd_nightly(struct cli *cli);
int cmd_plan(struct cli *cli);
int cmd_report(struct cli *cli);
int cmd_run(struct cli *cli);
int cmd_sim(struct cli *cli);
int cmd_trace(struct cli *cli);
int cmd_validate(struct cli *cli);

/* cmd_help.c: what `COMMAND --help` and `adaptra-bench` alone print. */
int help_command(const struct cli *cli, const struct command *command);
void help_overview(const struct cli *cli, struct strbuf *out);

const char *version_text(void);

#endif
