/* staging.c - copies between a device with memory of its own and pinned buffers of the host. */
#include "engine/dataplane/staging_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/dataplane/slots_internal.h"

enum { BUFFERS_PER_QUEUE = 2, BUFFERS_OF_ARRIVALS = 2 };

struct staging_buffer {
	void *memory;
	struct device_stream *stream;
	bool is_taken;
};

/* The buffers of one direction with a neighbour, and who waits for one: a ring. */
struct passage {
	struct staging_buffer *buffers;
	int n_buffers;
	int next; /* looked at first, so that streams take turns */
	void **waiting;
	size_t first, n_waiting, capacity;
};

struct staging {
	struct dataplane *plane;
	struct device_stream **out, **in; /* n_streams each */
	int n_streams;
	int next_in;
	struct passage sent[PLANE_PEERS], received[PLANE_PEERS];
};

/* NULL: all are taken. */
static struct staging_buffer *take_buffer(struct passage *passage)
{
	for (int i = 0; i < passage->n_buffers; i++) {
		struct staging_buffer *buffer =
			&passage->buffers[(passage->next + i) % passage->n_buffers];

		if (buffer->is_taken)
			continue;
		buffer->is_taken = true;
		passage->next = (passage->next + i + 1) % passage->n_buffers;
		return buffer;
	}
	return NULL;
}

static void put_last(struct passage *passage, void *item)
{
	passage->waiting[(passage->first + passage->n_waiting++) % passage->capacity] = item;
}

/* With a buffer for it; NULL: nobody waits, or there is none. */
static void *take_first(struct passage *passage, struct staging_buffer **buffer_out)
{
	void *item;

	*buffer_out = passage->n_waiting > 0 ? take_buffer(passage) : NULL;
	if (!*buffer_out)
		return NULL;
	item = passage->waiting[passage->first];
	passage->first = (passage->first + 1) % passage->capacity;
	passage->n_waiting--;
	return item;
}

static int copy_out(struct staging *staging, int peer, int64_t room_ns, struct err *err)
{
	size_t n_bytes = staging->plane->config.tensor_bytes;
	struct staging_buffer *buffer;
	struct sending *sending;
	int rc = 0;

	while (rc == 0 && (sending = take_first(&staging->sent[peer], &buffer))) {
		sending->buffer = buffer;
		sending->payload = buffer->memory;
		sending->room_ns = room_ns;
		rc = device_wait(buffer->stream, sending->produced, err);
		rc = rc ? rc
		        : device_copy(buffer->stream, buffer->memory, sending->output, n_bytes,
		                      err);
		rc = rc ? rc : plane_call_produced(buffer->stream, sending, err);
	}
	return rc;
}

int staging_send(struct staging *staging, struct sending *sending, struct err *err)
{
	put_last(&staging->sent[sending->peer], sending);
	return copy_out(staging, sending->peer, 0, err);
}

int staging_acked(struct staging *staging, struct sending *sending, int64_t at_ns, struct err *err)
{
	if (!sending->buffer)
		return 0;
	sending->buffer->is_taken = false;
	sending->buffer = NULL;
	return copy_out(staging, sending->peer, at_ns, err);
}

static int copy_in(struct device_stream *stream, const void *from, struct arrival *arrival,
                   struct err *err)
{
	int rc =
		device_copy(stream, arrival->input, from, arrival->plane->config.tensor_bytes, err);

	return rc ? rc : plane_call_copied(stream, arrival, err);
}

static int copy_in_waiting(struct staging *staging, struct passage *passage, struct err *err)
{
	const struct dataplane_config *config = &staging->plane->config;
	struct staging_buffer *buffer;
	struct arrival *arrival;
	int rc = 0;

	while (rc == 0 && (arrival = take_first(passage, &buffer))) {
		memcpy(buffer->memory, arrival->payload, config->tensor_bytes);
		transport_release(config->transport, arrival->payload);
		arrival->payload = NULL;
		arrival->buffer = buffer;
		rc = copy_in(buffer->stream, buffer->memory, arrival, err);
	}
	return rc;
}

int staging_receive(struct staging *staging, struct arrival *arrival, struct err *err)
{
	struct passage *passage = &staging->received[arrival->peer];

	if (payload_area_holds(&staging->plane->config.reachable, arrival->payload))
		return copy_in(staging->in[staging->next_in++ % staging->n_streams],
		               arrival->payload, arrival, err);
	put_last(passage, arrival);
	return copy_in_waiting(staging, passage, err);
}

int staging_wait(struct staging *staging, struct device_event *event, struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < staging->n_streams; i++)
		rc = device_wait(staging->in[i], event, err);
	return rc;
}

int staging_copied(struct staging *staging, struct arrival *arrival, struct err *err)
{
	struct passage *passage = &staging->received[arrival->peer];

	if (!arrival->buffer)
		return 0;
	arrival->buffer->is_taken = false;
	arrival->buffer = NULL;
	return copy_in_waiting(staging, passage, err);
}

static int open_streams(const struct staging *staging, struct device_stream **streams,
                        struct err *err)
{
	int rc = 0;

	if (!streams)
		return err_set(err, -ENOMEM, "no memory for copy streams");
	for (int i = 0; rc == 0 && i < staging->n_streams; i++)
		rc = device_stream_new(staging->plane->config.device, &streams[i], err);
	return rc;
}

static int least(int n_buffers, const struct dataplane_config *config)
{
	return n_buffers < config->n_microbatches ? n_buffers : config->n_microbatches;
}

static int n_buffers_sent(const struct dataplane_config *config)
{
	return least(BUFFERS_PER_QUEUE * config->n_queues, config);
}

static int n_buffers_received(const struct dataplane_config *config)
{
	return least(BUFFERS_OF_ARRIVALS, config);
}

double staging_peer_bytes(const struct dataplane_config *config)
{
	return n_buffers_sent(config) * (double)config->payload_bytes +
	       n_buffers_received(config) * (double)config->tensor_bytes;
}

static int open_passage(const struct staging *staging, struct passage *passage, int n,
                        size_t n_bytes, struct device_stream *const *streams, struct err *err)
{
	const struct dataplane_config *config = &staging->plane->config;

	passage->capacity = (size_t)config->n_microbatches;
	passage->waiting = array_new(passage->capacity, sizeof(*passage->waiting));
	passage->buffers = array_new((size_t)n, sizeof(*passage->buffers));
	passage->n_buffers = n;
	for (int i = 0; passage->buffers && i < n; i++) {
		passage->buffers[i].stream = streams[i % staging->n_streams];
		passage->buffers[i].memory = device_alloc(config->device, n_bytes, true);
		if (!passage->buffers[i].memory)
			return err_set(
				err, -ENOMEM,
				"stage %d gets no pinned memory for %d messages of %zu bytes",
				config->stage, n, n_bytes);
	}
	return passage->waiting && passage->buffers
	               ? 0
	               : err_set(err, -ENOMEM, "no memory for %d buffers", n);
}

static int open_passages(struct staging *staging, int peer, struct err *err)
{
	const struct dataplane_config *config = &staging->plane->config;
	int rc;

	if (!plane_has_peer(staging->plane, peer))
		return 0;
	rc = open_passage(staging, &staging->sent[peer], n_buffers_sent(config),
	                  config->payload_bytes, staging->out, err);
	return rc ? rc
	          : open_passage(staging, &staging->received[peer], n_buffers_received(config),
	                         config->tensor_bytes, staging->in, err);
}

int staging_open(struct dataplane *plane, struct staging **out, struct err *err)
{
	struct staging *staging = array_new(1, sizeof(*staging));
	int n = plane->config.n_copy_streams > 0 ? plane->config.n_copy_streams : 1, rc;

	if (!staging)
		return err_set(err, -ENOMEM, "no memory for copies of messages");
	*staging = (struct staging){.plane = plane, .n_streams = n};
	staging->out = array_new((size_t)n, sizeof(struct device_stream *));
	staging->in = array_new((size_t)n, sizeof(struct device_stream *));
	rc = open_streams(staging, staging->out, err);
	rc = rc ? rc : open_streams(staging, staging->in, err);
	for (int peer = 0; rc == 0 && peer < PLANE_PEERS; peer++)
		rc = open_passages(staging, peer, err);
	if (rc)
		staging_close(staging);
	else
		*out = staging;
	return rc;
}

void staging_set_known(struct staging *staging, bool is_known)
{
	const struct dataplane_config *config = &staging->plane->config;

	for (int peer = 0; peer < PLANE_PEERS; peer++)
		for (int i = 0; i < staging->sent[peer].n_buffers; i++)
			transport_set_known(config->transport,
			                    staging->sent[peer].buffers[i].memory,
			                    config->payload_bytes, is_known);
}

void staging_close(struct staging *staging)
{
	if (!staging)
		return;
	for (int peer = 0; peer < PLANE_PEERS; peer++) {
		free(staging->sent[peer].buffers);
		free(staging->sent[peer].waiting);
		free(staging->received[peer].buffers);
		free(staging->received[peer].waiting);
	}
	free(staging->out);
	free(staging->in);
	free(staging);
}
