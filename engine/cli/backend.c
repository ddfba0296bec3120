/* backend.c - chooses device, transport and injector, and starts the workers of a run. */
#include "engine/cli/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/backend_internal.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/stream_plane.h"
#include "injectors/injector.h"
#include "reports/quantity.h"

static const double SPEED_MARGIN = 1.2;

enum { RNICS_SHOWN = 2 };

static int choose_speed(const struct options *options, const struct scenario *scenario,
                        struct backend *out, struct err *err)
{
	char *end;

	out->speed = scenario->live.speed;
	if (!options->speed)
		return 0;
	out->speed = strtod(options->speed, &end);
	if (*end || end == options->speed ||
	    !(out->speed >= LIVE_SPEED_LEAST && out->speed <= LIVE_SPEED_MOST))
		return err_set(err, -EINVAL, "--speed is '%s'; wanted a number of %g to %g",
		               options->speed, LIVE_SPEED_LEAST, LIVE_SPEED_MOST);
	return 0;
}

/* Without a lab nobody but the workers can make a link slow. */
static int choose_injector(const struct options *options, struct backend *out, struct err *err)
{
	const struct injector_ops *ops;
	int rc;

	out->injector = options->injector ? options->injector : "auto";
	if (strcmp(out->injector, "auto") == 0 || strcmp(out->injector, "shaped") == 0 ||
	    strcmp(out->injector, "stream") == 0)
		return 0;
	rc = injector_find(out->injector, &ops, err);
	if (rc == -ENOENT) {
		struct err found = *err;

		return err_set(err, rc, "%.900s, shaped, stream and auto", found.text);
	}
	if (rc || out->lab)
		return rc;
	return err_set(
		err, -ENOTSUP,
		"injector %s acts on what leaves the hosts of a lab; add --lab netns, or use "
		"shaped",
		out->injector);
}

static const char machine[] = "machine";

/* Not a lab: this machine, and what the user allows of it. */
static int choose_machine(const struct options *options, struct backend *out, struct err *err)
{
	if (options->lab && strcmp(options->lab, "none") != 0)
		return err_set(err, -EINVAL,
		               "--allow-interface names interfaces of this machine, and the hosts "
		               "of a lab have their own; use one of the two");
	if (strcmp(out->transport->name, "loopback") == 0)
		return err_set(err, -EINVAL,
		               "transport loopback uses no interface; use tcp or verbs");
	out->interfaces = options->interfaces;
	return site_find(machine, &out->lab, err);
}

static int choose_lab(const struct options *options, struct backend *out, struct err *err)
{
	const char *name = options->lab ? options->lab : "none";
	int rc;

	out->lab = NULL;
	if (options->interfaces)
		return choose_machine(options, out, err);
	if (strcmp(name, "none") == 0 || strcmp(name, "auto") == 0)
		return 0;
	if (strcmp(name, machine) == 0)
		return err_set(err, -EINVAL,
		               "the machine's own interfaces are named by --allow-interface");
	rc = site_find(name, &out->lab, err);
	if (rc == 0 && strcmp(out->transports, "tcp") != 0)
		rc = err_set(err, -EINVAL,
		             "the hosts of a lab are joined by wires that carry tcp, and transport "
		             "is %s; use tcp",
		             out->transports);
	return rc;
}

static int choose_delegates(const struct options *options, const struct topology *topology,
                            struct backend *out, struct err *err)
{
	int rc = delegates_parse(options->delegates ? options->delegates : "auto", &out->delegates,
	                         err);

	if (rc == 0)
		delegates_describe(out->delegates, topology->n_hosts * topology->n_replicas,
		                   delegates_cores(), out->delegates_text);
	return rc;
}

/* Without a lab messages are held whole, in the processes that send them. */
static int check_shaped(const struct options *options, const struct scenario *scenario,
                        struct err *err)
{
	for (size_t i = 0; i < scenario->n_faults && !options->is_dry_run; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (fault_is_of_packets(fault))
			return err_set(
				err, -ENOTSUP,
				"injector shaped holds whole messages, and on line %d packets "
				"are to be lost or to overtake each other; use --lab netns, "
				"where injectors netem and relay do that",
				fault->script_line);
	}
	return 0;
}

bool backend_takes_device(const struct device_ops *device)
{
	return strcmp(device->name, "null") != 0;
}

static int choose(const struct options *options, const struct scenario *scenario,
                  struct backend *out, struct err *err)
{
	int rc = choose_speed(options, scenario, out, err);

	rc = rc ? rc : device_find(options->device ? options->device : "paced", &out->device, err);
	rc = rc ? rc : backend_choose_transport(options, scenario, out, err);
	rc = rc ? rc : choose_delegates(options, &scenario->topology, out, err);
	rc = rc ? rc : choose_lab(options, out, err);
	rc = rc ? rc : choose_injector(options, out, err);
	if (rc == 0 && !out->lab)
		rc = check_shaped(options, scenario, err);
	if (rc == 0 && !backend_takes_device(out->device))
		rc = err_set(err, -ENOTSUP,
		             "device null is for tests in virtual time; use paced or cpu");
	out->n_stages = scenario->topology.n_stages * scenario->topology.n_replicas;
	return rc ? rc : stream_plane_choose(options, scenario, out, err);
}

static struct model_config model_of(const struct scenario *scenario)
{
	return model_default_config(scenario->topology.n_stages, scenario->n_microbatches,
	                            scenario->seed);
}

void backend_set_live_messages(struct scenario *scenario)
{
	struct model_config model = model_of(scenario);

	scenario->profile.message_bytes = (int64_t)model_message_bytes(&model);
	if (scenario->live.payload_bytes > scenario->profile.message_bytes)
		scenario->profile.message_bytes = scenario->live.payload_bytes;
}

static int open_site(struct backend *backend, const struct scenario *scenario, struct err *err)
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

static int close_site(struct backend *backend, struct err *err)
{
	struct site *site = backend->site;

	backend->site = NULL;
	return site_close(site, err);
}

/* What a lab of the scenario can do is known once there was one. */
static int try_lab(struct backend *backend, const struct scenario *scenario, struct err *err)
{
	int rc;

	snprintf(backend->applies, sizeof(backend->applies),
	         backend->occupies_streams ? "stream" : "shaped");
	if (!backend->lab)
		return 0;
	rc = open_site(backend, scenario, err);
	if (rc)
		return rc;
	if (!backend->occupies_streams)
		memcpy(backend->applies, backend->site->injector, sizeof(backend->applies));
	memcpy(backend->applies_text, backend->site->description, sizeof(backend->applies_text));
	return close_site(backend, err);
}

/* Of what was named, or of a lab: this machine or build, this user. */
static int refuse(int rc, const struct err *err)
{
	if (rc != -ENOTSUP && rc != -ENODEV && rc != -ENOENT && rc != -EPERM)
		return output_failure(err);
	output_error("%s", err->text);
	return rc == -ENOENT ? EXIT_MISTAKE : EXIT_CANNOT;
}

int backend_choose_live(const struct options *options, struct scenario *scenario,
                        struct backend *out)
{
	struct model_config model = model_of(scenario);
	struct err err = {0};
	int rc;

	*out = (struct backend){.is_live = true, .scratch = {.pipe = -1}};
	rc = choose(options, scenario, out, &err);
	if (rc == 0 && model_config_check(&model, &err))
		rc = err_wrap(&err, "the live model");
	if (rc)
		return refuse(rc, &err);
	backend_set_live_messages(scenario);
	out->payload_bytes = scenario->profile.message_bytes;
	rc = try_lab(out, scenario, &err);
	return rc ? refuse(rc, &err) : EXIT_DONE;
}

void backend_describe_gpus(const struct backend *backend, char out[BACKEND_GPUS_BYTES])
{
	const struct device_about *about = &backend->trial.about;

	if (!about->text[0])
		out[0] = '\0';
	else if (backend->n_stages > about->n_units)
		snprintf(out, BACKEND_GPUS_BYTES, "%s; %d stages share %d of them", about->text,
		         backend->n_stages, about->n_units);
	else
		snprintf(out, BACKEND_GPUS_BYTES, "%s; one for each of %d stages", about->text,
		         backend->n_stages);
}

/* " (rail 0: rxa0 port 1, …)"; nothing of what is no RNIC. */
static void describe_rnics(const struct backend *backend, char *out, size_t n_bytes)
{
	struct strbuf text = {0};

	rnics_describe(&backend->rnics, RNICS_SHOWN, &text);
	if (text.length > 0)
		snprintf(out, n_bytes, " (%s)", strbuf_text(&text));
	else
		out[0] = '\0';
	strbuf_fini(&text);
}

void backend_describe(const struct backend *backend, char *out, size_t n_bytes)
{
	char speed[QUANTITY_BYTES], gpus[BACKEND_GPUS_BYTES];
	char rnics[256];

	backend_describe_gpus(backend, gpus);
	describe_rnics(backend, rnics, sizeof(rnics));
	if (backend->is_live)
		snprintf(
			out, n_bytes,
			"real time, %s; device %s%s%s%s, transport %s%s%s%s; delegates %s; lab %s; "
			"injector %s%s%s",
			quantity_speed(backend->speed, speed), backend->device->name,
			gpus[0] ? " (" : "", gpus, gpus[0] ? ")" : "",
			backend_transport_name(backend), rnics,
			backend->stream_text[0] ? "; stream plane: " : "", backend->stream_text,
			backend->delegates_text, backend->lab ? backend->lab->name : "none",
			backend->applies,
			backend->lab                ? ": "
			: backend->occupies_streams ? ": in front of sends"
						    : " (others act on the hosts of a lab: "
						      "--lab netns)",
			backend->applies_text);
	else
		snprintf(out, n_bytes,
		         "virtual time; device virtual, transport virtual, injector virtual");
}

const char *backend_transport_name(const struct backend *backend)
{
	if (!backend->is_live)
		return "virtual";
	return backend->exchange ? backend->exchange->name : backend->transports;
}

enum record_timer backend_timer(const struct backend *backend)
{
	if (!backend->is_live)
		return TIMER_VIRTUAL;
	return strcmp(backend->trial.timer, "cuda_event") == 0 ? TIMER_CUDA_EVENT : TIMER_HOST;
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
		rc = open_site(backend, scenario, err);
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
	rc = close_site(backend, &own);
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
