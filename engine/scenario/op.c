/* op.c - names of operators. */
#include "engine/scenario/op.h"

char op_kind_letter(enum op_kind kind)
{
	switch (kind) {
	case OP_F:
		return 'F';
	case OP_B:
		return 'B';
	case OP_W:
		return 'W';
	}
	return '?';
}

bool op_kind_parse(char letter, enum op_kind *out)
{
	for (enum op_kind kind = OP_F; kind <= OP_W; kind++) {
		if (op_kind_letter(kind) == letter) {
			*out = kind;
			return true;
		}
	}
	return false;
}
