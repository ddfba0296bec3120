/* letter_grid.c - reads letter grids: a line is a stage, a character a slot, as in "FFFBWBWBW". */
#include <errno.h>

#include "engine/format/order_internal.h"

static int add_slot(struct order_draft *draft, char letter, struct order_action at, struct err *err)
{
	char shown[TEXT_SHOWN_BYTES];

	switch (letter) {
	case 'F':
	case 'f':
		at.kind = ACTION_F;
		break;
	case 'B':
	case 'b':
		at.kind = ACTION_B;
		break;
	case 'W':
	case 'w':
		at.kind = ACTION_W;
		break;
	case '.':
		return 0;
	default:
		return order_fail(draft, &at, err, "found '%s'; wanted F, B, W or '.'",
		                  text_show((struct text_span){&letter, 1}, shown));
	}
	return order_draft_add(draft, at, err);
}

int letter_grid_parse(struct order_draft *draft, struct text_lines lines, struct err *err)
{
	struct text_span line;
	int rc;

	while (text_lines_next(&lines, &line)) {
		struct order_action at = {.row = (uint32_t)lines.number, .column = 1};

		while (line.length > 0 && text_is_blank(line.text[line.length - 1]))
			line.length--;
		if (line.length == 0)
			continue;
		for (size_t i = 0; i < line.length; i++, at.column++) {
			rc = add_slot(draft, line.text[i], at, err);
			if (rc < 0)
				return rc;
		}
		rc = order_draft_end_letters(draft, lines.number, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}
