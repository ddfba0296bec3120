/* backend_transport.c - chooses what moves the tensors of a live run, and looks whether it is here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/cli/backend_internal.h"
#include "engine/cli/stream_plane.h"
#include "engine/transport/verbs.h"

/* Whether this machine has the devices is known when they are opened, and that should be before
 * anything runs. */
static int probe_verbs(struct backend *backend, const struct scenario *scenario, struct err *err)
{
	size_t n_stages = (size_t)scenario->topology.n_stages;
	bool *is_local = array_new(n_stages, sizeof(*is_local));
	struct transport_address *addresses = array_new(n_stages, sizeof(*addresses));
	const struct verbs_settings verbs = {.devices = backend->rdma_devices,
	                                     .retry = scenario->rdma,
	                                     .tell = rnics_take,
	                                     .tell_context = &backend->rnics};
	const struct transport_config config = {.n_stages = scenario->topology.n_stages,
	                                        .is_local = is_local,
	                                        .n_rails = scenario->topology.n_rails,
	                                        .n_queues = 1,
	                                        .max_bytes = 1,
	                                        .verbs = &verbs,
	                                        .parts = backend->transports};
	struct transport *transport = NULL;
	int rc = is_local && addresses ? 0 : err_set(err, -ENOMEM, "no memory for a transport");

	if (rc == 0) {
		memset(is_local, true, n_stages * sizeof(*is_local));
		rc = backend->transport->open(&config, addresses, &transport, err);
	}
	transport_close(transport);
	free(is_local);
	free(addresses);
	if (rc == 0 || rc == -EINVAL || rc == -ENOMEM)
		return rc;
	(void)err_wrap(err, "transport verbs cannot be used here");
	return -ENOTSUP;
}

/* Is it one of those in the list? */
static bool has_part(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

static int count_parts(const char *list)
{
	int n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static int check_topology(const char *name, const struct topology *topology, struct err *err)
{
	if (has_part(name, "loopback") && topology->n_hosts > 1)
		return err_set(
			err, -EINVAL,
			"transport loopback stays inside one worker, and the topology has %d "
			"hosts; use tcp, or hosts = 1",
			topology->n_hosts);
	if (count_parts(name) > topology->n_rails)
		return err_set(err, -EINVAL,
		               "--transport %.100s names %d transports, and the topology has %d "
		               "rail%s",
		               name, count_parts(name), topology->n_rails,
		               topology->n_rails == 1 ? "" : "s");
	return 0;
}

/* Exchanges are the stream plane's alone; beside them delegates use tcp. */
static const char *transport_of(const char *named)
{
	bool is_of_host = named && strcmp(named, "auto") != 0 && !stream_plane_is_exchange(named);

	return is_of_host ? named : "tcp";
}

int backend_choose_transport(const struct options *options, const struct scenario *scenario,
                             struct backend *out, struct err *err)
{
	const char *name = transport_of(options->transport);
	bool is_verbs = has_part(name, "verbs");
	int rc = transport_find(name, &out->transport, err);

	if (rc == -ENOENT) {
		struct err found = *err;

		return err_set(err, rc, "%.900s, nccl and auto", found.text);
	}
	if (rc)
		return rc;
	out->transports = name;
	if (options->rdma_devices && !is_verbs)
		return err_set(err, -EINVAL,
		               "--rdma-device is for --transport verbs; this is transport %s",
		               name);
	out->rdma_devices = options->rdma_devices;
	rc = check_topology(name, &scenario->topology, err);
	return rc || !is_verbs ? rc : probe_verbs(out, scenario, err);
}
