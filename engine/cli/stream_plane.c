/* stream_plane.c - chooses what carries the stream plane's tensors in live runs. */
#include "engine/cli/stream_plane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/replay/streams.h"
#include "engine/transport/exchange.h"

static const char exchange_name[] = "nccl";

bool stream_plane_is_exchange(const char *transport)
{
	return transport && strcmp(transport, exchange_name) == 0;
}

static bool is_auto(const char *name)
{
	return !name || strcmp(name, "auto") == 0;
}

static bool is_occupancy(const struct fault *fault)
{
	return fault->kind == FAULT_DELAY && fault->model == DELAY_OCCUPANCY;
}

/* Whoever stands in front of sends can do no more than that. who: "injector stream occupies". */
static int check_links(const struct scenario *scenario, const char *who, struct err *err)
{
	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (fault_is_on_link(fault) && !is_occupancy(fault))
			return err_set(err, -ENOTSUP,
			               "%s what sends (occupancy), and on line %d the link itself "
			               "is to be worse",
			               who, fault->script_line);
	}
	return 0;
}

static bool has_link_faults(const struct scenario *scenario)
{
	bool has_any = false;

	for (size_t i = 0; i < scenario->n_faults; i++)
		has_any |= fault_is_on_link(&scenario->faults[i]);
	return has_any;
}

/* Is its RNIC back before anybody gives up on it? */
static bool is_short(const struct scenario *scenario, const struct fault *fault)
{
	int64_t from_ns = fault->start.kind == MOMENT_TIME ? fault->start.value : 0;

	return fault->kind == FAULT_DOWN && fault->end.kind == MOMENT_TIME &&
	       !fault->is_permanent && fault->end.value - from_ns <= scenario->recovery.failover_ns;
}

/* What was under way would go again when it is back, and an exchange knows nothing of that. */
static int check_rnics(const struct scenario *scenario, struct err *err)
{
	for (size_t i = 0; i < scenario->n_faults; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (is_short(scenario, fault))
			return err_set(err, -ENOTSUP,
			               "the RNIC on line %d is back before anybody gives up on it, "
			               "and an exchange cannot be held meanwhile",
			               fault->script_line);
	}
	return 0;
}

/* Could what is asked for be done over exchanges? */
static int check_scenario(const struct options *options, const struct scenario *scenario,
                          const struct backend *backend, struct err *err)
{
	bool is_shaped = options->injector && strcmp(options->injector, "shaped") == 0;

	if (backend->lab)
		return err_set(err, -ENOTSUP,
		               "the hosts of a lab are joined by wires that carry "
		               "tcp");
	if (is_shaped && has_link_faults(scenario))
		return err_set(err, -ENOTSUP,
		               "injector shaped holds what a transport of the host carries; for "
		               "exchanges there is injector stream");
	if (check_links(scenario, "an exchange can only occupy", err))
		return err->code;
	return check_rnics(scenario, err);
}

/* What a device is asked. */
struct question {
	const struct exchange_ops *exchange;
	int n_stages;
};

static int ask(struct device *device, void *context, struct err *err)
{
	const struct question *question = context;

	return question->exchange->check(device, question->n_stages, err);
}

/* The exchange that could be used, if the device has what it takes; NULL: none, and why. */
static const struct exchange_ops *find(const struct options *options,
                                       const struct scenario *scenario,
                                       const struct backend *backend, struct err *why)
{
	const struct exchange_ops *exchange;

	if (!is_auto(options->transport) && !stream_plane_is_exchange(options->transport)) {
		(void)err_set(why, -ENOTSUP, "--transport %s is for both planes",
		              options->transport);
		return NULL;
	}
	if (exchange_find(exchange_name, &exchange, why) ||
	    check_scenario(options, scenario, backend, why))
		return NULL;
	return exchange;
}

static void describe(struct backend *backend, const struct err *why)
{
	char version[EXCHANGE_VERSION_BYTES];
	struct err err = {0};

	backend->stream_text[0] = '\0';
	if (backend->exchange && backend->exchange->version(version, &err) == 0)
		snprintf(backend->stream_text, sizeof(backend->stream_text),
		         "%s, delegates over %s", version, backend->transports);
	else if (backend->trial.about.text[0])
		snprintf(backend->stream_text, sizeof(backend->stream_text),
		         "%s in stream order (%.200s)", backend->transports, why->text);
}

/* Messages are held in front of sends where that was named, or where nothing else can. */
static int choose_injector(const struct options *options, const struct scenario *scenario,
                           struct backend *backend, struct err *err)
{
	bool is_named = options->injector && strcmp(options->injector, "stream") == 0;
	struct err why = {0};

	backend->occupies_streams = is_named || backend->exchange;
	if (!is_named || options->is_dry_run)
		return 0;
	if (check_links(scenario, "injector stream occupies", &why) == 0)
		return 0;
	return err_set(err, why.code, "%s; use injector shaped", why.text);
}

/* As workers open it; the first one has most stages. */
static struct device_config config_of_workers(const struct scenario *scenario,
                                              const struct backend *backend, bool has_exchanges)
{
	const struct streams streams = streams_of_worker(
		topology_stages_on_host(&scenario->topology, 0), scenario->n_queues, has_exchanges);

	return (struct device_config){.speed = backend->speed,
	                              .n_streams = streams.n_of_stage,
	                              .n_devices = streams.n_sharing};
}

int stream_plane_choose(const struct options *options, const struct scenario *scenario,
                        struct backend *backend, struct err *err)
{
	bool is_named = stream_plane_is_exchange(options->transport);
	struct question question = {.n_stages = backend->n_stages};
	struct device_probe probe = {.context = &question};
	struct err why = {0};
	struct device_config config;
	int rc;

	question.exchange = find(options, scenario, backend, &why);
	if (!question.exchange && is_named)
		return err_set(err, why.code, "%s", why.text);
	if (question.exchange)
		probe.ask = ask;
	config = config_of_workers(scenario, backend, question.exchange != NULL);
	rc = device_try(backend->device, &config, &probe, &backend->trial, err);
	if (rc)
		return rc;
	if (probe.rc && is_named)
		return err_set(err, probe.rc, "%s", probe.err.text);
	backend->exchange = probe.rc ? NULL : question.exchange;
	describe(backend, probe.rc ? &probe.err : &why);
	return choose_injector(options, scenario, backend, err);
}
