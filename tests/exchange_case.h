/* exchange_case.h - stages with devices and exchanges, in one thread, and bytes that go between
 * them. What cannot be done here is a failed check. */
#ifndef TESTS_EXCHANGE_CASE_H
#define TESTS_EXCHANGE_CASE_H

#include <stdint.h>

#include "engine/transport/exchange.h"

enum { EXCHANGE_CASE_STAGES_MAX = 3, EXCHANGE_CASE_BYTES = 6 << 20 };

/* A stage, with the exchange with the stage before it and with the one behind it; device NULL: it
 * is in another process. */
struct exchange_case_stage {
	struct device *device;
	struct device_stream *stream;
	struct exchange *before, *behind;
	unsigned char *host, *own; /* EXCHANGE_CASE_BYTES of each memory */
};

struct exchange_case {
	const struct exchange_ops *exchanges;
	const struct device_ops *devices;
	int n_stages;
	struct exchange_case_stage stages[EXCHANGE_CASE_STAGES_MAX];
};

/* When nobody waits any longer, counted from now. */
int64_t exchange_case_deadline_ns(void);

/* NULL: it cannot be opened, err says why. */
struct device *exchange_case_open_device(const struct device_ops *ops, int unit, struct err *err);

/* Every stage on a unit of its own; each but the last has exchanges with the one behind it, which
 * in _met have met. */
struct exchange_case exchange_case_open(const struct exchange_ops *exchanges,
                                        const struct device_ops *devices, int n_stages);
struct exchange_case exchange_case_open_met(const struct exchange_ops *exchanges,
                                            const struct device_ops *devices, int n_stages);
void exchange_case_meet(struct exchange_case *c);

/* Closes what is not NULL. */
void exchange_case_close(struct exchange_case *c);

/* The pieces of _open. */
bool exchange_case_open_stage(struct exchange_case *c, int i);
struct exchange_id exchange_case_make_id(const struct exchange_case *c);
struct exchange *exchange_case_open_end(struct exchange_case *c, int stage, int peer,
                                        const struct exchange_id *id);

/* Whether the event ends within the deadline, while all devices go on. */
bool exchange_case_finish(struct exchange_case *c, struct device_event *event);

/* What progress() says in the end, when the exchange has come to its own. */
int exchange_case_see_end(struct exchange *exchange, struct err *err);

/* On the stage's stream: bytes of that seed go to its own memory at that place, or back to the
 * host's, where _holds looks at them when the event has ended. */
void exchange_case_put(struct exchange_case_stage *stage, size_t at, size_t n_bytes, int seed);
struct device_event *exchange_case_get(struct exchange_case_stage *stage, size_t at,
                                       size_t n_bytes);
bool exchange_case_holds(const struct exchange_case_stage *stage, size_t at, size_t n_bytes,
                         int seed);

void exchange_case_post(struct exchange *exchange, struct device_stream *stream,
                        const struct exchange_part *parts, size_t n);

/* A post of one part, on the stage's stream. */
void exchange_case_send(struct exchange *exchange, struct exchange_case_stage *stage, size_t at,
                        size_t n_bytes);
void exchange_case_receive(struct exchange *exchange, struct exchange_case_stage *stage, size_t at,
                           size_t n_bytes);

#endif
