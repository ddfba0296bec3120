/* traffic_fixture.h - packets between hosts of a lab, and how long they take. */
#ifndef TESTS_NET_TRAFFIC_FIXTURE_H
#define TESTS_NET_TRAFFIC_FIXTURE_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "engine/base/clock.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"
#include "injectors/lab.h"
#include "tests/net/namespace_fixture.h"

enum { TRAFFIC_PORT = 7001, TRAFFIC_BYTES = 64, TRAFFIC_PINGS_MAX = 200 };

static inline struct sockaddr_in traffic_address(uint32_t address)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(TRAFFIC_PORT)};

	to.sin_addr.s_addr = htonl(address);
	return to;
}

/* A child in host that sends every datagram back, and reads every stream to its end and then says
 * so. It ends with traffic_stop(). */
static inline void traffic_serve_stream(int listener)
{
	int fd = accept(listener, NULL, NULL);
	static char bytes[1 << 20];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		;
	(void)!send(fd, "", 1, MSG_NOSIGNAL);
	close(fd);
}

static inline void traffic_serve(int ready)
{
	struct sockaddr_in any = traffic_address(INADDR_ANY), from;
	int datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char bytes[TRAFFIC_BYTES];

	if (bind(datagrams, (struct sockaddr *)&any, sizeof(any)) ||
	    bind(listener, (struct sockaddr *)&any, sizeof(any)) || listen(listener, 8))
		_exit(1);
	/* Ready only once its own child would end with it. */
	if (fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(300); /* if all else fails */
		(void)!write(ready, "", 1);
		for (;;)
			traffic_serve_stream(listener);
	}
	for (;;) {
		socklen_t n_from = sizeof(from);
		ssize_t n = recvfrom(datagrams, bytes, sizeof(bytes), 0, (struct sockaddr *)&from,
		                     &n_from);

		if (n > 0)
			(void)!sendto(datagrams, bytes, (size_t)n, 0, (struct sockaddr *)&from,
			              n_from);
	}
}

static inline pid_t traffic_start(struct lab *lab, int host)
{
	int ready[2];
	char byte;
	pid_t pid;

	(void)!pipe(ready);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(300);
		if (lab_enter(lab, host, NULL))
			_exit(1);
		traffic_serve(ready[1]);
	}
	close(ready[1]);
	(void)!read(ready[0], &byte, 1);
	close(ready[0]);
	return pid;
}

static inline void traffic_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* One in each of n hosts; those that did not start are not stopped. */
static inline void traffic_start_all(struct lab *lab, pid_t *pids, int n)
{
	for (int host = 0; host < n; host++)
		pids[host] = traffic_start(lab, host);
}

static inline void traffic_stop_all(const pid_t *pids, int n)
{
	for (int host = 0; host < n; host++)
		if (pids[host] > 0)
			traffic_stop(pids[host]);
}

/* What a child in host finds out; −1: it failed. */
static inline int64_t traffic_ask(struct lab *lab, int host,
                                  int64_t (*act)(uint32_t address, int64_t n), uint32_t address,
                                  int64_t n)
{
	int64_t found = -1;
	int channel[2];
	pid_t pid;

	(void)!pipe(channel);
	pid = fork();
	if (pid == 0) {
		alarm(60);
		if (lab_enter(lab, host, NULL) == 0)
			found = act(address, n);
		(void)!write(channel[1], &found, sizeof(found));
		_exit(0);
	}
	close(channel[1]);
	(void)!read(channel[0], &found, sizeof(found));
	close(channel[0]);
	waitpid(pid, NULL, 0);
	return found;
}

/* The median time of n datagrams there and back; one lost: −1. */
static inline int64_t traffic_ping(uint32_t address, int64_t n)
{
	struct sockaddr_in to = traffic_address(address);
	struct timeval patience = {.tv_sec = 2};
	int64_t times_ns[TRAFFIC_PINGS_MAX];
	char bytes[TRAFFIC_BYTES] = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return -1;
	/* The first one asks for the neighbour's address as well. */
	for (int64_t i = -1; i < n; i++) {
		int64_t start_ns = clock_monotonic_ns();

		if (send(fd, bytes, sizeof(bytes), 0) < 0 || recv(fd, bytes, sizeof(bytes), 0) < 0)
			return -1;
		if (i >= 0)
			times_ns[i] = clock_monotonic_ns() - start_ns;
	}
	close(fd);
	return stats_quantile_ns(times_ns, (size_t)n, 0.5);
}

/* The time from the first byte of a stream to the answer to its end. */
static inline int64_t traffic_stream(uint32_t address, int64_t n_bytes)
{
	struct sockaddr_in to = traffic_address(address);
	static char bytes[1 << 16];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t start_ns, took_ns;

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return -1;
	start_ns = clock_monotonic_ns();
	while (n_bytes > 0) {
		size_t n_wanted =
			n_bytes < (int64_t)sizeof(bytes) ? (size_t)n_bytes : sizeof(bytes);
		ssize_t n = send(fd, bytes, n_wanted, MSG_NOSIGNAL);

		if (n < 0)
			return -1;
		n_bytes -= n;
	}
	(void)shutdown(fd, SHUT_WR);
	if (recv(fd, bytes, 1, 0) != 1)
		return -1;
	took_ns = clock_monotonic_ns() - start_ns;
	/* Until the other end has closed: then no packet of this connection leaves any more. */
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	return took_ns;
}

/* How many of n datagrams, sent at once, come back. */
static inline int64_t traffic_echoes(uint32_t address, int64_t n)
{
	struct sockaddr_in to = traffic_address(address);
	struct timeval patience = {.tv_usec = 500000};
	char bytes[TRAFFIC_BYTES] = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int64_t n_back = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return -1;
	for (int64_t i = 0; i < n; i++)
		if (send(fd, bytes, sizeof(bytes), 0) < 0)
			return -1;
	while (n_back < n && recv(fd, bytes, sizeof(bytes), 0) > 0)
		n_back++;
	close(fd);
	return n_back;
}

static inline int64_t traffic_ping_ns(struct lab *lab, int from, int to, int rail, int n)
{
	return traffic_ask(lab, from, traffic_ping, lab_address(to, rail), n);
}

static inline int64_t traffic_stream_ns(struct lab *lab, int from, int to, int rail,
                                        int64_t n_bytes)
{
	return traffic_ask(lab, from, traffic_stream, lab_address(to, rail), n_bytes);
}

static inline int64_t traffic_n_echoes(struct lab *lab, int from, int to, int rail, int n)
{
	return traffic_ask(lab, from, traffic_echoes, lab_address(to, rail), n);
}

#endif
