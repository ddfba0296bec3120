/* rdma.c - what outage an RNIC's retries outlast. */
#include "engine/scenario/rdma.h"

enum { TIMEOUT_UNIT_NS = 4096 };

const struct rdma_retry rdma_retry_default = {.timeout = 14, .n_retries = 6};

int64_t rdma_outage_budget_ns(const struct rdma_retry *retry)
{
	return (retry->n_retries + 1) * ((int64_t)TIMEOUT_UNIT_NS << retry->timeout);
}
