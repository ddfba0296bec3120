/* transport_early.c - tests who comes for a connection before the other side has called connect():
 * it waits, is let in then, and what it is let in on is not taken down again. */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "tests/stray.h"
#include "tests/tap.h"

static int say_hello(struct transport_case *c)
{
	struct frame frame = stray_hello(c);
	uint8_t bytes[FRAME_HEADER_BYTES];
	int fd = stray_dial(c->addresses[1].text[0]);

	frame_encode(&frame, bytes);
	stray_say(fd, bytes, sizeof(bytes));
	case_settle(c);
	c->now_ns += 10LL * NS_PER_S;
	case_settle(c);
	return fd;
}

static bool is_waiting(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void check_works(struct transport_case *c, int microbatch)
{
	struct message message = case_message(c, 0, 1, microbatch, 100);
	char payload[100];

	case_payload(&message, payload);
	c->n_log = 0;
	(void)case_send(c, &message, payload);
	tap_ok(case_wait(c, TRANSPORT_ACKED, 0, 1) && case_count(c, TRANSPORT_LOST, -1) == 0,
	       "messages travel");
}

/* However long it takes; one that goes, or talks on, has had its turn. */
static void test_waits(void)
{
	static const struct transport_variant variant = {"tcp", false, 1, false};
	struct transport_case c;
	int fd;

	case_init(&c, &variant, 2);
	case_use_virtual_clock(&c);
	if (case_open(&c)) {
		(void)c.workers[0]->ops->set_rail(c.workers[0], 1, 0, false, NULL);
		fd = say_hello(&c);
		tap_ok(is_waiting(fd), "on a rail that is down it is neither let in nor sent away");
		(void)c.workers[0]->ops->set_rail(c.workers[0], 1, 0, true, NULL);
		case_settle(&c);
		tap_ok(is_waiting(fd), "nor on one that is up but not connected");
		stray_say(fd, "!", 1);
		tap_ok(stray_is_closed(&c, fd), "it is sent away when it talks on");
		(void)close(fd);
		(void)close(say_hello(&c));
		tap_ok(case_connect(&c), "one that is gone is in nobody's way");
		check_works(&c, 1);
	}
	case_fini(&c);
}

/* More than there are places for: those who have said nothing go first. */
static void test_crowd(void)
{
	enum { N_SILENT = 100 };
	static const struct transport_variant variant = {"tcp", false, 1, false};
	struct transport_case c;
	int fd, silent[N_SILENT];

	case_init(&c, &variant, 2);
	if (case_open(&c)) {
		fd = say_hello(&c);
		for (int i = 0; i < N_SILENT; i++) {
			silent[i] = stray_dial(c.addresses[1].text[0]);
			case_poll(&c);
		}
		case_settle(&c);
		tap_ok(is_waiting(fd), "a crowd that says nothing does not push it out");
		for (int i = 0; i < N_SILENT; i++)
			(void)close(silent[i]);
		(void)close(fd);
	}
	case_fini(&c);
}

struct early {
	struct transport_case *c;
	int rc;
	int is_connected;
};

static void *connect_early(void *argument)
{
	struct early *early = argument;
	struct transport *transport = early->c->workers[0];

	early->rc = transport_connect(transport, early->c->addresses, 20LL * NS_PER_S, NULL);
	__atomic_store_n(&early->is_connected, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Worker 0 makes its end anew while worker 1 has not noticed yet that the old one is gone, or has
 * its own rail down; then worker 1 does the same. */
static void test_late_worker(bool is_own, bool has_seen)
{
	static const struct transport_variant variant = {"tcp", false, 2, false};
	struct early early = {0};
	struct transport_case c;
	pthread_t thread;

	case_init(&c, &variant, 2);
	early.c = &c;
	if (case_open(&c)) {
		(void)c.workers[is_own]->ops->set_rail(c.workers[is_own], is_own, 0, false, NULL);
		if (!is_own)
			(void)c.workers[0]->ops->set_rail(c.workers[0], 0, 0, true, NULL);
		else
			(void)case_wait(&c, TRANSPORT_LOST, 0, 1);
		(void)pthread_create(&thread, NULL, connect_early, &early);
		for (int i = 0; i < 50; i++) {
			if (has_seen)
				case_poll_worker(&c, 1);
			(void)usleep(1000);
		}
		tap_ok(!__atomic_load_n(&early.is_connected, __ATOMIC_ACQUIRE),
		       "who connects before the other side does is not connected yet");
		case_poll_worker(&c, 1);
		(void)c.workers[1]->ops->set_rail(c.workers[1], is_own, 0, false, NULL);
		(void)c.workers[1]->ops->set_rail(c.workers[1], is_own, 0, true, NULL);
		tap_is_int(transport_connect(c.workers[1], c.addresses, 20LL * NS_PER_S, NULL), 0,
		           "then the other side connects, too");
		(void)pthread_join(thread, NULL);
		tap_is_int(early.rc, 0, "and both are connected");
		/* What was lost before. */
		case_settle(&c);
		tap_is_int(case_count(&c, TRANSPORT_LOST, 0), 1, "each end was lost once");
		tap_is_int(case_count(&c, TRANSPORT_LOST, 1), 1, "and once");
		check_works(&c, 1 + has_seen);
	}
	case_fini(&c);
}

int main(void)
{
	test_waits();
	test_crowd();
	for (int i = 0; i < 4; i++)
		test_late_worker(i & 1, i >> 1);
	return tap_done();
}
