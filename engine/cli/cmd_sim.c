/* cmd_sim.c - `sim SCENARIO`: a scenario in virtual time. */
#include "engine/cli/command.h"
#include "engine/cli/session.h"

int cmd_sim(struct cli *cli)
{
	return session_run(&cli->options, cli->options.arguments.items[0], SESSION_SIM);
}
