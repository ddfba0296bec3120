/* board.h - memory that the coordinator shares with its workers: plans in, times out, without a
 * system call per op. It has no name, so nothing is left of it when its processes are gone. */
#ifndef ENGINE_REPLAY_BOARD_H
#define ENGINE_REPLAY_BOARD_H

#include "engine/device/device.h"
#include "engine/model/model.h"
#include "engine/sim/net.h"
#include "engine/transport/exchange.h"
#include "engine/transport/transport.h"

/* What a worker says of one stage of one replica. */
struct board_stage {
	struct transport_address address;
	struct exchange_id exchange_id; /* of the link to the stage after it */
	struct device_stats stats;      /* of the iteration */
	double loss;                    /* last stage */
	int64_t op_cpu_ns;              /* the model's own time for an op, mean of F, B, W */
	/* Segments to the stage before and to the next one that TCP sent again, since the worker
	 * started, over links with faults; -1: not known. */
	int64_t n_resent[2];
};

struct board {
	int n_stages;
	int n_microbatches;
	int n_replicas;
	int n_rails;
	size_t n_op_starts;
	size_t n_faults;
	struct plan_op *ops; /* of the plan in force; the coordinator's */
	struct sim_op_times
		*times; /* [replica][op], profile time; each stage writes its own ops, and */
			/* arrive_ns of those whose messages come to it */
	struct board_stage *stages; /* [replica][stage] */
	int64_t *
		op_starts; /* [n_op_starts]; engine/sim/world.h. Each is set by the worker of the */
			   /* op's stage in replica 0, and forgotten by the coordinator */
	/* [n_faults] of RNICs that a site takes down, CLOCK_MONOTONIC, 0: not yet. noticed_ns: the
	 * worker at its own end saw that, set by the first; back_ns: it is up again, set by the
	 * coordinator, which forgets both. */
	int64_t *noticed_ns;
	int64_t *back_ns;
	bool *is_rail_down;     /* [stage * n_rails + rail], for ORDER_RAILS; the coordinator's */
	uint32_t *has_died;     /* the job, in the iteration in hand; the coordinator's */
	float *gradients;       /* [replica][all stages]; NULL with one replica */
	size_t *first_gradient; /* [stage + 1] */
	void *memory;
	size_t n_bytes;
};

/* Numbers of the topology; n_op_starts: ops at which faults start or end. */
struct board_size {
	int n_replicas;
	int n_rails;
	size_t n_op_starts;
	size_t n_faults;
};

int board_open(const struct model_config *model, struct board_size size, struct board *out,
               struct err *err);
void board_close(struct board *board);

/* Who runs an iteration of a job that has died looks at this, reports and stops. */
static inline bool board_has_died(const struct board *board)
{
	return __atomic_load_n(board->has_died, __ATOMIC_RELAXED) != 0;
}

static inline void board_set_died(struct board *board, bool has_died)
{
	__atomic_store_n(board->has_died, has_died, __ATOMIC_RELAXED);
}

static inline int64_t board_moment_ns(const int64_t *moments, size_t i)
{
	return __atomic_load_n(&moments[i], __ATOMIC_ACQUIRE);
}

static inline void board_set_moment(int64_t *moments, size_t i, int64_t moment_ns)
{
	__atomic_store_n(&moments[i], moment_ns, __ATOMIC_RELEASE);
}

static inline int board_ops(const struct board *board)
{
	return board->n_stages * OP_KINDS * board->n_microbatches;
}

static inline struct board_stage *board_stage(const struct board *board, int replica, int stage)
{
	return &board->stages[replica * board->n_stages + stage];
}

static inline struct sim_op_times *board_times(const struct board *board, int replica)
{
	return board->times + (size_t)replica * (size_t)board_ops(board);
}

#endif
