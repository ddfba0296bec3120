/* qdisc_parse.c - what the kernel says about a queueing discipline. */
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "engine/base/units.h"
#include "injectors/qdisc_messages.h"

enum { BITS_PER_BYTE = 8 };

/* As much of a struct as is there; the rest stays 0. */
static void copy(void *out, size_t n_bytes, const struct nlattr *attribute)
{
	size_t n = attribute ? (size_t)nla_len(attribute) : 0;

	memset(out, 0, n_bytes);
	if (n > 0)
		memcpy(out, nla_data(attribute), n < n_bytes ? n : n_bytes);
}

static double ratio_of(uint32_t probability)
{
	return probability == UINT32_MAX ? 1 : probability * 0x1p-32;
}

static int64_t rate_of(uint32_t bytes_per_s, const struct nlattr *wide)
{
	uint64_t rate = bytes_per_s;

	if (wide && nla_len(wide) >= (int)sizeof(rate))
		memcpy(&rate, nla_data(wide), sizeof(rate));
	return (int64_t)(rate * BITS_PER_BYTE);
}

static void parse_bursts(struct nlattr *attribute, struct netem *out)
{
	struct nlattr *models[NETEM_LOSS_MAX + 1];
	struct tc_netem_gemodel model;

	if (!attribute || nla_parse_nested(models, NETEM_LOSS_MAX, attribute, NULL) < 0)
		return;
	copy(&model, sizeof(model), models[NETEM_LOSS_GE]);
	out->burst_enter_ratio = ratio_of(model.p);
	out->burst_leave_ratio = ratio_of(model.r);
}

static void parse_netem(struct nlattr *options, struct netem *out)
{
	struct nlattr *parts[TCA_NETEM_MAX + 1] = {0};
	struct tc_netem_corr correlation;
	struct tc_netem_qopt basic;
	struct tc_netem_rate rate;
	int offset = (int)sizeof(basic); /* a multiple of 4, as attributes want */

	copy(&basic, sizeof(basic), options);
	if (nla_len(options) > offset)
		(void)nla_parse(parts, TCA_NETEM_MAX,
		                (struct nlattr *)((char *)nla_data(options) + offset),
		                nla_len(options) - offset, NULL);
	copy(&correlation, sizeof(correlation), parts[TCA_NETEM_CORR]);
	copy(&rate, sizeof(rate), parts[TCA_NETEM_RATE]);
	copy(&out->delay_ns, sizeof(out->delay_ns), parts[TCA_NETEM_LATENCY64]);
	copy(&out->jitter_ns, sizeof(out->jitter_ns), parts[TCA_NETEM_JITTER64]);
	out->limit_packets = basic.limit;
	out->loss_ratio = ratio_of(basic.loss);
	out->delay_correlation_ratio = ratio_of(correlation.delay_corr);
	out->loss_correlation_ratio = ratio_of(correlation.loss_corr);
	out->rate_bits_per_s = rate_of(rate.rate, parts[TCA_NETEM_RATE64]);
	parse_bursts(parts[TCA_NETEM_LOSS], out);
}

/* The burst is told as the time it takes. */
static void parse_tbf(struct nlattr *options, int64_t ns_per_tick, struct tbf *out)
{
	struct nlattr *parts[TCA_TBF_MAX + 1] = {0};
	struct tc_tbf_qopt basic;

	(void)nla_parse_nested(parts, TCA_TBF_MAX, options, NULL);
	copy(&basic, sizeof(basic), parts[TCA_TBF_PARMS]);
	out->rate_bits_per_s = rate_of(basic.rate.rate, parts[TCA_TBF_RATE64]);
	out->limit_bytes = basic.limit;
	out->burst_bytes = (uint32_t)((double)basic.buffer * (double)ns_per_tick *
	                              (double)out->rate_bits_per_s / BITS_PER_BYTE / NS_PER_S);
}

static void parse_counts(struct nlattr *attribute, struct qdisc *out)
{
	struct nlattr *parts[TCA_STATS_MAX + 1] = {0};
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	uint64_t n_packets;

	if (attribute)
		(void)nla_parse_nested(parts, TCA_STATS_MAX, attribute, NULL);
	copy(&basic, sizeof(basic), parts[TCA_STATS_BASIC]);
	copy(&queue, sizeof(queue), parts[TCA_STATS_QUEUE]);
	copy(&n_packets, sizeof(n_packets), parts[TCA_STATS_PKT64]);
	out->sent_bytes = (int64_t)basic.bytes;
	out->sent_packets = parts[TCA_STATS_PKT64] ? (int64_t)n_packets : basic.packets;
	out->dropped_packets = queue.drops;
	out->waiting_packets = queue.qlen;
}

int qdisc_parse(const struct nlmsghdr *head, int64_t ns_per_tick, struct qdisc *out)
{
	const struct tcmsg *place = nlmsg_data(head);
	struct nlattr *parts[TCA_MAX + 1];

	if (head->nlmsg_type != RTM_NEWQDISC ||
	    nlmsg_parse((struct nlmsghdr *)head, sizeof(*place), parts, TCA_MAX, NULL) < 0 ||
	    !parts[TCA_KIND])
		return -EPROTO;
	*out = (struct qdisc){.parent = place->tcm_parent};
	nla_strlcpy(out->kind, parts[TCA_KIND], sizeof(out->kind));
	for (enum qdisc_kind kind = QDISC_NETEM; kind <= QDISC_SORTER; kind++)
		if (strcmp(out->kind, qdisc_kind_name(kind)) == 0)
			out->settings.kind = kind;
	if (parts[TCA_OPTIONS] && strcmp(out->kind, "netem") == 0)
		parse_netem(parts[TCA_OPTIONS], &out->settings.netem);
	if (parts[TCA_OPTIONS] && strcmp(out->kind, "tbf") == 0)
		parse_tbf(parts[TCA_OPTIONS], ns_per_tick, &out->settings.tbf);
	parse_counts(parts[TCA_STATS2], out);
	return 0;
}
