/* shaping.c - what the injectors that act by queueing disciplines have in common.
 *
 * Faults of different kinds may be in force on one direction at once, and one queueing discipline
 * has to do them all: so each direction keeps what it meets, and every change is put as a whole. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/units.h"
#include "injectors/shaping_internal.h"

enum {
	TOWARDS = 2, /* directions of a stage: to the one before, to the next */
	BITS_PER_BYTE = 8,
	IP_TCP_BYTES = 52,  /* with TCP's time stamps */
	RATE_STEP_BITS = 8, /* kernels count whole bytes */
};

int shaping_init(struct shaper *shaper, const struct injector_config *config,
                 const struct injector_ops *ops, shaping_put *put, struct err *err)
{
	shaper->shapings =
		array_new((size_t)config->topology->n_stages * TOWARDS, sizeof(*shaper->shapings));
	if (!shaper->shapings)
		return err_set(err, -ENOMEM, "out of memory for an injector");
	shaper->base.ops = ops;
	shaper->base.config = *config;
	shaper->put = put;
	return 0;
}

int shaping_open(const struct injector_config *config, const struct injector_ops *ops,
                 shaping_put *put, struct injector **out, struct err *err)
{
	struct shaper *shaper = calloc(1, sizeof(*shaper));
	int rc;

	if (!shaper)
		return err_set(err, -ENOMEM, "out of memory for an injector");
	rc = shaping_init(shaper, config, ops, put, err);
	if (rc)
		free(shaper);
	else
		*out = &shaper->base;
	return rc;
}

/* A message of model "rate" takes its time with everything that TCP puts around it. */
static double message_bits_per_s(const struct injector_config *config, int64_t message_ns,
                                 int mtu_bytes)
{
	int64_t segment_bytes = mtu_bytes - IP_TCP_BYTES;
	int64_t n_packets = (config->message_bytes + segment_bytes - 1) / segment_bytes;
	int64_t wire_bytes =
		config->message_bytes + n_packets * (int64_t)(IP_TCP_BYTES + SHAPING_FRAME_BYTES);

	return (double)wire_bytes * BITS_PER_BYTE * NS_PER_S / (double)message_ns;
}

int64_t shaping_rate_bits_per_s(const struct injector_config *config, const struct shaping *shaping,
                                int mtu_bytes)
{
	double lowest = INFINITY;

	if (shaping->has_rate)
		lowest = (double)shaping->rate_bits_per_s;
	if (shaping->has_slow_messages)
		lowest = fmin(lowest, message_bits_per_s(config, shaping->message_ns, mtu_bytes));
	return isinf(lowest) ? 0 : (int64_t)fmax(lowest, RATE_STEP_BITS);
}

static struct shaping *shaping_of(struct injector *injector, const struct fault *fault)
{
	struct shaper *shaper = (struct shaper *)injector;

	return &shaper->shapings[fault->from_stage * TOWARDS +
	                         (fault->to_stage > fault->from_stage)];
}

bool shaping_is_nothing(const struct shaping *shaping)
{
	return !shaping->has_delay && !shaping->has_rate && !shaping->has_slow_messages &&
	       !shaping->has_loss;
}

static void take_in_delay(struct shaping *shaping, const struct fault *fault)
{
	if (fault->model == DELAY_RATE) {
		shaping->has_slow_messages = true;
		shaping->message_ns = fault->delay_ns;
		return;
	}
	shaping->has_delay = true;
	shaping->delay_ns = fault->delay_ns;
	shaping->jitter_ns = fault->jitter_ns;
	shaping->distribution = fault->distribution;
	shaping->allows_reordering = fault->allows_reordering;
}

static void take_in(struct shaping *shaping, const struct fault *fault)
{
	if (fault->kind == FAULT_RATE) {
		shaping->has_rate = true;
		shaping->rate_bits_per_s = fault->rate_bits_per_s;
	} else if (fault->kind == FAULT_LOSS) {
		shaping->has_loss = true;
		shaping->had_loss = true;
		shaping->loss_ratio = fault->loss_ratio;
		shaping->loss_correlation_ratio = fault->loss_correlation_ratio;
	} else {
		take_in_delay(shaping, fault);
	}
}

static void take_out(struct shaping *shaping, const struct fault *fault)
{
	if (fault->kind == FAULT_RATE) {
		shaping->has_rate = false;
	} else if (fault->kind == FAULT_LOSS) {
		shaping->has_loss = false;
		shaping->loss_ratio = 0;
		shaping->loss_correlation_ratio = 0;
	} else if (fault->model == DELAY_RATE) {
		shaping->has_slow_messages = false;
	} else {
		shaping->has_delay = false;
		shaping->delay_ns = 0;
		shaping->jitter_ns = 0;
		shaping->allows_reordering = false;
	}
}

/* One shaping on its way to the ports. */
struct placing {
	struct shaper *shaper;
	const struct shaping *shaping;
};

static int place(const struct injector_port *port, void *context, struct err *err)
{
	const struct placing *placing = context;

	return placing->shaper->put(placing->shaper, placing->shaping, port, err);
}

int shaping_put_qdisc(struct shaper *shaper, const struct shaping *shaping,
                      const struct injector_port *port, const struct qdisc_settings *settings,
                      struct err *err)
{
	struct egress *egress = shaper->base.config.egress;

	return shaping_is_nothing(shaping) ? egress_release(egress, shaper, &port->port, err)
	                                   : egress_put(egress, shaper, &port->port, settings, err);
}

int shaping_check(const struct injector *injector, const struct fault *fault, struct err *err)
{
	switch (fault->kind) {
	case FAULT_DELAY:
		if (fault->model == DELAY_OCCUPANCY)
			return injector_refuse(injector, fault, err);
		break;
	case FAULT_RATE:
	case FAULT_LOSS:
		break;
	case FAULT_SLOW_STAGE:
	case FAULT_DOWN:
		return injector_refuse(injector, fault, err);
	}
	return injector_each_port(injector, fault, NULL, NULL, err);
}

int shaping_apply(struct injector *injector, const struct fault *fault, struct err *err)
{
	struct placing placing = {.shaper = (struct shaper *)injector};
	int rc = injector_check(injector, fault, err);

	if (rc)
		return rc;
	shaping_of(injector, fault)->was_used = true;
	take_in(shaping_of(injector, fault), fault);
	placing.shaping = shaping_of(injector, fault);
	return injector_each_port(injector, fault, place, &placing, err);
}

/* The interface, or the queueing discipline on it, may be gone: then so is the fault. */
static int place_rest(const struct injector_port *port, void *context, struct err *err)
{
	int rc = place(port, context, err);

	return rc == -ENODEV || rc == -ENOENT ? 0 : rc;
}

int shaping_clear(struct injector *injector, const struct fault *fault, struct err *err)
{
	struct placing placing = {.shaper = (struct shaper *)injector};
	int rc = injector_check(injector, fault, err);

	if (rc)
		return rc;
	take_out(shaping_of(injector, fault), fault);
	placing.shaping = shaping_of(injector, fault);
	return injector_each_port(injector, fault, place_rest, &placing, err);
}

/* A port's counts on their way into a sum. */
struct counting {
	struct shaper *shaper;
	struct injector_counts *sums;
	bool had_loss;
};

static int count_port(const struct injector_port *port, void *context, struct err *err)
{
	struct counting *counting = context;
	struct egress_counts counts;
	int rc = egress_count(counting->shaper->base.config.egress, counting->shaper, &port->port,
	                      &counts, err);

	if (rc)
		return rc;
	counting->sums->sent_packets += counts.sent_packets;
	if (counting->had_loss)
		counting->sums->lost_packets += counts.dropped_packets;
	else
		counting->sums->dropped_packets += counts.dropped_packets;
	return 0;
}

static int count_way(struct shaper *shaper, const struct fault *way, struct injector_counts *sums,
                     struct err *err)
{
	struct counting counting = {shaper, sums, shaping_of(&shaper->base, way)->had_loss};

	if (!shaping_of(&shaper->base, way)->was_used)
		return 0;
	return injector_each_port(&shaper->base, way, count_port, &counting, err);
}

int shaping_count(const struct injector *injector, const struct fault *fault,
                  struct injector_counts *out, struct err *err)
{
	struct shaper *shaper = (struct shaper *)injector;
	struct injector_counts sums = {0};
	int n_ways = fault ? 1 : injector->config.topology->n_stages * TOWARDS, rc = 0;

	for (int i = 0; rc == 0 && i < n_ways; i++) {
		const struct fault way = {.kind = FAULT_RATE,
		                          .from_stage = i / TOWARDS,
		                          .to_stage = i / TOWARDS + (i % TOWARDS ? 1 : -1)};

		rc = count_way(shaper, fault ? fault : &way, &sums, err);
	}
	if (!rc)
		*out = sums;
	return rc;
}

/* Let go of one direction. */
static int clear_direction(struct shaper *shaper, int from_stage, int to_stage, struct err *err)
{
	const struct fault any = {
		.kind = FAULT_RATE, .from_stage = from_stage, .to_stage = to_stage};
	struct placing placing = {.shaper = shaper};

	placing.shaping = shaping_of(&shaper->base, &any);
	if (shaping_is_nothing(placing.shaping))
		return 0;
	*shaping_of(&shaper->base, &any) = (struct shaping){0};
	return injector_each_port(&shaper->base, &any, place_rest, &placing, err);
}

int shaping_fini(struct shaper *shaper, struct err *err)
{
	int first = 0;

	for (int stage = 0; stage < shaper->base.config.topology->n_stages; stage++)
		for (int to_stage = stage - 1; to_stage <= stage + 1; to_stage += TOWARDS) {
			struct err own = {0};
			int rc = clear_direction(shaper, stage, to_stage, &own);

			if (rc && !first)
				first = err_set(err, rc, "%s", own.text);
		}
	free(shaper->shapings);
	return first;
}

int shaping_close(struct injector *injector, struct err *err)
{
	struct shaper *shaper = (struct shaper *)injector;
	int rc = shaping_fini(shaper, err);

	free(shaper);
	return rc;
}
