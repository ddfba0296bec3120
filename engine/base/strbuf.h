/* strbuf.h - text that grows. */
#ifndef ENGINE_BASE_STRBUF_H
#define ENGINE_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

/* Start zeroed. text is NUL-terminated once anything was added, NULL before; use strbuf_text().
 * When memory runs out the buffer keeps what it had and is_failed stays set. */
struct strbuf {
	char *text;
	size_t length;
	size_t capacity;
	int is_failed;
};

void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_bytes(struct strbuf *buf, const char *bytes, size_t n_bytes);
void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* A finite number, in the shortest form that reads back as the same. */
void strbuf_add_number(struct strbuf *buf, double value);

/* Never NULL; valid until the next change. */
const char *strbuf_text(const struct strbuf *buf);

/* Hand the text over to the caller, who frees it; buf is empty afterwards. NULL: out of memory. */
char *strbuf_take(struct strbuf *buf);

void strbuf_clear(struct strbuf *buf);
void strbuf_fini(struct strbuf *buf);

#endif
