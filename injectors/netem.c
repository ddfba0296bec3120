/* netem.c - the injector that has the kernel delay packets.
 *
 * Messages are delayed where they leave; netem takes a delayed packet from its socket's account, so
 * the sender's own queue does not hold the rest back. Its limit never decides anything: a packet
 * dropped for it would be a loss nobody asked for. */
#include <errno.h>

#include "engine/base/units.h"
#include "injectors/shaping_internal.h"

enum {
	/* What all senders of one destination may have under way beyond the path's own: some
	 * windows as large as a lab's. */
	WINDOW_PACKETS = 1 << 18,
	JITTER_REACH = 4, /* tables end at four sigma */
};

/* A rate that holds nothing back, and keeps netem from letting packets overtake each other. */
static const int64_t in_order_bits_per_s = INT64_C(100000000000);

static struct qdisc_settings build(const struct injector_config *config,
                                   const struct shaping *shaping, int mtu_bytes)
{
	int64_t rate = shaping_rate_bits_per_s(config, shaping, mtu_bytes);
	int64_t longest_ns = shaping->delay_ns + JITTER_REACH * shaping->jitter_ns;
	uint32_t path_packets =
		netem_limit_packets(rate, longest_ns, mtu_bytes + SHAPING_FRAME_BYTES);
	struct netem netem = {
		.delay_ns = shaping->delay_ns,
		.jitter_ns = shaping->jitter_ns,
		.distribution = shaping->distribution,
		.loss_ratio = shaping->loss_ratio,
		.loss_correlation_ratio = shaping->loss_correlation_ratio,
		.rate_bits_per_s = rate,
		.limit_packets = path_packets > UINT32_MAX - WINDOW_PACKETS
	                                 ? UINT32_MAX
	                                 : path_packets + WINDOW_PACKETS,
	};

	/* Also without jitter: when the delay changes, what is under way stays in front. */
	if (rate == 0 && !shaping->allows_reordering)
		netem.rate_bits_per_s = in_order_bits_per_s;
	return (struct qdisc_settings){.kind = QDISC_NETEM, .netem = netem};
}

static int put(struct shaper *shaper, const struct shaping *shaping,
               const struct injector_port *port, struct err *err)
{
	const struct qdisc_settings settings =
		build(&shaper->base.config, shaping, port->port.mtu_bytes);

	return shaping_put_qdisc(shaper, shaping, port, &settings, err);
}

static bool is_rate(const struct fault *fault)
{
	return fault->kind == FAULT_RATE ||
	       (fault->kind == FAULT_DELAY && fault->model == DELAY_RATE);
}

/* A netem with a rate sends every packet behind the one before. When two faults meet is not known
 * beforehand, so one anywhere on the direction counts; and since all faults of a direction have to
 * be of one injector, none of them is netem's then. */
static int check_order(const struct injector *injector, const struct fault *fault, struct err *err)
{
	bool has_rate = is_rate(fault), has_overtaking = fault->allows_reordering;

	for (size_t i = 0; i < injector->config.n_faults; i++) {
		const struct fault *other = &injector->config.faults[i];

		if (other->from_stage != fault->from_stage || other->to_stage != fault->to_stage)
			continue;
		has_rate |= is_rate(other);
		has_overtaking |= other->allows_reordering;
	}
	if (!has_rate || !has_overtaking)
		return 0;
	return err_set(err, -ENOTSUP,
	               "injector netem keeps packets in order where it holds them to a rate, and "
	               "faults on %d->%d ask for both; relay does",
	               fault->from_stage, fault->to_stage);
}

static int netem_check(const struct injector *injector, const struct fault *fault, struct err *err)
{
	int rc = shaping_check(injector, fault, err);

	return rc ? rc : check_order(injector, fault, err);
}

static int netem_open(const struct injector_config *config, struct injector **out, struct err *err)
{
	int rc = qdisc_probe(QDISC_NETEM, err);

	if (!rc)
		rc = qdisc_probe(QDISC_SORTER, err);
	return rc ? rc : shaping_open(config, &netem_ops, put, out, err);
}

const struct injector_ops netem_ops = {
	.name = "netem",
	.open = netem_open,
	.check = netem_check,
	.apply = shaping_apply,
	.clear = shaping_clear,
	.count = shaping_count,
	.close = shaping_close,
};
