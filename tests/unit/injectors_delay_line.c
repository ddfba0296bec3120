/* injectors_delay_line.c - packets come out of a delay line when they should, or not at all. */
#include "injectors/delay_line.h"

#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"
#include "tests/tap.h"

enum { PACKETS_MAX = 2000, PACKET_BYTES = 1000, PATIENCE_MS = 3000 };

/* A line with one lane between two pairs of sockets. */
struct bench {
	struct delay_line *line;
	int lane;
	int in_fd, out_fd; /* where the test sends and receives */
};

struct arrival {
	int number;
	int64_t took_ns;
};

static const struct delay_shape plain = {.limit_packets = PACKETS_MAX};

static bool bench_begin(struct bench *bench, const struct delay_shape *shape)
{
	struct delay_ends ends = {.packet_bytes = PACKET_BYTES};
	int in[2], out[2], room = 4 << 20;
	struct err err = {0};

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, in) ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, out) ||
	    delay_line_open(7, &bench->line, &err))
		return tap_ok(false, "there are sockets and a line: %s", err.text);
	(void)setsockopt(out[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	bench->in_fd = in[0];
	bench->out_fd = out[1];
	ends.in_fd = in[1];
	ends.out_fd = out[0];
	return tap_is_int(delay_line_add(bench->line, &ends, shape, &bench->lane, &err), 0,
	                  "a lane is added");
}

static void bench_end(struct bench *bench)
{
	delay_line_close(bench->line);
	close(bench->in_fd);
	close(bench->out_fd);
}

static void send_one(const struct bench *bench, int number, int n_bytes)
{
	char bytes[PACKET_BYTES] = {0};
	int64_t now_ns = clock_monotonic_ns();

	memcpy(bytes, &number, sizeof(number));
	memcpy(bytes + sizeof(number), &now_ns, sizeof(now_ns));
	(void)!send(bench->in_fd, bytes, (size_t)n_bytes, 0);
}

/* Waits; false: nothing comes for patience_ms. */
static bool receive_one(const struct bench *bench, int patience_ms, struct arrival *out)
{
	struct pollfd fd = {.fd = bench->out_fd, .events = POLLIN};
	char bytes[PACKET_BYTES];
	int64_t sent_ns;

	if (poll(&fd, 1, patience_ms) <= 0 || recv(bench->out_fd, bytes, sizeof(bytes), 0) <= 0)
		return false;
	memcpy(&out->number, bytes, sizeof(out->number));
	memcpy(&sent_ns, bytes + sizeof(out->number), sizeof(sent_ns));
	out->took_ns = clock_monotonic_ns() - sent_ns;
	return true;
}

/* Median time of packets that are sent one at a time. */
static int64_t median_ns(const struct bench *bench, int n)
{
	int64_t *took_ns = calloc((size_t)n, sizeof(*took_ns)), median;
	struct arrival arrival = {0};

	for (int i = 0; i < n; i++) {
		send_one(bench, i, 100);
		if (receive_one(bench, PATIENCE_MS, &arrival))
			took_ns[i] = arrival.took_ns;
	}
	median = stats_quantile_ns(took_ns, (size_t)n, 0.5);
	free(took_ns);
	return median;
}

/* Never too early, and the clock is watched so that it is not late either. */
static void test_delay(void)
{
	static const int delays_ms[] = {0, 1, 10, 30};
	struct delay_shape shape = plain;
	struct delay_accuracy accuracy;
	struct bench bench;

	if (!bench_begin(&bench, &plain))
		return;
	for (size_t i = 0; i < sizeof(delays_ms) / sizeof(delays_ms[0]); i++) {
		int64_t want_ns = delays_ms[i] * (int64_t)NS_PER_MS, found_ns;

		shape.delay_ns = want_ns;
		delay_line_set(bench.line, bench.lane, &shape);
		found_ns = median_ns(&bench, 15);
		tap_ok(found_ns >= want_ns && found_ns < want_ns + 15 * NS_PER_MS,
		       "packets take %d ms", delays_ms[i]);
		tap_note("%d ms: %.3f ms more", delays_ms[i],
		         (double)(found_ns - want_ns) / NS_PER_MS);
	}
	delay_line_accuracy(bench.line, &accuracy);
	tap_is_int(accuracy.n_packets, 60, "lateness is measured for every packet");
	tap_ok(accuracy.mean_ns > 0 && accuracy.mean_ns <= accuracy.max_ns && accuracy.p99_ns > 0,
	       "and is what it can be");
	bench_end(&bench);
}

/* Send n at once; how many of them arrive, and in how many places after one with a larger number.
 */
static int burst(const struct bench *bench, int n, int n_bytes, int *n_overtaken,
                 int64_t *last_ns_out)
{
	struct arrival arrival = {0};
	int n_arrived = 0, largest = -1, i;

	*n_overtaken = 0;
	for (i = 0; i < n; i++)
		send_one(bench, i, n_bytes);
	while (n_arrived < n && receive_one(bench, 500, &arrival)) {
		n_arrived++;
		*n_overtaken += arrival.number < largest;
		if (arrival.number > largest)
			largest = arrival.number;
		*last_ns_out = arrival.took_ns;
	}
	return n_arrived;
}

static void test_order(void)
{
	struct delay_shape shape = plain;
	struct bench bench;
	int n_overtaken;
	int64_t last_ns;

	shape.delay_ns = 20 * NS_PER_MS;
	shape.jitter_ns = 5 * NS_PER_MS;
	shape.distribution = DISTRIBUTION_NORMAL;
	if (!bench_begin(&bench, &shape))
		return;
	tap_is_int(burst(&bench, 200, 100, &n_overtaken, &last_ns), 200, "with jitter all arrive");
	tap_is_int(n_overtaken, 0, "in order");
	shape.allows_reordering = true;
	delay_line_set(bench.line, bench.lane, &shape);
	tap_is_int(burst(&bench, 200, 100, &n_overtaken, &last_ns), 200,
	           "all arrive if they may overtake");
	tap_ok(n_overtaken > 50, "and many do");
	bench_end(&bench);
}

/* A delay that ends lets those behind it wait for those before. */
static void test_change(void)
{
	struct delay_shape shape = plain;
	struct arrival first = {.number = -1}, second = {.number = -1};
	struct bench bench;

	shape.delay_ns = 100 * NS_PER_MS;
	if (!bench_begin(&bench, &shape))
		return;
	send_one(&bench, 1, 100);
	clock_sleep_ns(20 * NS_PER_MS);
	delay_line_set(bench.line, bench.lane, &plain);
	send_one(&bench, 2, 100);
	(void)receive_one(&bench, PATIENCE_MS, &first);
	(void)receive_one(&bench, PATIENCE_MS, &second);
	tap_ok(first.number == 1 && first.took_ns >= 100 * NS_PER_MS,
	       "what was under way keeps its delay");
	tap_ok(second.number == 2 && second.took_ns >= 50 * NS_PER_MS,
	       "and is not overtaken by what has none");
	bench_end(&bench);
}

static void test_rate(void)
{
	struct delay_shape shape = plain;
	struct bench bench;
	int n_overtaken;
	int64_t last_ns = 0;

	shape.rate_bits_per_s = 8000000;
	if (!bench_begin(&bench, &shape))
		return;
	tap_is_int(burst(&bench, 100, PACKET_BYTES, &n_overtaken, &last_ns), 100,
	           "at a rate all arrive");
	/* Each is stamped when it is sent; the first ones are read while others still are. */
	tap_ok(last_ns > 85 * NS_PER_MS && last_ns < 1000 * NS_PER_MS,
	       "100 KB at 8 Mbit/s take 100 ms");
	tap_note("%.1f ms", (double)last_ns / NS_PER_MS);
	bench_end(&bench);
}

static void test_losses(void)
{
	struct delay_shape shape = plain;
	struct delay_counts counts;
	struct bench bench;
	int n_overtaken, n_arrived, again;
	int64_t last_ns;

	shape.loss_ratio = 0.1;
	if (!bench_begin(&bench, &shape))
		return;
	n_arrived = burst(&bench, PACKETS_MAX, 100, &n_overtaken, &last_ns);
	tap_ok(n_arrived > 1740 && n_arrived < 1860, "of 2000 about a tenth is lost");
	delay_line_count(bench.line, bench.lane, &counts);
	tap_is_int(counts.lost_packets, PACKETS_MAX - n_arrived, "and counted as lost");
	tap_is_int(counts.sent_packets, n_arrived, "the others as sent");
	tap_is_int(counts.dropped_packets + counts.waiting_packets, 0, "no other is missing");
	bench_end(&bench);
	if (!bench_begin(&bench, &shape))
		return;
	again = burst(&bench, PACKETS_MAX, 100, &n_overtaken, &last_ns);
	tap_is_int(again, n_arrived, "the same seed loses the same");
	bench_end(&bench);
}

/* Mixed with the one before, draws come closer to the middle: losses follow each other, and are
 * fewer. Half of each draw is the sum of all before, so it is below 0.3 as often as here. */
static void test_correlation(void)
{
	struct delay_shape shape = plain;
	struct delay_counts counts;
	struct arrival arrival = {.number = -1};
	int n_rows = 0, n_lost = 0, expected = 0;
	struct bench bench;

	shape.loss_ratio = 0.3;
	shape.loss_correlation_ratio = 0.5;
	if (!bench_begin(&bench, &shape))
		return;
	for (int i = 0; i < PACKETS_MAX; i++)
		send_one(&bench, i, 100);
	while (arrival.number < PACKETS_MAX - 1 && receive_one(&bench, 500, &arrival)) {
		n_lost += arrival.number - expected;
		n_rows += arrival.number > expected;
		expected = arrival.number + 1;
	}
	delay_line_count(bench.line, bench.lane, &counts);
	tap_note("%d lost in %d rows", n_lost, n_rows);
	tap_ok(counts.lost_packets > 150 && counts.lost_packets < 350,
	       "with correlation fewer are lost");
	tap_ok(n_lost > 1.4 * n_rows, "and several in a row");
	bench_end(&bench);
}

static void test_limit(void)
{
	struct delay_shape shape = {.delay_ns = 200 * NS_PER_MS, .limit_packets = 10};
	struct delay_counts counts;
	struct bench bench;
	int n_overtaken;
	int64_t last_ns;

	if (!bench_begin(&bench, &shape))
		return;
	tap_is_int(burst(&bench, 50, 100, &n_overtaken, &last_ns), 10, "a limit keeps ten");
	delay_line_count(bench.line, bench.lane, &counts);
	tap_is_int(counts.dropped_packets, 40, "and counts the others as dropped");
	bench_end(&bench);
}

/* Nobody reads any more, nobody sends any more. */
static void test_ends(void)
{
	struct delay_counts counts = {0};
	struct bench bench;

	if (!bench_begin(&bench, &plain))
		return;
	close(bench.out_fd);
	send_one(&bench, 0, 100);
	for (int i = 0; i < 300 && counts.dropped_packets == 0; i++) {
		clock_sleep_ns(10 * NS_PER_MS);
		delay_line_count(bench.line, bench.lane, &counts);
	}
	tap_is_int(counts.dropped_packets, 1, "what cannot be sent is dropped");
	close(bench.in_fd);
	clock_sleep_ns(20 * NS_PER_MS);
	delay_line_close(bench.line);
	delay_line_close(NULL);
	tap_ok(true, "a line without its ends is closed, and so is none");
}

static bool is_deaf(const char *path)
{
	FILE *lines = fopen(path, "re");
	unsigned long long blocked = 0;
	char line[256];

	while (lines && fgets(line, sizeof(line), lines))
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	if (lines)
		fclose(lines);
	return blocked & (1ULL << (SIGINT - 1));
}

/* Threads of this process that take no SIGINT. */
static int n_deaf_threads(void)
{
	glob_t paths = {0};
	int n = 0;

	(void)glob("/proc/self/task/*/status", 0, NULL, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++)
		n += is_deaf(paths.gl_pathv[i]);
	globfree(&paths);
	return n;
}

/* A signal that the line's thread took would not interrupt what waits for it. */
static void test_signals(void)
{
	struct delay_line *line;
	struct err err = {0};
	int n_before = n_deaf_threads();

	(void)delay_line_open(1, &line, &err);
	/* Every thread is deaf until it runs. */
	clock_sleep_ns(50 * NS_PER_MS);
	tap_is_int(n_deaf_threads(), n_before + 1, "the line's thread takes no signals");
	delay_line_close(line);
}

static void test_refusal(void)
{
	const struct delay_ends none = {.in_fd = -1, .out_fd = -1, .packet_bytes = 100};
	struct delay_line *line;
	struct err err = {0};
	int lane = -1;

	(void)delay_line_open(1, &line, &err);
	tap_is_int(delay_line_add(line, &none, &plain, &lane, &err), -EBADF,
	           "what is no file descriptor is refused");
	tap_contains(err.text, "cannot add a lane", "and said so");
	delay_line_close(line);
}

int main(void)
{
	test_delay();
	test_order();
	test_change();
	test_rate();
	test_losses();
	test_correlation();
	test_limit();
	test_ends();
	test_signals();
	test_refusal();
	return tap_done();
}
