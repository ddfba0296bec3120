/* script_options.h - the options that a scenario declares, for people. */
#ifndef ENGINE_CLI_SCRIPT_OPTIONS_H
#define ENGINE_CLI_SCRIPT_OPTIONS_H

#include "engine/base/strbuf.h"
#include "engine/script/script.h"
#include "reports/style.h"

/* A line each: "--set delay=30ms  how much slower the link gets", behind indent blanks. */
void script_options_describe(const struct script *script, int indent,
                             const struct report_style *style, struct strbuf *out);

#endif
