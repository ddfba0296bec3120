/* replay_streams.c - tests that the streams of a worker's stages are dealt out so that a GPU's
 * driver keeps them apart. */
#include "engine/replay/streams.h"
#include "tests/tap.h"

enum { QUEUES_MAX = 64, STAGES_THAT_FIT = 10 };

/* With the one that is there by default. */
static int n_of_gpu(const struct streams *streams)
{
	return 1 + streams->n_sharing * streams->n_of_stage;
}

static void test_apart(bool has_exchanges)
{
	for (int n_stages = 1; n_stages <= STAGES_THAT_FIT; n_stages++) {
		int most = 0, n_wrong = 0;

		for (int n_queues = 1; n_queues <= QUEUES_MAX; n_queues++) {
			struct streams streams =
				streams_of_worker(n_stages, n_queues, has_exchanges);

			most = n_of_gpu(&streams) > most ? n_of_gpu(&streams) : most;
			n_wrong += streams.n_copying < 1 || streams.n_copying > n_queues;
		}
		tap_ok(most <= DEVICE_STREAMS_APART, "%d stages%s: a GPU has %d streams at most",
		       n_stages, has_exchanges ? " that exchange" : "", most);
		tap_is_int(n_wrong, 0, "one copies at least, and no more than there are queues");
	}
}

static void test_shares(void)
{
	struct streams beyond = streams_of_worker(STAGES_THAT_FIT + 1, 1, false);
	struct streams two = streams_of_worker(2, 6, false);

	tap_ok(n_of_gpu(&beyond) > DEVICE_STREAMS_APART, "one stage more does not fit");
	tap_is_int(streams_of_worker(1, 6, false).n_copying, 6,
	           "a stage alone copies over one for each of its queues");
	tap_is_int(streams_of_worker(4, 6, false).n_copying, 3, "four share: three each");
	tap_is_int(streams_of_worker(8, 6, false).n_copying, 1, "eight share: one each");
	tap_is_int(streams_of_worker(8, 6, true).n_copying, 6, "with a GPU each nobody shares");
	tap_is_int(streams_of_worker(4, 2, false).n_copying, 2,
	           "who has fewer queues wants no more");
	tap_is_int(n_of_gpu(&two), 1 + 2 * (1 + 6 + 6),
	           "all of them: the default one, and those to compute, out and in");
}

int main(void)
{
	test_apart(false);
	test_apart(true);
	test_shares();
	return tap_done();
}
