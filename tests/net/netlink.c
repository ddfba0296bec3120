/* netlink.c - requests and their answers: the kernel's, other namespaces', wrong ones and none. */
#include "injectors/netlink.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/net/namespace_fixture.h"

enum { NOBODY = 65534 };

static struct nl_msg *link_message(int type, int flags, int index, unsigned up)
{
	struct ifinfomsg head = {.ifi_index = index, .ifi_flags = up, .ifi_change = IFF_UP};
	struct nl_msg *message = nlmsg_alloc_simple(type, flags);

	(void)nlmsg_append(message, &head, sizeof(head), NLMSG_ALIGNTO);
	return message;
}

static struct netlink *open_or_fail(int fd)
{
	struct netlink *netlink = NULL;
	struct err err = {0};

	fixture_succeeds(netlink_open(fd, &netlink, &err), &err, "a netlink socket opens");
	return netlink;
}

static void test_kernel(struct netlink *netlink)
{
	struct nl_msg *message = link_message(RTM_NEWLINK, NLM_F_CREATE, 0, 0);
	struct netlink_answer answer = {0};
	struct nlattr *info;
	struct err err = {0};

	fixture_succeeds(netlink_request(netlink, link_message(RTM_GETLINK, 0, 1, 0), &answer,
	                                 &err),
	                 &err, "one interface is asked for");
	tap_ok(netlink_next(&answer, NULL) && !netlink_next(&answer, netlink_next(&answer, NULL)),
	       "and one is told");
	netlink_answer_fini(&answer);
	tap_ok(!netlink_next(&answer, NULL), "an answer that was freed is empty");

	tap_is_int(netlink_request(netlink, link_message(RTM_DELLINK, 0, 999, 0), NULL, &err),
	           -ENODEV, "the kernel's error comes back");
	tap_contains(err.text, "No such device", "as a sentence");
	info = nla_nest_start(message, IFLA_LINKINFO);
	NLA_PUT_STRING(message, IFLA_INFO_KIND, "no-such-kind");
	nla_nest_end(message, info);
	tap_is_int(netlink_request(netlink, message, NULL, &err), -EOPNOTSUPP,
	           "an unknown kind of interface is refused");
	tap_is_str(err.text, "netlink: Unknown device type", "in the kernel's own words");
	tap_is_str(netlink_complaint(netlink), "Unknown device type", "which are kept");
	tap_is_int(netlink_request(netlink, NULL, NULL, &err), -ENOMEM,
	           "a message that could not be built is refused");
	return;
nla_put_failure:
	tap_ok(false, "the message can be built");
}

static bool is_up(struct netlink *netlink)
{
	char *text = fixture_interfaces(netlink);
	bool found = strstr(text, "1 lo flags 1 ") != NULL;

	free(text);
	return found;
}

static void test_namespaces(struct netlink *own)
{
	struct netlink *there[2];
	struct namespace_id ids[2];
	struct err err = {0};
	int fds[2] = {-1, -1}, found;

	fixture_succeeds(namespace_make(2, fds, &err), &err, "two namespaces are made");
	for (int i = 0; i < 2; i++) {
		there[i] = open_or_fail(fds[i]);
		tap_is_int(namespace_identify(fds[i], &ids[i], &err), 0, "it has a name");
	}
	tap_ok(!namespace_is_same(&ids[0], &ids[1]), "the two are told apart");
	tap_is_int(netlink_request(there[1], link_message(RTM_NEWLINK, 0, 1, IFF_UP), NULL, &err),
	           0, "the loopback interface of one goes up: %s", err.text);
	tap_ok(is_up(there[1]) && !is_up(there[0]) && !is_up(own), "and only that one");

	tap_is_int(namespace_find(&ids[1], &found, &err), 0, "a namespace that is held is found");
	close(found);
	netlink_close(there[0]);
	netlink_close(there[1]);
	close(fds[0]);
	close(fds[1]);
	tap_is_int(namespace_find(&ids[1], &found, &err), -ENOENT, "afterwards it is gone");
	tap_contains(err.text, "is gone", "and said so");
}

/* More than this process may have open; it has room for some. */
static void test_too_many_namespaces(void)
{
	int fds[8], next = dup(STDOUT_FILENO);
	struct rlimit limit, lower;
	struct err err = {0};

	close(next);
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	lower = limit;
	lower.rlim_cur = (rlim_t)next + 4;
	(void)setrlimit(RLIMIT_NOFILE, &lower);
	tap_is_int(namespace_make(8, fds, &err), -EMFILE, "more namespaces than files may be open");
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	tap_contains(err.text, "Too many open files", "and said so");
	tap_is_int(dup(STDOUT_FILENO), next, "none stays open");
	close(next);
}

/* A process that sits in a namespace, not holding a file descriptor of it. */
static void test_find_process(void)
{
	struct namespace_id id;
	struct err err = {0};
	int fd = -1, found, ready[2];
	char byte;
	pid_t pid;

	(void)!pipe(ready);
	(void)namespace_make(1, &fd, &err);
	(void)namespace_identify(fd, &id, &err);
	pid = fork();
	if (pid == 0) {
		alarm(60); /* if the test ends before it is killed */
		if (namespace_enter(fd, NULL))
			_exit(1);
		close(fd);
		(void)!write(ready[1], "", 1);
		pause();
	}
	(void)!read(ready[0], &byte, 1);
	close(fd);
	tap_is_int(namespace_find(&id, &found, &err), 0, "a namespace somebody is in is found");
	close(found);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_is_int(namespace_find(&id, &found, &err), -ENOENT, "until the process ends");
}

/* The checks of another user, by their exit status. */
static int status_of_nobody(int (*check)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		/* A process that has changed its user may not look at itself, unless it says so. */
		_exit(setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
		                      prctl(PR_SET_DUMPABLE, 1)
		              ? 99
		              : check());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int change_as_nobody(void)
{
	struct netlink *netlink;
	struct err err = {0};
	int rc = netlink_open(NAMESPACE_OWN, &netlink, &err);

	if (rc)
		return 1;
	rc = netlink_request(netlink, link_message(RTM_NEWLINK, 0, 1, IFF_UP), NULL, &err);
	netlink_close(netlink);
	return rc == -EPERM && strstr(err.text, "CAP_NET_ADMIN") ? 0 : 2;
}

/* Namespaces of one's own need no privilege, where the kernel allows user namespaces. */
static int make_as_nobody(void)
{
	struct netlink *netlink;
	struct err err = {0};
	int rc, fds[2];

	rc = namespace_make(2, fds, &err);
	if (rc == -EPERM)
		return 77;
	if (rc || netlink_open(fds[1], &netlink, &err))
		return 1;
	if (netlink_request(netlink, link_message(RTM_NEWLINK, 0, 1, IFF_UP), NULL, &err))
		return 2;
	if (!is_up(netlink))
		return 3;
	netlink_close(netlink);
	return namespace_enter(fds[1], &err) || geteuid() != NOBODY ? 4 : 0;
}

static void test_users(void)
{
	int status;

	if (geteuid() != 0) {
		tap_skip("only root can try out what other users may do");
		return;
	}
	tap_is_int(status_of_nobody(change_as_nobody), 0,
	           "without the right to, a change is refused with a sentence");
	if (FIXTURE_HAS_THREADS) {
		tap_skip("ThreadSanitizer's thread keeps its process out of user namespaces");
		return;
	}
	status = status_of_nobody(make_as_nobody);
	if (status == 77)
		tap_skip("this kernel allows no user namespaces");
	else
		tap_is_int(status, 0, "any user makes, changes and enters namespaces of its own");
}

/* Somebody who answers in the kernel's place. */
struct peer {
	int fd;
	int stranger; /* another socket, which nobody asked */
	void (*answer)(const struct peer *peer, const struct nlmsghdr *request, int n_requests,
	               const struct sockaddr_nl *to);
	int n_requests; /* to come */
};

static void send_bytes(int fd, const struct sockaddr_nl *to, const void *bytes, size_t n_bytes)
{
	(void)!sendto(fd, bytes, n_bytes, 0, (const struct sockaddr *)to, sizeof(*to));
}

static void send_ack(int fd, const struct sockaddr_nl *to, uint32_t sequence, int code)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} ack = {.head = {.nlmsg_len = sizeof(ack), .nlmsg_type = NLMSG_ERROR},
	         .error.error = code};

	ack.head.nlmsg_seq = sequence;
	send_bytes(fd, to, &ack, sizeof(ack));
}

static void *serve(void *argument)
{
	struct peer *peer = argument;

	for (int i = 0; i < peer->n_requests; i++) {
		struct sockaddr_nl from = {0};
		socklen_t n_from = sizeof(from);
		char request[4096];

		if (recvfrom(peer->fd, request, sizeof(request), 0, (struct sockaddr *)&from,
		             &n_from) <= 0)
			break;
		peer->answer(peer, (const struct nlmsghdr *)request, i, &from);
	}
	return NULL;
}

static void answer_nothing(const struct peer *peer, const struct nlmsghdr *request, int i,
                           const struct sockaddr_nl *to)
{
	(void)i;
	(void)to;
	send_ack(peer->stranger, to, request->nlmsg_seq, 0);
}

static void answer_late(const struct peer *peer, const struct nlmsghdr *request, int i,
                        const struct sockaddr_nl *to)
{
	(void)i;
	send_ack(peer->fd, to, request->nlmsg_seq - 1, -EBUSY);
	send_ack(peer->fd, to, request->nlmsg_seq, 0);
}

static void answer_torn(const struct peer *peer, const struct nlmsghdr *request, int i,
                        const struct sockaddr_nl *to)
{
	struct {
		struct nlmsghdr head;
		uint16_t half;
	} __attribute__((packed))
	ack = {.head = {.nlmsg_len = NLMSG_HDRLEN + 2, .nlmsg_type = NLMSG_ERROR}};

	(void)i;
	ack.head.nlmsg_seq = request->nlmsg_seq;
	send_bytes(peer->fd, to, &ack, sizeof(ack));
}

/* The first dump is told to be inconsistent, after two messages; the second is whole, with one. */
static void answer_dump(const struct peer *peer, const struct nlmsghdr *request, int i,
                        const struct sockaddr_nl *to)
{
	struct {
		struct nlmsghdr head;
		uint32_t number;
	} part = {.head = {.nlmsg_len = sizeof(part), .nlmsg_type = RTM_NEWLINK}};
	int n_parts = i == 0 ? 2 : 1;

	part.head.nlmsg_seq = request->nlmsg_seq;
	part.head.nlmsg_flags = NLM_F_MULTI;
	for (uint32_t n = 0; (int)n < n_parts; n++) {
		part.number = (uint32_t)i * 10 + n;
		send_bytes(peer->fd, to, &part, sizeof(part));
	}
	part.head.nlmsg_type = NLMSG_DONE;
	part.head.nlmsg_flags = NLM_F_MULTI | (i == 0 ? NLM_F_DUMP_INTR : 0);
	part.number = 0;
	send_bytes(peer->fd, to, &part, sizeof(part));
}

/* Ask a peer instead of the kernel; n_requests is how many it will see. */
static int ask(struct peer peer, struct netlink_answer *answer_out, int flags, struct err *err)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	socklen_t n_address = sizeof(address);
	struct netlink *netlink;
	pthread_t thread;
	int rc, fd = -1;

	(void)namespace_socket(NAMESPACE_OWN, NETLINK_ROUTE, &peer.fd, err);
	(void)namespace_socket(NAMESPACE_OWN, NETLINK_ROUTE, &peer.stranger, err);
	(void)namespace_socket(NAMESPACE_OWN, NETLINK_ROUTE, &fd, err);
	(void)getsockname(peer.fd, (struct sockaddr *)&address, &n_address);
	rc = netlink_adopt(fd, address.nl_pid, 100 * NS_PER_MS, &netlink, err);
	if (rc)
		return rc;
	pthread_create(&thread, NULL, serve, &peer);
	rc = netlink_request(netlink, link_message(RTM_GETLINK, flags, 1, 0), answer_out, err);
	pthread_join(thread, NULL);
	netlink_close(netlink);
	close(peer.fd);
	close(peer.stranger);
	return rc;
}

/* The kernel answers before the call returns that asks it, and that may be long after any limit:
 * then the answer counts. */
static void test_late_kernel(void)
{
	struct netlink *netlink;
	struct err err = {0};
	int fd = -1, n_failed = 0;

	(void)namespace_socket(NAMESPACE_OWN, NETLINK_ROUTE, &fd, &err);
	if (!fixture_succeeds(netlink_adopt(fd, 0, -NS_PER_S, &netlink, &err), &err,
	                      "a limit that is over as soon as it begins"))
		return;
	for (int i = 0; i < 100; i++)
		n_failed += netlink_request(netlink, link_message(RTM_GETLINK, 0, 1, 0), NULL,
		                            &err) != 0;
	tap_is_int(n_failed, 0, "is none for what has been answered: %s", err.text);
	n_failed = netlink_request(netlink, link_message(RTM_GETLINK, NLM_F_DUMP, 0, 0), NULL,
	                           &err) != 0;
	tap_is_int(n_failed, 0, "nor for a dump, which goes on while it is read");
	netlink_close(netlink);
}

static void test_peers(void)
{
	struct netlink_answer answer = {0};
	struct err err = {0};
	int64_t start_ns = clock_monotonic_ns(), number = -1;
	int rc = ask((struct peer){.answer = answer_nothing, .n_requests = 1}, NULL, 0, &err);

	tap_is_int(rc, -ETIMEDOUT, "an acknowledgement that another process sends does not count");
	tap_ok(clock_monotonic_ns() - start_ns >= 100 * NS_PER_MS, "the limit is waited for");
	tap_contains(err.text, "did not answer in time", "and the sentence says it");
	rc = ask((struct peer){.answer = answer_late, .n_requests = 1}, NULL, 0, &err);
	tap_is_int(rc, 0, "the late answer to an earlier request is skipped");
	rc = ask((struct peer){.answer = answer_torn, .n_requests = 1}, NULL, 0, &err);
	tap_is_int(rc, -EPROTO, "an acknowledgement of two bytes is refused");
	rc = ask((struct peer){.answer = answer_dump, .n_requests = 2}, &answer, NLM_F_DUMP, &err);
	fixture_succeeds(rc, &err, "a dump that the tables changed under is begun again");
	for (const struct nlmsghdr *head = NULL; (head = netlink_next(&answer, head));)
		number = number < 0 ? *(const uint32_t *)nlmsg_data(head) : 99;
	tap_is_int(number, 10, "and only the second one's message is there");
	netlink_answer_fini(&answer);
}

static void test_adoption(void)
{
	struct netlink *netlink = NULL;
	struct err err = {0};
	int fd = open("/dev/null", O_RDONLY);

	tap_is_int(netlink_adopt(fd, 0, NS_PER_S, &netlink, &err), -EINVAL,
	           "what is no netlink socket is refused");
	tap_ok(fcntl(fd, F_GETFD) == -1, "and closed");
}

int main(void)
{
	struct namespace_fixture fixture;
	struct netlink *netlink;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	netlink = open_or_fail(NAMESPACE_OWN);
	test_kernel(netlink);
	test_namespaces(netlink);
	netlink_close(netlink);
	test_too_many_namespaces();
	test_find_process();
	test_users();
	test_late_kernel();
	test_peers();
	test_adoption();
	return fixture_done(&fixture);
}
