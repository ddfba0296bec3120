/* transport_refused.c - a message that a transport refuses keeps no other one waiting behind it. */
#include <errno.h>

#include "tests/tap.h"
#include "tests/transport_case.h"

static char payload[100];

/* loopback that refuses what it is sent while it is told to. */
static const struct transport_ops *loopback;
static bool is_refusing;

static int send_unless_refusing(struct transport *transport, const struct message *message,
                                const void *bytes, struct err *err)
{
	if (is_refusing)
		return err_set(err, -ENETDOWN, "refused");
	return loopback->send(transport, message, bytes, err);
}

static bool open_refusing(struct transport_case *c)
{
	static const struct transport_variant variant = {"loopback", true, 1, false};
	static const bool is_local[] = {true, true};
	static struct transport_ops refusing;
	struct transport *inner;
	struct err err = {0};

	case_init(c, &variant, 2);
	case_use_virtual_clock(c);
	c->now_ns = 10;
	c->config.is_local = is_local;
	if (transport_find("loopback", &loopback, &err) ||
	    loopback->open(&c->config, c->addresses, &inner, &err))
		return false;
	refusing = *loopback;
	refusing.send = send_unless_refusing;
	inner->ops = &refusing;
	return shaped_wrap(inner, &c->config, &c->workers[0], &err) == 0 && case_connect(c);
}

static int64_t due_of(const struct transport_case *c, int microbatch)
{
	for (size_t i = 0; i < c->n_log; i++)
		if (c->log[i].event.kind == TRANSPORT_RECEIVED &&
		    c->log[i].event.message.microbatch == microbatch)
			return c->log[i].event.message.due_ns;
	return -1;
}

/* When a message of n_bytes is due behind others in its window, some of them refused. */
static int64_t due_after(int n_refused, int64_t n_bytes)
{
	const struct shape slow = {.transmit_ns = 1000, .latency_ns = 500, .return_ns = 500};
	struct transport_case c;
	struct message message;
	int64_t due_ns;

	if (open_refusing(&c)) {
		(void)shaped_set(c.workers[0], 0, 1, &slow, NULL);
		shaped_set_plane(c.workers[0], PLANE_STREAM, 100);
		for (int mb = 0; mb < 2; mb++) {
			message = case_message(&c, 0, 1, mb, 60 - 20 * mb);
			(void)case_send(&c, &message, payload);
		}
		message = case_message(&c, 0, 1, 2, 90);
		is_refusing = true;
		for (int i = 0; i < n_refused; i++)
			tap_is_int(transport_send(c.workers[0], &message, payload, NULL), -ENETDOWN,
			           "a message is refused");
		is_refusing = false;
		message.n_bytes = n_bytes;
		(void)case_send(&c, &message, payload);
		c.now_ns = 90000;
		case_poll(&c);
	}
	due_ns = due_of(&c, 2);
	case_fini(&c);
	return due_ns;
}

static void test_leaves_no_trace(int64_t n_bytes)
{
	int64_t undisturbed_ns = due_after(0, n_bytes);

	tap_ok(undisturbed_ns > 0, "a message of %lld bytes comes", (long long)n_bytes);
	tap_is_int(due_after(3, n_bytes), undisturbed_ns,
	           "at the same moment when others were refused before it");
}

int main(void)
{
	for (int64_t n_bytes = 20; n_bytes <= 100; n_bytes += 20)
		test_leaves_no_trace(n_bytes);
	return tap_done();
}
