/* links_internal.h - what the plane over exchanges (exchange.c), its end (exchange_end.c) and the
 * order of its posts (links.c) share; open.c and dataplane.c open, order and end it. */
#ifndef ENGINE_DATAPLANE_LINKS_INTERNAL_H
#define ENGINE_DATAPLANE_LINKS_INTERNAL_H

#include "engine/dataplane/slots_internal.h"

enum post_state { POST_UNDER_WAY, POST_RAN, POST_CANCELLED };

/* What goes to a neighbour and what comes from it in one post. Neither: the last one of an
 * iteration. It lies in host memory of the device, for host functions may outlive the plane. */
struct post {
	struct dataplane *plane;
	int peer;
	struct sending *sending;
	struct arrival *arrival;
	uint32_t state;      /* who changes it from UNDER_WAY has the flags of both to set */
	uint32_t is_reached; /* its stream has come to it, and nobody has seen that */
	struct device_event *started, *ended;
	uint32_t is_produced_set;    /* or about to be; who sets this sets the flag */
	struct device_flag produced; /* what it sends; the link's stream stands until then, */
	struct device_flag may_go;   /* and until then, where sends are held */
	int64_t ran_ns;              /* its end, as the host function saw it */
};

struct exchange_link {
	struct exchange *exchange; /* NULL: not met yet, or no such neighbour */
	bool is_over;              /* aborted; nothing is posted any more */
	bool is_ending;            /* that has only begun */
	struct device_stream *stream;
	struct device_event *ended; /* all of an exchange that is over */
	unsigned char *last;        /* device memory: what the last post sends, and receives */
	struct post *posts;         /* [links_n_posts_max()] */
	int n_posts, n_posted;
	int n_run;         /* as far as was seen; they run one after the other */
	struct post *held; /* the stream stands before it, until release_ns */
	int64_t release_ns;
	struct err failure; /* code 0: none */
};

struct exchange_links {
	struct exchange_link peers[PLANE_PEERS];
	struct post **issued; /* those whose producers are, in that order */
	int n_issued;
};

enum { LINKS_LAST_BYTES = 8 };

/* Every message of an iteration, and the last one. */
static inline int links_n_posts_max(const struct dataplane *plane)
{
	return 2 * plane->config.n_microbatches + 1;
}

/* True for the one who changes it first. */
static inline bool post_settle(struct post *post, enum post_state state)
{
	uint32_t expected = POST_UNDER_WAY;

	return __atomic_compare_exchange_n(&post->state, &expected, state, false, __ATOMIC_ACQ_REL,
	                                   __ATOMIC_ACQUIRE);
}

static inline bool post_has_run(const struct post *post)
{
	return __atomic_load_n(&post->state, __ATOMIC_ACQUIRE) == POST_RAN;
}

/* Once; host functions and the plane's thread do. */
static inline void post_set_produced(struct post *post, int64_t at_ns)
{
	if (!__atomic_exchange_n(&post->is_produced_set, 1, __ATOMIC_ACQ_REL))
		device_flag_set(&post->produced, at_ns);
}

/* links.c: where the configuration wants exchanges; nothing else to do where not. */
int links_open(struct dataplane *plane, struct err *err);
void links_close(struct dataplane *plane);

/* links.c: are there exchanges with all neighbours, and is none over? */
bool links_are_usable(const struct dataplane *plane);

/* links.c: the posts of the channels' order, the same at both ends. */
void links_order(struct dataplane *plane, const struct plan *unit_copy);

/* links.c: an iteration begins, nothing is posted. */
void links_reset(struct dataplane *plane);

/* exchange.c: see what has happened since the last look; is there anything to see? */
void links_look(struct dataplane *plane);
bool links_have_news(const struct dataplane *plane);

/* exchange.c: what is known of a post that has run, the first of those not seen yet. */
void links_take_run(struct dataplane *plane, struct post *post);

/* exchange_end.c: begin to, and wait for nothing. */
void links_abort(struct dataplane *plane);

/* exchange_end.c: end all exchanges for good. What has not run never counts as having done so. */
void links_end(struct dataplane *plane, int64_t now_ns);

/* exchange_end.c: the same inside an iteration, whose messages then go over delegates: those that
 * are not known to have arrived once more. */
int links_hand_over(struct dataplane *plane, int64_t now_ns, struct err *err);

#endif
