/* control.c - datagrams over a socket pair that keeps their borders. */
#include "engine/replay/control.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

int control_send(int fd, const void *message, size_t n_bytes)
{
	ssize_t n;

	do
		n = send(fd, message, n_bytes, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)n_bytes ? 0 : -EPIPE;
}

int control_receive(int fd, void *message, size_t n_bytes, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	ssize_t n;
	int rc;

	do
		rc = poll(&poll_fd, 1, timeout_ms);
	while (rc < 0 && errno == EINTR);
	if (rc == 0)
		return -ETIMEDOUT;
	do
		n = recv(fd, message, n_bytes, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)n_bytes ? 0 : -EPIPE;
}
