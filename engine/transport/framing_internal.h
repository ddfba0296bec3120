/* framing_internal.h - messages as bytes in order, over whatever carries those: what the two halves
 * of a connection know, and what all connections of a transport share.
 *
 * framing_send.c and framing_receive.c are the halves; framing.c: loss, silence, clocks. Who
 * carries the bytes asks framing_gather() for what is next to be written and says with
 * framing_advance() how much of it was; what has come goes to framing_take(). Afterwards there may
 * be acknowledgements to be written: framing_has_control(). */
#ifndef ENGINE_TRANSPORT_FRAMING_INTERNAL_H
#define ENGINE_TRANSPORT_FRAMING_INTERNAL_H

#include <sys/uio.h>

#include "engine/transport/frame_internal.h"
#include "engine/transport/transport_internal.h"

/* A piece: what is handed to a write, or taken by a read, at most. */
enum { FRAMING_PARTS_MAX = 4, FRAMING_PIECE_BYTES = 4 * FRAME_CHUNK_BYTES };
enum { FRAMING_SENTENCE_BYTES = 256 };

/* Of a transport. */
struct framing_host {
	struct transport_config config;
	uint64_t clock_id;
	bool has_digests; /* of payloads; false: who carries the bytes checks them */
	int64_t now_ns, polled_ns, polled_before_ns; /* the poll in hand began, and the last did */
	struct inbox inbox;
	struct pool pool;
};

/* A stage's end of a rail to a neighbour; it has n_queues connections and is lost as a whole. */
struct framing_end {
	bool is_live; /* a connection of it was made and it has not been lost since */
	char sentence[FRAMING_SENTENCE_BYTES];
};

/* A message between send() and its acknowledgement. */
struct framing_sending {
	struct message message;
	const void *payload;
	int64_t written_ns;
	bool is_acked;
};

/* Sequence numbers: first ≤ written ≤ next; [first, written) wait for their acknowledgements. The
 * frame of `written` may be partly on the wire: offset counts its bytes that are. */
struct framing_sender {
	struct framing_sending *ring; /* index: sequence number modulo capacity */
	size_t capacity;
	uint64_t first, written, next;
	bool is_encoded;
	uint8_t header[FRAME_HEADER_BYTES], trailer[FRAME_TRAILER_BYTES];
	size_t offset;
	size_t n_digested;
	uint64_t digest;
	uint8_t *control; /* hellos and acknowledgements to be written between messages */
	size_t control_capacity, n_control, control_offset;
	int64_t wrote_ns; /* when bytes last went out */
};

struct framing_receiver {
	uint8_t header[FRAME_HEADER_BYTES];
	size_t n_header;
	struct frame frame;
	uint8_t *payload; /* NULL: no message is half here */
	size_t n_payload, n_digested;
	uint64_t digest;
	uint8_t trailer[FRAME_TRAILER_BYTES];
	size_t n_trailer;
	uint64_t next; /* sequence number */
	int64_t read_ns;
};

struct framing {
	int stage, peer, rail, queue;
	bool awaits_hello;
	bool is_clock_shared;
	struct framing_sender out;
	struct framing_receiver in;
};

/* framing.c */
int framing_init_host(struct framing_host *host, const struct transport_config *config,
                      struct err *err);
void framing_fini_host(struct framing_host *host);

/* A poll begins: nothing was asked yet. What comes while it lasts may be seen by the next one. */
void framing_begin_poll(struct framing_host *host);

/* The places of ends and connections in arrays: of every stage the ends before and after it, of
 * those the rails, of those the queues. */
static inline int framing_end_of(const struct framing_host *host, int stage, int peer, int rail)
{
	return (stage * 2 + (peer > stage)) * host->config.n_rails + rail;
}

static inline int framing_connection_of(const struct framing_host *host, int stage, int peer,
                                        int rail, int queue)
{
	return framing_end_of(host, stage, peer, rail) * host->config.n_queues + queue;
}

/* Fill in whose connection is at this place. */
void framing_name(const struct framing_host *host, int connection, struct framing *framing);

/* The stage is local, its peer exists. */
bool framing_is_ours(const struct framing_host *host, const struct framing *framing);

/* What was under way on an end is gone, and if it was live there is a LOST event. */
void framing_lose(struct framing_host *host, struct framing_end *end, const struct framing *framing,
                  int reason, const char *sentence);

/* Half a message came and no more since limit_ns. */
bool framing_is_cut_off(const struct framing *framing, int64_t limit_ns);

/* Something that was written before limit_ns, and was due then, is not acknowledged; or nothing
 * more of a message could be written since. */
bool framing_is_unanswered(const struct framing *framing, int64_t limit_ns);

/* Both sides begin anew; half a payload goes back to the pool. */
void framing_reset(struct framing_host *host, struct framing *framing);
void framing_fini(struct framing *framing);

/* framing_send.c: the sending half. */
int framing_queue_message(struct framing_host *host, struct framing *framing,
                          const struct message *message, const void *payload, struct err *err);
void framing_queue_control(struct framing_host *host, struct framing *framing, enum frame_type type,
                           uint64_t sequence);

bool framing_has_control(const struct framing *framing);

/* What is next to be written, in at most FRAMING_PARTS_MAX parts; returns the number of bytes. They
 * stay where they are until framing_advance(). */
size_t framing_gather(struct framing_host *host, struct framing *framing, struct iovec *parts,
                      size_t *n_parts);
void framing_advance(struct framing_host *host, struct framing *framing, size_t n_bytes);

int framing_acknowledged(struct framing_host *host, struct framing *framing, uint64_t sequence,
                         struct err *err);

/* framing_receive.c: the receiving half. Take bytes that came, which is now; stops behind a hello.
 * *n_taken is set in any case. -EBADMSG: they are no frames of this connection. */
int framing_take(struct framing_host *host, struct framing *framing, const uint8_t *bytes,
                 size_t n_bytes, size_t *n_taken, struct err *err);

/* Where the next n bytes of the payload in hand go, of which there are none now: they may be put
 * there instead, and are taken by saying so. */
size_t framing_aim(const struct framing *framing, void **to_out);
void framing_take_aimed(const struct framing_host *host, struct framing *framing, size_t n_bytes);

#endif
