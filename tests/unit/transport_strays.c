/* transport_strays.c - what comes to a port or over a connection and should not: dropped or lost,
 * never a crash, never more memory than was agreed on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/stray.h"
#include "tests/tap.h"

enum { MAX_BYTES = 4096 };

static const struct transport_variant tcp_alone = {"tcp", false, 1, false};

static void check_still_works(struct transport_case *c)
{
	struct message message = case_message(c, 0, 1, 1, 100);
	char payload[100];

	case_payload(&message, payload);
	c->n_log = 0;
	(void)case_send(c, &message, payload);
	tap_ok(case_wait(c, TRANSPORT_ACKED, 0, 1) && case_count(c, TRANSPORT_LOST, -1) == 0,
	       "messages travel as before");
}

static void check_stranger(struct transport_case *c, const void *bytes, size_t n_bytes,
                           const char *what)
{
	int fd = stray_dial(c->addresses[1].text[0]);

	stray_say(fd, bytes, n_bytes);
	tap_ok(stray_is_closed(c, fd), "%s is sent away", what);
	(void)close(fd);
}

static void check_hello(struct transport_case *c, const struct frame *frame, const char *what)
{
	uint8_t bytes[FRAME_HEADER_BYTES];

	frame_encode(frame, bytes);
	check_stranger(c, bytes, sizeof(bytes), what);
}

static void test_strangers(void)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	uint8_t bytes[FRAME_HEADER_BYTES];
	struct transport_case c;
	struct frame frame;
	int fds[100];

	case_init(&c, &tcp_alone, 2);
	c.config.max_bytes = MAX_BYTES;
	if (!case_open(&c)) {
		case_fini(&c);
		return;
	}
	check_stranger(&c, http, sizeof(http) - 1, "a web browser");
	check_stranger(&c, "\0", 1, "one byte");
	frame = stray_hello(&c);
	frame.message.run = 3;
	check_hello(&c, &frame, "a worker of another run");
	frame = stray_hello(&c);
	frame.message.queue = 9;
	check_hello(&c, &frame, "a worker with more queues");
	frame.message.queue = 0;
	frame.message.replica = 1;
	check_hello(&c, &frame, "a worker of another replica");
	frame.message.replica = 0;
	frame.message.to_stage = 0;
	check_hello(&c, &frame, "a worker that wants another stage");
	frame = stray_hello(&c);
	frame.type = FRAME_DATA;
	check_hello(&c, &frame, "a message before the hello");
	frame = stray_hello(&c);
	frame_encode(&frame, bytes);
	bytes[4]++;
	check_stranger(&c, bytes, sizeof(bytes), "another version");
	bytes[4]--;
	bytes[20] ^= 1;
	check_stranger(&c, bytes, sizeof(bytes), "a hello with a wrong checksum");

	/* Some say nothing, or half of it, and stay. More than there is room for. */
	for (int i = 0; i < 100; i++) {
		fds[i] = stray_dial(c.addresses[1].text[0]);
		stray_say(fds[i], bytes, (size_t)(i % 4));
		case_poll(&c);
	}
	check_still_works(&c);
	for (int i = 0; i < 100; i++)
		(void)close(fds[i]);
	case_settle(&c);
	check_still_works(&c);
	case_fini(&c);
}

static void test_speechless(void)
{
	struct transport_case c;
	int fd;

	case_init(&c, &tcp_alone, 2);
	case_use_virtual_clock(&c);
	if (case_open(&c)) {
		fd = stray_dial(c.addresses[1].text[0]);
		case_settle(&c);
		c.now_ns = 10LL * NS_PER_S;
		tap_ok(stray_is_closed(&c, fd), "who says nothing is sent away after a while");
		(void)close(fd);
	}
	case_fini(&c);
}

/* A worker that runs stage 1 alone, and a socket that passes for stage 0. */
static int open_worker_and_dial(struct transport_case *c, int64_t silence_ns, int64_t max_bytes)
{
	struct frame hello;
	uint8_t bytes[FRAME_HEADER_BYTES];
	int fd;

	c->variant.n_workers = 2;
	c->config.max_bytes = max_bytes;
	c->config.silence_ns = silence_ns;
	if (!case_open_workers(c))
		abort();
	/* Only stage 1's worker stays; its end is made by whoever says the right hello. */
	transport_close(c->workers[0]);
	c->workers[0] = c->workers[1];
	c->workers[1] = NULL;
	c->variant.n_workers = 1;
	fd = stray_dial(c->addresses[1].text[0]);
	hello = stray_hello(c);
	frame_encode(&hello, bytes);
	stray_say(fd, bytes, sizeof(bytes));
	(void)case_connect(c);
	for (ssize_t n = 0; n < FRAME_HEADER_BYTES; case_poll(c)) {
		ssize_t got = recv(fd, bytes, sizeof(bytes) - (size_t)n, MSG_DONTWAIT);

		n += got > 0 ? got : 0;
	}
	return fd;
}

static int open_impostor(struct transport_case *c, int64_t silence_ns)
{
	case_init(c, &tcp_alone, 2);
	return open_worker_and_dial(c, silence_ns, MAX_BYTES);
}

static struct frame data_of(const struct transport_case *c, int64_t n_bytes)
{
	return (struct frame){
		.type = FRAME_DATA,
		.message = case_message(c, 0, 1, 4, n_bytes),
	};
}

static void check_bad_header(struct transport_case *c, int fd, const uint8_t *header,
                             const char *want)
{
	stray_say(fd, header, FRAME_HEADER_BYTES);
	if (tap_ok(case_wait(c, TRANSPORT_LOST, 1, 1), "the rail is lost")) {
		const struct transport_event *event = &c->log[c->n_log - 1].event;

		tap_is_int(event->reason, -EBADMSG, "for what came");
		tap_contains(event->sentence, want, "and said so");
	}
	tap_is_int(case_count(c, TRANSPORT_RECEIVED, -1), 0, "nothing was received");
	(void)close(fd);
	case_fini(c);
}

static void check_bad_frame(void (*spoil)(struct frame *frame), const char *want)
{
	uint8_t header[FRAME_HEADER_BYTES];
	struct transport_case c;
	struct frame frame;
	int fd = open_impostor(&c, 0);

	frame = data_of(&c, 10);
	spoil(&frame);
	frame_encode(&frame, header);
	check_bad_header(&c, fd, header, want);
}

static void too_large(struct frame *frame)
{
	frame->message.n_bytes = MAX_BYTES + 1;
}

static void huge(struct frame *frame)
{
	frame->message.n_bytes = INT64_MAX;
}

static void negative(struct frame *frame)
{
	frame->message.n_bytes = -1;
}

static void of_other_run(struct frame *frame)
{
	frame->message.run = 5;
}

static void of_other_stage(struct frame *frame)
{
	frame->message.to_stage = 2;
}

static void out_of_order(struct frame *frame)
{
	frame->sequence = 1;
}

static void second_hello(struct frame *frame)
{
	*frame = (struct frame){.type = FRAME_HELLO, .message = frame->message};
	frame->message.n_bytes = 0;
}

static void unasked_ack(struct frame *frame)
{
	frame->type = FRAME_ACK;
	frame->message.n_bytes = 0;
}

static void unknown_type(struct frame *frame)
{
	frame->type = (enum frame_type)9;
}

static void test_bad_headers(void)
{
	uint8_t header[FRAME_HEADER_BYTES] = {0};
	struct transport_case c;
	struct frame frame;
	int fd;

	check_bad_frame(too_large, "4097 bytes");
	check_bad_frame(huge, "9223372036854775807 bytes");
	check_bad_frame(negative, "negative");
	check_bad_frame(of_other_run, "run 5");
	check_bad_frame(of_other_stage, "stage 2");
	check_bad_frame(out_of_order, "message 1 came where 0");
	check_bad_frame(second_hello, "out of turn");
	check_bad_frame(unasked_ack, "not under way");
	check_bad_frame(unknown_type, "type 9");
	fd = open_impostor(&c, 0);
	check_bad_header(&c, fd, header, "does not begin like a frame");
	fd = open_impostor(&c, 0);
	frame = data_of(&c, 10);
	frame_encode(&frame, header);
	header[60] ^= 4;
	check_bad_header(&c, fd, header, "wrong checksum");
}

/* A whole message by hand, right or wrong in one bit of its payload. */
static void test_payload_digest(bool is_right)
{
	uint8_t bytes[FRAME_HEADER_BYTES + 1000 + FRAME_TRAILER_BYTES];
	uint8_t *payload = bytes + FRAME_HEADER_BYTES;
	struct transport_case c;
	struct frame frame;
	int fd = open_impostor(&c, 0);

	frame = data_of(&c, 1000);
	frame_encode(&frame, bytes);
	case_payload(&frame.message, payload);
	frame_put_u64(payload + 1000, frame_digest(0, payload, 1000));
	payload[500] ^= (uint8_t)(is_right ? 0 : 16);
	/* Byte by byte at first: every border of a frame is met in the middle. */
	for (size_t i = 0; i < 150; i++) {
		stray_say(fd, bytes + i, 1);
		case_poll(&c);
	}
	stray_say(fd, bytes + 150, sizeof(bytes) - 150);
	if (is_right) {
		tap_ok(case_wait(&c, TRANSPORT_RECEIVED, 1, 1) && c.log[0].is_intact,
		       "a message that comes in pieces is received");
	} else {
		tap_ok(case_wait(&c, TRANSPORT_LOST, 1, 1) && c.log[0].event.reason == -EBADMSG,
		       "a payload with one wrong bit ends in a loss");
		tap_contains(c.log[0].event.sentence, "wrong checksum", "and a sentence");
	}
	(void)close(fd);
	case_fini(&c);
}

/* The impostor's hello names no clock that this machine has: its moments mean nothing here, only
 * the time between them does. */
static void test_other_clock(void)
{
	uint8_t bytes[FRAME_HEADER_BYTES + FRAME_TRAILER_BYTES] = {0};
	struct transport_case c;
	struct frame frame;
	int fd = open_impostor(&c, 0);

	frame = data_of(&c, 0);
	frame.message.sent_ns = INT64_MAX / 2;
	frame.message.due_ns = INT64_MAX / 2 + 20 * NS_PER_MS;
	frame_encode(&frame, bytes);
	stray_say(fd, bytes, sizeof(bytes));
	if (tap_ok(case_wait(&c, TRANSPORT_RECEIVED, 1, 1), "a message of another clock arrives")) {
		const struct transport_event *event = &c.log[0].event;

		tap_is_int(event->at_ns - event->arrived_ns, 20 * NS_PER_MS,
		           "it is held as long as its sender asked");
		tap_is_int(event->message.sent_ns, event->arrived_ns,
		           "and counts as sent when it came");
	}
	(void)close(fd);
	case_fini(&c);
}

/* Half a message and then the end, or silence. */
static void test_half_message(bool is_silent)
{
	uint8_t header[FRAME_HEADER_BYTES];
	struct transport_case c;
	struct frame frame;
	int fd = open_impostor(&c, 100 * NS_PER_MS);

	frame = data_of(&c, 1000);
	frame_encode(&frame, header);
	stray_say(fd, header, sizeof(header));
	stray_say(fd, header, sizeof(header));
	case_settle(&c);
	if (!is_silent)
		(void)shutdown(fd, SHUT_WR);
	tap_ok(case_wait(&c, TRANSPORT_LOST, 1, 1), "half a message and then %s is a loss",
	       is_silent ? "silence" : "the end");
	tap_is_int(c.n_log == 1 ? c.log[0].event.reason : 0, is_silent ? -ETIMEDOUT : -ECONNRESET,
	           "for that reason");
	(void)close(fd);
	case_fini(&c);
}

/* A path that carries a little all the time is slow, not silent; then it stops. */
static void test_slow_is_not_silent(void)
{
	enum { LARGE = 32 << 20, PIECE = 128 << 10, N_PIECES = 40 };
	const int64_t silence_ns = 800;
	char *large = calloc(1, LARGE), *piece = malloc(PIECE);
	struct transport_case c;
	struct message message;
	int fd;

	case_init(&c, &tcp_alone, 2);
	case_use_virtual_clock(&c);
	fd = open_worker_and_dial(&c, silence_ns, LARGE);
	message = case_message(&c, 1, 0, 0, LARGE);
	(void)case_send(&c, &message, large);
	case_settle(&c);
	for (int i = 0; i < N_PIECES; i++) {
		if (recv(fd, piece, PIECE, MSG_DONTWAIT | MSG_WAITALL) < 0)
			tap_note("nothing to be read in round %d", i);
		c.now_ns += silence_ns / 4;
		case_settle(&c);
	}
	tap_is_int((int64_t)c.n_log, 0, "a slow reader is not silent");
	for (int i = 0; i < N_PIECES; i++) {
		c.now_ns += silence_ns / 4;
		case_poll(&c);
	}
	tap_ok(c.n_log == 1 && c.log[0].event.reason == -ETIMEDOUT, "one that stops is");
	(void)close(fd);
	free(large);
	free(piece);
	case_fini(&c);
}

/* Random bytes after a good hello, and good frames with random damage. */
static void test_fuzz(void)
{
	enum { ROUNDS = 150, LENGTH = 2 * (FRAME_HEADER_BYTES + 50 + FRAME_TRAILER_BYTES) };
	int n_lost = 0, n_received = 0;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint8_t bytes[LENGTH];
		struct transport_case c;
		int fd = open_impostor(&c, 0);

		for (int i = 0; i < LENGTH; i++)
			bytes[i] = (uint8_t)rng_mix(round, (uint64_t)i);
		for (int i = 0; i < 2 && round % 2; i++) {
			uint8_t *at = bytes + i * LENGTH / 2;
			struct frame frame = data_of(&c, 50);

			frame.sequence = (uint64_t)i;
			frame_encode(&frame, at);
			frame_put_u64(at + FRAME_HEADER_BYTES + 50,
			              frame_digest(0, at + FRAME_HEADER_BYTES, 50));
		}
		if (round % 2)
			bytes[rng_mix(round, 1) % LENGTH] ^= (uint8_t)(1 + rng_mix(round, 2) % 255);
		c.keeps_payloads = true;
		stray_say(fd, bytes, sizeof(bytes));
		case_settle(&c);
		(void)close(fd);
		(void)case_wait(&c, TRANSPORT_LOST, 1, 1);
		n_received += case_count(&c, TRANSPORT_RECEIVED, 1);
		n_lost += case_count(&c, TRANSPORT_LOST, 1);
		case_fini(&c);
	}
	tap_is_int(n_lost, ROUNDS,
	           "whatever bytes come, the rail is lost and nothing else happens");
	tap_ok(n_received < ROUNDS, "no damaged message is received (%d whole ones were)",
	       n_received);
}

int main(void)
{
	test_strangers();
	test_bad_headers();
	test_payload_digest(true);
	test_payload_digest(false);
	test_other_clock();
	test_half_message(false);
	test_half_message(true);
	test_slow_is_not_silent();
	test_speechless();
	test_fuzz();
	return tap_done();
}
