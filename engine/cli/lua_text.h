/* lua_text.h - pieces of Lua files that are written. */
#ifndef ENGINE_CLI_LUA_TEXT_H
#define ENGINE_CLI_LUA_TEXT_H

#include "engine/base/strbuf.h"

/* A string in quotes; file names may hold anything. */
void lua_text_add_quoted(const char *text, struct strbuf *out);

/* The last part of a path, for a comment: one line whatever the name holds. */
void lua_text_add_base_name(const char *path, struct strbuf *out);

#endif
