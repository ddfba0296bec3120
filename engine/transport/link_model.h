/* link_model.h - what a message meets on a link, as arithmetic without state of its own.
 *
 * A link carries one message at a time and direction; the path behind it adds a latency. Nobody
 * overtakes there: who meets a shorter latency than the message before it arrives with that one.
 * So it is in a network, whose queues keep their order unless packets are allowed to change it, and
 * then what they carry still is put in order. On the stream plane a message occupies its channel
 * first and then enters the link; on the delegate plane it enters at once and occupies its queue
 * meanwhile, so that one that is held long stands neither in the link nor on the path before one in
 * another queue that is held less. Window: DESIGN.md section 2. */
#ifndef ENGINE_TRANSPORT_LINK_MODEL_H
#define ENGINE_TRANSPORT_LINK_MODEL_H

#include <stdint.h>

/* What a message meets in one direction of one link. In virtual time it is profile time; a
 * transport's is already divided by the run's speed. */
struct shape {
	int64_t hold_ns;     /* occupancy: its channel or queue is held this long */
	int64_t transmit_ns; /* rate: the link carries one message per this time */
	int64_t latency_ns;  /* from the end of its transmission to the arrival */
	int64_t return_ns;   /* from the arrival to the acknowledgement */
};

/* One direction of a link, and of the path behind it. Zeroed: nothing was there yet. */
struct link_lane {
	int64_t free_ns; /* the link takes the next message */
	int64_t last_ns; /* the last one came out of the path */
};

/* The moments of one message. */
struct link_times {
	int64_t done_ns;   /* its sender is rid of it: its queue or end of the channel is free */
	int64_t arrive_ns; /* so is the receiver's end of the channel */
	int64_t acked_ns;
};

static inline int64_t link_later_ns(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* How long after entering the link a message has at most window_bytes unacknowledged. *extra_ns:
 * what waiting for its own acknowledgements adds to its transmission. */
static inline int64_t link_window_ns(int64_t n_bytes, int64_t window_bytes,
                                     const struct shape *shape, int64_t *extra_ns)
{
	int64_t n_further, round_trips_ns, rest_ns;

	*extra_ns = 0;
	if (window_bytes <= 0 || n_bytes <= window_bytes)
		return 0;
	n_further = (n_bytes - 1) / window_bytes;
	round_trips_ns = n_further * (shape->latency_ns + shape->return_ns);
	rest_ns = (int64_t)((double)shape->transmit_ns * (double)(n_further * window_bytes) /
	                    (double)n_bytes);
	if (round_trips_ns > rest_ns)
		*extra_ns = round_trips_ns - rest_ns;
	return link_later_ns(round_trips_ns, rest_ns);
}

/* What a message asks of its link. */
struct link_crossing {
	int64_t ready_ns;  /* it may enter */
	int64_t extra_ns;  /* on top of its transmission, before the path */
	int64_t beside_ns; /* on top of all that, in nobody's way */
	int64_t window_ns; /* after entering, its sender is rid of it; 0: at rid_ns */
	int64_t rid_ns;
};

/* The stream plane: a message enters its channel at start_ns. earlier_ack_ns: the acknowledgement
 * that must be there before it fits the window; 0: it fits. */
static inline struct link_crossing link_from_channel(const struct shape *shape, int64_t n_bytes,
                                                     int64_t window_bytes, int64_t start_ns,
                                                     int64_t earlier_ack_ns)
{
	/* Bytes that do not fit the window yet have not entered the link either. */
	int64_t held_ns = link_later_ns(start_ns + shape->hold_ns, earlier_ack_ns);
	struct link_crossing crossing = {.ready_ns = held_ns, .rid_ns = held_ns};

	crossing.window_ns = link_window_ns(n_bytes, window_bytes, shape, &crossing.extra_ns);
	return crossing;
}

/* The delegate plane: a message enters its queue at start_ns. */
static inline struct link_crossing link_from_queue(const struct shape *shape, int64_t start_ns)
{
	return (struct link_crossing){.ready_ns = start_ns,
	                              .beside_ns = shape->hold_ns,
	                              .rid_ns = start_ns + shape->hold_ns};
}

/* Let the message enter the link when it is ready and the link is free, and hold the link as long
 * as it transmits. */
static inline struct link_times link_cross(struct link_lane *lane, const struct shape *shape,
                                           const struct link_crossing *crossing)
{
	int64_t enters_ns = link_later_ns(lane->free_ns, crossing->ready_ns);
	struct link_times times = {.done_ns = crossing->rid_ns};

	lane->free_ns = enters_ns + shape->transmit_ns;
	if (crossing->window_ns > 0)
		times.done_ns = enters_ns + crossing->window_ns;
	lane->last_ns = link_later_ns(lane->last_ns,
	                              lane->free_ns + crossing->extra_ns + shape->latency_ns);
	times.arrive_ns = lane->last_ns + crossing->beside_ns;
	times.acked_ns = times.arrive_ns + shape->return_ns;
	return times;
}

#endif
