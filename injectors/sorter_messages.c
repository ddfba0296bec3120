/* sorter_messages.c - the netlink messages of a sorter.
 *
 * The sorter is an HTB whose classes never hold anything back: the kernels that people have, and
 * those without most schedulers, have it. What no filter knows passes it at once. */
#include "injectors/sorter_messages.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

enum {
	/* Of the scheduler's ticks, 64 ns each: far more than a class at this rate ever needs. */
	BURST_TICKS = 1 << 20,
	QUANTUM_BYTES = 200000,
	DESTINATION_OFFSET = 16, /* in an IPv4 header */
	ONE_KEY = 1,
};

/* 100 Gbit/s, more than any virtual wire carries. */
static const uint64_t fastest_bytes_per_s = UINT64_C(12500000000);

uint32_t sorter_class(const struct qdisc_place *sorter, int number)
{
	return sorter->handle | (uint32_t)number;
}

static struct nl_msg *new_message(int type, const struct tcmsg *head, const char *kind)
{
	struct nl_msg *message = nlmsg_alloc_simple(type, NLM_F_CREATE | NLM_F_EXCL);

	if (message && nlmsg_append(message, (void *)head, sizeof(*head), NLMSG_ALIGNTO) == 0 &&
	    nla_put_string(message, TCA_KIND, kind) == 0)
		return message;
	nlmsg_free(message);
	return NULL;
}

static bool put_class(struct nl_msg *message)
{
	const struct tc_ratespec rate = {.linklayer = TC_LINKLAYER_ETHERNET, .rate = UINT32_MAX};
	const struct tc_htb_opt options = {.rate = rate,
	                                   .ceil = rate,
	                                   .buffer = BURST_TICKS,
	                                   .cbuffer = BURST_TICKS,
	                                   .quantum = QUANTUM_BYTES};
	struct nlattr *nest = nla_nest_start(message, TCA_OPTIONS);

	if (!nest || nla_put(message, TCA_HTB_PARMS, sizeof(options), &options) ||
	    nla_put_u64(message, TCA_HTB_RATE64, fastest_bytes_per_s) ||
	    nla_put_u64(message, TCA_HTB_CEIL64, fastest_bytes_per_s))
		return false;
	nla_nest_end(message, nest);
	return true;
}

struct nl_msg *sorter_class_message(const struct qdisc_place *sorter, int number)
{
	const struct tcmsg head = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = sorter->interface_index,
		.tcm_parent = sorter->handle,
		.tcm_handle = sorter_class(sorter, number),
	};
	struct nl_msg *message = new_message(RTM_NEWTCLASS, &head, qdisc_kind_name(QDISC_SORTER));

	if (message && put_class(message))
		return message;
	nlmsg_free(message);
	return NULL;
}

static bool put_match(struct nl_msg *message, uint32_t destination)
{
	struct {
		struct tc_u32_sel selection;
		struct tc_u32_key key;
	} match = {
		.selection = {.flags = TC_U32_TERMINAL, .nkeys = ONE_KEY},
		.key = {.mask = UINT32_MAX, .val = htonl(destination), .off = DESTINATION_OFFSET},
	};

	return nla_put(message, TCA_U32_SEL, sizeof(match), &match) == 0;
}

static bool put_filter(struct nl_msg *message, uint32_t class_id, uint32_t destination)
{
	struct nlattr *nest = nla_nest_start(message, TCA_OPTIONS);

	if (!nest || nla_put_u32(message, TCA_U32_CLASSID, class_id) ||
	    !put_match(message, destination))
		return false;
	nla_nest_end(message, nest);
	return true;
}

/* Actions are a numbered list; this is the first and only one. */
static bool put_redirect(struct nl_msg *message, int interface_index)
{
	const struct tc_mirred redirect = {.action = TC_ACT_STOLEN,
	                                   .eaction = TCA_EGRESS_REDIR,
	                                   .ifindex = (uint32_t)interface_index};
	struct nlattr *actions = nla_nest_start(message, TCA_U32_ACT), *first, *options;

	if (!actions || !(first = nla_nest_start(message, 1)) ||
	    nla_put_string(message, TCA_ACT_KIND, "mirred") ||
	    !(options = nla_nest_start(message, TCA_ACT_OPTIONS)) ||
	    nla_put(message, TCA_MIRRED_PARMS, sizeof(redirect), &redirect))
		return false;
	nla_nest_end(message, options);
	nla_nest_end(message, first);
	nla_nest_end(message, actions);
	return true;
}

static bool put_redirecting_filter(struct nl_msg *message, uint32_t destination,
                                   int interface_index)
{
	struct nlattr *nest = nla_nest_start(message, TCA_OPTIONS);

	if (!nest || !put_match(message, destination) || !put_redirect(message, interface_index))
		return false;
	nla_nest_end(message, nest);
	return true;
}

/* Filters stand one behind another by their priority, which is their number. */
static struct tcmsg filter_head(const struct qdisc_place *sorter, int number)
{
	return (struct tcmsg){
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = sorter->interface_index,
		.tcm_parent = sorter->handle,
		.tcm_info = TC_H_MAKE((uint32_t)number << 16, htons(ETH_P_IP)),
	};
}

struct nl_msg *sorter_filter_message(const struct qdisc_place *sorter, int number,
                                     uint32_t destination)
{
	const struct tcmsg head = filter_head(sorter, number);
	struct nl_msg *message = new_message(RTM_NEWTFILTER, &head, "u32");

	if (message && put_filter(message, sorter_class(sorter, number), destination))
		return message;
	nlmsg_free(message);
	return NULL;
}

struct nl_msg *sorter_redirect_message(const struct qdisc_place *sorter, int number,
                                       uint32_t destination, int interface_index)
{
	const struct tcmsg head = filter_head(sorter, number);
	struct nl_msg *message = new_message(RTM_NEWTFILTER, &head, "u32");

	if (message && put_redirecting_filter(message, destination, interface_index))
		return message;
	nlmsg_free(message);
	return NULL;
}

struct nl_msg *sorter_unfilter_message(const struct qdisc_place *sorter, int number)
{
	struct tcmsg head = filter_head(sorter, number);
	struct nl_msg *message = nlmsg_alloc_simple(RTM_DELTFILTER, 0);

	if (message && nlmsg_append(message, &head, sizeof(head), NLMSG_ALIGNTO) == 0 &&
	    nla_put_string(message, TCA_KIND, "u32") == 0)
		return message;
	nlmsg_free(message);
	return NULL;
}
