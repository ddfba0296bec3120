/* plane_pair.h - the data planes of two stages in one process, over transport loopback and in real
 * time, on devices of any kind: what copies tensors to the host and back, without a model. */
#ifndef TESTS_PLANE_PAIR_H
#define TESTS_PLANE_PAIR_H

#include "engine/dataplane/dataplane.h"

/* Stage 0 sends activations, stage 1 gradients. */
struct plane_pair {
	/* Before _open. */
	const char *device_name;
	int n_microbatches;
	int n_queues;
	int n_copy_streams;
	size_t n_bytes;    /* of a tensor, a multiple of 8 */
	bool is_reachable; /* payloads lie in memory that the devices copy from */
	const struct transport_ops *transport_ops; /* NULL: loopback's */

	int iteration;
	struct device *devices[2];
	struct device_stream *compute[2];
	struct dataplane *planes[2];
	struct device_event **produced[2]; /* [n_microbatches] */
	struct device_event *passed[2];    /* all that was issued */
	char *made[2], *found[2];          /* host memory: n_microbatches tensors each */
	struct payload_area area;
	struct transport *transport;
	struct err err; /* what the first call that failed has said */
};

/* Two rails. What fails is closed with _close() as well. -ENODEV: there is no such device here. */
int plane_pair_open(struct plane_pair *pair);
void plane_pair_close(struct plane_pair *pair);

/* Batched or delegates. Tensors of every iteration are others. */
int plane_pair_begin(struct plane_pair *pair, const struct plane_rules *rules, int iteration);

/* Issue: an op of the stage puts the tensor into its output; and it is sent. */
int plane_pair_make(struct plane_pair *pair, int stage, int microbatch);
int plane_pair_send(struct plane_pair *pair, int stage, int microbatch);

/* Issue: an op of the stage waits for its input and copies it to found. */
int plane_pair_receive(struct plane_pair *pair, int stage, int microbatch);

/* Let devices and planes go on; polls: and the transport. */
int plane_pair_turn(struct plane_pair *pair, bool polls);

/* Turns until nothing is under way and all that was issued has ended: 0; -ETIMEDOUT after 20 s,
 * longer where ADAPTRA_TEST_SLOW says so. */
int plane_pair_finish(struct plane_pair *pair);

/* How many of the stage's messages are in host memory, and were since their iteration began. */
int plane_pair_requested(const struct plane_pair *pair, int stage);

/* How many of the tensors that the stage found were those that the other one made. */
int plane_pair_intact(const struct plane_pair *pair, int stage);

#endif
