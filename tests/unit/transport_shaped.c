/* transport_shaped.c - a shaped link costs what the simulator says, message for message, in virtual
 * time; and what the table of delay models says, also over sockets in real time. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/delay_table.h"
#include "tests/net_case.h"
#include "tests/slowness.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_MAX = 64, N_QUEUES_MAX = 8, N_DIRECTIONS = 2, BYTES_MAX = 1 << 16 };

static const int64_t OP_NS = 1000, DELAY_NS = 30 * NS_PER_MS;

static char payload[BYTES_MAX];

/* Messages of one direction of a link, asked for at request_ns in this order, and what they met. */
struct stream {
	int from, to, n;
	int64_t n_bytes;
	int64_t request_ns[N_MAX];
	int64_t start_ns[N_MAX], done_ns[N_MAX], arrive_ns[N_MAX], acked_ns[N_MAX];
	int next;
	bool is_busy[N_QUEUES_MAX];
};

struct drive {
	struct transport_case c;
	int64_t now_ns;
	int n_queues;
	bool is_real; /* time passes by itself */
	struct stream streams[N_DIRECTIONS];
};

static int64_t drive_clock(void *context)
{
	struct drive *drive = context;

	return drive->is_real ? clock_monotonic_ns() : drive->now_ns;
}

static bool drive_open(struct drive *drive, const char *backend, int n_queues)
{
	struct transport_variant variant = {backend, true, 1, false};

	case_init(&drive->c, &variant, 2);
	drive->n_queues = n_queues;
	drive->c.config.n_queues = n_queues;
	if (!drive->is_real) {
		drive->c.config.clock_ns = drive_clock;
		drive->c.config.clock_context = drive;
	}
	drive->streams[0].to = 1;
	drive->streams[1].from = 1;
	return case_open(&drive->c);
}

/* Send what is asked for by now and finds a free queue, or the channel. Returns whether any was. */
static bool send_requested(struct drive *drive, struct stream *stream, int64_t now_ns)
{
	bool has_sent = false;

	for (int q = 0; q < drive->n_queues; q++) {
		struct message message = case_message(&drive->c, stream->from, stream->to,
		                                      stream->next, stream->n_bytes);

		if (stream->next >= stream->n || stream->request_ns[stream->next] > now_ns)
			break;
		if (stream->is_busy[q])
			continue;
		message.queue = q;
		message.sent_ns = now_ns;
		if (case_send(&drive->c, &message, payload))
			tap_ok(false, "a message is taken");
		stream->is_busy[q] = true;
		stream->start_ns[stream->next++] = now_ns;
		has_sent = true;
	}
	return has_sent;
}

static void note(struct drive *drive, const struct transport_event *event)
{
	const struct message *message = &event->message;
	struct stream *stream = &drive->streams[message->from_stage];
	int mb = message->microbatch;

	switch (event->kind) {
	case TRANSPORT_SENT:
		stream->done_ns[mb] = event->at_ns;
		stream->is_busy[message->queue] = false;
		break;
	case TRANSPORT_RECEIVED:
		stream->arrive_ns[mb] = event->at_ns;
		break;
	case TRANSPORT_ACKED:
		stream->acked_ns[mb] = event->at_ns;
		break;
	case TRANSPORT_LOST:
		tap_ok(false, "a rail is lost: %s", event->sentence);
		break;
	}
}

/* Do all that happens at this moment. */
static void act(struct drive *drive)
{
	bool is_quiet = false;

	while (!is_quiet) {
		int64_t now_ns = drive_clock(drive);

		is_quiet = true;
		for (int d = 0; d < N_DIRECTIONS; d++)
			is_quiet &= !send_requested(drive, &drive->streams[d], now_ns);
		case_poll(&drive->c);
		for (size_t i = 0; i < drive->c.n_log; i++)
			note(drive, &drive->c.log[i].event);
		is_quiet &= drive->c.n_log == 0;
		drive->c.n_log = 0;
	}
}

static int64_t next_moment(const struct drive *drive)
{
	int64_t next_ns = transport_next_ns(drive->c.workers[0]);

	for (int d = 0; d < N_DIRECTIONS; d++) {
		const struct stream *stream = &drive->streams[d];

		if (stream->next < stream->n && stream->request_ns[stream->next] > drive->now_ns &&
		    stream->request_ns[stream->next] < next_ns)
			next_ns = stream->request_ns[stream->next];
	}
	return next_ns;
}

/* In virtual time, from moment to moment. */
static void drive_virtually(struct drive *drive)
{
	drive->now_ns = 0;
	for (;;) {
		int64_t next_ns;

		act(drive);
		next_ns = next_moment(drive);
		if (next_ns == INT64_MAX)
			return;
		drive->now_ns = next_ns > drive->now_ns ? next_ns : drive->now_ns;
	}
}

/* The row's messages, all asked for at once. */
static bool drive_open_table(struct drive *drive, const char *backend, const struct delay_row *row,
                             int64_t delay_ns)
{
	const struct shape shape = delay_message(row->model, delay_ns);

	if (!drive_open(drive, backend, row->plane == PLANE_STREAM ? 1 : row->n_queues))
		return false;
	(void)shaped_set(drive->c.workers[0], 0, 1, &shape, NULL);
	shaped_set_plane(drive->c.workers[0], row->plane, 0);
	drive->streams[0].n = row->n_messages;
	drive->streams[0].n_bytes = 100;
	return true;
}

static void test_table(const struct delay_row *row)
{
	struct drive drive = {0};

	if (drive_open_table(&drive, "loopback", row, DELAY_NS)) {
		drive_virtually(&drive);
		tap_is_int(drive.streams[0].arrive_ns[row->n_messages - 1],
		           delay_row_ns(row, 0, DELAY_NS),
		           "%s, %s plane: %d messages back to back cost what the table says",
		           delay_model_name(row->model), plane_kind_name(row->plane),
		           row->n_messages);
	}
	case_fini(&drive.c);
}

/* Over sockets, by the real clock: never earlier, and not twice as late. */
static void test_table_for_real(enum delay_model model, enum plane_kind plane)
{
	const struct delay_row row = {model, plane, 8, PLANE_QUEUES_DEFAULT};
	const int64_t delay_ns = 25 * NS_PER_MS;
	int64_t wanted_ns = delay_row_ns(&row, 0, delay_ns), start_ns, ns;
	struct drive drive = {.is_real = true};

	if (drive_open_table(&drive, "tcp", &row, delay_ns)) {
		start_ns = clock_monotonic_ns();
		while (drive.streams[0].acked_ns[row.n_messages - 1] == 0 &&
		       clock_monotonic_ns() - start_ns < 5LL * NS_PER_S)
			act(&drive);
		ns = drive.streams[0].arrive_ns[row.n_messages - 1] - drive.streams[0].start_ns[0];
		tap_ok(ns >= wanted_ns &&
		               (double)ns < 2 * (double)wanted_ns * slowness_of_machine(),
		       "tcp, %s, %s plane: %d messages cost %.3f of what the table says",
		       delay_model_name(model), plane_kind_name(plane), row.n_messages,
		       (double)ns / (double)wanted_ns);
	}
	case_fini(&drive.c);
}

/* A random message, the same for the simulator and for the wrapper. */
struct luck {
	uint64_t seed;
};

static int64_t draw_ns(uint64_t bits, int64_t most_ns)
{
	return bits % 3 == 0 ? 0 : (int64_t)(bits / 3 % (uint64_t)most_ns);
}

static struct shape random_shape(const struct luck *luck, int direction, int mb)
{
	uint64_t seed = rng_mix(luck->seed, (uint64_t)(direction * 1000 + mb));

	return (struct shape){
		.hold_ns = draw_ns(rng_mix(seed, 1), 8 * OP_NS),
		.transmit_ns = draw_ns(rng_mix(seed, 2), 4 * OP_NS),
		.latency_ns = draw_ns(rng_mix(seed, 3), 20 * OP_NS),
		.return_ns = draw_ns(rng_mix(seed, 4), 20 * OP_NS),
	};
}

static void ask_net(void *context, int direction, int mb, int64_t now_ns, struct shape *out)
{
	(void)now_ns;
	*out = random_shape(context, direction, mb);
}

static void ask_shaped(void *context, const struct message *message, struct shape *out)
{
	*out = random_shape(context, message->from_stage, message->microbatch);
}

/* Differences between what the simulator timed and what the wrapper did. */
static int n_differences(const struct drive *drive, const struct net_case *net,
                         const struct luck *luck)
{
	int n_wrong = 0;

	for (int d = 0; d < N_DIRECTIONS; d++) {
		const struct stream *stream = &drive->streams[d];

		for (int mb = 0; mb < stream->n; mb++) {
			const struct sim_op_times *times =
				net_case_op(net, d, d == 0 ? OP_F : OP_B, mb);

			n_wrong += stream->start_ns[mb] != times->transfer_start_ns;
			n_wrong += stream->done_ns[mb] != times->transfer_end_ns;
			n_wrong += stream->arrive_ns[mb] != times->arrive_ns;
			n_wrong += stream->acked_ns[mb] !=
			           times->arrive_ns + random_shape(luck, d, mb).return_ns;
		}
	}
	return n_wrong;
}

/* Both directions of one link, with the requests that the simulator's ops make. */
static int compare_with_net(uint64_t seed, enum plane_kind plane)
{
	struct luck luck = {seed};
	int n = 1 + (int)(rng_mix(seed, 5) % 40), n_wrong = 1;
	int64_t n_bytes = 1 + (int64_t)(rng_mix(seed, 6) % 1000);
	struct plane_rules rules = plane == PLANE_STREAM ? plane_unbatched() : plane_delegate();
	struct drive drive = {0};
	struct net_case net;

	rules.has_one_issue_queue = rules.is_channel_shared = false;
	rules.window_bytes = (int64_t)(rng_mix(seed, 7) % 5000);
	rules.n_queues = 1 + (int)(rng_mix(seed, 8) % N_QUEUES_MAX);
	if (!net_case_init(&net, "gpipe", 2, n, OP_NS))
		return 1;
	net.plan.merges_backward = false; /* a gradient leaves after its B */
	net.world.message_bytes = n_bytes;
	net.world.ask_message = ask_net;
	net.world.context = &luck;
	if (net_case_run(&net, &rules) &&
	    drive_open(&drive, "loopback", plane == PLANE_STREAM ? 1 : rules.n_queues)) {
		shaped_set_plane(drive.c.workers[0], plane, rules.window_bytes);
		shaped_set_hook(drive.c.workers[0], ask_shaped, &luck);
		for (int d = 0; d < N_DIRECTIONS; d++) {
			drive.streams[d].n = n;
			drive.streams[d].n_bytes = n_bytes;
			for (int mb = 0; mb < n; mb++)
				drive.streams[d].request_ns[mb] =
					net_case_op(&net, d, d == 0 ? OP_F : OP_B, mb)->end_ns;
		}
		drive_virtually(&drive);
		n_wrong = n_differences(&drive, &net, &luck);
		case_fini(&drive.c);
	}
	net_case_fini(&net);
	return n_wrong;
}

static void test_equals_simulator(enum plane_kind plane)
{
	enum { N_CASES = 300 };
	int n_wrong = 0, n_failed = 0;

	for (uint64_t seed = 0; seed < N_CASES; seed++) {
		int n = compare_with_net(seed, plane);

		n_wrong += n;
		n_failed += n > 0;
	}
	tap_ok(n_failed == 0,
	       "%s plane: start, end, arrival and acknowledgement of every message are the "
	       "simulator's in %d of %d random cases (%d differences)",
	       plane_kind_name(plane), N_CASES - n_failed, N_CASES, n_wrong);
}

/* A slow direction of one link touches no other. */
static void test_independence(int n_stages)
{
	static const struct transport_variant variant = {"loopback", true, 1, false};
	const struct shape slow = {.hold_ns = 5, .transmit_ns = 7, .latency_ns = 11};
	struct drive drive = {0};
	int n_late = 0, n_slow = 0;

	case_init(&drive.c, &variant, n_stages);
	drive.c.config.clock_ns = drive_clock;
	drive.c.config.clock_context = &drive;
	if (case_open(&drive.c)) {
		(void)shaped_set(drive.c.workers[0], 1, 0, &slow, NULL);
		for (int stage = 0; stage < n_stages - 1; stage++) {
			struct message there = case_message(&drive.c, stage, stage + 1, 0, 9);
			struct message back = case_message(&drive.c, stage + 1, stage, 0, 9);

			(void)case_send(&drive.c, &there, payload);
			(void)case_send(&drive.c, &back, payload);
		}
		case_poll(&drive.c);
		drive.now_ns = 1000;
		case_poll(&drive.c);
		for (size_t i = 0; i < drive.c.n_log; i++) {
			const struct transport_event *event = &drive.c.log[i].event;
			bool is_slow =
				event->message.from_stage == 1 && event->message.to_stage == 0;

			if (event->kind != TRANSPORT_RECEIVED)
				continue;
			n_slow += is_slow && event->at_ns == 23;
			n_late += !is_slow && event->at_ns != 0;
		}
		tap_ok(n_slow == 1 && n_late == 0,
		       "%d stages: a slow direction of one link delays its message and no other",
		       n_stages);
	}
	case_fini(&drive.c);
}

/* A message that a dead rail took along no longer keeps the link busy, nor the window full. */
static void test_loss_frees_link(void)
{
	const struct shape slow = {.transmit_ns = 1000, .latency_ns = 500, .return_ns = 500};
	struct drive drive = {0};
	struct transport *transport;
	struct message message;

	if (drive_open(&drive, "loopback", 1)) {
		transport = drive.c.workers[0];
		(void)shaped_set(transport, 0, 1, &slow, NULL);
		shaped_set_plane(transport, PLANE_STREAM, 100);
		message = case_message(&drive.c, 0, 1, 0, 100);
		(void)case_send(&drive.c, &message, payload);
		case_poll(&drive.c);
		(void)transport->ops->set_rail(transport, 0, 0, false, NULL);
		case_poll(&drive.c);
		(void)transport->ops->set_rail(transport, 0, 0, true, NULL);
		(void)case_connect(&drive.c);
		drive.c.n_log = 0;
		drive.now_ns = 10;
		(void)case_send(&drive.c, &message, payload);
		drive.now_ns = 9000;
		case_poll(&drive.c);
		for (size_t i = 0; i < drive.c.n_log; i++)
			if (drive.c.log[i].event.kind == TRANSPORT_RECEIVED)
				tap_is_int(drive.c.log[i].event.message.due_ns, 1510,
				           "what a dead rail took along holds nobody any more");
		tap_is_int(case_count(&drive.c, TRANSPORT_RECEIVED, 1), 1, "it arrived");
	}
	case_fini(&drive.c);
}

static void test_refusals(void)
{
	static const struct transport_variant variant = {"loopback", true, 1, false};
	const struct shape good = {0}, bad = {.latency_ns = -1};
	struct transport_case c;
	struct err err = {0};

	case_init(&c, &variant, 4);
	if (case_open(&c)) {
		tap_is_int(shaped_set(c.workers[0], 0, 2, &good, &err), -EINVAL,
		           "a link that is not there is refused");
		tap_contains(err.text, "stage 0 to stage 2", "and named");
		tap_is_int(shaped_set(c.workers[0], -1, 0, &good, &err), -EINVAL,
		           "so is one from before the first stage");
		tap_is_int(shaped_set(c.workers[0], 0, 1, &bad, &err), -EINVAL,
		           "and one that gains time");
	}
	case_fini(&c);
}

int main(void)
{
	struct delay_row row;

	for (int i = 0; delay_row_at(i, &row); i++)
		test_table(&row);
	for (int model = DELAY_LATENCY; model <= DELAY_OCCUPANCY; model++)
		for (int plane = PLANE_STREAM; plane <= PLANE_DELEGATE; plane++)
			test_table_for_real((enum delay_model)model, (enum plane_kind)plane);
	test_equals_simulator(PLANE_STREAM);
	test_equals_simulator(PLANE_DELEGATE);
	for (int n_stages = 2; n_stages <= 8; n_stages++)
		test_independence(n_stages);
	test_loss_frees_link();
	test_refusals();
	return tap_done();
}
