/* double_nccl_meeting.c - how the ranks of a communicator get to know each other. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/cuda_double/double_nccl_internal.h"

/* What a rank says at the meeting, and then hears of the other one. */
struct hello {
	int rank, gpu;
};

static const unsigned char leaving = 'F';

/* The socket has no file, so none is left. */
static struct sockaddr_un address_of(const ncclUniqueId *id)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path + 1, id->internal, sizeof(address.sun_path) - 1);
	return address;
}

static bool send_sockets(int to, const struct hello *hello, const int *descriptors)
{
	char control[CMSG_SPACE(DOUBLE_SOCKETS * sizeof(int))] = {0};
	struct iovec text = {(void *)hello, sizeof(*hello)};
	struct msghdr message = {.msg_iov = &text,
	                         .msg_iovlen = 1,
	                         .msg_control = control,
	                         .msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(DOUBLE_SOCKETS * sizeof(int));
	memcpy(CMSG_DATA(head), descriptors, DOUBLE_SOCKETS * sizeof(int));
	return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*hello);
}

static bool receive_sockets(int from, struct hello *out, int *descriptors_out)
{
	char control[CMSG_SPACE(DOUBLE_SOCKETS * sizeof(int))] = {0};
	struct iovec text = {out, sizeof(*out)};
	struct msghdr message = {.msg_iov = &text,
	                         .msg_iovlen = 1,
	                         .msg_control = control,
	                         .msg_controllen = sizeof(control)};
	const struct cmsghdr *head;

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)sizeof(*out))
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(descriptors_out, CMSG_DATA(head), DOUBLE_SOCKETS * sizeof(int));
	return true;
}

/* Hand two ranks that have come two pairs of sockets; one that has gone again is not missed. */
static void join(const int *ranks, const struct hello *hellos)
{
	int pairs[DOUBLE_SOCKETS][2];

	for (int i = 0; i < DOUBLE_SOCKETS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]))
			double_violation("there are no sockets for a communicator");
	for (int rank = 0; rank < 2; rank++) {
		const int ends[DOUBLE_SOCKETS] = {pairs[0][rank], pairs[1][rank]};

		(void)send_sockets(ranks[rank], &hellos[!rank], ends);
		(void)close(ends[0]);
		(void)close(ends[1]);
	}
}

/* A thread of who has made the id: waits for both ranks. One that goes before it has said who it is
 * makes room for another one. */
static void *host_meeting(void *argument)
{
	int listener = (int)(intptr_t)argument, n_come = 0, ranks[2] = {-1, -1};
	struct hello hello, hellos[2];

	while (n_come < 2) {
		int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (recv(descriptor, &hello, sizeof(hello), MSG_WAITALL) !=
		    (ssize_t)sizeof(hello)) {
			(void)close(descriptor);
			continue;
		}
		if (ranks[hello.rank] >= 0)
			double_violation("rank %d comes twice", hello.rank);
		ranks[hello.rank] = descriptor;
		hellos[hello.rank] = hello;
		n_come++;
	}
	(void)close(listener);
	join(ranks, hellos);
	(void)close(ranks[0]);
	(void)close(ranks[1]);
	return NULL;
}

ncclResult_t double_nccl_listen(ncclUniqueId *out)
{
	static unsigned int n_made;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	pthread_t thread;

	*out = (ncclUniqueId){0};
	snprintf(out->internal, sizeof(out->internal), "nccl-double-%d-%u", (int)getpid(),
	         __atomic_add_fetch(&n_made, 1, __ATOMIC_RELAXED));
	address = address_of(out);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 2))
		double_violation("there is no socket for ranks to meet at");
	if (pthread_create(&thread, NULL, host_meeting, (void *)(intptr_t)listener) != 0)
		double_violation("there is no thread for ranks to meet in");
	(void)pthread_detach(thread);
	return ncclSuccess;
}

static void fail_to_meet(struct ncclComm *communicator, ncclResult_t error, const char *said)
{
	double_lock();
	double_nccl_fail(communicator, error, said);
	double_unlock();
}

/* Under the lock, so that who aborts either comes before it or finds a socket to break. */
static bool go_to_meeting(struct ncclComm *communicator)
{
	struct sockaddr_un address = address_of(&communicator->id);
	bool is_there;

	double_lock();
	communicator->root = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	is_there = !communicator->is_aborted &&
	           connect(communicator->root, (struct sockaddr *)&address, sizeof(address)) == 0;
	double_unlock();
	return is_there;
}

static void take_sockets(struct ncclComm *communicator, const int *descriptors)
{
	double_lock();
	communicator->data = descriptors[0];
	communicator->control = descriptors[1];
	if (communicator->is_aborted) {
		(void)shutdown(communicator->data, SHUT_RDWR);
		(void)shutdown(communicator->control, SHUT_RDWR);
	}
	double_unlock();
}

void double_nccl_meet(struct ncclComm *communicator)
{
	struct hello hello = {communicator->rank, communicator->gpu};
	int descriptors[DOUBLE_SOCKETS];

	if (!go_to_meeting(communicator)) {
		fail_to_meet(communicator, ncclSystemError, "nobody has the unique id");
		return;
	}
	if (send(communicator->root, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    !receive_sockets(communicator->root, &hello, descriptors)) {
		fail_to_meet(communicator, ncclRemoteError, "who made the unique id is gone");
		return;
	}
	if (hello.gpu == communicator->gpu)
		double_violation("both ranks of a communicator are on GPU %d", hello.gpu);
	take_sockets(communicator, descriptors);
}

static unsigned char mirrored(unsigned int directions)
{
	return (unsigned char)((directions & DOUBLE_SENDS ? DOUBLE_RECEIVES : 0) |
	                       (directions & DOUBLE_RECEIVES ? DOUBLE_SENDS : 0));
}

bool double_nccl_connect(struct ncclComm *communicator, unsigned int directions)
{
	unsigned char said = (unsigned char)(directions & ~communicator->connected), heard;

	if (!said)
		return true;
	if (send(communicator->control, &said, 1, MSG_NOSIGNAL) != 1 ||
	    recv(communicator->control, &heard, 1, 0) != 1 || heard == leaving)
		return false;
	if (heard != mirrored(said))
		double_violation("the ranks connect different directions, since their groups "
		                 "do not match");
	communicator->connected |= said;
	return true;
}

bool double_nccl_is_deserted(struct ncclComm *communicator)
{
	struct pollfd polled = {.fd = communicator->control, .events = POLLRDHUP};
	unsigned char heard = 0;

	if (communicator->control < 0 || communicator->has_other_left || poll(&polled, 1, 0) <= 0)
		return false;
	/* A rank says it last. */
	while (recv(communicator->control, &heard, 1, MSG_DONTWAIT) == 1)
		;
	communicator->has_other_left = heard == leaving;
	return !communicator->has_other_left;
}

void double_nccl_leave(const struct ncclComm *communicator)
{
	(void)send(communicator->control, &leaving, 1, MSG_NOSIGNAL);
}
