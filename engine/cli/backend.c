/* backend.c - runs the workers of a session: speed, start, end. */
#include "engine/cli/backend.h"

#include <errno.h>
#include <string.h>

#include "engine/cli/backend_internal.h"

static const double SPEED_MARGIN = 1.2;

int backend_open_site(struct backend *backend, const struct scenario *scenario, struct err *err)
{
	const struct site_config config = {
		.scenario = scenario,
		.speed = backend->speed,
		.message_bytes = backend->payload_bytes,
		.injector = backend->occupies_streams ? "shaped" : backend->injector,
		.transport = backend->transport->name,
		.interfaces = backend->interfaces,
		.timeline = &backend->timeline,
	};

	strbuf_fini(&backend->timeline);
	return backend->lab->open(&config, &backend->site, err);
}

int backend_close_site(struct backend *backend, struct err *err)
{
	struct site *site = backend->site;

	backend->site = NULL;
	return site_close(site, err);
}

static struct live_config config_of(const struct backend *backend, const struct scenario *scenario,
                                    int repeat)
{
	return (struct live_config){
		.scenario = scenario,
		.seed = scenario_repeat_seed(scenario, repeat),
		.speed = backend->speed,
		.device = backend->device,
		.about = &backend->trial.about,
		.transport = backend->transport,
		.exchange = backend->exchange,
		.occupies_streams = backend->occupies_streams,
		.transport_parts = backend->transports,
		.rdma_devices = backend->rdma_devices,
		.delegates = backend->delegates,
		.payload_bytes = backend->payload_bytes,
		.folder = backend->scratch.folder,
		.site = backend->site,
		.watcher = backend->watcher,
		.is_speed_found = backend->is_speed_found,
	};
}

/* With room for moments in which the machine is slower than now. What no speed is low enough for is
 * refused when it runs. */
static void fit(struct backend *backend, double fastest)
{
	double lower = live_round_speed(fastest / SPEED_MARGIN);

	if (fastest < backend->speed && lower >= LIVE_SPEED_LEAST) {
		backend->lowered_from = backend->speed;
		backend->speed = lower;
	}
	backend->is_speed_found = lower >= LIVE_SPEED_LEAST;
}

int backend_fit_speed(const struct options *options, const struct scenario *scenario,
                      struct backend *backend, struct err *err)
{
	struct live_config config;
	double fastest;
	int rc;

	if (options->speed || strcmp(backend->device->name, "paced") != 0)
		return 0;
	rc = scratch_open(&backend->scratch, err);
	config = config_of(backend, scenario, 0);
	rc = rc ? rc : live_fastest(&config, &fastest, err);
	scratch_close(&backend->scratch);
	if (rc == 0)
		fit(backend, fastest);
	return rc;
}

int backend_begin(struct backend *backend, const struct scenario *scenario, int repeat,
                  struct err *err)
{
	struct live_config config;
	int rc;

	/* One that does not begin must not be reported with those of the run before it. */
	backend->facts = (struct live_facts){0};
	backend->site_report = (struct site_report){0};
	if (!backend->is_live)
		return 0;
	rc = scratch_open(&backend->scratch, err);
	if (rc == 0 && backend->lab)
		rc = backend_open_site(backend, scenario, err);
	config = config_of(backend, scenario, repeat);
	return rc ? rc : live_open(&config, &backend->executor, err);
}

/* A delay that loses packets is another fault than the one that was asked for. */
static int check_drops(const struct site_report *report, struct err *err)
{
	if (report->dropped_packets == 0)
		return 0;
	return err_set(err, -EIO,
	               "%lld of %lld packets that faults were to delay were dropped, so the run is "
	               "worth nothing; use a lower --speed, or smaller messages",
	               (long long)report->dropped_packets,
	               (long long)(report->dropped_packets + report->sent_packets));
}

/* What the faults did is asked before they go. */
static int end_site(struct backend *backend, struct err *err)
{
	struct err own = {0};
	int first = backend->site->ops->report(backend->site, &backend->site_report, err), rc;

	if (first == 0)
		first = check_drops(&backend->site_report, err);
	rc = backend_close_site(backend, &own);
	return first || rc == 0 ? first : err_set(err, rc, "%s", own.text);
}

int backend_end(struct backend *backend, struct err *err)
{
	int rc = 0;

	if (backend->executor) {
		backend->facts = live_facts(backend->executor);
		live_close(backend->executor);
	}
	backend->executor = NULL;
	if (backend->site)
		rc = end_site(backend, err);
	if (backend->is_live)
		scratch_close(&backend->scratch);
	return rc;
}
