/* cmd_run.c - `run SCENARIO`: a scenario in real time, once there is a live engine. */
#include "engine/cli/command.h"
#include "engine/cli/output.h"

int cmd_run(struct cli *cli)
{
	output_error("the live engine is not in this build, so nothing can run in real time; "
	             "adaptra-bench sim %s answers in virtual time",
	             cli->options.arguments.items[0]);
	return EXIT_CANNOT;
}
