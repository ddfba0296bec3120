/* flight_recorder.h - reads dumps of the NCCL flight recorder (JSON), and says what a hang hangs
 * on.
 *
 * FORMATS.md section 9. Ranks are those of the process group, as the dumps count: in a pipeline's
 * group they are its stages. Dumps in pickle form are refused, and never executed. */
#ifndef ENGINE_FORMAT_FLIGHT_RECORDER_H
#define ENGINE_FORMAT_FLIGHT_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/input.h"
#include "engine/format/observed.h"
#include "engine/scenario/topology.h"

/* One send or receive that a rank asked for. */
struct flight_op {
	int from;
	int to;
	bool is_send;
	bool is_done;
	int64_t sequence; /* p2p_seq_id; −1: not said */
};

/* Of one rank, in the order asked for. */
struct flight_dump {
	char *name;
	int rank; /* −1: it asked for nothing of the group */
	struct flight_op *ops;
	size_t n_ops;
	bool is_whole; /* the ring buffer lost nothing: record 0 is there */
};

/* Of all ranks of one process group. Start zeroed; owns all. */
struct flight_recorder {
	struct flight_dump *dumps;
	size_t n_dumps;
	char *group; /* name of the first process group that was met with a send or receive */
	int n_ranks; /* of it; at least the ranks that were met */
};

/* Add a rank's dump; what is of no use here is counted in counts. -EINVAL: no such dump, one of a
 * rank that is there already, or a pickle; what json_next() says. recorder is untouched then. */
int flight_recorder_read(struct input *input, struct flight_recorder *recorder,
                         struct observed *counts, struct err *err);
void flight_recorder_fini(struct flight_recorder *recorder);

enum hang_kind {
	HANG_NONE,     /* everything that was asked for is done */
	HANG_TRANSFER, /* both ends asked for it, and it does not end */
	HANG_RANK,     /* all wait for a rank that asked for nothing more, or left no dump */
	HANG_CIRCLE,   /* ranks wait for each other: their orders do not match */
};

/* The first send of a pair of ranks that has no receive. */
struct hang_send {
	int from;
	int to;
	int64_t sequence;
};

/* ranks: from and to of a transfer; the rank; those of the circle, each waits for the next. */
struct hang {
	enum hang_kind kind;
	int ranks[TOPOLOGY_STAGES_MAX];
	int n_ranks;
	int n_waiting; /* ranks whose oldest unfinished op leads there */
	struct hang_send *sends;
	size_t n_sends;
};

/* What most ranks wait for in the end; free with hang_fini(). -ENOMEM. */
int flight_recorder_find_hang(const struct flight_recorder *recorder, struct hang *out,
                              struct err *err);
void hang_fini(struct hang *hang);

#endif
