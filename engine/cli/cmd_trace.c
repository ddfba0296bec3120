/* cmd_trace.c - `trace import FILE.trace`, `trace export SCENARIO`, `trace export RUN FILE`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/cli/scenario_text.h"
#include "engine/cli/stored.h"
#include "engine/cli/trace_faults.h"
#include "engine/cli/trace_run.h"
#include "engine/format/slow_link_trace.h"

enum { TRACE_BYTES = 4 << 20 };

static int read_faults(const struct options *options, const char *path, struct trace_faults *out,
                       struct err *err)
{
	size_t n_bytes;
	char *text;
	int rc = file_read(path, TRACE_BYTES, &text, &n_bytes, err);

	if (rc)
		return rc;
	rc = trace_faults_parse(path, text, n_bytes, (int)options->stage, out, err);
	free(text);
	return rc;
}

static int import(struct cli *cli, const char *path)
{
	struct trace_faults faults;
	struct strbuf out = {0};
	struct err err = {0};
	int code;

	if (read_faults(&cli->options, path, &faults, &err))
		return output_failure(&err);
	if (faults.n_warnings > 0)
		output_note(&cli->options,
		            "%zu lines end a delay without naming links; read as: all links are "
		            "healthy",
		            faults.n_warnings);
	scenario_text(path, faults.n_links + 1, faults.faults, faults.n_faults, &out);
	code = output_result(&out);
	if (code == EXIT_DONE)
		output_next(&cli->options, "sim FILE.lua, once this output is in it");
	trace_faults_fini(&faults);
	strbuf_fini(&out);
	return code;
}

/* Options that are of a run only, or mean something else for a scenario. */
static int read_scenario_options(struct options *options, struct err *err)
{
	if (options->arguments.n_items > 2)
		return err_set(err, -EINVAL,
		               "trace export SCENARIO prints its trace; only of a run, which has a "
		               "number, it writes a file");
	if (options->wants_all)
		return err_set(err, -EINVAL, "--all is for trace export RUN FILE");
	if (options->range && units_parse_count(options->range, 1, SCENARIO_ITERATIONS_MAX,
	                                        &options->iterations, err))
		return err_wrap(err, "--iterations of a scenario");
	return 0;
}

/* An empty file would be no trace, as import says. */
static int write_scenario_trace(const struct scenario *scenario, struct strbuf *out,
                                struct err *err)
{
	if (scenario->n_faults == 0)
		return err_set(err, -EINVAL,
		               "the scenario has no faults, so there is nothing to export");
	return slow_link_trace_write(scenario->faults, scenario->n_faults, out, err);
}

/* A trace does not say whose RNIC is lost: whoever imports it has to. */
static void tell_lost_stage(const struct options *options, const struct scenario *scenario)
{
	int stage = 0;

	for (size_t i = 0; i < scenario->n_faults; i++)
		if (scenario->faults[i].kind == FAULT_DOWN)
			stage = scenario->faults[i].from_stage;
	if (stage > 0)
		output_next(options,
		            "trace import FILE.trace --stage %d, once this output is in it", stage);
	else
		output_next(options, "trace import FILE.trace, once this output is in it");
}

static int export_scenario(struct cli *cli, const char *name)
{
	struct loaded loaded;
	struct strbuf out = {0};
	struct paths paths;
	struct err err = {0};
	int code;

	if (read_scenario_options(&cli->options, &err) || paths_init(&paths, &err))
		return output_failure(&err);
	code = load_scenario(&cli->options, &paths, name, NULL, &loaded);
	paths_fini(&paths);
	if (code)
		return code;
	if (write_scenario_trace(loaded.scenario, &out, &err))
		code = output_failure(&err);
	else
		code = output_result(&out);
	if (code == EXIT_DONE)
		tell_lost_stage(&cli->options, loaded.scenario);
	strbuf_fini(&out);
	loaded_fini(&loaded);
	return code;
}

static int export(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;
	const char *what = arguments->items[1];

	if (!stored_is_run(what))
		return export_scenario(cli, what);
	if (arguments->n_items == 3)
		return trace_export_run(&cli->options, what, arguments->items[2]);
	output_error("trace export of a run needs a file to write; write trace export %s FILE.json",
	             what);
	return EXIT_MISTAKE;
}

int cmd_trace(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;
	bool is_import = strcmp(arguments->items[0], "import") == 0;

	if (is_import && arguments->n_items == 2)
		return import(cli, arguments->items[1]);
	if (strcmp(arguments->items[0], "export") == 0)
		return export(cli);
	if (is_import)
		output_error("trace import takes one file; write trace import FILE.trace");
	else
		output_error("trace cannot '%s'; write trace import FILE.trace, trace export "
		             "SCENARIO or trace export RUN FILE",
		             arguments->items[0]);
	return EXIT_MISTAKE;
}
