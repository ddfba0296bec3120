/* exchange.h - moves tensors between the devices of two neighbouring stages, in the order of their
 * streams: the stream plane where the devices do it themselves, as NCCL does.
 *
 * An exchange is a stage's end of the link to one neighbour: a communicator of two ranks, the lower
 * stage is rank 0. What is posted runs in the order of a stream, on both ends the same: the k-th
 * post of one end meets the k-th of the other, every send a receive of the same size. There are no
 * names, no headers and no acknowledgements; who needs to know when something has arrived records
 * an event or has a host function called behind it. An instance belongs to the thread of its
 * device. Several of one worker are opened, made ready and used side by side: nothing here waits
 * for the other end. Every backend keeps these promises; the contract test holds them. */
#ifndef ENGINE_TRANSPORT_EXCHANGE_H
#define ENGINE_TRANSPORT_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/device/device.h"

enum { EXCHANGE_ID_BYTES = 128, EXCHANGE_PARTS_MAX = 8, EXCHANGE_VERSION_BYTES = 64 };

/* What both ends of a link have to know of each other before they meet; made by the lower stage,
 * spread by whoever coordinates. */
struct exchange_id {
	unsigned char bytes[EXCHANGE_ID_BYTES];
};

struct exchange_config {
	struct device *device; /* borrowed until close() */
	int stage;
	int peer_stage; /* one more or one less */
	struct exchange_id id;
};

/* One tensor of a post. */
struct exchange_part {
	bool is_send;
	void *memory; /* of the device; not to be changed, or read, before the post has run */
	size_t n_bytes;
};

struct exchange;

struct exchange_ops {
	const char *name;

	/* Which library would be used: out is text like "NCCL 2.28.9". -ENODEV: it is missing, err
	 * says which file, or cannot be used. */
	int (*version)(char out[EXCHANGE_VERSION_BYTES], struct err *err);

	/* Could the stages of a run with n_stages all have what the backend needs on this device?
	 * -ENODEV: err says what is missing, such as a GPU for each stage. */
	int (*check)(struct device *device, int n_stages, struct err *err);

	int (*make_id)(struct exchange_id *out, struct err *err);

	/* Begin to meet the other end, in the one global order of links, before iteration 0. */
	int (*open)(const struct exchange_config *config, struct exchange **out, struct err *err);

	/* Go on with whatever the backend does in its own time: meeting the other end, connecting
	 * with it on behalf of a first post, finding out that it is gone. 1: nothing is left to do,
	 * posts are taken; 0: not yet; -ENETDOWN and others: the end of the exchange, err names
	 * both stages and the backend's reason. Posts that were under way then may stand for ever,
	 * until abort(). A backend need not find out by itself that the other end is gone, so who
	 * waits for a post has a deadline of its own. Never blocks. */
	int (*progress)(struct exchange *exchange, struct err *err);

	/* Issue: n parts, that start together, on a stream of the exchange's device. What is issued
	 * to the stream from now on runs behind them. Takes about as long as other issuing: never
	 * waits for the other end. -EAGAIN: progress() has not said 1 yet; nothing was
	 * issued. -EINVAL: more than EXCHANGE_PARTS_MAX, or none. Another failure is the end of the
	 * exchange, as in progress(). */
	int (*post)(struct exchange *exchange, struct device_stream *stream,
	            const struct exchange_part *parts, size_t n, struct err *err);

	/* Begin the end, and never block. Once progress() says 1 everything that was posted ends
	 * when its stream has got to it, whatever is then in the memory it was to fill, also where
	 * the other end does not answer; that sees -ENETDOWN. progress() says 0 until then, for at
	 * most some hundred milliseconds: what takes longer, since a stream stands before it, goes
	 * on by itself. Ends may wait for each other, so who has several begins all before it waits
	 * for one. Nothing but progress() and close() may follow. */
	void (*abort)(struct exchange *exchange);

	/* Aborts unless everything that was posted has run, and waits as long as progress() would
	 * say 0. */
	void (*close)(struct exchange *exchange);
};

/* Backends embed it first. */
struct exchange {
	const struct exchange_ops *ops;
};

/* NULL-terminated; exchange_registry.c. Empty where no backend is in the build. */
const struct exchange_ops *const *exchange_list(void);

/* -ENOENT: no such backend; -ENOTSUP: left out of this build, err says what it needs. */
int exchange_find(const char *name, const struct exchange_ops **out, struct err *err);

static inline int exchange_progress(struct exchange *exchange, struct err *err)
{
	return exchange->ops->progress(exchange, err);
}

static inline int exchange_post(struct exchange *exchange, struct device_stream *stream,
                                const struct exchange_part *parts, size_t n, struct err *err)
{
	return exchange->ops->post(exchange, stream, parts, n, err);
}

static inline void exchange_abort(struct exchange *exchange)
{
	exchange->ops->abort(exchange);
}

/* NULL is nothing. */
static inline void exchange_close(struct exchange *exchange)
{
	if (exchange)
		exchange->ops->close(exchange);
}

#endif
