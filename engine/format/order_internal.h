/* order_internal.h - an order as it stands in a file, before it is known to be one; shared by its
 * readers. */
#ifndef ENGINE_FORMAT_ORDER_INTERNAL_H
#define ENGINE_FORMAT_ORDER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/order_file.h"
#include "engine/format/text_internal.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/topology.h"
#include "engine/schedule/plan.h"

/* PyTorch's letters: I and W are the two halves of a backward, B is both together. */
enum action_kind {
	ACTION_F,
	ACTION_I,
	ACTION_W,
	ACTION_B,
	ACTION_SEND_F,
	ACTION_RECV_F,
	ACTION_SEND_B,
	ACTION_RECV_B,
};
enum {
	ACTION_KINDS = 8,
	ACTION_TEXT_BYTES = 32,
	ACTION_PLACE_BYTES = 80,
	DRAFT_ACTIONS_MAX = 8 << 20
};

/* row is the line of the file and column the cell or character in it, both from 1. */
struct order_action {
	uint8_t kind;
	uint16_t stage;
	int32_t microbatch;
	uint32_t row;
	uint32_t column;
};

/* Actions rank by rank; those of rank r are rank_first[r] up to rank_first[r + 1]. */
struct order_draft {
	const char *name;
	struct order_action *actions;
	size_t n_actions;
	size_t capacity;
	size_t rank_first[TOPOLOGY_STAGES_MAX + 1];
	int n_ranks;
	bool has_transfers;
	struct order_notes notes;
};

void order_draft_init(struct order_draft *draft, const char *name, const char *format);
void order_draft_fini(struct order_draft *draft);

int order_draft_add(struct order_draft *draft, struct order_action action, struct err *err);

/* The actions added since the last call are a rank's; -EINVAL: there are none. row is for the
 * sentence. */
int order_draft_end_rank(struct order_draft *draft, size_t row, struct err *err);

/* A letter grid's row or the like: the actions of the rank under way count their microbatches per
 * kind, and B is the whole backward unless the rank has a W (FORMATS.md 1.2). Then ends the rank.
 */
int order_draft_end_letters(struct order_draft *draft, size_t row, struct err *err);

/* -EINVAL, "file: row 2, column 7: …". */
int order_fail(const struct order_draft *draft, const struct order_action *at, struct err *err,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "1RECV_F0 in row 2, column 7"; returns out. */
const char *action_place(const struct order_action *action, char out[ACTION_PLACE_BYTES]);

/* "1RECV_F0"; returns out. */
const char *action_text(const struct order_action *action, char out[ACTION_TEXT_BYTES]);
const char *action_kind_name(enum action_kind kind);
bool action_is_transfer(enum action_kind kind);

/* The readers. Each fills a draft that was initialised. */
int pytorch_csv_parse(struct order_draft *draft, struct text_lines lines, struct err *err);
int letter_grid_parse(struct order_draft *draft, struct text_lines lines, struct err *err);
int schedule_text_parse(struct order_draft *draft, struct text_lines lines, struct err *err);
int simulator_dump_parse(struct order_draft *draft, struct text_lines lines, struct err *err);

/* What FORMATS.md 4.3 asks of an order, up to what needs several ranks; sets how many microbatches
 * each stage has. */
int order_check(const struct order_draft *draft, int *n_microbatches_out, struct err *err);

/* An order with transfers, checked: does it end when sends are buffered (else -EINVAL), and when a
 * send waits for its receive (else warning, of PLAN_WARNING_BYTES, is set)? */
int order_check_transfers(const struct order_draft *draft, int n_microbatches, char *warning,
                          struct err *err);

#endif
