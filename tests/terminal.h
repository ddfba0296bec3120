/* terminal.h - a small terminal: what a program wrote becomes what a person sees.
 *
 * It knows the few sequences that this project writes; others are counted. A character takes one
 * column. When it becomes narrower, lines that no longer fit are broken, and joined again when it
 * becomes wider, as most terminals do. */
#ifndef TESTS_TERMINAL_H
#define TESTS_TERMINAL_H

#include <stddef.h>

struct terminal;

struct terminal *terminal_new(int columns, int rows);
void terminal_free(struct terminal *terminal);

void terminal_feed(struct terminal *terminal, const char *bytes, size_t n_bytes);
void terminal_resize(struct terminal *terminal, int columns, int rows);

/* Everything written, what has scrolled away included: lines without blanks at their ends, up to
 * the last that is not empty. Valid until the next call. */
const char *terminal_text(struct terminal *terminal);

/* Sequences that it does not know, among them all that hide the cursor or change the screen. */
int terminal_n_strange(const struct terminal *terminal);

#endif
