/* open.c - the memory, streams and order of a data plane: taken, and given back. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/dataplane/links_internal.h"
#include "engine/dataplane/staging_internal.h"

static bool make_sending(struct dataplane *plane, size_t slot, enum op_kind kind, int microbatch)
{
	struct device *device = plane->config.device;
	struct sending *sending = &plane->sendings[slot];
	int peer = kind == OP_F;

	*sending = (struct sending){.plane = plane,
	                            .kind = kind,
	                            .microbatch = microbatch,
	                            .peer = peer,
	                            .is_acked = true,
	                            .again_ns = INT64_MAX,
	                            .rid_ns = INT64_MAX};
	if (!plane_has_peer(plane, peer))
		return true;
	sending->done = device_alloc(device, sizeof(*sending->done), true);
	sending->output = device_alloc(device, plane->config.payload_bytes, false);
	if (!device->has_own_memory)
		sending->staged = device_alloc(device, plane->config.payload_bytes, true);
	return sending->done && sending->output && (sending->staged || device->has_own_memory);
}

/* An activation comes from the stage before, a gradient from the one after. */
static bool make_arrival(struct dataplane *plane, size_t slot, enum op_kind kind)
{
	struct device *device = plane->config.device;
	struct arrival *arrival = &plane->arrivals[slot];

	arrival->plane = plane;
	arrival->peer = kind == OP_B;
	if (!plane_has_peer(plane, arrival->peer))
		return true;
	arrival->flag = device_alloc(device, sizeof(*arrival->flag), true);
	arrival->input = device_alloc(device, plane_input_bytes(&plane->config), false);
	return arrival->flag && arrival->input;
}

static bool make_slots(struct dataplane *plane)
{
	plane->sendings = array_new(plane_n_slots(plane), sizeof(*plane->sendings));
	plane->arrivals = array_new(plane_n_slots(plane), sizeof(*plane->arrivals));
	if (!plane->sendings || !plane->arrivals)
		return false;
	for (enum op_kind kind = OP_F; kind <= OP_B; kind++)
		for (int mb = 0; mb < plane->config.n_microbatches; mb++) {
			size_t slot = plane_slot(plane, kind, mb);

			if (!make_sending(plane, slot, kind, mb) ||
			    !make_arrival(plane, slot, kind))
				return false;
		}
	return true;
}

static bool make_peers(struct dataplane *plane)
{
	size_t n_messages = 2 * (size_t)plane->config.n_microbatches;

	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		struct queues *queues = &plane->queues[peer];

		plane->channels[peer].order =
			array_new(n_messages, sizeof(*plane->channels[peer].order));
		queues->busy = array_new((size_t)plane->config.n_queues, sizeof(*queues->busy));
		queues->free_ns =
			array_new((size_t)plane->config.n_queues, sizeof(*queues->free_ns));
		queues->capacity = n_messages;
		queues->waiting = array_new(n_messages, sizeof(*queues->waiting));
		if (!plane->channels[peer].order || !queues->busy || !queues->free_ns ||
		    !queues->waiting)
			return false;
	}
	return true;
}

static int open_copies(struct dataplane *plane, struct err *err)
{
	struct device *device = plane->config.device;
	int rc;

	if (device->has_own_memory)
		return staging_open(plane, &plane->staging, err);
	rc = device_stream_new(device, &plane->in, err);
	return rc ? rc : device_stream_new(device, &plane->out, err);
}

/* The transport is told of what it will be sent from. A device's own memory is not read by it. */
static void set_known(struct dataplane *plane, bool is_known)
{
	const struct dataplane_config *config = &plane->config;
	struct transport *transport = config->transport;

	if (plane->staging)
		staging_set_known(plane->staging, is_known);
	for (size_t i = 0; !config->device->has_own_memory && i < plane_n_slots(plane); i++) {
		const struct sending *sending = &plane->sendings[i];

		if (!plane_has_peer(plane, sending->peer))
			continue;
		transport_set_known(transport, sending->output, config->payload_bytes, is_known);
		transport_set_known(transport, sending->staged, config->payload_bytes, is_known);
	}
}

/* Device memory and streams go with the device. */
static void dataplane_free(struct dataplane *plane)
{
	links_close(plane);
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		free(plane->channels[peer].order);
		free(plane->queues[peer].busy);
		free(plane->queues[peer].free_ns);
		free(plane->queues[peer].waiting);
	}
	staging_close(plane->staging);
	notes_fini(&plane->produced);
	notes_fini(&plane->copied);
	free(plane->requested);
	free(plane->sendings);
	free(plane->arrivals);
	free(plane);
}

int dataplane_open(const struct dataplane_config *config, struct dataplane **out, struct err *err)
{
	struct dataplane *plane = array_new(1, sizeof(*plane));
	int rc = 0;

	if (!plane)
		return err_set(err, -ENOMEM, "no memory for a data plane");
	plane->config = *config;
	plane->ops = &stream_plane_ops;
	plane->again_ns = INT64_MAX;
	plane->requested = array_new(2 * (size_t)config->n_microbatches, sizeof(*plane->requested));
	if (!plane->requested || !notes_init(&plane->produced, plane_n_slots(plane)) ||
	    !notes_init(&plane->copied, plane_n_slots(plane)) || !make_slots(plane) ||
	    !make_peers(plane))
		rc = err_set(err, -ENOMEM,
		             "no memory for the messages of stage %d: %d microbatches of %zu bytes",
		             config->stage, config->n_microbatches, config->payload_bytes);
	rc = rc ? rc : open_copies(plane, err);
	rc = rc ? rc : links_open(plane, err);
	if (rc) {
		dataplane_free(plane);
		return rc;
	}
	set_known(plane, true);
	*out = plane;
	return 0;
}

void dataplane_close(struct dataplane *plane)
{
	if (!plane)
		return;
	set_known(plane, false);
	dataplane_free(plane);
}
