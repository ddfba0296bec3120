/* qdisc_messages.c - the netlink messages of qdisc.h.
 *
 * A change overwrites what its message names and nothing else, so everything is named each time.
 * Times are given in the 64-bit attributes that kernels have since 4.15, the older ones in ticks of
 * 32 bits stay 0: a kernel that does not know the former is found out when they are read back. */
#include "injectors/qdisc_messages.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include "injectors/jitter_table.h"

enum {
	BITS_PER_BYTE = 8,
	/* A table of jitter and all else; libnl's own messages have one page. */
	MESSAGE_BYTES = 2 * JITTER_TABLE_ENTRIES + 1024,
	SORTER_QUANTUM_RATIO = 10, /* the kernel's usual one; classes name their own */
};

const char *qdisc_kind_name(enum qdisc_kind kind)
{
	static const char *const names[] = {"netem", "tbf", "htb"};

	return names[kind];
}

uint32_t qdisc_probability(double ratio)
{
	double scaled = round(ratio * 0x1p32);

	return scaled >= (double)UINT32_MAX ? UINT32_MAX : (uint32_t)scaled;
}

static struct nl_msg *place_message(int type, int flags, const struct qdisc_place *place)
{
	struct tcmsg head = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = place->interface_index,
		.tcm_parent = place->parent,
		.tcm_handle = place->handle,
	};
	struct nl_msg *message = nlmsg_alloc_size(MESSAGE_BYTES);

	if (message && nlmsg_put(message, 0, NL_AUTO_SEQ, type, 0, flags) &&
	    nlmsg_append(message, &head, sizeof(head), NLMSG_ALIGNTO) == 0)
		return message;
	nlmsg_free(message);
	return NULL;
}

static bool put_rate(struct nl_msg *message, uint64_t bytes_per_s)
{
	struct tc_netem_rate rate = {.rate = bytes_per_s > UINT32_MAX ? UINT32_MAX
	                                                              : (uint32_t)bytes_per_s};

	return !nla_put(message, TCA_NETEM_RATE, sizeof(rate), &rate) &&
	       (bytes_per_s <= UINT32_MAX || !nla_put_u64(message, TCA_NETEM_RATE64, bytes_per_s));
}

/* Gilbert's model: in a burst every packet is lost, outside of it none. */
static bool put_bursts(struct nl_msg *message, const struct netem *netem)
{
	struct tc_netem_gemodel model = {.p = qdisc_probability(netem->burst_enter_ratio),
	                                 .r = qdisc_probability(netem->burst_leave_ratio)};
	struct nlattr *loss = nla_nest_start(message, TCA_NETEM_LOSS);

	if (!loss || nla_put(message, NETEM_LOSS_GE, sizeof(model), &model))
		return false;
	nla_nest_end(message, loss);
	return true;
}

static bool put_jitter(struct nl_msg *message, enum distribution distribution)
{
	int16_t table[JITTER_TABLE_ENTRIES];

	jitter_table_fill(distribution, table);
	return !nla_put(message, TCA_NETEM_DELAY_DIST, sizeof(table), table);
}

/* The options begin with a struct; attributes stand behind it. */
static bool put_netem(struct nl_msg *message, const struct netem *netem)
{
	struct tc_netem_qopt options = {.limit = netem->limit_packets,
	                                .loss = qdisc_probability(netem->loss_ratio)};
	struct tc_netem_corr correlation = {
		.delay_corr = qdisc_probability(netem->delay_correlation_ratio),
		.loss_corr = qdisc_probability(netem->loss_correlation_ratio)};
	struct nlattr *nest = nla_nest_start(message, TCA_OPTIONS);

	if (!nest || nlmsg_append(message, &options, sizeof(options), NLMSG_ALIGNTO) ||
	    nla_put(message, TCA_NETEM_CORR, sizeof(correlation), &correlation) ||
	    nla_put_s64(message, TCA_NETEM_LATENCY64, netem->delay_ns) ||
	    nla_put_s64(message, TCA_NETEM_JITTER64, netem->jitter_ns) ||
	    !put_rate(message, (uint64_t)netem->rate_bits_per_s / BITS_PER_BYTE))
		return false;
	if (netem->burst_enter_ratio > 0 && !put_bursts(message, netem))
		return false;
	if (netem->jitter_ns > 0 && !put_jitter(message, netem->distribution))
		return false;
	nla_nest_end(message, nest);
	return true;
}

/* With a link layer that is known the kernel needs no table of packet times; the burst is given in
 * bytes, so no ticks are in the message. */
static bool put_tbf(struct nl_msg *message, const struct tbf *tbf)
{
	uint64_t bytes_per_s = (uint64_t)tbf->rate_bits_per_s / BITS_PER_BYTE;
	struct tc_tbf_qopt options = {
		.rate = {.linklayer = TC_LINKLAYER_ETHERNET,
	                 .rate = bytes_per_s > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes_per_s},
		.limit = tbf->limit_bytes,
	};
	struct nlattr *nest = nla_nest_start(message, TCA_OPTIONS);

	if (!nest || nla_put(message, TCA_TBF_PARMS, sizeof(options), &options) ||
	    nla_put_u32(message, TCA_TBF_BURST, tbf->burst_bytes))
		return false;
	if (bytes_per_s > UINT32_MAX && nla_put_u64(message, TCA_TBF_RATE64, bytes_per_s))
		return false;
	nla_nest_end(message, nest);
	return true;
}

static bool put_sorter(struct nl_msg *message)
{
	struct tc_htb_glob options = {.version = TC_HTB_PROTOVER,
	                              .rate2quantum = SORTER_QUANTUM_RATIO};
	struct nlattr *nest = nla_nest_start(message, TCA_OPTIONS);

	if (!nest || nla_put(message, TCA_HTB_INIT, sizeof(options), &options))
		return false;
	nla_nest_end(message, nest);
	return true;
}

static bool put_options(struct nl_msg *message, const struct qdisc_settings *settings)
{
	switch (settings->kind) {
	case QDISC_NETEM:
		return put_netem(message, &settings->netem);
	case QDISC_TBF:
		return put_tbf(message, &settings->tbf);
	case QDISC_SORTER:
		return put_sorter(message);
	}
	return false;
}

struct nl_msg *qdisc_put_message(const struct qdisc_place *place,
                                 const struct qdisc_settings *settings, bool is_new)
{
	int flags = is_new ? NLM_F_CREATE | NLM_F_EXCL : 0;
	struct nl_msg *message = place_message(RTM_NEWQDISC, flags, place);

	if (message && !nla_put_string(message, TCA_KIND, qdisc_kind_name(settings->kind)) &&
	    put_options(message, settings))
		return message;
	nlmsg_free(message);
	return NULL;
}

struct nl_msg *qdisc_delete_message(const struct qdisc_place *place, enum qdisc_kind kind)
{
	struct nl_msg *message = place_message(RTM_DELQDISC, 0, place);

	if (message && !nla_put_string(message, TCA_KIND, qdisc_kind_name(kind)))
		return message;
	nlmsg_free(message);
	return NULL;
}

/* Asked for by its handle alone. Without "echo" the kernel tells only who listens to all changes.
 */
struct nl_msg *qdisc_get_message(const struct qdisc_place *place)
{
	struct qdisc_place anywhere = *place;

	anywhere.parent = 0;
	return place_message(RTM_GETQDISC, NLM_F_ECHO, &anywhere);
}
