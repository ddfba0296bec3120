/* verbs_internal.h - the parts of transport verbs.
 *
 * verbs.c: the table, polling, loss · verbs_connect.c: making queue pairs with the peers ·
 * verbs_queue.c: one queue pair, its buffers and credits · verbs_memory.c: what is sent from where
 * it lies · verbs_silence.c: who does not answer · verbs_port.c: devices, ports, their addresses
 * and events · verbs_agreement.c, verbs_piece.c: what needs no device.
 *
 * A connection is a reliable queue pair that carries frames, as a socket of transport tcp does, in
 * pieces of a slot. A slot is registered memory, made when the connection is first made and kept. A
 * piece may be sent while the other side has a slot free for it; how many it has emptied since
 * comes back with what it sends, or alone when half of them are. Of a payload in memory that is
 * known for longer the device gathers a piece itself, between what was copied to the slot; others
 * are copied there, since registering memory for one message costs more than copying it. On the
 * other side payloads are copied from slots to where they belong. Written straight there they
 * would need a question and its answer first, which a slow link makes two delays of one. There is
 * no digest: every packet has the device's own.
 *
 * Beside its queue pairs each end of a rail has a connection of transport tcp, where the two sides
 * tell each other about them. It is lost when the other process ends or takes the rail down, which
 * queue pairs do not tell; a rail that is lost for another reason takes it along. */
#ifndef ENGINE_TRANSPORT_VERBS_INTERNAL_H
#define ENGINE_TRANSPORT_VERBS_INTERNAL_H

#include "engine/scenario/rdma.h"
#include "engine/transport/framing_internal.h"
#include "engine/transport/regions_internal.h"
#include "engine/transport/verbs_port_internal.h"

enum verbs_state {
	VERBS_CLOSED,
	VERBS_OFFERED, /* queue pairs are there, and the other side was told of them */
	VERBS_READY,   /* they are connected here, and the other side was told */
	VERBS_UP,
};

/* A stage's end of a rail to a neighbour. */
struct verbs_end {
	struct framing_end lost;
	struct verbs_port *port;
	enum verbs_state state;
	struct verbs_offer mine, theirs;
	uint8_t offer[VERBS_OFFER_BYTES_MAX]; /* on its way over the control connection */
	bool has_theirs;
	bool are_they_ready;
	int n_connected;              /* queue pairs, of the first queues */
	int64_t retry_ns;             /* not before then are more connected */
	char trouble[ERR_TEXT_BYTES]; /* what was in the way last; "": nothing */
};

/* One queue. Requests are counted ever since the queue pair was made; a request of number n uses
 * slot n modulo n_slots of its direction. */
struct verbs_queue {
	struct framing framing;
	struct verbs_end *end;
	struct ibv_qp *pair;
	struct ibv_mr *region;
	uint8_t *block;      /* the slots of what is received, then those of what is sent */
	uint16_t generation; /* of the queue pair; completions of an older one mean nothing */
	bool is_dirty;       /* on the list of those to be flushed by the next poll */
	uint64_t n_sent, n_sent_done;
	uint64_t n_received;
	int n_credits;           /* slots that are free at the other side */
	int n_owed;              /* slots emptied here that the other side does not know of */
	uint64_t n_done_seen;    /* n_sent_done when silence was last suspected */
	uint64_t n_done_checked; /* n_sent_done when the device was last checked */
	int n_waited; /* checks at which something was under way, and nothing had completed since
	                 the one before */
};

struct verbs {
	struct transport base;
	struct framing_host host;
	struct transport *control;
	char *devices; /* NULL: not named */
	struct rdma_retry retry;
	bool *is_rail_up;           /* [stage * n_rails + rail] */
	struct verbs_end *ends;     /* framing_end_of() */
	struct verbs_queue *queues; /* framing_connection_of() */
	int n_queues;
	int *dirty;
	int n_dirty;
	struct verbs_port *ports;
	struct regions known;
	int64_t next_watch_ns; /* real time: a look at the control connections and events */
	int64_t next_check_ns;
	int64_t next_device_check_ns; /* real time */
};

static inline struct verbs_queue *verbs_find(const struct verbs *verbs, int stage, int peer,
                                             int rail, int queue)
{
	return &verbs->queues[framing_connection_of(&verbs->host, stage, peer, rail, queue)];
}

static inline struct verbs_queue *verbs_first_queue(const struct verbs *verbs,
                                                    const struct verbs_end *end)
{
	return &verbs->queues[(end - verbs->ends) * verbs->host.config.n_queues];
}

/* verbs.c: the end of a rail breaks: its queue pairs stop, what they carried is dropped, its
 * control connection goes, and if it was live there is a LOST event. */
void verbs_lose(struct verbs *verbs, struct verbs_end *end, int reason, const char *sentence);
void verbs_mark_dirty(struct verbs *verbs, struct verbs_queue *queue);
void verbs_progress(struct verbs *verbs);

/* verbs.c: what the control connections and the devices have to tell. */
void verbs_watch(struct verbs *verbs);

/* verbs_silence.c: lose the rails where a message was due, and is not acknowledged for too long. */
void verbs_check_silence(struct verbs *verbs);

/* verbs_silence.c: lose the rails where the device says nothing of what was sent for too long. */
void verbs_check_device(struct verbs *verbs);

/* verbs_connect.c */
int verbs_connect(struct transport *transport, const struct transport_address *addresses,
                  int64_t timeout_ns, struct err *err);

/* verbs_connect.c: what the other side of an end says over the control connection. */
void verbs_hear(struct verbs *verbs, struct verbs_end *end, const struct message *message,
                const void *payload);

/* verbs_queue.c: make a queue pair with its buffers, and tell its numbers. */
int verbs_queue_open(struct verbs *verbs, struct verbs_queue *queue, struct verbs_number *out,
                     struct err *err);

/* verbs_queue.c: connect it with the one offered; gid_index: of this side's address. May block for
 * a second where a neighbour is not found. */
int verbs_queue_connect(struct verbs *verbs, struct verbs_queue *queue, int gid_index,
                        struct err *err);

/* verbs_queue.c: nothing is sent or received any more, what was under way is dropped, and the
 * device has done with all memory of it. */
void verbs_queue_stop(struct verbs *verbs, struct verbs_queue *queue);

/* verbs_queue.c: destroy the queue pair; the buffers stay until _free. */
void verbs_queue_close(struct verbs_queue *queue);
void verbs_queue_free(struct verbs_queue *queue);

/* verbs_queue.c: send what there is to be sent, as far as slots and credits go. */
void verbs_queue_flush(struct verbs *verbs, struct verbs_queue *queue);

/* verbs_queue.c: take at most so many completions of a port; returns how many there were. */
int verbs_take_completions(struct verbs *verbs, struct verbs_port *port, int n_most);

#endif
