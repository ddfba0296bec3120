/* op.h - the operators of a stage: forward, backward for the input, backward for the weights. */
#ifndef ENGINE_SCENARIO_OP_H
#define ENGINE_SCENARIO_OP_H

#include <stdbool.h>

enum op_kind { OP_F, OP_B, OP_W };
enum { OP_KINDS = 3 };

/* 'F', 'B', 'W', and back; false: it is no kind's letter. */
char op_kind_letter(enum op_kind kind);
bool op_kind_parse(char letter, enum op_kind *out);

#endif
