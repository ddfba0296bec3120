/* interface.c - network interfaces: looked up, made, changed and removed, over netlink. */
#include "injectors/interface.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "engine/base/array.h"
#include "injectors/interface_messages.h"

static void read_kind(struct nlattr *info, char *kind_out)
{
	struct nlattr *parts[IFLA_INFO_MAX + 1];

	if (info && nla_parse_nested(parts, IFLA_INFO_MAX, info, NULL) == 0 &&
	    parts[IFLA_INFO_KIND])
		nla_strlcpy(kind_out, parts[IFLA_INFO_KIND], INTERFACE_NAME_BYTES);
}

static int64_t read_dropped(struct nlattr *attribute)
{
	struct rtnl_link_stats64 counts = {0};
	size_t n_bytes = attribute ? (size_t)nla_len(attribute) : 0;

	if (n_bytes > 0)
		memcpy(&counts, nla_data(attribute),
		       n_bytes < sizeof(counts) ? n_bytes : sizeof(counts));
	return (int64_t)counts.tx_dropped;
}

static int read_interface(const struct nlmsghdr *head, struct interface *out)
{
	struct nlattr *attributes[IFLA_MAX + 1];
	const struct ifinfomsg *info = nlmsg_data(head);

	if (head->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse((struct nlmsghdr *)head, sizeof(*info), attributes, IFLA_MAX, NULL) < 0 ||
	    !attributes[IFLA_IFNAME] || !attributes[IFLA_MTU])
		return -EPROTO;
	*out = (struct interface){
		.index = info->ifi_index,
		.is_up = info->ifi_flags & IFF_UP,
		.has_carrier = info->ifi_flags & IFF_LOWER_UP,
		.mtu_bytes = (int)nla_get_u32(attributes[IFLA_MTU]),
	};
	out->dropped_packets = read_dropped(attributes[IFLA_STATS64]);
	nla_strlcpy(out->name, attributes[IFLA_IFNAME], sizeof(out->name));
	read_kind(attributes[IFLA_LINKINFO], out->kind);
	if (attributes[IFLA_MASTER])
		out->bridge_index = (int)nla_get_u32(attributes[IFLA_MASTER]);
	if (attributes[IFLA_LINK] && !attributes[IFLA_LINK_NETNSID])
		out->lower_index = (int)nla_get_u32(attributes[IFLA_LINK]);
	return 0;
}

int interface_find(struct netlink *netlink, const char *name, struct interface *out,
                   struct err *err)
{
	struct netlink_answer answer = {0};
	const struct nlmsghdr *head;
	int rc;

	if (strlen(name) >= INTERFACE_NAME_BYTES)
		return err_set(err, -ENODEV, "no interface '%.64s': names have at most %d letters",
		               name, INTERFACE_NAME_BYTES - 1);
	rc = netlink_request(netlink, interface_get_message(name), &answer, err);
	if (rc == -ENODEV)
		return err_set(err, rc, "no interface '%s' in that network namespace", name);
	if (rc)
		return rc;
	head = netlink_next(&answer, NULL);
	rc = head ? read_interface(head, out) : -EPROTO;
	netlink_answer_fini(&answer);
	return rc ? err_set(err, rc, "the kernel's answer about '%s' is none", name) : 0;
}

static int by_index(const void *a, const void *b)
{
	const struct interface *first = a, *second = b;

	return (first->index > second->index) - (first->index < second->index);
}

static int read_all(const struct netlink_answer *answer, struct interface **out, size_t *n_out)
{
	struct interface *interfaces;
	size_t n = 0, n_max = 0;

	for (const struct nlmsghdr *head = NULL; (head = netlink_next(answer, head));)
		n_max++;
	interfaces = array_new(n_max, sizeof(*interfaces));
	if (!interfaces)
		return -ENOMEM;
	for (const struct nlmsghdr *head = NULL; (head = netlink_next(answer, head));)
		if (read_interface(head, &interfaces[n]) == 0)
			n++;
	qsort(interfaces, n, sizeof(*interfaces), by_index);
	*out = interfaces;
	*n_out = n;
	return 0;
}

int interface_list(struct netlink *netlink, struct interface **out, size_t *n_out, struct err *err)
{
	struct netlink_answer answer = {0};
	int rc = netlink_request(netlink, interface_dump_message(), &answer, err);

	if (rc)
		return rc;
	rc = read_all(&answer, out, n_out);
	netlink_answer_fini(&answer);
	return rc ? err_set(err, rc, "out of memory for a list of interfaces") : 0;
}

static int change(struct netlink *netlink, struct nl_msg *message, int index, const char *what,
                  struct err *err)
{
	int rc = netlink_request(netlink, message, NULL, err);

	if (rc)
		(void)err_wrap(err, "interface %d cannot be %s", index, what);
	return rc;
}

int interface_add_pair(struct netlink *netlink, const struct interface_pair *pair, struct err *err)
{
	int rc = netlink_request(netlink, interface_pair_message(pair), NULL, err);

	if (rc)
		(void)err_wrap(err, "the pair '%s' and '%s' cannot be made", pair->name,
		               pair->peer_name);
	return rc;
}

int interface_add_bridge(struct netlink *netlink, const char *name, struct err *err)
{
	int rc = netlink_request(netlink, interface_bridge_message(name), NULL, err);

	if (rc)
		(void)err_wrap(err, "the bridge '%s' cannot be made", name);
	return rc;
}

int interface_set_up(struct netlink *netlink, int index, bool is_up, struct err *err)
{
	return change(netlink, interface_up_message(index, is_up), index,
	              is_up ? "taken up" : "taken down", err);
}

int interface_set_mtu(struct netlink *netlink, int index, int mtu_bytes, struct err *err)
{
	return change(netlink, interface_mtu_message(index, mtu_bytes), index, "given another MTU",
	              err);
}

int interface_set_queue(struct netlink *netlink, int index, int n_packets, struct err *err)
{
	return change(netlink, interface_queue_message(index, n_packets), index,
	              "given another queue", err);
}

int interface_add_address(struct netlink *netlink, int index, uint32_t address, int prefix_bits,
                          struct err *err)
{
	return change(netlink, interface_address_message(index, address, prefix_bits), index,
	              "given an address", err);
}

int interface_set_window(struct netlink *netlink, int index, uint32_t address, int prefix_bits,
                         uint32_t n_packets, struct err *err)
{
	return change(netlink, interface_window_message(index, address, prefix_bits, n_packets),
	              index, "given a window", err);
}

int interface_set_questions(struct netlink *netlink, int index, int interval_ms, int n_times,
                            struct err *err)
{
	return change(netlink, interface_questions_message(index, interval_ms, n_times), index,
	              "told how often to ask for addresses", err);
}

int interface_delete(struct netlink *netlink, int index, struct err *err)
{
	return change(netlink, interface_delete_message(index), index, "removed", err);
}

int interface_set_quiet(struct netlink *netlink, int index, struct err *err)
{
	int rc = netlink_request(netlink, interface_quiet_message(index), NULL, err);

	if (rc == -EAFNOSUPPORT)
		return 0;
	if (rc)
		(void)err_wrap(err, "interface %d cannot be kept from IPv6", index);
	return rc;
}

/* Switch one offload off, and look whether it is: some devices accept and do not obey. */
static int switch_off(struct netlink *netlink, const char *name, uint32_t set, uint32_t get)
{
	struct ethtool_value value = {.cmd = set};
	struct ifreq request = {.ifr_data = (char *)&value};

	memcpy(request.ifr_name, name, strlen(name) + 1);
	if (ioctl(netlink_fd(netlink), SIOCETHTOOL, &request))
		return -errno;
	value = (struct ethtool_value){.cmd = get};
	if (ioctl(netlink_fd(netlink), SIOCETHTOOL, &request))
		return -errno;
	return value.data ? -EBUSY : 0;
}

int interface_set_whole_packets(struct netlink *netlink, const struct interface *interface,
                                struct err *err)
{
	static const struct {
		const char *name;
		uint32_t set, get;
	} offloads[] = {
		{"TSO", ETHTOOL_STSO, ETHTOOL_GTSO},
		{"GSO", ETHTOOL_SGSO, ETHTOOL_GGSO},
		{"GRO", ETHTOOL_SGRO, ETHTOOL_GGRO},
	};
	int rc;

	for (size_t i = 0; i < sizeof(offloads) / sizeof(offloads[0]); i++) {
		rc = switch_off(netlink, interface->name, offloads[i].set, offloads[i].get);
		if (rc)
			return err_set(err, rc, "%s of interface '%s' cannot be switched off: %s",
			               offloads[i].name, interface->name, strerror(-rc));
	}
	/* Since 4.17 TCP builds large packets whatever the interface says, but for this limit. */
	return change(netlink, interface_segments_message(interface->index, 1), interface->index,
	              "kept from segments", err);
}
