/* utf8.h - which bytes are a character. */
#ifndef ENGINE_BASE_UTF8_H
#define ENGINE_BASE_UTF8_H

#include <stddef.h>

/* Length of the UTF-8 sequence at text, 0 if it is not one (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). A NUL ends a text, so nothing behind it is read. */
size_t utf8_length(const unsigned char *text);

#endif
