/* lab.c - hosts of their own on one machine: network namespaces, joined by virtual wires. */
#include "injectors/lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "injectors/undo.h"

enum {
	LOOPBACK_INDEX = 1, /* in every namespace */
	PREFIX_BITS = 16,
	MTU_MIN = 576,
	MTU_MAX = 65535,
	CARRIER_TIMEOUT_S = 10,
	WINDOW_BYTES = 96 << 20,
};

/* An interface that is up again asks who has an address before the bridge has noticed, and the
 * second that the kernel takes to ask again would be longer than most outages. */
enum { QUESTION_MS = 20, QUESTIONS_MOST = 500 };

/* One namespace with what is needed to change it. */
struct room {
	int fd;
	struct namespace_id id;
	struct netlink *netlink;
};

struct lab {
	struct lab_config config;
	struct journal *journal;
	struct room *rooms;   /* hosts, and behind them the one of the bridges */
	struct room *bridges; /* that one */
	int n_rooms;
};

uint32_t lab_address(int host, int rail)
{
	return UINT32_C(10) << 24 | (uint32_t)rail << 16 | (uint32_t)(host + 1);
}

char *lab_address_text(int host, int rail, char *out)
{
	uint32_t address = lab_address(host, rail);

	snprintf(out, LAB_ADDRESS_BYTES, "%u.%u.%u.%u", address >> 24, address >> 16 & 0xff,
	         address >> 8 & 0xff, address & 0xff);
	return out;
}

char *lab_rail_name(int rail, char *out)
{
	snprintf(out, INTERFACE_NAME_BYTES, "rail%d", rail);
	return out;
}

struct netlink *lab_netlink(const struct lab *lab, int host)
{
	return lab->rooms[host].netlink;
}

const struct namespace_id *lab_namespace(const struct lab *lab, int host)
{
	return &lab->rooms[host].id;
}

int lab_namespace_fd(const struct lab *lab, int host)
{
	return lab->rooms[host].fd;
}

const struct lab_config *lab_config(const struct lab *lab)
{
	return &lab->config;
}

static int check(const struct lab_config *config, struct err *err)
{
	if (config->n_hosts < 1 || config->n_hosts > LAB_HOSTS_MAX)
		return err_set(err, -EINVAL, "a lab of %d hosts; 1 to %d are possible",
		               config->n_hosts, LAB_HOSTS_MAX);
	if (config->n_rails < 1 || config->n_rails > LAB_RAILS_MAX)
		return err_set(err, -EINVAL, "a lab of %d rails; 1 to %d are possible",
		               config->n_rails, LAB_RAILS_MAX);
	if (config->mtu_bytes < MTU_MIN || config->mtu_bytes > MTU_MAX)
		return err_set(err, -EINVAL, "a lab with an MTU of %d; %d to %d are possible",
		               config->mtu_bytes, MTU_MIN, MTU_MAX);
	return 0;
}

static int note_interface(struct lab *lab, const struct room *room, const char *name,
                          struct err *err)
{
	struct change change = {.kind = CHANGE_INTERFACE, .where = room->id};
	int number;

	memcpy(change.interface, name, strlen(name) + 1);
	return journal_add(lab->journal, &change, &number, err);
}

/* A path that was quiet for a moment is still the same path: without the first of these TCP would
 * begin anew after each pause, and a message take several round trips where the fault asks for one.
 * Nothing is lost here, so the oldest way to find a window is the best: it doubles until something
 * is, while cubic takes a delay that begins for a full path and then needs seconds to fill it, and
 * bbr, which some machines have, spreads a message over half a round trip more. The others have
 * room for WINDOW_BYTES at both ends from the start: the kernel takes half of it for itself. */
static const struct {
	const char *path;
	const char *text;
} settings[] = {
	{"/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0"},
	{"/proc/sys/net/ipv4/tcp_congestion_control", "reno"},
	{"/proc/sys/net/ipv4/tcp_wmem", "4096 201326592 201326592"},
	{"/proc/sys/net/ipv4/tcp_rmem", "4096 201326592 201326592"},
};

static int set_up_host(const struct room *room, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(settings) / sizeof(settings[0]); i++)
		rc = namespace_set(room->fd, settings[i].path, settings[i].text, err);
	return rc;
}

/* A lab of hundreds of hosts takes seconds. */
static int check_interrupt(struct err *err)
{
	return interrupt_is_pending() ? err_set(err, -EINTR, "interrupted while the lab was made")
	                              : 0;
}

/* The namespace is there before its line, as its name comes from the kernel; until the line stands,
 * nothing in it would outlast this process. */
static int set_up_room(struct lab *lab, struct room *room, struct err *err)
{
	struct change change = {.kind = CHANGE_NAMESPACE};
	int number, rc;

	rc = namespace_identify(room->fd, &room->id, err);
	if (rc)
		return rc;
	change.where = room->id;
	rc = journal_add(lab->journal, &change, &number, err);
	if (!rc)
		rc = netlink_open(room->fd, &room->netlink, err);
	if (!rc)
		rc = interface_set_up(room->netlink, LOOPBACK_INDEX, true, err);
	return rc;
}

static int make_rooms(struct lab *lab, struct err *err)
{
	int *fds = array_new((size_t)lab->n_rooms, sizeof(*fds));
	int rc;

	if (!fds)
		return err_set(err, -ENOMEM, "out of memory for %d hosts", lab->config.n_hosts);
	rc = namespace_make(lab->n_rooms, fds, err);
	for (int i = 0; !rc && i < lab->n_rooms; i++)
		lab->rooms[i].fd = fds[i];
	free(fds);
	for (int i = 0; !rc && i < lab->n_rooms; i++) {
		rc = check_interrupt(err);
		rc = rc ? rc : set_up_room(lab, &lab->rooms[i], err);
	}
	for (int i = 0; !rc && i < lab->config.n_hosts; i++)
		rc = set_up_host(&lab->rooms[i], err);
	return rc;
}

/* Bridges take the MTU of their smallest port. */
static int make_bridge(struct lab *lab, int rail, int *index_out, struct err *err)
{
	struct netlink *netlink = lab->bridges->netlink;
	char name[INTERFACE_NAME_BYTES];
	struct interface bridge;
	int rc;

	snprintf(name, sizeof(name), "bridge%hu", (unsigned short)rail);
	rc = note_interface(lab, lab->bridges, name, err);
	if (!rc)
		rc = interface_add_bridge(netlink, name, err);
	if (!rc)
		rc = interface_find(netlink, name, &bridge, err);
	if (!rc)
		rc = interface_set_quiet(netlink, bridge.index, err);
	if (!rc)
		rc = interface_set_up(netlink, bridge.index, true, err);
	if (!rc)
		*index_out = bridge.index;
	return rc;
}

/* One end of a wire, up. */
static int set_up_end(struct netlink *netlink, const char *name, struct interface *out,
                      struct err *err)
{
	int rc = interface_find(netlink, name, out, err);

	if (!rc)
		rc = interface_set_quiet(netlink, out->index, err);
	if (!rc)
		rc = interface_set_whole_packets(netlink, out, err);
	if (!rc)
		rc = interface_set_up(netlink, out->index, true, err);
	return rc;
}

/* The lab is the run's own, so there is no other traffic to be felt out for: a message that fits
 * into the window takes one delay of its path, also the first one of a connection. */
static int set_window(const struct lab *lab, int host, int rail, int index, struct err *err)
{
	return interface_set_window(lab->rooms[host].netlink, index, lab_address(host, rail),
	                            PREFIX_BITS, (uint32_t)(WINDOW_BYTES / lab->config.mtu_bytes),
	                            err);
}

static int make_wire(struct lab *lab, int host, int rail, int bridge_index, struct err *err)
{
	char port_name[INTERFACE_NAME_BYTES], rail_name[INTERFACE_NAME_BYTES];
	const struct room *room = &lab->rooms[host];
	const struct interface_pair pair = {
		.name = port_name,
		.peer_name = lab_rail_name(rail, rail_name),
		.peer_namespace_fd = room->fd,
		.bridge_index = bridge_index,
		.mtu_bytes = lab->config.mtu_bytes,
	};
	struct interface port, end;
	int rc;

	snprintf(port_name, sizeof(port_name), "h%hu-rail%hhu", (unsigned short)host,
	         (unsigned char)rail);
	rc = note_interface(lab, lab->bridges, port_name, err);
	if (!rc)
		rc = interface_add_pair(lab->bridges->netlink, &pair, err);
	if (!rc)
		rc = set_up_end(lab->bridges->netlink, port_name, &port, err);
	if (!rc)
		rc = set_up_end(room->netlink, rail_name, &end, err);
	if (!rc)
		rc = interface_add_address(room->netlink, end.index, lab_address(host, rail),
		                           PREFIX_BITS, err);
	if (!rc)
		rc = interface_set_questions(room->netlink, end.index, QUESTION_MS, QUESTIONS_MOST,
		                             err);
	return rc ? rc : set_window(lab, host, rail, end.index, err);
}

static int make_rail(struct lab *lab, int rail, struct err *err)
{
	int bridge_index = 0, rc = make_bridge(lab, rail, &bridge_index, err);

	for (int host = 0; !rc && host < lab->config.n_hosts; host++) {
		rc = check_interrupt(err);
		rc = rc ? rc : make_wire(lab, host, rail, bridge_index, err);
	}
	return rc;
}

/* The kernel tells both ends of a wire a moment after they are up. */
static int await_carrier(struct lab *lab, int host, int rail, struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + (int64_t)CARRIER_TIMEOUT_S * NS_PER_S;
	char name[INTERFACE_NAME_BYTES];
	struct interface end;

	lab_rail_name(rail, name);
	for (;;) {
		int rc = interface_find(lab->rooms[host].netlink, name, &end, err);

		if (rc || end.has_carrier)
			return rc;
		if (clock_monotonic_ns() > end_ns)
			return err_set(err, -ETIMEDOUT, "'%s' of host %d has no carrier after %d s",
			               name, host, CARRIER_TIMEOUT_S);
		clock_sleep_ns(NS_PER_MS);
	}
}

static int make_all(struct lab *lab, struct err *err)
{
	int rc = make_rooms(lab, err);

	for (int rail = 0; !rc && rail < lab->config.n_rails; rail++)
		rc = make_rail(lab, rail, err);
	for (int rail = 0; !rc && rail < lab->config.n_rails; rail++)
		for (int host = 0; !rc && host < lab->config.n_hosts; host++)
			rc = await_carrier(lab, host, rail, err);
	return rc;
}

int lab_restore_rail(const struct lab *lab, int host, int rail, struct err *err)
{
	char name[INTERFACE_NAME_BYTES];
	struct interface end;
	int rc = interface_find(lab->rooms[host].netlink, lab_rail_name(rail, name), &end, err);

	return rc ? rc : set_window(lab, host, rail, end.index, err);
}

int lab_open(const struct lab_config *config, struct journal *journal, struct lab **out,
             struct err *err)
{
	struct lab *lab;
	int rc = check(config, err);

	if (rc)
		return rc;
	lab = calloc(1, sizeof(*lab));
	if (lab)
		lab->rooms = array_new((size_t)config->n_hosts + 1, sizeof(*lab->rooms));
	if (!lab || !lab->rooms) {
		free(lab);
		return err_set(err, -ENOMEM, "out of memory for %d hosts", config->n_hosts);
	}
	lab->config = *config;
	lab->journal = journal;
	lab->n_rooms = config->n_hosts + 1;
	lab->bridges = &lab->rooms[config->n_hosts];
	for (int i = 0; i < lab->n_rooms; i++)
		lab->rooms[i].fd = -1;
	rc = make_all(lab, err);
	if (rc) {
		/* What went wrong first is told. */
		(void)lab_close(lab, NULL);
		return rc;
	}
	*out = lab;
	return 0;
}

static void let_go(struct lab *lab)
{
	for (int i = 0; i < lab->n_rooms; i++) {
		netlink_close(lab->rooms[i].netlink);
		if (lab->rooms[i].fd >= 0)
			close(lab->rooms[i].fd);
	}
	free(lab->rooms);
	free(lab);
}

int lab_enter(struct lab *lab, int host, struct err *err)
{
	int rc = namespace_enter(lab->rooms[host].fd, err);

	let_go(lab);
	return rc;
}

/* Once nobody holds them the kernel removes namespaces by itself, all at once and in the
 * background; taking interfaces away one by one takes 40 ms each. So they are let go first, and
 * only what somebody still holds is left to do. */
int lab_close(struct lab *lab, struct err *err)
{
	struct undo_summary summary = {0};
	struct journal *journal;

	if (!lab)
		return 0;
	journal = lab->journal;
	let_go(lab);
	return undo_journal(journal, &summary, err);
}
