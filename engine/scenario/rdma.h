/* rdma.h - how stubbornly an RNIC sends a packet again, and what outage that outlasts. */
#ifndef ENGINE_SCENARIO_RDMA_H
#define ENGINE_SCENARIO_RDMA_H

#include <stdint.h>

/* A timeout of 0 and seven retries mean for ever, here or there, and no loss would ever be told. */
enum { RDMA_TIMEOUT_MOST = 31, RDMA_RETRIES_MOST = 6 };

/* A reliable connection's settings. */
struct rdma_retry {
	int timeout;   /* 4.096 µs × 2^timeout without an answer: the packet is sent again */
	int n_retries; /* after so many without an answer the connection has failed */
};

/* 14 and 6: 0.47 s. */
extern const struct rdma_retry rdma_retry_default;

/* How long nothing may come through before a connection fails: (n_retries + 1) × 4.096 µs ×
 * 2^timeout. Shorter outages are one long stall. Devices round the timeout up, some by a factor of
 * four. */
int64_t rdma_outage_budget_ns(const struct rdma_retry *retry);

#endif
