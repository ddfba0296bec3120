/* plane.h - the rules by which a data plane moves messages; what sim computes and the live planes
 * do.
 *
 * A channel of the stream plane is what two neighbours share: each has an end of it, and both take
 * its messages in one order. A message is over at its sender's end when that is rid of it, and at
 * its receiver's when it has arrived, before which nobody there can know. Then the next one may
 * start that this end sends. So messages of one direction follow each other as fast as their sender
 * is rid of them, and a change of direction costs what a message needs to arrive. One rule for sim,
 * for live runs whose messages shaped holds, and for networks that are slow themselves.
 *
 * Two presets of the stream plane reproduce the published systems, batched (1F1B, GPipe) and
 * unbatched (ZB); the others exist in sim only. Source: DESIGN.md sections 2 and 4;
 * data/pipemorph/README.md, "Models that explain the numbers". */
#ifndef ENGINE_SCENARIO_PLANE_H
#define ENGINE_SCENARIO_PLANE_H

#include <stdbool.h>
#include <stdint.h>

enum plane_kind { PLANE_STREAM, PLANE_DELEGATE };
enum channel_order { CHANNEL_PLAN_ORDER, CHANNEL_REQUEST_ORDER };

enum { PLANE_QUEUES_DEFAULT = 6, PLANE_WINDOW_BYTES_DEFAULT = 4 << 20 };

struct plane_rules {
	enum plane_kind kind;

	/* PLANE_STREAM */
	bool is_batched; /* send and receive of one step are one call: both directions overlap, the
	                    sender's next op waits for its send and the paired receive, and the
	                    gradient leaves after W */
	enum channel_order order; /* of the messages of a neighbour pair's channel */
	bool is_channel_shared;   /* one channel carries both directions; else each has its own */
	bool has_one_issue_queue; /* a stage's next op waits until its message has ended */
	bool host_waits;          /* the host waits for each computation before it issues more */
	int64_t window_bytes;     /* unacknowledged bytes at which a send stops being taken */

	/* PLANE_DELEGATE */
	int n_queues;            /* messages under way per direction, k */
	int64_t message_cost_ns; /* added to the op that sends and to the op that receives */
};

/* The presets. */
struct plane_rules plane_batched(void);
struct plane_rules plane_unbatched(void);
struct plane_rules plane_delegate(void);

/* Are these the stream plane's rules of a preset? Others exist in virtual time only. */
bool plane_is_stream_preset(const struct plane_rules *rules);

const char *plane_kind_name(enum plane_kind kind); /* "stream", "delegate" */

#endif
