/* net_internal.h - what net.c (compiling) and net_run.c (timing) share. */
#ifndef ENGINE_SIM_NET_INTERNAL_H
#define ENGINE_SIM_NET_INTERNAL_H

#include "engine/sim/net.h"

/* An op in the order of timing. */
struct net_node {
	int stage;
	int microbatch;
	int source;    /* node whose message it needs; −1: none */
	int direction; /* of its own message; −1: it sends none */
	int plan_index;
	int n_messages; /* sent and received */
	enum op_kind kind;
};

/* A direction's state during one iteration. acks is a ring of the last n_acks acknowledgement
 * times, for the window. */
struct net_lane {
	struct link_lane link;
	int64_t again_from_ns;  /* from here on the link carries what an outage caught */
	struct link_lane again; /* as those leave it */
	int64_t *queue_free_ns; /* n_queues of the net */
	int64_t *acks;
	int next_ack;
};

struct net_stage {
	int64_t free_ns; /* the device's queue takes the next op */
	int64_t end_ns;  /* of the op before it */
	int next;        /* request order: position in its order */
};

struct sim_net {
	struct plane_rules rules;
	int n_stages;
	int n_nodes;
	struct net_node *nodes;
	int *stage_nodes;   /* request order: nodes of each stage in its order, stage-major */
	int64_t *arrive_ns; /* of a node's message */
	struct net_stage *stages;
	int64_t *end_free_ns;   /* per direction: the end of its channel that sends */
	struct net_lane *lanes; /* per direction */
	int n_queues;           /* delegate queues that lanes have room for */
	int n_acks;             /* messages that lanes can keep acknowledgements of */
	int64_t *lane_times;    /* backs queue_free_ns and acks */
};

#endif
