/* action_name.h - the names that PyTorch pipelining gives what a stage does: "1F3", "0RECV_F2".
 *
 * In them B is a whole backward and I the half for the input (FORMATS.md 1.2); matching knows
 * case. */
#ifndef ENGINE_FORMAT_ACTION_NAME_H
#define ENGINE_FORMAT_ACTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/strbuf.h"
#include "engine/format/observed.h"

struct action_name {
	enum observed_kind kind;
	int stage;
	int microbatch;
};

/* False: no such name, or one without a microbatch (UNSHARD and the like), or a pair of them. */
bool action_name_parse(const char *text, size_t length, struct action_name *out);

/* The kind is one that PyTorch's schedules have. */
void action_name_add(enum observed_kind kind, int stage, int microbatch, struct strbuf *out);

#endif
