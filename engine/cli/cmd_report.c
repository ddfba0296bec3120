/* cmd_report.c - `report [RUN…]`: what the database holds, as sim printed it. */
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/stored.h"

int cmd_report(struct cli *cli)
{
	int code = stored_report(&cli->options);

	if (code == EXIT_DONE)
		output_next(&cli->options, "list runs");
	return code;
}
