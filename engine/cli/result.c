/* result.c - prints a comparison as tables or as JSON. */
#include "engine/cli/result.h"

#include "engine/cli/output.h"

int result_print(const struct options *options, const struct comparison *comparison,
                 const struct report_extras *extras)
{
	const struct report_style style = output_style(options);
	struct strbuf out = {0};
	int code;

	if (options->is_json)
		report_json(comparison, extras, &out);
	else
		report_terminal(comparison, extras, &style, &out);
	code = output_result(&out);
	strbuf_fini(&out);
	return code;
}
