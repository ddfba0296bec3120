/* namespace.c - network namespaces: made, entered and found again.
 *
 * The child that works inside a namespace is made by _Fork(), which runs no fork handlers: those of
 * a linear algebra library would stop its threads. Until it exits it only makes system calls, so it
 * does not matter what other threads of the caller held. A thread that changes its namespace and
 * changes back would do for root, but not for an unprivileged user: a user namespace cannot be
 * entered by one thread alone. */
#include "injectors/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char own_path[] = "/proc/thread-self/ns/net";

/* What the child does, n_wanted times: a file descriptor, or -errno. */
struct errand {
	int (*fetch)(void *context);
	void *context;
	int n_wanted;
};

bool namespace_is_same(const struct namespace_id *a, const struct namespace_id *b)
{
	return a->inode == b->inode && a->cookie == b->cookie;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -EPERM;
}

/* The caller keeps its numbers inside, so that files look the same. */
static int make_user_namespace(void)
{
	unsigned user = geteuid(), group = getegid();
	char users[64], groups[64];
	int rc;

	snprintf(users, sizeof(users), "%u %u 1", user, user);
	snprintf(groups, sizeof(groups), "%u %u 1", group, group);
	if (unshare(CLONE_NEWUSER))
		return -errno;
	rc = write_text("/proc/self/setgroups", "deny");
	if (!rc)
		rc = write_text("/proc/self/gid_map", groups);
	if (!rc)
		rc = write_text("/proc/self/uid_map", users);
	return rc;
}

static int make_one(void *context)
{
	int rc, fd;

	(void)context;
	if (unshare(CLONE_NEWNET)) {
		if (errno != EPERM)
			return -errno;
		rc = make_user_namespace();
		if (rc)
			return rc;
		if (unshare(CLONE_NEWNET))
			return -errno;
	}
	fd = open(own_path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int enter(int fd)
{
	int users, rc;

	if (!setns(fd, CLONE_NEWNET))
		return 0;
	if (errno != EPERM)
		return -errno;
	users = ioctl(fd, NS_GET_USERNS);
	if (users < 0)
		return -EPERM;
	rc = setns(users, CLONE_NEWUSER) || setns(fd, CLONE_NEWNET) ? -errno : 0;
	close(users);
	return rc;
}

static int open_socket(void *protocol)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, *(int *)protocol);
	int rc;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* An errand in another namespace. */
struct visit {
	int fd;
	int (*fetch)(void *context);
	void *context;
};

static int fetch_inside(void *context)
{
	const struct visit *visit = context;
	int rc = enter(visit->fd);

	return rc ? rc : visit->fetch(visit->context);
}

/* One answer: a file descriptor, or -errno where there is none. */
static void send_answer(int channel, int answer)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec text = {.iov_base = &answer, .iov_len = sizeof(answer)};
	struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};

	if (answer >= 0) {
		struct cmsghdr *head;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &answer, sizeof(int));
	}
	if (sendmsg(channel, &message, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static int receive_answer(int channel)
{
	char control[CMSG_SPACE(sizeof(int))];
	int answer = -EIO, fd;
	struct iovec text = {.iov_base = &answer, .iov_len = sizeof(answer)};
	struct msghdr message = {.msg_iov = &text,
	                         .msg_iovlen = 1,
	                         .msg_control = control,
	                         .msg_controllen = sizeof(control)};
	struct cmsghdr *head;
	ssize_t n;

	do
		n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(answer))
		return -EIO;
	/* There was one for which this process has no number left. */
	if (message.msg_flags & MSG_CTRUNC)
		return -EMFILE;
	head = CMSG_FIRSTHDR(&message);
	if (answer < 0 || !head)
		return answer < 0 ? answer : -EIO;
	memcpy(&fd, CMSG_DATA(head), sizeof(int));
	return fd;
}

static void child(const struct errand *errand, int channel)
{
	for (int i = 0; i < errand->n_wanted; i++) {
		int answer = errand->fetch(errand->context);

		send_answer(channel, answer);
		if (answer < 0)
			break;
		close(answer);
	}
	_exit(0);
}

static void close_all(int *fds, int n)
{
	while (n > 0)
		close(fds[--n]);
}

/* Blocks for as long as the child's few system calls take. */
static int run_errand(const struct errand *errand, int *fds_out)
{
	int channel[2], rc = 0, n = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel))
		return -errno;
	pid = _Fork();
	if (pid == 0) {
		close(channel[0]);
		child(errand, channel[1]);
	}
	if (pid < 0)
		rc = -errno;
	close(channel[1]);
	for (; !rc && n < errand->n_wanted; n++) {
		fds_out[n] = receive_answer(channel[0]);
		if (fds_out[n] < 0) {
			rc = fds_out[n];
			break;
		}
	}
	close(channel[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (rc)
		close_all(fds_out, n);
	return rc;
}

int namespace_make(int n, int *fds_out, struct err *err)
{
	struct errand errand = {.fetch = make_one, .n_wanted = n};
	int rc = run_errand(&errand, fds_out);

	if (rc == -ENOSPC || rc == -EUSERS)
		return err_set(err, -EPERM,
		               "no more namespaces are allowed here; sysctl "
		               "user.max_user_namespaces and user.max_net_namespaces say how many");
	if (rc == -EPERM || rc == -EACCES)
		return err_set(err, -EPERM,
		               "network namespaces can be made neither as this user nor in a user "
		               "namespace; run as root, or allow user namespaces (sysctl "
		               "user.max_user_namespaces, and where they are there "
		               "kernel.unprivileged_userns_clone and "
		               "kernel.apparmor_restrict_unprivileged_userns)");
	if (rc)
		return err_set(err, rc, "cannot make %d network namespaces: %s", n, strerror(-rc));
	return 0;
}

int namespace_fetch(int fd, int (*fetch)(void *context), void *context, int *fd_out)
{
	struct visit visit = {.fd = fd, .fetch = fetch, .context = context};
	struct errand errand = {.fetch = fetch_inside, .context = &visit, .n_wanted = 1};
	int found;

	if (fd != NAMESPACE_OWN)
		return run_errand(&errand, fd_out);
	found = fetch(context);
	if (found < 0)
		return found;
	*fd_out = found;
	return 0;
}

int namespace_socket(int fd, int protocol, int *socket_out, struct err *err)
{
	int rc = namespace_fetch(fd, open_socket, &protocol, socket_out);

	if (rc)
		return err_set(err, rc, "cannot open a netlink socket in a network namespace: %s",
		               strerror(-rc));
	return 0;
}

/* A setting, and where it stands. */
struct setting {
	const char *path;
	const char *text;
};

/* The file is handed back open, for want of anything else to hand back. */
static int fetch_written(void *context)
{
	const struct setting *setting = context;
	int fd = open(setting->path, O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	if (write(fd, setting->text, strlen(setting->text)) >= 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int namespace_set(int fd, const char *path, const char *text, struct err *err)
{
	struct setting setting = {.path = path, .text = text};
	int file = -1, rc = namespace_fetch(fd, fetch_written, &setting, &file);

	if (rc)
		return err_set(err, rc, "cannot write '%s' into '%s' of a network namespace: %s",
		               text, path, strerror(-rc));
	close(file);
	return 0;
}

int namespace_enter(int fd, struct err *err)
{
	int rc = enter(fd);

	if (rc)
		return err_set(err, rc, "cannot enter a network namespace: %s", strerror(-rc));
	return 0;
}
