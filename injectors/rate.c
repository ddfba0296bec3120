/* rate.c - the injector that has the kernel hold packets to a rate, by a token bucket. */
#include <errno.h>

#include "injectors/shaping_internal.h"

enum {
	/* A packet that does not fit would be a loss nobody asked for. */
	LIMIT_BYTES = 1 << 30,
};

static struct qdisc_settings build(const struct injector_config *config,
                                   const struct shaping *shaping, int mtu_bytes)
{
	int64_t rate = shaping_rate_bits_per_s(config, shaping, mtu_bytes);

	return (struct qdisc_settings){
		.kind = QDISC_TBF,
		.tbf = {.rate_bits_per_s = rate,
	                .burst_bytes = tbf_burst_bytes(rate, mtu_bytes + SHAPING_FRAME_BYTES),
	                .limit_bytes = LIMIT_BYTES},
	};
}

static int put(struct shaper *shaper, const struct shaping *shaping,
               const struct injector_port *port, struct err *err)
{
	const struct qdisc_settings settings =
		build(&shaper->base.config, shaping, port->port.mtu_bytes);

	return shaping_put_qdisc(shaper, shaping, port, &settings, err);
}

static int rate_open(const struct injector_config *config, struct injector **out, struct err *err)
{
	int rc = qdisc_probe(QDISC_TBF, err);

	if (!rc)
		rc = qdisc_probe(QDISC_SORTER, err);
	return rc ? rc : shaping_open(config, &rate_ops, put, out, err);
}

static int rate_check(const struct injector *injector, const struct fault *fault, struct err *err)
{
	if (fault->kind == FAULT_LOSS || (fault->kind == FAULT_DELAY && fault->model != DELAY_RATE))
		return injector_refuse(injector, fault, err);
	return shaping_check(injector, fault, err);
}

const struct injector_ops rate_ops = {
	.name = "rate",
	.open = rate_open,
	.check = rate_check,
	.apply = shaping_apply,
	.clear = shaping_clear,
	.count = shaping_count,
	.close = shaping_close,
};
