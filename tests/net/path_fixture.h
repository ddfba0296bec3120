/* path_fixture.h - how long datagrams and messages take between hosts of a lab, one way.
 *
 * All hosts are processes of one machine and have one clock, so who receives something says when,
 * and a path is measured apart from the way back. */
#ifndef TESTS_NET_PATH_FIXTURE_H
#define TESTS_NET_PATH_FIXTURE_H

#include <math.h>

#include "tests/child.h"
#include "tests/net/traffic_fixture.h"

enum {
	PATH_PORT = TRAFFIC_PORT + 1,
	PATH_SERVER_S = 400,
	PATH_PATIENCE_MS = 1000,
	PATH_NAP_MS = 2
};

struct path_packet {
	int64_t number, sent_ns, arrived_ns;
};

/* What to try out: n of them, messages after n_before that do not count. */
struct path_request {
	uint32_t address;
	int n, n_before;
	int64_t message_bytes;
};

/* Times of those that came back. */
struct path_times {
	int n;
	double there_ms, back_ms; /* means */
	double spread_ms;         /* standard deviation of there_ms */
	double late_ms;           /* mean, of a process that slept meanwhile and was woken */
	int n_overtaken;          /* came behind one that had left later */
	int64_t n_retransmits;    /* messages: segments that TCP sent again */
	int64_t window_bytes;     /* messages: that may be under way on a new connection */
};

static inline struct sockaddr_in path_address(uint32_t address)
{
	struct sockaddr_in to = traffic_address(address);

	to.sin_port = htons(PATH_PORT);
	return to;
}

static inline int path_socket(int type)
{
	const struct timeval patience = {.tv_sec = PATH_PATIENCE_MS / 1000,
	                                 .tv_usec = PATH_PATIENCE_MS % 1000 * 1000};
	const int one = 1;
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (type == SOCK_DGRAM)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	else
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static inline bool path_read(int fd, void *out, int64_t n_bytes)
{
	static char discarded[1 << 18];
	char *at = out;

	while (n_bytes > 0) {
		int64_t n_wanted = at || n_bytes < (int64_t)sizeof(discarded)
		                           ? n_bytes
		                           : (int64_t)sizeof(discarded);
		ssize_t n = recv(fd, at ? at : discarded, (size_t)n_wanted, 0);

		if (n <= 0)
			return false;
		at = at ? at + n : NULL;
		n_bytes -= n;
	}
	return true;
}

static inline bool path_write(int fd, int64_t n_bytes)
{
	static const char bytes[1 << 18];

	while (n_bytes > 0) {
		size_t n_wanted =
			n_bytes < (int64_t)sizeof(bytes) ? (size_t)n_bytes : sizeof(bytes);
		ssize_t n = send(fd, bytes, n_wanted, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		n_bytes -= n;
	}
	return true;
}

/* Every datagram goes back with the time of its arrival. */
static inline void path_serve_datagrams(int fd)
{
	struct path_packet packet;
	struct sockaddr_in from;

	for (;;) {
		socklen_t n_from = sizeof(from);

		if (recvfrom(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&from, &n_from) !=
		    sizeof(packet))
			continue;
		packet.arrived_ns = clock_monotonic_ns();
		(void)!sendto(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&from, n_from);
	}
}

/* Every message, behind its length, is answered with the time at which all of it was there. */
static inline void path_serve_messages(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		int64_t n_bytes, arrived_ns;

		while (path_read(fd, &n_bytes, sizeof(n_bytes)) && path_read(fd, NULL, n_bytes)) {
			arrived_ns = clock_monotonic_ns();
			(void)!send(fd, &arrived_ns, sizeof(arrived_ns), MSG_NOSIGNAL);
		}
		close(fd);
	}
}

/* Both kinds of servers in one host, which go when the first one is killed. */
static inline void path_serve(struct lab *lab, int host, int ready)
{
	const struct sockaddr_in any = path_address(INADDR_ANY);
	int datagrams, listener;

	alarm(PATH_SERVER_S); /* if all else fails */
	if (lab_enter(lab, host, NULL))
		_exit(1);
	datagrams = path_socket(SOCK_DGRAM);
	listener = path_socket(SOCK_STREAM);
	if (bind(datagrams, (const struct sockaddr *)&any, sizeof(any)) ||
	    bind(listener, (const struct sockaddr *)&any, sizeof(any)) || listen(listener, 8))
		_exit(1);
	if (child_start() == 0) {
		alarm(PATH_SERVER_S);
		(void)!write(ready, "", 1);
		path_serve_messages(listener);
	}
	path_serve_datagrams(datagrams);
}

/* To be ended with child_kill(); 0: there is none. */
static inline pid_t path_start(struct lab *lab, int host)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		return 0;
	pid = child_start();
	if (pid == 0)
		path_serve(lab, host, ready[1]);
	close(ready[1]);
	if (!child_read(ready[0], &byte, 1)) {
		child_kill(pid);
		pid = 0;
	}
	close(ready[0]);
	return pid;
}

/* What is summed up while datagrams come back. */
struct path_sums {
	int n, n_overtaken;
	int64_t last_number;
	double there_ms, square_ms, back_ms, late_ms;
};

static inline void path_count(struct path_sums *sums, int64_t sent_ns, int64_t arrived_ns,
                              int64_t number)
{
	double there_ms = (double)(arrived_ns - sent_ns) / NS_PER_MS;

	sums->n++;
	sums->there_ms += there_ms;
	sums->square_ms += there_ms * there_ms;
	sums->back_ms += (double)(clock_monotonic_ns() - arrived_ns) / NS_PER_MS;
	if (number < sums->last_number)
		sums->n_overtaken++;
	else
		sums->last_number = number;
}

/* How busy the machine is. */
static inline void path_nap(struct path_sums *sums)
{
	int64_t end_ns = clock_monotonic_ns() + PATH_NAP_MS * NS_PER_MS;

	clock_sleep_ns(PATH_NAP_MS * NS_PER_MS);
	sums->late_ms += (double)(clock_monotonic_ns() - end_ns) / NS_PER_MS;
}

static inline struct path_times path_means(const struct path_sums *sums)
{
	double n = sums->n > 0 ? sums->n : 1, mean_ms = sums->there_ms / n;

	return (struct path_times){
		.n = sums->n,
		.there_ms = mean_ms,
		.back_ms = sums->back_ms / n,
		.spread_ms = sqrt(fmax(0, sums->square_ms / n - mean_ms * mean_ms)),
		.late_ms = sums->late_ms / n,
		.n_overtaken = sums->n_overtaken,
	};
}

static inline bool path_send_datagram(int fd, int64_t number)
{
	const struct path_packet packet = {.number = number, .sent_ns = clock_monotonic_ns()};

	return send(fd, &packet, sizeof(packet), 0) == sizeof(packet);
}

static inline bool path_take_datagram(int fd, struct path_sums *sums)
{
	struct path_packet packet;

	if (recv(fd, &packet, sizeof(packet), 0) != sizeof(packet))
		return false;
	path_count(sums, packet.sent_ns, packet.arrived_ns, packet.number);
	return true;
}

static inline int path_connect(const struct path_request *request, int type)
{
	const struct sockaddr_in to = path_address(request->address);
	int fd = path_socket(type);

	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

static inline bool path_ping_once(int fd, int64_t number, struct path_sums *sums)
{
	if (!path_send_datagram(fd, number) || !path_take_datagram(fd, sums))
		return false;
	path_nap(sums);
	return true;
}

/* Datagrams one after another. The first one asks for the neighbour's address as well, and does not
 * count. */
static inline struct path_times path_ping(const struct path_request *request)
{
	int fd = path_connect(request, SOCK_DGRAM);
	struct path_sums sums = {0}, first = {0};

	if (path_ping_once(fd, -1, &first))
		for (int i = 0; i < request->n && path_ping_once(fd, i, &sums); i++)
			;
	close(fd);
	return path_means(&sums);
}

/* Datagrams all at once. */
static inline struct path_times path_burst(const struct path_request *request)
{
	int fd = path_connect(request, SOCK_DGRAM);
	struct path_sums sums = {0}, first = {0};

	if (path_send_datagram(fd, -1) && path_take_datagram(fd, &first))
		for (int i = 0; i < request->n; i++)
			(void)path_send_datagram(fd, i);
	while (sums.n < request->n && path_take_datagram(fd, &sums))
		;
	close(fd);
	return path_means(&sums);
}

static inline bool path_send_message(int fd, int64_t n_bytes, struct path_sums *sums)
{
	int64_t start_ns = clock_monotonic_ns(), arrived_ns;

	if (send(fd, &n_bytes, sizeof(n_bytes), MSG_NOSIGNAL) != sizeof(n_bytes) ||
	    !path_write(fd, n_bytes) || !path_read(fd, &arrived_ns, sizeof(arrived_ns)))
		return false;
	path_count(sums, start_ns, arrived_ns, sums->n);
	path_nap(sums);
	return true;
}

static inline int64_t path_retransmits(int fd)
{
	struct tcp_info info = {0};
	socklen_t n_bytes = sizeof(info);

	(void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n_bytes);
	return info.tcpi_total_retrans;
}

static inline int64_t path_window(int fd)
{
	struct tcp_info info = {0};
	socklen_t n_bytes = sizeof(info);

	(void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n_bytes);
	return (int64_t)info.tcpi_snd_cwnd * info.tcpi_snd_mss;
}

/* Messages over one connection, each when the one before has arrived. */
static inline struct path_times path_messages(const struct path_request *request)
{
	int fd = path_connect(request, SOCK_STREAM);
	struct path_sums sums = {0}, before = {0};
	struct path_times times;
	int64_t window_bytes = path_window(fd);
	bool goes_on = fd >= 0;

	for (int i = 0; goes_on && i < request->n_before + request->n; i++)
		goes_on = path_send_message(fd, request->message_bytes,
		                            i < request->n_before ? &before : &sums);
	times = path_means(&sums);
	times.n_retransmits = path_retransmits(fd);
	times.window_bytes = window_bytes;
	close(fd);
	return times;
}

/* What a child in host finds out; n is 0 if it could not. */
static inline struct path_times path_ask(struct lab *lab, int host,
                                         struct path_times (*act)(const struct path_request *),
                                         const struct path_request *request)
{
	struct path_times times = {0};
	int channel[2];
	pid_t pid;

	if (pipe(channel))
		return times;
	pid = child_start();
	if (pid == 0) {
		if (lab_enter(lab, host, NULL) == 0)
			times = act(request);
		(void)!write(channel[1], &times, sizeof(times));
		_exit(0);
	}
	close(channel[1]);
	if (!child_read(channel[0], &times, sizeof(times)))
		times.n = 0;
	close(channel[0]);
	child_kill(pid);
	return times;
}

#endif
