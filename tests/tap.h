/* tap.h - checks that speak TAP. A name is a sentence; a check that fails says on stderr what was
 * found and what was wanted. Every check returns whether it held. */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_FORMAT(at) __attribute__((format(printf, at, at + 1)))

bool tap_ok(bool has_held, const char *name, ...) TAP_FORMAT(2);
bool tap_is_int(int64_t got, int64_t want, const char *name, ...) TAP_FORMAT(3);

/* Either may be NULL; NULL is only equal to NULL. */
bool tap_is_str(const char *got, const char *want, const char *name, ...) TAP_FORMAT(3);

/* want is part of got. */
bool tap_contains(const char *got, const char *want, const char *name, ...) TAP_FORMAT(3);

/* At most tolerance apart, or equal; two that are no numbers are equal. */
bool tap_is_number(double got, double want, double tolerance, const char *name, ...) TAP_FORMAT(4);

/* The larger of two errors; once one is no number it stays that, where fmax() would forget it. */
double tap_worst(double worst, double error);

/* got is what the file holds, path from the root of the source tree. `make golden` writes the file
 * instead. */
bool tap_is_golden(const char *got, const char *path, const char *name, ...) TAP_FORMAT(3);

/* A line for who reads the output, shown with V=1. */
void tap_note(const char *format, ...) TAP_FORMAT(1);

/* One check that cannot be made here. */
void tap_skip(const char *reason, ...) TAP_FORMAT(1);

/* Nothing of this program can run here: `return tap_skip_all("no GPU");` before the first check. */
int tap_skip_all(const char *reason, ...) TAP_FORMAT(1);

/* The plan; returns the exit status of main(). A program that has checked nothing has failed. */
int tap_done(void);

#endif
