/* board.c - lays out the memory that coordinator and workers share. */
#include "engine/replay/board.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/model/layout.h"
#include "engine/sim/world.h"

enum { BOARD_ALIGNMENT = 64 };

/* Reserve n_bytes and return where they begin. */
static size_t reserve(size_t *total, size_t n_bytes)
{
	size_t offset = *total;

	*total += (n_bytes + BOARD_ALIGNMENT - 1) / BOARD_ALIGNMENT * BOARD_ALIGNMENT;
	return offset;
}

struct offsets {
	size_t ops, times, stages, op_starts, noticed, back, is_rail_down, has_died, first_gradient,
		gradients;
};

static size_t lay_out(const struct board *board, const struct model_config *model,
                      struct offsets *out)
{
	size_t total = 0, n_ops = (size_t)board_ops(board), n_floats = 0;
	size_t n_replicas = (size_t)board->n_replicas, n_stages = (size_t)board->n_stages;

	out->ops = reserve(&total, n_ops * sizeof(*board->ops));
	out->times = reserve(&total, n_replicas * n_ops * sizeof(*board->times));
	out->stages = reserve(&total, n_replicas * n_stages * sizeof(*board->stages));
	out->op_starts = reserve(&total, board->n_op_starts * sizeof(*board->op_starts));
	out->noticed = reserve(&total, board->n_faults * sizeof(*board->noticed_ns));
	out->back = reserve(&total, board->n_faults * sizeof(*board->back_ns));
	out->is_rail_down =
		reserve(&total, n_stages * (size_t)board->n_rails * sizeof(*board->is_rail_down));
	out->has_died = reserve(&total, sizeof(*board->has_died));
	out->first_gradient = reserve(&total, (n_stages + 1) * sizeof(*board->first_gradient));
	for (int stage = 0; stage < board->n_stages && n_replicas > 1; stage++) {
		struct layout layout;

		layout_init(model, stage, &layout);
		n_floats += layout.n_floats;
	}
	out->gradients = reserve(&total, n_replicas * n_floats * sizeof(*board->gradients));
	return total;
}

static void place(struct board *board, const struct model_config *model,
                  const struct offsets *offsets)
{
	char *memory = board->memory;

	board->ops = (struct plan_op *)(void *)(memory + offsets->ops);
	board->times = (struct sim_op_times *)(void *)(memory + offsets->times);
	board->stages = (struct board_stage *)(void *)(memory + offsets->stages);
	board->op_starts = (int64_t *)(void *)(memory + offsets->op_starts);
	for (size_t i = 0; i < board->n_op_starts; i++)
		board->op_starts[i] = WORLD_NOT_YET;
	board->noticed_ns = (int64_t *)(void *)(memory + offsets->noticed);
	board->back_ns = (int64_t *)(void *)(memory + offsets->back);
	board->is_rail_down = (bool *)(memory + offsets->is_rail_down);
	board->has_died = (uint32_t *)(void *)(memory + offsets->has_died);
	board->first_gradient = (size_t *)(void *)(memory + offsets->first_gradient);
	board->gradients = (float *)(void *)(memory + offsets->gradients);
	for (int stage = 0; stage < board->n_stages; stage++) {
		struct layout layout;

		layout_init(model, stage, &layout);
		board->first_gradient[stage + 1] = board->first_gradient[stage] + layout.n_floats;
	}
}

int board_open(const struct model_config *model, struct board_size size, struct board *out,
               struct err *err)
{
	struct board board = {.n_stages = model->n_stages,
	                      .n_microbatches = model->n_microbatches,
	                      .n_replicas = size.n_replicas,
	                      .n_rails = size.n_rails,
	                      .n_op_starts = size.n_op_starts,
	                      .n_faults = size.n_faults};
	struct offsets offsets;

	board.n_bytes = lay_out(&board, model, &offsets);
	board.memory = mmap(NULL, board.n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                    -1, 0);
	if (board.memory == MAP_FAILED)
		return err_set(err, -ENOMEM, "no %zu bytes of memory to share with workers: %s",
		               board.n_bytes, strerror(errno));
	place(&board, model, &offsets);
	*out = board;
	return 0;
}

void board_close(struct board *board)
{
	if (board->memory)
		(void)munmap(board->memory, board->n_bytes);
	board->memory = NULL;
}
