/* err.h - one sentence that says what went wrong, carried from where it happened to the user. */
#ifndef ENGINE_BASE_ERR_H
#define ENGINE_BASE_ERR_H

enum { ERR_TEXT_BYTES = 1024 };

/* Callers own it and start it zeroed. text is one sentence without a full stop. */
struct err {
	int code;
	char text[ERR_TEXT_BYTES];
};

/* Write the sentence and return code (a negative errno), so that a function can fail in one line.
 * err may be NULL: the code is returned all the same. Too long a text is cut at its end. */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put the caller's context and ": " in front of what is there; returns the code that is there, of
 * NULL -EIO, since it is called for what has failed. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
