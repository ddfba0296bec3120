/* streams.c - deals the queues of a GPU's driver out to the stages of a worker. */
#include "engine/replay/streams.h"

/* One is there by default. An exchange has a stream to each neighbour. */
enum { DEFAULT_STREAMS = 1, COMPUTE_STREAMS = 1, EXCHANGE_STREAMS = 2, WAYS = 2 };

struct streams streams_of_worker(int n_stages, int n_queues, bool has_exchanges)
{
	const int n_others = COMPUTE_STREAMS + (has_exchanges ? EXCHANGE_STREAMS : 0);
	const int n_sharing = has_exchanges ? 1 : n_stages;
	const int n_each = (DEVICE_STREAMS_APART - DEFAULT_STREAMS) / n_sharing;
	int n_copying = (n_each - n_others) / WAYS;

	n_copying = n_copying < 1 ? 1 : n_copying < n_queues ? n_copying : n_queues;
	return (struct streams){n_copying, n_others + WAYS * n_copying, n_sharing};
}
