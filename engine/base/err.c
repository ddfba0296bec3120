/* err.c - writes the sentence of a struct err. */
#include "engine/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *format, ...)
{
	/* Formatted aside first: an argument may be err->text itself. */
	char text[ERR_TEXT_BYTES];
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = '\0';
	va_end(args);
	err->code = code;
	memcpy(err->text, text, strlen(text) + 1);
	return code;
}

int err_wrap(struct err *err, const char *format, ...)
{
	char context[ERR_TEXT_BYTES], text[2 * ERR_TEXT_BYTES + 2];
	va_list args;

	if (!err)
		return -EIO;
	va_start(args, format);
	if (vsnprintf(context, sizeof(context), format, args) < 0)
		context[0] = '\0';
	va_end(args);
	snprintf(text, sizeof(text), "%s: %s", context, err->text);
	text[ERR_TEXT_BYTES - 1] = '\0';
	memcpy(err->text, text, ERR_TEXT_BYTES);
	return err->code;
}
