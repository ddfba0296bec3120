/* cmd_compare.c - `compare SCENARIO` or `compare RUN RUN…`. */
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/session.h"
#include "engine/cli/stored.h"

static int refuse_live(const struct options *options)
{
	output_error("--%s needs the live engine, which is not in this build; adaptra-bench sim %s "
	             "answers in virtual time",
	             options->live.items[0], options->arguments.items[0]);
	return EXIT_CANNOT;
}

static int compare_runs(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;

	for (size_t i = 0; i < arguments->n_items; i++)
		if (!stored_is_run(arguments->items[i])) {
			output_error(
				"'%s' is not a run's number; compare takes one scenario, or the "
				"numbers of stored runs, which adaptra-bench list runs shows",
				arguments->items[i]);
			return EXIT_MISTAKE;
		}
	return stored_report(&cli->options);
}

int cmd_compare(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;

	if (cli->options.live.n_items > 0)
		return refuse_live(&cli->options);
	if (arguments->n_items == 1 && !stored_is_run(arguments->items[0]))
		return session_run(&cli->options, arguments->items[0],
		                   " (the live engine is not in this build)");
	return compare_runs(cli);
}
