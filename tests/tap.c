/* tap.c - checks that speak TAP. */
#include "tests/tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"

enum { NAME_BYTES = 512, GOLDEN_BYTES_LIMIT = 64 << 20, EXIT_CODE_SKIPPED = 0 };

static int n_checks, n_failed;

static void report(bool has_held, const char *name, va_list args)
{
	char text[NAME_BYTES];

	vsnprintf(text, sizeof(text), name, args);
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '#')
			*p = ' ';
	n_checks++;
	n_failed += !has_held;
	printf("%sok %d - %s\n", has_held ? "" : "not ", n_checks, text);
	fflush(stdout);
	if (!has_held)
		fprintf(stderr, "# failed: %s\n", text);
}

/* Every line of text behind "# label". */
static void diagnose(const char *label, const char *text)
{
	if (!text)
		text = "(null)";
	for (;;) {
		int n = (int)strcspn(text, "\n");

		fprintf(stderr, "# %s %.*s\n", label, n, text);
		if (text[n] == '\0' || text[n + 1] == '\0')
			return;
		text += n + 1;
		label = "       ";
	}
}

#define REPORT(has_held, name)                \
	do {                                  \
		va_list args;                 \
		va_start(args, name);         \
		report(has_held, name, args); \
		va_end(args);                 \
	} while (0)

bool tap_ok(bool has_held, const char *name, ...)
{
	REPORT(has_held, name);
	return has_held;
}

bool tap_is_int(int64_t got, int64_t want, const char *name, ...)
{
	bool has_held = got == want;

	REPORT(has_held, name);
	if (!has_held)
		fprintf(stderr, "# found:  %lld\n# wanted: %lld\n", (long long)got,
		        (long long)want);
	return has_held;
}

bool tap_is_str(const char *got, const char *want, const char *name, ...)
{
	bool has_held = got && want ? strcmp(got, want) == 0 : got == want;

	REPORT(has_held, name);
	if (!has_held) {
		diagnose("found: ", got);
		diagnose("wanted:", want);
	}
	return has_held;
}

bool tap_contains(const char *got, const char *want, const char *name, ...)
{
	bool has_held = got && strstr(got, want);

	REPORT(has_held, name);
	if (!has_held) {
		diagnose("found: ", got);
		diagnose("wanted:", want);
	}
	return has_held;
}

bool tap_is_number(double got, double want, double tolerance, const char *name, ...)
{
	bool has_held = got == want || fabs(got - want) <= tolerance || (isnan(got) && isnan(want));

	REPORT(has_held, name);
	if (!has_held)
		fprintf(stderr, "# found:  %.17g\n# wanted: %.17g, at most %g away\n", got, want,
		        tolerance);
	return has_held;
}

double tap_worst(double worst, double error)
{
	return isnan(worst) || worst >= error ? worst : error;
}

/* The file's text, or NULL and why in err; the caller's to free. */
static char *golden_text(const char *got, const char *path, struct err *err)
{
	const char *root = getenv("ADAPTRA_SOURCE"), *mode = getenv("ADAPTRA_GOLDEN");
	char *full, *text = NULL;
	size_t n_bytes;

	if (asprintf(&full, "%s/%s", root ? root : ".", path) < 0)
		return NULL;
	if (mode && strcmp(mode, "write") == 0)
		(void)file_write(full, got, strlen(got), err); /* reading it back says the same */
	if (file_read(full, GOLDEN_BYTES_LIMIT, &text, &n_bytes, err))
		text = NULL;
	free(full);
	return text;
}

bool tap_is_golden(const char *got, const char *path, const char *name, ...)
{
	struct err err = {0};
	char *want = golden_text(got, path, &err);
	bool has_held = want && strcmp(got, want) == 0;

	REPORT(has_held, name);
	if (!want)
		diagnose("error: ", err.text);
	if (!has_held) {
		diagnose("found: ", got);
		diagnose("wanted:", want);
		fprintf(stderr, "# 'make golden' rewrites %s\n", path);
	}
	free(want);
	return has_held;
}

void tap_note(const char *format, ...)
{
	char text[NAME_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("# %s\n", text);
}

void tap_skip(const char *reason, ...)
{
	char text[NAME_BYTES];
	va_list args;

	va_start(args, reason);
	vsnprintf(text, sizeof(text), reason, args);
	va_end(args);
	printf("ok %d # SKIP %s\n", ++n_checks, text);
	fflush(stdout);
}

int tap_skip_all(const char *reason, ...)
{
	char text[NAME_BYTES];
	va_list args;

	va_start(args, reason);
	vsnprintf(text, sizeof(text), reason, args);
	va_end(args);
	printf("1..0 # SKIP %s\n", text);
	return EXIT_CODE_SKIPPED;
}

int tap_done(void)
{
	if (n_checks == 0)
		(void)tap_ok(false, "something is checked");
	printf("1..%d\n", n_checks);
	fflush(stdout);
	if (n_failed)
		fprintf(stderr, "# %d of %d checks failed\n", n_failed, n_checks);
	return n_failed ? 1 : 0;
}
