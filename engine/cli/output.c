/* output.c - writes results and sentences, and finds out what the terminal can show. */
#include "engine/cli/output.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/units.h"
#include "engine/cli/command.h"
#include "reports/display.h"

enum { COLUMNS_DEFAULT = 80, COLUMNS_MOST = 1000 };

int output_result(const struct strbuf *text)
{
	int rc;

	if (text->is_failed) {
		output_error("out of memory for the result");
		return EXIT_RUN_FAILED;
	}
	rc = file_write_all(STDOUT_FILENO, strbuf_text(text), text->length);
	if (rc == 0)
		return EXIT_DONE;
	if (rc != -EPIPE)
		output_error("cannot write the result to standard output: %s", strerror(-rc));
	return EXIT_RUN_FAILED;
}

static bool has_unicode(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* One line after another, so that a line feed stays one. There is nobody to tell when stderr is
 * gone. */
static void write_lines(const char *prefix, char *text)
{
	const struct report_style style = {.has_unicode = has_unicode()};
	struct strbuf out = {0};

	for (char *line = text, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		if (end && !*end)
			end = NULL;
		strbuf_add(&out, prefix);
		display_add(&out, line, &style);
		strbuf_add_char(&out, '\n');
	}
	(void)file_write_all(STDERR_FILENO, strbuf_text(&out), out.length);
	strbuf_fini(&out);
}

static void write_formatted(const char *prefix, const char *format, va_list args)
{
	struct strbuf text = {0};

	strbuf_vaddf(&text, format, args);
	if (text.text)
		write_lines(prefix, text.text);
	strbuf_fini(&text);
}

void output_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_formatted("adaptra-bench: ", format, args);
	va_end(args);
}

void output_note(const struct options *options, const char *format, ...)
{
	va_list args;

	if (options->is_quiet)
		return;
	va_start(args, format);
	write_formatted("", format, args);
	va_end(args);
}

void output_next(const struct options *options, const char *format, ...)
{
	va_list args;

	if (options->is_quiet)
		return;
	va_start(args, format);
	write_formatted("next: adaptra-bench ", format, args);
	va_end(args);
}

/* What the user named is wrong, or the machine or build does not allow it. */
static int exit_code_of(int code)
{
	static const int mistakes[] = {
		-EINVAL, -ENOENT,       -ENOTDIR, -EISDIR, -EMEDIUMTYPE, -EDEADLK,
		-EFBIG,  -ENAMETOOLONG, -ELOOP,   -ERANGE, -ENOTSUP,
	};

	if (code == -EINTR)
		return EXIT_INTERRUPTED;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		if (mistakes[i] == code)
			return EXIT_MISTAKE;
	return EXIT_CANNOT;
}

int output_failure(const struct err *err)
{
	output_error("%s", err->text);
	return exit_code_of(err->code);
}

static int terminal_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	int64_t columns;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	if (text && units_parse_count(text, 1, COLUMNS_MOST, &columns, NULL) == 0)
		return (int)columns;
	return COLUMNS_DEFAULT;
}

/* May a file be written to in colour? */
static bool takes_color(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool is_dumb = !term || !*term || strcmp(term, "dumb") == 0;

	return isatty(fd) && !(no_color && *no_color) && !is_dumb;
}

struct report_style output_style(const struct options *options)
{
	return (struct report_style){
		.columns = options->columns ? (int)options->columns : terminal_columns(),
		.has_color = takes_color(STDOUT_FILENO),
		.has_unicode = has_unicode(),
	};
}

struct report_style output_error_style(void)
{
	return (struct report_style){
		.has_color = takes_color(STDERR_FILENO),
		.has_unicode = has_unicode(),
	};
}

bool output_has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}
