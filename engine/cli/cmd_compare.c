/* cmd_compare.c - `compare SCENARIO` or `compare RUN RUN…`. */
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/session.h"
#include "engine/cli/stored.h"

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

	if (arguments->n_items == 1 && !stored_is_run(arguments->items[0]))
		return session_run(&cli->options, arguments->items[0], SESSION_LIVE);
	return compare_runs(cli);
}
