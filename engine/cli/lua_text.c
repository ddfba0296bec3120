/* lua_text.c - pieces of Lua files that are written. */
#include "engine/cli/lua_text.h"

#include <string.h>

void lua_text_add_quoted(const char *text, struct strbuf *out)
{
	strbuf_add_char(out, '"');
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"' || *at == '\\')
			strbuf_addf(out, "\\%c", *at);
		else if (*at < ' ' || *at == 0x7f)
			strbuf_addf(out, "\\%03u", *at);
		else
			strbuf_add_char(out, (char)*at);
	}
	strbuf_add_char(out, '"');
}

void lua_text_add_base_name(const char *path, struct strbuf *out)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (; *base; base++)
		strbuf_add_char(out, (unsigned char)*base < ' ' ? '?' : *base);
}
