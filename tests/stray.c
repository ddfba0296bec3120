/* stray.c - a socket of the test's own that talks to a worker of transport tcp. */
#include "tests/stray.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/tap.h"

int stray_dial(const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	const char *colon = strchr(text, ':');
	char host[TRANSPORT_ADDRESS_BYTES];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 64 << 10;

	/* A small window: what is read here makes room there at once. */
	if (!colon || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)))
		abort();
	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	address.sin_port = htons((uint16_t)atoi(colon + 1));
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)))
		abort();
	return fd;
}

void stray_say(int fd, const void *bytes, size_t n_bytes)
{
	if (send(fd, bytes, n_bytes, MSG_NOSIGNAL) < 0)
		tap_note("the other side had closed already");
}

bool stray_is_closed(struct transport_case *c, int fd)
{
	int64_t end_ns = clock_monotonic_ns() + NS_PER_S;
	char bytes[4096];

	while (clock_monotonic_ns() < end_ns) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return true;
		case_poll(c);
	}
	return false;
}

struct frame stray_hello(const struct transport_case *c)
{
	return (struct frame){
		.type = FRAME_HELLO,
		.message = {.run = c->config.run, .from_stage = 0, .to_stage = 1},
	};
}
