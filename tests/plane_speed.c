/* plane_speed.c - times what a data plane copies, without what moves the bytes between stages. */
#include "tests/plane_speed.h"

#include "engine/base/clock.h"
#include "engine/replay/streams.h"
#include "tests/plane_pair.h"

enum { N = 8, N_STAGES = 4, N_ROUNDS = 4 };

static double speed(const struct plane_pair *pair, int64_t began_ns)
{
	return (double)N * (double)pair->n_bytes / (double)(clock_monotonic_ns() - began_ns);
}

static void note_best(double *best, double found)
{
	*best = found > *best ? found : *best;
}

/* Until all that was issued to the stage's compute stream has ended. */
static int finish(struct plane_pair *pair, int stage)
{
	int rc = device_record(pair->passed[stage], pair->compute[stage], &pair->err);

	while (rc == 0) {
		rc = plane_pair_turn(pair, false);
		rc = rc ? rc : device_query(pair->passed[stage], NULL, NULL, &pair->err);
	}
	return rc < 0 ? rc : 0;
}

static int copy_plainly(struct plane_pair *pair, int stage, bool is_to_host, double *best)
{
	struct dataplane *plane = pair->planes[stage];
	int64_t began_ns = clock_monotonic_ns();
	int rc = 0;

	for (int mb = 0; rc == 0 && mb < N; mb++) {
		char *host = pair->found[stage] + (size_t)mb * pair->n_bytes;

		rc = is_to_host
		             ? device_copy(pair->compute[stage], host,
		                           dataplane_output(plane, OP_F, mb), pair->n_bytes,
		                           &pair->err)
		             : device_copy(pair->compute[stage], dataplane_input(plane, OP_F, mb),
		                           host, pair->n_bytes, &pair->err);
	}
	rc = rc ? rc : finish(pair, stage);
	note_best(best, speed(pair, began_ns));
	return rc;
}

/* Outputs are there before. */
static int copy_to_host(struct plane_pair *pair, double *best)
{
	int64_t began_ns;
	int rc = 0;

	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = plane_pair_make(pair, 0, mb);
	rc = rc ? rc : finish(pair, 0);
	began_ns = clock_monotonic_ns();
	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = dataplane_send(pair->planes[0], pair->compute[0], pair->produced[0][mb], OP_F,
		                    mb, &pair->err);
	while (rc == 0 && plane_pair_requested(pair, 0) < N)
		rc = plane_pair_turn(pair, false);
	note_best(best, speed(pair, began_ns));
	return rc;
}

/* All have come before any is handed to the plane. */
static int gather(struct plane_pair *pair, struct transport_event received[N])
{
	int n_received = 0, rc = 0;

	while (rc == 0 && n_received < N) {
		struct transport_event event;
		size_t n = 0;

		rc = plane_pair_turn(pair, false);
		rc = rc ? rc : transport_poll(pair->transport, &event, 1, &n, &pair->err);
		if (rc || n == 0)
			continue;
		/* A queue takes the next message when the one before is known to be sent. */
		if (event.kind == TRANSPORT_RECEIVED)
			received[n_received++] = event;
		else
			rc = dataplane_event(pair->planes[0], &event, &pair->err);
	}
	return rc;
}

static int copy_to_device(struct plane_pair *pair, double *best)
{
	struct transport_event received[N];
	int64_t began_ns;
	int rc = gather(pair, received);

	for (int mb = 0; rc == 0 && mb < N; mb++)
		rc = dataplane_receive(pair->planes[1], pair->compute[1], OP_F, mb, &pair->err);
	began_ns = clock_monotonic_ns();
	for (int i = 0; rc == 0 && i < N; i++)
		rc = dataplane_event(pair->planes[1], &received[i], &pair->err);
	rc = rc ? rc : finish(pair, 1);
	note_best(best, speed(pair, began_ns));
	return rc;
}

static int run_round(struct plane_pair *pair, int round, struct plane_speed *out)
{
	const struct plane_rules rules = plane_delegate();
	int rc = plane_pair_begin(pair, &rules, round);

	rc = rc ? rc : copy_to_host(pair, &out->to_host);
	rc = rc ? rc : copy_to_device(pair, &out->to_device);
	rc = rc ? rc : plane_pair_finish(pair);
	rc = rc ? rc : copy_plainly(pair, 0, true, &out->plain_to_host);
	return rc ? rc : copy_plainly(pair, 1, false, &out->plain_to_device);
}

int plane_speed_measure(const char *device, size_t n_bytes, struct plane_speed *out,
                        struct err *err)
{
	const int n_queues = plane_delegate().n_queues;
	struct plane_pair pair = {.device_name = device,
	                          .n_microbatches = N,
	                          .n_queues = n_queues,
	                          .n_copy_streams =
	                                  streams_of_worker(N_STAGES, n_queues, false).n_copying,
	                          .n_bytes = n_bytes,
	                          .is_reachable = true};
	struct plane_speed best = {0};
	int rc = plane_pair_open(&pair);

	for (int round = 0; rc == 0 && round < N_ROUNDS; round++)
		rc = run_round(&pair, round, &best);
	if (rc)
		(void)err_set(err, rc, "%s", pair.err.text);
	else
		*out = best;
	plane_pair_close(&pair);
	return rc;
}
