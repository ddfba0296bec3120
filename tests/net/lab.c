/* lab.c - hosts in namespaces: who reaches whom, whole packets, closing, any user.
 */
#include "injectors/lab.h"

#include <arpa/inet.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "tests/folder.h"
#include "tests/net/namespace_fixture.h"

enum { PORT = 7000, MTU_BYTES = 1500, N_BYTES = 1 << 20, NOBODY = 65534 };

static const char *folder;

/* In a child that entered host: wait for a connection on rail, read until its end. */
static int serve(int host, int rail)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	char bytes[65536];
	int64_t sum = 0;
	ssize_t n;

	address.sin_addr.s_addr = htonl(lab_address(host, rail));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
		return 1;
	fd = accept(listener, NULL, NULL);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		sum += n;
	return sum == N_BYTES ? 0 : 2;
}

/* In a child that entered another host: send N_BYTES there. */
static int send_all(int host, int rail)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	static char bytes[N_BYTES];
	int rc = -1, fd = -1;
	size_t sent = 0;

	address.sin_addr.s_addr = htonl(lab_address(host, rail));
	for (int i = 0; rc && i < 200; i++) {
		if (fd >= 0)
			close(fd);
		clock_sleep_ns(5 * NS_PER_MS);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
	}
	while (!rc && sent < sizeof(bytes)) {
		ssize_t n = write(fd, bytes + sent, sizeof(bytes) - sent);

		if (n <= 0)
			return 2;
		sent += (size_t)n;
	}
	close(fd);
	return rc ? 1 : 0;
}

static pid_t start(struct lab *lab, int inside, int (*act)(int host, int rail), int host, int rail)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(30);
		_exit(lab_enter(lab, inside, NULL) ? 99 : act(host, rail));
	}
	return pid;
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Bytes a packet that host has sent over rail, as its interface counts. */
static double mean_packet(const struct lab *lab, int host, int rail)
{
	char name[INTERFACE_NAME_BYTES];
	struct netlink_answer answer = {0};
	struct nlattr *attributes[IFLA_MAX + 1], *counts = NULL;
	struct rtnl_link_stats64 sums = {0};
	const struct nlmsghdr *head = NULL;
	struct err err = {0};

	lab_rail_name(rail, name);
	(void)netlink_request(lab_netlink(lab, host), fixture_dump_links(), &answer, &err);
	while ((head = netlink_next(&answer, head)))
		if (nlmsg_parse((struct nlmsghdr *)head, sizeof(struct ifinfomsg), attributes,
		                IFLA_MAX, NULL) == 0 &&
		    strcmp(nla_get_string(attributes[IFLA_IFNAME]), name) == 0)
			counts = attributes[IFLA_STATS64];
	if (counts)
		memcpy(&sums, nla_data(counts), sizeof(sums));
	netlink_answer_fini(&answer);
	return sums.tx_packets ? (double)sums.tx_bytes / (double)sums.tx_packets : 0;
}

static void test_traffic(struct lab *lab)
{
	pid_t server = start(lab, 2, serve, 2, 1), client = start(lab, 0, send_all, 2, 1);
	double packet_bytes;

	tap_is_int(status_of(client), 0, "host 0 reaches host 2 over rail 1");
	tap_is_int(status_of(server), 0, "and all bytes arrive");
	packet_bytes = mean_packet(lab, 0, 1);
	tap_ok(packet_bytes > MTU_BYTES / 2 && packet_bytes <= MTU_BYTES + 14,
	       "in packets that are not larger than the wire's");
	tap_note("%.0f bytes a packet", packet_bytes);
	tap_is_number(mean_packet(lab, 0, 0), 0, 42,
	              "and nothing but questions for addresses "
	              "over rail 0");
}

/* The first letter of a setting as it is here. */
static int letter_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char letter = '?';

	(void)!read(fd, &letter, 1);
	close(fd);
	return letter;
}

/* In a child that entered a host. */
static int read_slow_start(int host, int rail)
{
	(void)host;
	(void)rail;
	return letter_of("/proc/sys/net/ipv4/tcp_slow_start_after_idle");
}

static int read_congestion_control(int host, int rail)
{
	(void)host;
	(void)rail;
	return letter_of("/proc/sys/net/ipv4/tcp_congestion_control");
}

static void test_settings(struct lab *lab)
{
	tap_is_int(status_of(start(lab, 1, read_slow_start, 0, 0)), '0',
	           "TCP of a host does not begin anew after a pause");
	tap_is_int(status_of(start(lab, 1, read_congestion_control, 0, 0)), 'r',
	           "and spreads nothing over time, as reno");
	tap_is_int(read_slow_start(0, 0), '1', "that of the machine is as it was");
}

static void test_addresses(void)
{
	char text[LAB_ADDRESS_BYTES];

	tap_is_str(lab_address_text(0, 0, text), "10.0.0.1", "the first host's address");
	tap_is_str(lab_address_text(299, 15, text), "10.15.1.44", "one far behind");
}

static void test_refusals(struct journal *journal)
{
	const struct lab_config wrong[] = {
		{.n_hosts = 0, .n_rails = 1, .mtu_bytes = 1500},
		{.n_hosts = LAB_HOSTS_MAX + 1, .n_rails = 1, .mtu_bytes = 1500},
		{.n_hosts = 1, .n_rails = LAB_RAILS_MAX + 1, .mtu_bytes = 1500},
		{.n_hosts = 1, .n_rails = 1, .mtu_bytes = 68},
	};
	struct lab *lab;
	struct change change;
	struct err err = {0};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		tap_is_int(lab_open(&wrong[i], journal, &lab, &err), -EINVAL, "%s", err.text);
	tap_is_int(journal_pending_before(journal, INT32_MAX, &change), 0, "nothing was made");
}

static bool is_gone(const struct namespace_id *id)
{
	int fd;

	if (namespace_find(id, &fd, NULL))
		return true;
	close(fd);
	return false;
}

/* A worker that does not end: what is in the namespace goes all the same. */
static int linger(int host, int rail)
{
	(void)host;
	(void)rail;
	pause();
	return 0;
}

static int n_interfaces(const struct namespace_id *id)
{
	struct interface *list = NULL;
	struct netlink *netlink;
	size_t n = 0;
	int fd;

	if (namespace_find(id, &fd, NULL))
		return -1;
	if (!netlink_open(fd, &netlink, NULL)) {
		(void)interface_list(netlink, &list, &n, NULL);
		netlink_close(netlink);
	}
	free(list);
	close(fd);
	return (int)n;
}

static void test_lab(struct journal *journal)
{
	const struct lab_config config = {.n_hosts = 3, .n_rails = 2, .mtu_bytes = MTU_BYTES};
	struct namespace_id ids[3];
	struct lab *lab;
	struct err err = {0};
	int64_t start_ns = clock_monotonic_ns();
	pid_t lingering;

	if (!fixture_succeeds(lab_open(&config, journal, &lab, &err), &err,
	                      "a lab of three hosts and two rails"))
		return;
	tap_note("made in %.1f ms", (double)(clock_monotonic_ns() - start_ns) / NS_PER_MS);
	test_traffic(lab);
	test_settings(lab);
	for (int host = 0; host < 3; host++)
		ids[host] = *lab_namespace(lab, host);
	tap_is_int(n_interfaces(&ids[1]), 3, "a host has its loopback interface and two rails");
	lingering = start(lab, 1, linger, 0, 0);
	clock_sleep_ns(50 * NS_PER_MS);
	start_ns = clock_monotonic_ns();
	fixture_succeeds(lab_close(lab, &err), &err, "it is closed");
	tap_note("removed in %.1f ms", (double)(clock_monotonic_ns() - start_ns) / NS_PER_MS);
	tap_ok(is_gone(&ids[0]) && is_gone(&ids[2]), "and its hosts are gone");
	for (int i = 0; i < 500 && n_interfaces(&ids[1]) > 1; i++)
		clock_sleep_ns(10 * NS_PER_MS);
	tap_is_int(n_interfaces(&ids[1]), 1, "a process that stayed in one is left without rails");
	kill(lingering, SIGKILL);
	waitpid(lingering, NULL, 0);
	tap_ok(is_gone(&ids[1]), "the one that a process stayed in goes with that");
}

static int open_interrupted(struct journal *journal)
{
	const struct lab_config config = {.n_hosts = 3, .n_rails = 1, .mtu_bytes = MTU_BYTES};
	struct change change;
	struct lab *lab = NULL;

	interrupt_install();
	if (raise(SIGINT) || lab_open(&config, journal, &lab, NULL) != -EINTR || lab)
		return 1;
	return journal_pending_before(journal, INT_MAX, &change) ? 2 : 0;
}

/* The flag stays up, so it is another process's. */
static void test_interrupt(struct journal *journal)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(open_interrupted(journal));
	tap_is_int(status_of(pid), 0, "a lab that is interrupted is none, and leaves nothing");
}

/* The whole of it as another user. */
static int lab_as_nobody(void)
{
	const struct lab_config config = {.n_hosts = 2, .n_rails = 1, .mtu_bytes = MTU_BYTES};
	char own[] = "/tmp/adaptra-nobody-XXXXXX";
	struct journal *journal;
	struct lab *lab;
	struct err err = {0};
	pid_t server, client;
	int rc;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    !mkdtemp(own) || journal_open(own, &journal, &err))
		return 1;
	/* Other users may not look at a process that has changed its own; nor may it itself. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	rc = lab_open(&config, journal, &lab, &err);
	if (rc == -EPERM) {
		rmdir(own);
		return 77;
	}
	if (rc) {
		fprintf(stderr, "# %s\n", err.text);
		return 2;
	}
	server = start(lab, 1, serve, 1, 0);
	client = start(lab, 0, send_all, 1, 0);
	if (status_of(client) || status_of(server))
		return 3;
	if (lab_close(lab, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		return 4;
	}
	journal_close(journal);
	return rmdir(own) ? 5 : 0;
}

static void test_nobody(void)
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		tap_skip("this test runs as another user already");
		return;
	}
	if (FIXTURE_HAS_THREADS) {
		tap_skip("ThreadSanitizer's thread keeps its process out of user namespaces");
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(lab_as_nobody());
	status = status_of(pid);
	if (status == 77)
		tap_skip("this kernel allows no user namespaces");
	else
		tap_is_int(status, 0, "a user without rights makes, uses and removes a lab");
}

int main(void)
{
	struct namespace_fixture fixture;
	struct journal *journal;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	folder = folder_open();
	if (journal_open(folder, &journal, &err))
		return tap_skip_all("no place for a journal: %s", err.text);
	test_addresses();
	test_refusals(journal);
	test_interrupt(journal);
	test_lab(journal);
	journal_close(journal);
	test_nobody();
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
