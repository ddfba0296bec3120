/* script_options.c - lists what a scenario lets --set change, with its defaults. */
#include "engine/cli/script_options.h"

#include "reports/display.h"

enum { HELP_INDENT = 6, HELP_COLUMNS_LEAST = 20 };

/* A default may be of any length; what it leaves too little room for goes below it. */
static void describe(const struct script_option *option, int indent,
                     const struct report_style *style, struct strbuf *out)
{
	int columns = display_columns(style), start;
	struct strbuf setting = {0};

	strbuf_addf(&setting, "--set %s=%s", option->name, option->default_value);
	strbuf_addf(out, "%*s", indent, "");
	display_add_cut(out, strbuf_text(&setting), columns - indent, style);
	start = indent + display_width(strbuf_text(&setting), style) + 2;
	if (start > columns - HELP_COLUMNS_LEAST) {
		start = indent + HELP_INDENT;
		strbuf_addf(out, "\n%*s", start, "");
	} else {
		strbuf_add(out, "  ");
	}
	display_add_wrapped(out, option->help, start, indent + HELP_INDENT, style);
	out->is_failed |= setting.is_failed;
	strbuf_fini(&setting);
}

void script_options_describe(const struct script *script, int indent,
                             const struct report_style *style, struct strbuf *out)
{
	for (size_t i = 0; i < script_n_options(script); i++) {
		struct script_option option = script_option_at(script, i);

		describe(&option, indent, style, out);
	}
}
