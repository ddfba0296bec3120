/* output.h - what leaves the program: the result on stdout, everything else on stderr. */
#ifndef ENGINE_CLI_OUTPUT_H
#define ENGINE_CLI_OUTPUT_H

#include <stdbool.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "engine/cli/options.h"
#include "reports/style.h"

/* Write all of text to stdout. 0, or EXIT_RUN_FAILED after saying why: a reader that went away is
 * no news to anybody, a full disk is. */
int output_result(const struct strbuf *text);

/* "adaptra-bench: sentence" on stderr, whatever --quiet says. Texts come from scripts and files, so
 * control characters are shown, never passed on. */
void output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* output_error() and the exit code that fits err->code, for what failed before anything ran. */
int output_failure(const struct err *err);

/* A line on stderr, unless --quiet. */
void output_note(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "next: adaptra-bench …" */
void output_next(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What stdout can show: --columns, the terminal, NO_COLOR, TERM and the locale decide. */
struct report_style output_style(const struct options *options);

/* Can stderr, where progress goes, be written over? And what can it show? Its columns are what the
 * terminal has at the moment, so they are left out. */
bool output_has_terminal(void);
struct report_style output_error_style(void);

#endif
