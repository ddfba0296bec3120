/* plane_internal.h - what the data planes (stream.c, delegate.c, exchange.c) share: a stage's
 * messages and where they are. */
#ifndef ENGINE_DATAPLANE_PLANE_INTERNAL_H
#define ENGINE_DATAPLANE_PLANE_INTERNAL_H

#include "engine/dataplane/dataplane.h"
#include "engine/dataplane/notes_internal.h"
#include "engine/dataplane/plane_ops_internal.h"
#include "engine/schedule/channel.h"

enum { PLANE_PEERS = 2 }; /* 0 the stage before, 1 the stage after */

enum sending_state {
	SENDING_IDLE,
	SENDING_REQUESTED, /* waits for its channel or queue */
	SENDING_UNDER_WAY, /* the transport has it */
	SENDING_DONE,      /* and the sender is rid of it */
};

/* A message that this stage sends; one for each F and B. */
struct sending {
	struct dataplane *plane;
	enum op_kind kind;
	int microbatch;
	int peer;
	enum sending_state state;
	bool is_acked; /* or there is nothing that could be */
	int rail;
	int queue;
	int n_sent;         /* how often the transport took it */
	int64_t again_ns;   /* sent again then; INT64_MAX: not */
	int64_t rid_ns;     /* its sender is rid of it then, whatever its rail does; the same */
	bool is_of_channel; /* entered one, not a queue */
	bool starts_over;   /* when it is sent again; else it goes as it would have gone */
	struct device_event *produced;
	struct device_flag *done; /* host memory of the device */
	struct post *post;        /* of the plane over exchanges */
	void *output;             /* device memory */
	void *staged;             /* host memory: the delegate plane's copy; NULL: a buffer is */
	struct staging_buffer *buffer; /* until it is acknowledged; NULL: none */
	int64_t room_ns;               /* when there was one, if it had to wait for that */
	const void *payload;           /* what the transport reads */
	struct dataplane_moments at;
	int64_t left_late_ns; /* the transport got it that long after it could have gone */
};

/* A message that comes to this stage. */
struct arrival {
	struct dataplane *plane;
	int peer;
	struct device_flag *flag;
	void *input;
	void *payload;                 /* the transport's, until it was copied */
	struct staging_buffer *buffer; /* instead of it; NULL: none */
	int64_t sent_ns;
	int64_t at_ns, unseen_ns; /* so long before at_ns it may have come */
	bool has_come;
};

/* This stage's end of the stream plane's channel with a peer. */
struct channel {
	struct channel_slot *order; /* 2 N */
	int n_passed;
	int64_t free_ns;
	bool has_outage; /* in this iteration: messages may have been sent again, or put off */
};

/* The delegate plane's queues to a peer, and what waits for them: a ring of sendings. */
struct queues {
	struct sending **busy; /* n_queues */
	int64_t *free_ns;      /* n_queues */
	struct sending **waiting;
	size_t first, n_waiting, capacity;
};

/* The paths to a peer. */
struct plane_rails {
	int in_use; /* until it dies, also when one before it is back */
	bool is_dead[TRANSPORT_RAILS_MAX];
	int64_t back_ns; /* the rail in use is dead, or about to die, and back then; 0: not */
	int64_t free_ns; /* what would enter a rail before waits until then */
};

struct dataplane {
	struct dataplane_config config;
	const struct plane_ops *ops;
	struct plane_rules rules;
	int attempt;
	int iteration;
	int64_t next_ns;
	struct device_stream *in, *out; /* copies from and to host memory, unless staging does */
	struct staging *staging;        /* NULL: the device has no memory of its own */
	struct sending *sendings;       /* [F, B][microbatch] */
	struct arrival *arrivals;       /* the same */
	struct channel channels[PLANE_PEERS];
	struct queues queues[PLANE_PEERS];
	struct sending **requested; /* producers have ended; not yet handed to the plane */
	size_t n_requested;
	struct notes produced; /* of sendings, */
	struct notes copied;   /* and of arrivals whose payload can be released */
	int64_t again_ns;      /* the earliest again_ns and rid_ns of sendings */
	struct plane_rails rails[PLANE_PEERS];
	int64_t switched_ns;          /* nothing is requested before */
	struct exchange_links *links; /* links_internal.h; NULL: the transport moves everything */
};

/* rails.c: hand a message to the transport; start_ns: when it entered its channel or queue. */
int plane_transmit(struct dataplane *plane, struct sending *sending, int queue, int64_t start_ns,
                   struct err *err);

/* rails.c: until when its channel or queue holds what entered it at at.started_ns. */
int64_t plane_held_until_ns(const struct dataplane *plane, const struct sending *sending);

/* rails.c: a rail to peer is gone. */
int plane_lose(struct dataplane *plane, int peer, int rail, int64_t now_ns, struct err *err);

/* rails.c: send what waits for that and may go by now, and finish what is over by now. */
int plane_send_again(struct dataplane *plane, int64_t now_ns, struct err *err);

/* dataplane.c: in stream order, the producer has ended and its output was copied; the input was. */
int plane_call_produced(struct device_stream *stream, struct sending *sending, struct err *err);
int plane_call_copied(struct device_stream *stream, struct arrival *arrival, struct err *err);

/* dataplane.c: the sender is rid of the message. */
int plane_finish(struct dataplane *plane, struct sending *sending, int64_t done_ns,
                 struct err *err);

#endif
