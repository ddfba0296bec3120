/* interface.c - interfaces in namespaces: pairs, bridges, addresses, up and down, whole packets. */
#include "injectors/interface.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/net/namespace_fixture.h"

/* left is here, right in a namespace of its own; both are up and have addresses. */
struct wire {
	struct netlink *near, *far;
	int far_fd;
	struct interface left, right;
};

static bool wire_begin(struct wire *wire)
{
	struct err err = {0};
	struct interface_pair pair = {.name = "left", .peer_name = "right", .mtu_bytes = 1400};

	*wire = (struct wire){.far_fd = -1};
	if (namespace_make(1, &wire->far_fd, &err) ||
	    netlink_open(NAMESPACE_OWN, &wire->near, &err) ||
	    netlink_open(wire->far_fd, &wire->far, &err))
		return tap_ok(false, "there is a namespace for the other end: %s", err.text);
	pair.peer_namespace_fd = wire->far_fd;
	fixture_succeeds(interface_add_pair(wire->near, &pair, &err), &err, "a pair is made");
	tap_is_int(interface_find(wire->near, "left", &wire->left, &err), 0, "one end is here");
	tap_is_int(interface_find(wire->far, "right", &wire->right, &err), 0,
	           "the other one in the other namespace");
	return true;
}

static void wire_end(struct wire *wire)
{
	netlink_close(wire->near);
	netlink_close(wire->far);
	close(wire->far_fd);
}

static void test_refusals(struct netlink *netlink)
{
	struct interface_pair pair = {.name = "left", .peer_name = "other", .mtu_bytes = 1400};
	struct interface found;
	struct err err = {0};

	pair.peer_namespace_fd = open("/proc/thread-self/ns/net", O_RDONLY);
	tap_is_int(interface_add_pair(netlink, &pair, &err), -EEXIST,
	           "a name that is taken is refused");
	tap_contains(err.text, "'left' and 'other'", "by its name");
	tap_is_int(interface_find(netlink, "other", &found, &err), -ENODEV, "nothing was made");
	tap_contains(err.text, "no interface 'other'", "and what is missing is named");
	tap_is_int(interface_find(netlink, "a-name-of-seventeen", &found, &err), -ENODEV,
	           "too long a name is no interface's");
	close(pair.peer_namespace_fd);
	tap_is_int(interface_set_up(netlink, 999, true, &err), -ENODEV,
	           "an interface that is not there is not taken up");
	tap_contains(err.text, "interface 999 cannot be taken up", "and said so");
}

static void test_wire(struct wire *wire)
{
	struct err err = {0};

	tap_is_str(wire->left.kind, "veth", "its kind is known");
	tap_is_int(wire->left.mtu_bytes, 1400, "this end has the MTU");
	tap_is_int(wire->right.mtu_bytes, 1400, "the other one as well");
	tap_ok(!wire->left.is_up && !wire->right.is_up, "both are down");
	fixture_succeeds(interface_set_quiet(wire->near, wire->left.index, &err), &err,
	                 "it gets no address by itself");
	tap_is_int(interface_set_up(wire->near, wire->left.index, true, &err), 0, "one goes up");
	(void)interface_find(wire->near, "left", &wire->left, &err);
	tap_ok(wire->left.is_up && !wire->left.has_carrier, "and waits for the other");
	for (int i = 0; i < 2; i++)
		tap_is_int(interface_set_up(wire->far, wire->right.index, true, &err), 0,
		           "up, once or again, is success");
	(void)interface_find(wire->near, "left", &wire->left, &err);
	tap_ok(wire->left.has_carrier, "then there is a carrier");
	tap_is_int(interface_set_mtu(wire->near, wire->left.index, 9000, &err), 0, "MTU changes");
	(void)interface_find(wire->near, "left", &wire->left, &err);
	tap_is_int(wire->left.mtu_bytes, 9000, "as asked");
	fixture_succeeds(interface_add_address(wire->near, wire->left.index, 0x0a000001, 24, &err),
	                 &err, "an address is given");
	tap_is_int(interface_add_address(wire->near, wire->left.index, 0x0a000001, 24, &err),
	           -EEXIST, "once");
	tap_is_int(interface_add_address(wire->far, wire->right.index, 0x0a000002, 24, &err), 0,
	           "the other end has one as well");
}

/* A datagram to the other end goes out: there is an address and a route. */
static void test_route(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)}, own;
	socklen_t n_own = sizeof(own);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(0x0a000002);
	tap_is_int(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0, "there is a route");
	(void)getsockname(fd, (struct sockaddr *)&own, &n_own);
	tap_is_int(ntohl(own.sin_addr.s_addr), 0x0a000001, "from the address that was given");
	close(fd);
}

/* How many packets "left" has sent. */
static long n_sent(void)
{
	FILE *file = fopen("/proc/thread-self/net/dev", "re");
	long n = -1, found;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " left: %*d %*d %*d %*d %*d %*d %*d %*d %*d %ld", &found) == 1)
			n = found;
	if (file)
		(void)fclose(file);
	return n;
}

/* One datagram for an address that nobody has: each packet is a question whose it is. */
static void test_questions(struct wire *wire)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	int64_t end_ns = clock_monotonic_ns() + 60 * (int64_t)NS_PER_S;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct err err = {0};
	long n_before = n_sent();

	fixture_succeeds(interface_set_questions(wire->near, wire->left.index, 10, 100, &err), &err,
	                 "it is told to ask often");
	to.sin_addr.s_addr = htonl(0x0a000009);
	(void)!sendto(fd, "", 1, 0, (struct sockaddr *)&to, sizeof(to));
	while (n_sent() < n_before + 20 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS);
	tap_ok(n_before >= 0 && n_sent() >= n_before + 20, "and does, more than three times");
	close(fd);
}

static void test_bridge(struct netlink *netlink, int far_fd)
{
	struct interface bridge, port, *list;
	struct interface_pair pair = {.name = "port",
	                              .peer_name = "rail0",
	                              .peer_namespace_fd = far_fd,
	                              .mtu_bytes = 1500};
	struct err err = {0};
	size_t n = 0;

	fixture_succeeds(interface_add_bridge(netlink, "bridge0", &err), &err, "a bridge is made");
	tap_is_int(interface_add_bridge(netlink, "bridge0", &err), -EEXIST, "once");
	(void)interface_find(netlink, "bridge0", &bridge, &err);
	tap_is_str(bridge.kind, "bridge", "its kind is known");
	pair.bridge_index = bridge.index;
	fixture_succeeds(interface_add_pair(netlink, &pair, &err), &err, "a pair is joined to it");
	(void)interface_find(netlink, "port", &port, &err);
	tap_is_int(port.bridge_index, bridge.index, "as a port");
	tap_is_int(interface_list(netlink, &list, &n, &err), 0, "all are listed");
	tap_is_int((int64_t)n, 4, "the loopback interface, both ends that are here, the bridge");
	tap_is_str(list[0].name, "lo", "by their index");
	free(list);
	tap_is_int(interface_delete(netlink, port.index, &err), 0, "the port is removed");
	tap_is_int(interface_delete(netlink, port.index, &err), -ENODEV, "once");
	tap_is_int(interface_delete(netlink, bridge.index, &err), 0, "the bridge is removed");
}

static void test_whole_packets(struct wire *wire)
{
	struct interface lo;
	struct err err = {0};

	for (int i = 0; i < 2; i++)
		fixture_succeeds(interface_set_whole_packets(wire->near, &wire->left, &err), &err,
		                 "packets are kept whole, once or again");
	(void)interface_find(wire->near, "lo", &lo, &err);
	lo.index = 999;
	tap_is_int(interface_set_whole_packets(wire->near, &lo, &err), -ENODEV,
	           "what the kernel refuses is told");
}

int main(void)
{
	struct namespace_fixture fixture;
	struct interface gone;
	struct wire wire;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	if (wire_begin(&wire)) {
		test_refusals(wire.near);
		test_wire(&wire);
		test_route();
		test_questions(&wire);
		test_bridge(wire.near, wire.far_fd);
		test_whole_packets(&wire);
		tap_is_int(interface_delete(wire.near, wire.left.index, &err), 0,
		           "one end is removed");
		tap_is_int(interface_find(wire.far, "right", &gone, &err), -ENODEV,
		           "and the other one goes with it");
	}
	wire_end(&wire);
	return fixture_done(&fixture);
}
