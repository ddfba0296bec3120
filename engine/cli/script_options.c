/* script_options.c - lists what a scenario lets --set change, with its defaults. */
#include "engine/cli/script_options.h"

#include "reports/display.h"

void script_options_describe(const struct script *script, int indent,
                             const struct report_style *style, struct strbuf *out)
{
	for (size_t i = 0; i < script_n_options(script); i++) {
		struct script_option option = script_option_at(script, i);

		strbuf_addf(out, "%*s--set ", indent, "");
		display_add(out, option.name, style);
		strbuf_add_char(out, '=');
		display_add(out, option.default_value, style);
		strbuf_add(out, "  ");
		display_add(out, option.help, style);
		strbuf_add_char(out, '\n');
	}
}
