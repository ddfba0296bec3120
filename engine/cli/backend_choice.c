/* backend_choice.c - chooses speed, device, transport, lab and injector of a live run, as options
 * and scenario say. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/backend_internal.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/stream_plane.h"
#include "injectors/injector.h"

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

/* What a lab of the scenario can do is known once there was one. */
static int try_lab(struct backend *backend, const struct scenario *scenario, struct err *err)
{
	int rc;

	snprintf(backend->applies, sizeof(backend->applies),
	         backend->occupies_streams ? "stream" : "shaped");
	if (!backend->lab)
		return 0;
	rc = backend_open_site(backend, scenario, err);
	if (rc)
		return rc;
	if (!backend->occupies_streams)
		memcpy(backend->applies, backend->site->injector, sizeof(backend->applies));
	memcpy(backend->applies_text, backend->site->description, sizeof(backend->applies_text));
	return backend_close_site(backend, err);
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
