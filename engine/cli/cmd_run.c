/* cmd_run.c - `run SCENARIO`: a scenario in real time. */
#include "engine/cli/command.h"
#include "engine/cli/session.h"

int cmd_run(struct cli *cli)
{
	return session_run(&cli->options, cli->options.arguments.items[0], SESSION_LIVE);
}
