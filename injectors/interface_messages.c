/* interface_messages.c - the netlink messages of interface.h. */
#include "injectors/interface_messages.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>

static struct nl_msg *new_message(int type, int flags, void *head, size_t head_bytes)
{
	struct nl_msg *message = nlmsg_alloc_simple(type, flags);

	if (message && nlmsg_append(message, head, head_bytes, NLMSG_ALIGNTO) == 0)
		return message;
	nlmsg_free(message);
	return NULL;
}

static struct nl_msg *link_message(int type, int flags, struct ifinfomsg head)
{
	head.ifi_family = AF_UNSPEC;
	return new_message(type, flags, &head, sizeof(head));
}

/* has_failed: something did not fit. */
static struct nl_msg *finished(struct nl_msg *message, bool has_failed)
{
	if (!has_failed)
		return message;
	nlmsg_free(message);
	return NULL;
}

struct nl_msg *interface_dump_message(void)
{
	return link_message(RTM_GETLINK, NLM_F_DUMP, (struct ifinfomsg){0});
}

struct nl_msg *interface_get_message(const char *name)
{
	struct nl_msg *message = link_message(RTM_GETLINK, 0, (struct ifinfomsg){0});

	return finished(message, !message || nla_put_string(message, IFLA_IFNAME, name));
}

static bool put_peer(struct nl_msg *message, const struct interface_pair *pair)
{
	struct ifinfomsg head = {.ifi_family = AF_UNSPEC};
	struct nlattr *peer = nla_nest_start(message, VETH_INFO_PEER);

	if (!peer || nlmsg_append(message, &head, sizeof(head), NLMSG_ALIGNTO) ||
	    nla_put_string(message, IFLA_IFNAME, pair->peer_name) ||
	    nla_put_u32(message, IFLA_MTU, (uint32_t)pair->mtu_bytes) ||
	    nla_put_u32(message, IFLA_NET_NS_FD, (uint32_t)pair->peer_namespace_fd))
		return false;
	nla_nest_end(message, peer);
	return true;
}

static bool put_kind(struct nl_msg *message, const char *kind, const struct interface_pair *pair)
{
	struct nlattr *data = NULL, *info = nla_nest_start(message, IFLA_LINKINFO);

	if (!info || nla_put_string(message, IFLA_INFO_KIND, kind))
		return false;
	if (pair) {
		data = nla_nest_start(message, IFLA_INFO_DATA);
		if (!data || !put_peer(message, pair))
			return false;
		nla_nest_end(message, data);
	}
	nla_nest_end(message, info);
	return true;
}

static struct nl_msg *new_interface(const char *name)
{
	struct nl_msg *message =
		link_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, (struct ifinfomsg){0});

	return finished(message, !message || nla_put_string(message, IFLA_IFNAME, name));
}

struct nl_msg *interface_pair_message(const struct interface_pair *pair)
{
	struct nl_msg *message = new_interface(pair->name);
	bool has_failed = !message || nla_put_u32(message, IFLA_MTU, (uint32_t)pair->mtu_bytes);

	if (!has_failed && pair->bridge_index)
		has_failed = nla_put_u32(message, IFLA_MASTER, (uint32_t)pair->bridge_index);
	return finished(message, has_failed || !put_kind(message, "veth", pair));
}

struct nl_msg *interface_bridge_message(const char *name)
{
	struct nl_msg *message = new_interface(name);

	return finished(message, !message || !put_kind(message, "bridge", NULL));
}

struct nl_msg *interface_up_message(int index, bool is_up)
{
	return link_message(RTM_NEWLINK, 0,
	                    (struct ifinfomsg){.ifi_index = index,
	                                       .ifi_flags = is_up ? IFF_UP : 0,
	                                       .ifi_change = IFF_UP});
}

static struct nl_msg *with_number(int index, int attribute, uint32_t number)
{
	struct nl_msg *message =
		link_message(RTM_NEWLINK, 0, (struct ifinfomsg){.ifi_index = index});

	return finished(message, !message || nla_put_u32(message, attribute, number));
}

struct nl_msg *interface_mtu_message(int index, int mtu_bytes)
{
	return with_number(index, IFLA_MTU, (uint32_t)mtu_bytes);
}

struct nl_msg *interface_queue_message(int index, int n_packets)
{
	return with_number(index, IFLA_TXQLEN, (uint32_t)n_packets);
}

struct nl_msg *interface_segments_message(int index, uint32_t n_segments)
{
	return with_number(index, IFLA_GSO_MAX_SEGS, n_segments);
}

struct nl_msg *interface_address_message(int index, uint32_t address, int prefix_bits)
{
	struct ifaddrmsg head = {.ifa_family = AF_INET,
	                         .ifa_prefixlen = (unsigned char)prefix_bits,
	                         .ifa_index = (unsigned)index};
	struct nl_msg *message =
		new_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	uint32_t wire = htonl(address);

	return finished(message, !message || nla_put_u32(message, IFA_LOCAL, wire) ||
	                                 nla_put_u32(message, IFA_ADDRESS, wire));
}

static bool put_window(struct nl_msg *message, uint32_t n_packets)
{
	struct nlattr *metrics = nla_nest_start(message, RTA_METRICS);

	if (!metrics || nla_put_u32(message, RTAX_INITCWND, n_packets) ||
	    nla_put_u32(message, RTAX_INITRWND, n_packets))
		return false;
	nla_nest_end(message, metrics);
	return true;
}

struct nl_msg *interface_window_message(int index, uint32_t address, int prefix_bits,
                                        uint32_t n_packets)
{
	struct rtmsg head = {.rtm_family = AF_INET,
	                     .rtm_dst_len = (unsigned char)prefix_bits,
	                     .rtm_table = RT_TABLE_MAIN,
	                     .rtm_protocol = RTPROT_KERNEL,
	                     .rtm_scope = RT_SCOPE_LINK,
	                     .rtm_type = RTN_UNICAST};
	struct nl_msg *message =
		new_message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	uint32_t network = address & ~(UINT32_MAX >> prefix_bits);

	return finished(message, !message || nla_put_u32(message, RTA_DST, htonl(network)) ||
	                                 nla_put_u32(message, RTA_PREFSRC, htonl(address)) ||
	                                 nla_put_u32(message, RTA_OIF, (uint32_t)index) ||
	                                 !put_window(message, n_packets));
}

static bool put_questions(struct nl_msg *message, int index, int interval_ms, int n_times)
{
	struct nlattr *settings = nla_nest_start(message, NDTA_PARMS);

	if (!settings || nla_put_u32(message, NDTPA_IFINDEX, (uint32_t)index) ||
	    nla_put_u64(message, NDTPA_RETRANS_TIME, (uint64_t)interval_ms) ||
	    nla_put_u32(message, NDTPA_MCAST_PROBES, (uint32_t)n_times) ||
	    nla_put_u32(message, NDTPA_UCAST_PROBES, (uint32_t)n_times))
		return false;
	nla_nest_end(message, settings);
	return true;
}

struct nl_msg *interface_questions_message(int index, int interval_ms, int n_times)
{
	struct ndtmsg head = {.ndtm_family = AF_INET};
	struct nl_msg *message = new_message(RTM_SETNEIGHTBL, 0, &head, sizeof(head));

	return finished(message, !message || nla_put_string(message, NDTA_NAME, "arp_cache") ||
	                                 !put_questions(message, index, interval_ms, n_times));
}

struct nl_msg *interface_quiet_message(int index)
{
	struct nl_msg *message =
		link_message(RTM_NEWLINK, 0, (struct ifinfomsg){.ifi_index = index});
	struct nlattr *families, *ipv6;

	if (!message || !(families = nla_nest_start(message, IFLA_AF_SPEC)) ||
	    !(ipv6 = nla_nest_start(message, AF_INET6)) ||
	    nla_put_u8(message, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE))
		return finished(message, true);
	nla_nest_end(message, ipv6);
	nla_nest_end(message, families);
	return message;
}

struct nl_msg *interface_delete_message(int index)
{
	return link_message(RTM_DELLINK, 0, (struct ifinfomsg){.ifi_index = index});
}
