/* log_line_internal.h - taking lines of logs apart; shared by the readers of logs. */
#ifndef ENGINE_FORMAT_LOG_LINE_INTERNAL_H
#define ENGINE_FORMAT_LOG_LINE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/text_internal.h"

/* Step over the word if *rest begins with it, and over blanks before it. */
bool log_take_word(struct text_span *rest, const char *word);

/* A whole number from 0 to max, blanks before it stepped over. */
bool log_take_count(struct text_span *rest, int max, int *out);

/* A decimal number × 10^exponent, blanks before it stepped over; false: none, or it does not fit,
 * and *rest is as it was. */
bool log_take_decimal(struct text_span *rest, int exponent, int64_t *out);

/* "NAME: line 7: " and the sentence; returns -EINVAL. */
int log_fail(const struct input *input, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
