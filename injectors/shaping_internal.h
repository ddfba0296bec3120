/* shaping_internal.h - what the injectors that act by queueing disciplines have in common. */
#ifndef INJECTORS_SHAPING_INTERNAL_H
#define INJECTORS_SHAPING_INTERNAL_H

#include "injectors/injector_internal.h"

enum { SHAPING_FRAME_BYTES = 14 }; /* Ethernet, in front of what an MTU counts */

/* What one direction between two stages meets: at most one fault of each kind. */
struct shaping {
	bool has_delay; /* by latency */
	bool has_rate;
	bool has_slow_messages; /* a delay by rate */
	bool has_loss;
	bool was_used; /* once */
	bool had_loss; /* once: not all drops are of too small a limit */
	int64_t delay_ns;
	int64_t jitter_ns;
	enum distribution distribution;
	bool allows_reordering; /* jitter may let packets overtake each other */
	int64_t rate_bits_per_s;
	int64_t message_ns; /* one message in that time */
	double loss_ratio;
	double loss_correlation_ratio;
};

struct shaper;

/* Bring one port to what its direction meets, which may be nothing any more. */
typedef int shaping_put(struct shaper *shaper, const struct shaping *shaping,
                        const struct injector_port *port, struct err *err);

/* Backends embed it first. */
struct shaper {
	struct injector base;
	shaping_put *put;
	struct shaping *shapings; /* [from_stage * 2 + is_forward] */
};

/* Fill in one that the backend allocated, zeroed. On failure it stays the backend's to free. */
int shaping_init(struct shaper *shaper, const struct injector_config *config,
                 const struct injector_ops *ops, shaping_put *put, struct err *err);

/* Clear everything that is in force; the first error is returned. */
int shaping_fini(struct shaper *shaper, struct err *err);

bool shaping_is_nothing(const struct shaping *shaping);

/* For a put: settings at the port, or what is there is released if shaping is nothing. */
int shaping_put_qdisc(struct shaper *shaper, const struct shaping *shaping,
                      const struct injector_port *port, const struct qdisc_settings *settings,
                      struct err *err);

/* The lowest rate that shaping asks for, in bits of the wire; 0: none. */
int64_t shaping_rate_bits_per_s(const struct injector_config *config, const struct shaping *shaping,
                                int mtu_bytes);

/* Members of struct injector_ops; count and close for those that act by shaping_put_qdisc() and are
 * nothing but a struct shaper. */
int shaping_open(const struct injector_config *config, const struct injector_ops *ops,
                 shaping_put *put, struct injector **out, struct err *err);

/* Delays of a path or a rate, and rates: what a packet can meet on its way. */
int shaping_check(const struct injector *injector, const struct fault *fault, struct err *err);
int shaping_apply(struct injector *injector, const struct fault *fault, struct err *err);
int shaping_clear(struct injector *injector, const struct fault *fault, struct err *err);
int shaping_count(const struct injector *injector, const struct fault *fault,
                  struct injector_counts *out, struct err *err);
int shaping_close(struct injector *injector, struct err *err);

#endif
