/* cmd_validate.c - `validate [DIR]`: the simulator against what was measured on real GPUs. */
#include <errno.h>

#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/paths.h"
#include "engine/validate/validate.h"
#include "reports/validation_report.h"

static int print(const struct options *options, const struct validation *validation)
{
	const struct report_style style = output_style(options);
	struct strbuf out = {0};
	int code;

	if (options->is_json)
		report_validation_json(validation, &out);
	else
		report_validation_terminal(validation, &style, &out);
	code = output_result(&out);
	strbuf_fini(&out);
	if (code)
		return code;
	output_next(options, "scenarios/one_slow_link.lua");
	return validation->is_held ? EXIT_DONE : EXIT_CHECK_FAILED;
}

static int validate(const struct options *options, const char *folder)
{
	struct validation validation;
	struct err err = {0};
	int code;

	if (validate_folder(folder, &validation, &err))
		return output_failure(&err);
	code = print(options, &validation);
	validation_fini(&validation);
	return code;
}

int cmd_validate(struct cli *cli)
{
	const struct text_list *arguments = &cli->options.arguments;
	struct paths paths;
	struct err err = {0};
	int code;

	if (arguments->n_items > 0)
		return validate(&cli->options, arguments->items[0]);
	if (paths_init(&paths, &err))
		return output_failure(&err);
	if (paths.truth_folder) {
		code = validate(&cli->options, paths.truth_folder);
	} else {
		output_error("the measurements that come with the program are not beside it; name "
		             "their folder: "
		             "adaptra-bench validate DIR");
		code = EXIT_MISTAKE;
	}
	paths_fini(&paths);
	return code;
}
