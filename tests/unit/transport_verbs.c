/* transport_verbs.c - a rail over RDMA that dies of its link, of its neighbour's, or of packets
 * that are lost, also where the device does not say so: its end is told in any case and in time,
 * another rail goes on, and it can be made again. And which memory devices know.
 *
 * Runs where tests/vm/rxe.sh has made two pairs of devices: rail 0 is pair 0, stage 0 its end va0.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { BYTES = 30000, N_MESSAGES = 12, N_BEFORE = 4, COMMAND_BYTES = 256 };

/* rxe never stops trying, so nothing completes. */
enum { RETRIES_FOR_EVER = 7 };

/* What a look at the transport may take; what is longer is the machine's doing, and not counted. */
static const int64_t LOOK_MOST_NS = 20 * NS_PER_MS;

static const int64_t LOST_MOST_NS = 60LL * NS_PER_S;

/* For events to be handed on, beside what devices are waited for. */
static const int64_t ALLOWANCE_NS = 500 * NS_PER_MS;

static const struct cause {
	const char *text;
	const char *begin, *end;
	int n_retries; /* 0: the default */
} own_link = {"its link goes down", "ip link set va0 down",
              "ip link set va0 up && . tests/vm/rxe.sh && rxe_routes 0", 0},
  other_link = {"its neighbour's link goes down", "ip link set vb0 down",
                "ip link set vb0 up && . tests/vm/rxe.sh && rxe_routes 0", 0},
  loss = {"every packet is lost", "tc qdisc add dev va0 root netem loss 100%",
          "tc qdisc del dev va0 root", 0},
  quiet_loss = {"every packet is lost, of which the device says nothing",
                "tc qdisc add dev va0 root netem loss 100%", "tc qdisc del dev va0 root",
                RETRIES_FOR_EVER};

/* Messages from stage 0 to stage 1, one after another, and again over rail 1 once rail 0 is lost.
 */
struct conversation {
	struct transport_case c;
	struct verbs_settings settings;
	char payload[BYTES];
	bool is_acked[N_MESSAGES], has_arrived[N_MESSAGES];
	size_t n_read; /* of the log */
	int n_sent, n_acked, rail;
	int64_t lost_ns; /* 0: not yet */
	int64_t lost_after_ns;
	int64_t since_ns, looked_ns; /* since the cause was there, without what the machine took */
};

static void run(const char *command)
{
	char line[COMMAND_BYTES];

	(void)snprintf(line, sizeof(line), "bash -c '%s'", command);
	if (system(line) != 0)
		tap_ok(false, "%s", command);
}

static void send_mb(struct conversation *talk, int mb)
{
	struct message message = case_message(&talk->c, 0, 1, mb, BYTES);

	message.rail = talk->rail;
	(void)case_send(&talk->c, &message, talk->payload);
}

static void take_event(struct conversation *talk, const struct transport_event *event)
{
	int mb = event->message.microbatch;

	if (event->kind == TRANSPORT_RECEIVED)
		talk->has_arrived[mb] = true;
	if (event->kind == TRANSPORT_ACKED && !talk->is_acked[mb]) {
		talk->is_acked[mb] = true;
		talk->n_acked++;
	}
	if (event->kind != TRANSPORT_LOST || event->message.from_stage != 0)
		return;
	tap_note("%s", event->sentence);
	talk->lost_ns = clock_monotonic_ns();
	talk->lost_after_ns = talk->since_ns;
	talk->rail = 1;
	for (int i = 0; i < talk->n_sent; i++)
		if (!talk->is_acked[i])
			send_mb(talk, i);
}

static void count_time(struct conversation *talk)
{
	int64_t now_ns = clock_monotonic_ns(), ns = now_ns - talk->looked_ns;

	talk->since_ns += ns < LOOK_MOST_NS ? ns : LOOK_MOST_NS;
	talk->looked_ns = now_ns;
}

/* Go on until so many are acknowledged, or until a moment of real time. */
static void talk_until(struct conversation *talk, int n_acked, int64_t end_ns)
{
	while (talk->n_acked < n_acked && clock_monotonic_ns() < end_ns) {
		if (talk->n_sent == talk->n_acked && talk->n_sent < N_MESSAGES)
			send_mb(talk, talk->n_sent++);
		count_time(talk);
		case_poll(&talk->c);
		for (; talk->n_read < talk->c.n_log; talk->n_read++)
			take_event(talk, &talk->c.log[talk->n_read].event);
		clock_sleep_ns(NS_PER_MS);
	}
}

static bool are_all(const bool *values)
{
	for (int i = 0; i < N_MESSAGES; i++)
		if (!values[i])
			return false;
	return true;
}

/* Both ends know, and make the rail again. */
static void check_again(struct conversation *talk)
{
	struct transport_case *c = &talk->c;

	tap_ok(case_wait(c, TRANSPORT_LOST, 1, 1), "the other side has lost it, too");
	c->n_log = 0;
	talk->rail = 0;
	if (!tap_ok(case_connect(c), "the rail is made again"))
		return;
	send_mb(talk, 0);
	tap_ok(case_wait(c, TRANSPORT_ACKED, 0, 1) && case_count(c, TRANSPORT_LOST, -1) == 0,
	       "and carries messages as before");
}

static bool begin(struct conversation *talk, const struct cause *cause)
{
	static const struct transport_variant variant = {"verbs", false, 2, false};

	case_init(&talk->c, &variant, 2);
	talk->settings = *case_verbs();
	if (cause->n_retries > 0)
		talk->settings.retry.n_retries = cause->n_retries;
	talk->c.config.verbs = &talk->settings;
	talk->c.config.n_rails = 2;
	talk->c.keeps_payloads = true;
	if (!case_open(&talk->c))
		return false;
	talk_until(talk, N_BEFORE, INT64_MAX);
	return true;
}

/* Whatever the cause: when the link has changed, or the device is not waited for any longer. */
static void check_limit(const struct conversation *talk)
{
	int64_t patience_ns = verbs_patience_ns(&talk->settings.retry);
	int64_t limit_ns = patience_ns + patience_ns / VERBS_CHECKS_PER_PATIENCE + ALLOWANCE_NS;

	tap_ok(talk->lost_ns > 0 && talk->lost_after_ns <= limit_ns,
	       "within its limit, %lld of %lld ms", (long long)(talk->lost_after_ns / NS_PER_MS),
	       (long long)(limit_ns / NS_PER_MS));
}

/* must_lose: the outage is longer than anything is waited for. */
static void test_outage(const struct cause *cause, int lasts_ms, bool must_lose)
{
	struct conversation *talk = calloc(1, sizeof(*talk));
	int64_t begin_ns;

	if (begin(talk, cause)) {
		begin_ns = clock_monotonic_ns();
		run(cause->begin);
		talk->looked_ns = clock_monotonic_ns();
		talk->since_ns = 0;
		talk_until(talk, N_MESSAGES, begin_ns + lasts_ms * (int64_t)NS_PER_MS);
		while (must_lose && talk->lost_ns == 0 &&
		       clock_monotonic_ns() < begin_ns + LOST_MOST_NS)
			talk_until(talk, N_MESSAGES, clock_monotonic_ns() + NS_PER_MS);
		run(cause->end);
		talk_until(talk, N_MESSAGES, clock_monotonic_ns() + 20LL * NS_PER_S);
		tap_ok(are_all(talk->is_acked) && are_all(talk->has_arrived),
		       "%s for %d ms: every message arrives", cause->text, lasts_ms);
		tap_ok(talk->lost_ns > 0 || !must_lose, "the rail is lost (%lld ms)",
		       (long long)(talk->lost_ns > 0 ? (talk->lost_ns - begin_ns) / NS_PER_MS
		                                     : -1));
		if (must_lose)
			check_limit(talk);
		if (talk->lost_ns > 0)
			check_again(talk);
	}
	case_fini(&talk->c);
	free(talk);
}

/* Settings that the device cannot be asked for are refused with a sentence. */
static void check_refused(const char *devices, const char *want)
{
	static const bool is_local[] = {true, true};
	const struct verbs_settings verbs = {.devices = devices, .retry = {14, 6}};
	const struct transport_config config = {
		.n_stages = 2, .is_local = is_local, .n_rails = 1, .n_queues = 1, .verbs = &verbs};
	struct transport_address addresses[2];
	const struct transport_ops *ops;
	struct transport *transport;
	struct err err = {0};

	if (transport_find("verbs", &ops, &err) == 0 &&
	    ops->open(&config, addresses, &transport, &err) == 0)
		transport_close(transport);
	tap_contains(err.text, want, "'%s' is refused", devices);
}

static void *connect_other(void *argument)
{
	struct transport_case *c = argument;

	(void)transport_connect(c->workers[1], c->addresses, LOST_MOST_NS, NULL);
	return NULL;
}

/* Who is connected may send at once; the other side may not have seen yet that it is, too. */
static bool is_first_acked(struct transport_case *c)
{
	struct message message = case_message(c, 0, 1, 0, BYTES);
	static char payload[BYTES];
	pthread_t other;
	int rc;

	if (pthread_create(&other, NULL, connect_other, c))
		return false;
	rc = transport_connect(c->workers[0], c->addresses, LOST_MOST_NS, NULL);
	if (rc == 0)
		rc = case_send(c, &message, payload);
	(void)pthread_join(other, NULL);
	return rc == 0 && case_wait(c, TRANSPORT_ACKED, 0, 1);
}

static void test_first_message(void)
{
	enum { N_ROUNDS = 10 };
	static const struct transport_variant variant = {"verbs", false, 2, false};
	bool has_held = true;

	for (int i = 0; has_held && i < N_ROUNDS; i++) {
		struct transport_case c;

		case_init(&c, &variant, 2);
		c.keeps_payloads = true;
		has_held = case_open_workers(&c) && is_first_acked(&c);
		case_fini(&c);
	}
	tap_ok(has_held, "what is sent as soon as it can be is acknowledged");
}

/* How many registrations of so many bytes the system knows of. */
static int count_registered(size_t n_bytes)
{
	char line[COMMAND_BYTES], want[64];
	FILE *pipe = popen("rdma resource show mr", "r");
	int n = 0;

	if (!pipe)
		return -1;
	(void)snprintf(want, sizeof(want), " mrlen %zu ", n_bytes);
	while (fgets(line, sizeof(line), pipe))
		n += strstr(line, want) != NULL;
	(void)pclose(pipe);
	return n;
}

static void check_sent(struct transport_case *c, void *payload, int mb)
{
	struct message message = case_message(c, 0, 1, mb, BYTES);

	case_payload(&message, payload);
	tap_ok(case_send(c, &message, payload) == 0 && case_wait(c, TRANSPORT_ACKED, 0, mb + 1) &&
	               case_wait(c, TRANSPORT_RECEIVED, 1, mb + 1) &&
	               c->log[c->n_log - 1].is_intact,
	       "message %d arrives", mb);
}

/* Known memory is registered when it is first sent from, once, and not any more when it may go. The
 * device that something is sent through knows it, no other does. */
static void test_registered(void)
{
	static const struct transport_variant variant = {"verbs", false, 1, false};
	const size_t n_bytes = 23 * 4096 + 1; /* like nothing else */
	char *memory = calloc(2, n_bytes);
	struct transport_case c;

	case_init(&c, &variant, 2);
	c.config.n_rails = 2;
	if (case_open(&c)) {
		transport_set_known(c.workers[0], memory, n_bytes, true);
		tap_is_int(count_registered(n_bytes), 0, "known memory is not registered yet");
		check_sent(&c, memory + n_bytes, 0);
		tap_is_int(count_registered(n_bytes), 0, "nor when other memory was sent from");
		check_sent(&c, memory, 1);
		check_sent(&c, memory + n_bytes - BYTES, 2);
		tap_is_int(count_registered(n_bytes), 1, "but once when it was");
		transport_set_known(c.workers[0], memory, n_bytes, false);
		tap_is_int(count_registered(n_bytes), 0, "and not any more when it may go");
		check_sent(&c, memory, 3);
		transport_set_known(c.workers[0], memory, n_bytes, true);
		check_sent(&c, memory, 4);
		tap_is_int(count_registered(n_bytes), 1, "it can be known again");
	}
	case_fini(&c);
	tap_is_int(count_registered(n_bytes), 0, "until the transport is closed");
	free(memory);
}

/* Where the end of what is said to be memory is none, it cannot be registered. */
static void test_unregistrable(void)
{
	static const struct transport_variant variant = {"verbs", false, 2, false};
	const size_t n_bytes = 29 * 4096;
	char *memory =
		mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct transport_case c;

	case_init(&c, &variant, 2);
	if (tap_ok(memory != MAP_FAILED, "there is memory") && case_open(&c)) {
		(void)munmap(memory + 28 * 4096, 4096);
		transport_set_known(c.workers[0], memory, n_bytes, true);
		check_sent(&c, memory, 0);
		check_sent(&c, memory + BYTES, 1);
		tap_is_int(count_registered(n_bytes), 0,
		           "they were copied, since the memory cannot be registered");
		transport_set_known(c.workers[0], memory, n_bytes, false);
	}
	case_fini(&c);
	(void)munmap(memory, n_bytes);
}

int main(void)
{
	if (!case_verbs()->devices)
		return tap_skip_all("ADAPTRA_TEST_RDMA names no RDMA devices");
	if (access("/sys/class/net/va0", F_OK))
		return tap_skip_all("the links that go down are those of tests/vm/rxe.sh");
	check_refused("nowhere", "stage 0, rail 0: no RDMA device is called nowhere");
	check_refused("rxa0:9", "RDMA device rxa0 has no port 9");
	test_first_message();
	test_registered();
	test_unregistrable();
	test_outage(&own_link, 100, true);
	test_outage(&own_link, 1000, true);
	test_outage(&own_link, 5000, true);
	test_outage(&other_link, 1000, true);
	test_outage(&loss, 100, false);
	test_outage(&loss, 1000, true);
	test_outage(&quiet_loss, 1000, true);
	return tap_done();
}
