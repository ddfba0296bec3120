/* shaping_internal.h - what the injectors that act by queueing disciplines have in common. */
#ifndef INJECTORS_SHAPING_INTERNAL_H
#define INJECTORS_SHAPING_INTERNAL_H

#include "injectors/injector_internal.h"

/* What one direction between two stages meets: at most one fault of each kind. */
struct shaping {
	bool has_delay; /* by latency */
	bool has_rate;
	bool has_slow_messages; /* a delay by rate */
	int64_t delay_ns;
	int64_t jitter_ns;
	enum distribution distribution;
	int64_t rate_bits_per_s;
	int64_t message_ns; /* one message in that time */
};

/* The queueing discipline that a backend puts at a port for it. */
typedef struct qdisc_settings shaping_build(const struct injector_config *config,
                                            const struct shaping *shaping, int mtu_bytes);

/* Allocate an injector with ops that puts what build says. */
int shaping_open(const struct injector_config *config, const struct injector_ops *ops,
                 shaping_build *build, struct injector **out, struct err *err);

/* The lowest rate that shaping asks for, in bits of the wire; 0: none. */
int64_t shaping_rate_bits_per_s(const struct injector_config *config, const struct shaping *shaping,
                                int mtu_bytes);

/* Members of struct injector_ops. */
int shaping_apply(struct injector *injector, const struct fault *fault, struct err *err);
int shaping_clear(struct injector *injector, const struct fault *fault, struct err *err);
int shaping_count(const struct injector *injector, struct injector_counts *out, struct err *err);
int shaping_close(struct injector *injector, struct err *err);

#endif
