/* scenario_rdma.c - what outage an RNIC's retries outlast. */
#include "engine/scenario/rdma.h"
#include "tests/tap.h"

static int64_t budget_ns(int timeout, int n_retries)
{
	const struct rdma_retry retry = {.timeout = timeout, .n_retries = n_retries};

	return rdma_outage_budget_ns(&retry);
}

int main(void)
{
	tap_is_int(budget_ns(1, 0), 8192, "without a retry it is one timeout, 4.096 us doubled");
	tap_is_int(budget_ns(14, 6), 469762048, "timeout 14, 6 retries: 0.47 s");
	tap_is_int(budget_ns(18, 6), 7516192768, "timeout 18, 6 retries: 7.5 s");
	tap_is_int(budget_ns(RDMA_TIMEOUT_MOST, RDMA_RETRIES_MOST), 61572651155456,
	           "the most that can be set is 17 hours, and does not overflow");
	tap_is_int(rdma_outage_budget_ns(&rdma_retry_default), budget_ns(14, 6),
	           "the default is 14 and 6");
	return tap_done();
}
