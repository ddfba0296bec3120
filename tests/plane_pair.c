/* plane_pair.c - two stages of one process and what they send each other. */
#include "tests/plane_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/slowness.h"

enum { N_RAILS = 2, EVENTS_MAX = 16, RUN = 11, LIMIT_S = 20 };

static int64_t clock_ns(void *context)
{
	(void)context;
	return clock_monotonic_ns();
}

static enum op_kind kind_sent(int stage)
{
	return stage == 0 ? OP_F : OP_B;
}

static char *tensor(char *const *tensors, const struct plane_pair *pair, int stage, int microbatch)
{
	return tensors[stage] + (size_t)microbatch * pair->n_bytes;
}

/* The word of the tensor that is sent. */
static uint64_t word(const struct plane_pair *pair, int stage, int microbatch, size_t i)
{
	return rng_mix((uint64_t)(pair->iteration * 2 + stage), (uint64_t)microbatch << 32 | i);
}

static int open_device(struct plane_pair *pair, int stage)
{
	const struct device_config config = {.speed = 1};
	const struct device_ops *ops;
	struct device *device;
	size_t n = (size_t)pair->n_microbatches;
	int rc = device_find(pair->device_name, &ops, &pair->err);

	rc = rc ? rc : ops->open(&config, &pair->devices[stage], &pair->err);
	if (rc)
		return rc;
	device = pair->devices[stage];
	rc = device_stream_new(device, &pair->compute[stage], &pair->err);
	rc = rc ? rc : device_event_new(device, &pair->passed[stage], &pair->err);
	pair->produced[stage] = array_new(n, sizeof(*pair->produced[stage]));
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = device_event_new(device, &pair->produced[stage][i], &pair->err);
	pair->made[stage] = device_alloc(device, n * pair->n_bytes, true);
	pair->found[stage] = device_alloc(device, n * pair->n_bytes, true);
	if (!pair->made[stage] || !pair->found[stage])
		return err_set(&pair->err, -ENOMEM, "no memory for tensors");
	return rc;
}

static int open_transport(struct plane_pair *pair)
{
	static const bool is_local[] = {true, true};
	size_t n = 2 * (size_t)pair->n_microbatches;
	const struct transport_config config = {.run = RUN,
	                                        .n_stages = 2,
	                                        .is_local = is_local,
	                                        .n_rails = N_RAILS,
	                                        .n_queues = pair->n_queues,
	                                        .max_bytes = (int64_t)pair->n_bytes,
	                                        .payloads = &pair->area};
	struct transport_address addresses[2];
	const struct transport_ops *ops = pair->transport_ops;
	int rc = ops ? 0 : transport_find("loopback", &ops, &pair->err);

	if (pair->is_reachable) {
		pair->area.n_bytes = n * payload_area_bytes((int64_t)pair->n_bytes);
		pair->area.at = device_alloc(pair->devices[0], pair->area.n_bytes, true);
	}
	rc = rc ? rc : ops->open(&config, addresses, &pair->transport, &pair->err);
	return rc ? rc : transport_connect(pair->transport, addresses, NS_PER_S, &pair->err);
}

static int open_plane(struct plane_pair *pair, int stage)
{
	const struct dataplane_config config = {.stage = stage,
	                                        .n_stages = 2,
	                                        .n_microbatches = pair->n_microbatches,
	                                        .n_rails = N_RAILS,
	                                        .n_queues = pair->n_queues,
	                                        .run = RUN,
	                                        .tensor_bytes = pair->n_bytes,
	                                        .payload_bytes = pair->n_bytes,
	                                        .n_copy_streams = pair->n_copy_streams,
	                                        .reachable = pair->area,
	                                        .device = pair->devices[stage],
	                                        .transport = pair->transport,
	                                        .clock_ns = clock_ns};

	return dataplane_open(&config, &pair->planes[stage], &pair->err);
}

int plane_pair_open(struct plane_pair *pair)
{
	int rc = open_device(pair, 0);

	rc = rc ? rc : open_device(pair, 1);
	rc = rc ? rc : open_transport(pair);
	rc = rc ? rc : open_plane(pair, 0);
	return rc ? rc : open_plane(pair, 1);
}

void plane_pair_close(struct plane_pair *pair)
{
	for (int stage = 0; stage < 2; stage++)
		dataplane_close(pair->planes[stage]);
	transport_close(pair->transport);
	for (int stage = 0; stage < 2; stage++) {
		device_close(pair->devices[stage]);
		free(pair->produced[stage]);
	}
}

int plane_pair_begin(struct plane_pair *pair, const struct plane_rules *rules, int iteration)
{
	size_t n_words = pair->n_bytes / sizeof(uint64_t);
	int rc = 0;

	pair->iteration = iteration;
	for (int stage = 0; rc == 0 && stage < 2; stage++) {
		for (int mb = 0; mb < pair->n_microbatches; mb++) {
			uint64_t *words = (uint64_t *)(void *)tensor(pair->made, pair, stage, mb);

			for (size_t i = 0; i < n_words; i++)
				words[i] = word(pair, stage, mb, i);
		}
		memset(pair->found[stage], 0, (size_t)pair->n_microbatches * pair->n_bytes);
		rc = dataplane_begin(pair->planes[stage], rules, NULL, 0, iteration, &pair->err);
	}
	return rc;
}

int plane_pair_make(struct plane_pair *pair, int stage, int microbatch)
{
	struct device_stream *compute = pair->compute[stage];
	void *output = dataplane_output(pair->planes[stage], kind_sent(stage), microbatch);
	int rc = device_copy(compute, output, tensor(pair->made, pair, stage, microbatch),
	                     pair->n_bytes, &pair->err);

	return rc ? rc : device_record(pair->produced[stage][microbatch], compute, &pair->err);
}

int plane_pair_send(struct plane_pair *pair, int stage, int microbatch)
{
	struct device_stream *compute = pair->compute[stage];
	int rc = plane_pair_make(pair, stage, microbatch);

	rc = rc ? rc
	        : dataplane_send(pair->planes[stage], compute, pair->produced[stage][microbatch],
	                         kind_sent(stage), microbatch, &pair->err);
	return rc ? rc : device_record(pair->passed[stage], compute, &pair->err);
}

int plane_pair_receive(struct plane_pair *pair, int stage, int microbatch)
{
	struct device_stream *compute = pair->compute[stage];
	enum op_kind kind = kind_sent(!stage);
	int rc = dataplane_receive(pair->planes[stage], compute, kind, microbatch, &pair->err);

	rc = rc ? rc
	        : device_copy(compute, tensor(pair->found, pair, stage, microbatch),
	                      dataplane_input(pair->planes[stage], kind, microbatch), pair->n_bytes,
	                      &pair->err);
	return rc ? rc : device_record(pair->passed[stage], compute, &pair->err);
}

static int poll_transport(struct plane_pair *pair)
{
	struct transport_event events[EVENTS_MAX];
	size_t n = 0;
	int rc = transport_poll(pair->transport, events, EVENTS_MAX, &n, &pair->err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		int stage = events[i].kind == TRANSPORT_RECEIVED ? events[i].message.to_stage
		                                                 : events[i].message.from_stage;

		rc = dataplane_event(pair->planes[stage], &events[i], &pair->err);
	}
	return rc;
}

int plane_pair_turn(struct plane_pair *pair, bool polls)
{
	struct device_state state;
	int rc = polls ? poll_transport(pair) : 0;

	for (int stage = 0; rc == 0 && stage < 2; stage++) {
		rc = device_progress(pair->devices[stage], true, &state, &pair->err);
		rc = rc ? rc
		        : dataplane_progress(pair->planes[stage], clock_monotonic_ns(), &pair->err);
	}
	return rc;
}

/* 1: yes. */
static int is_done(struct plane_pair *pair)
{
	int rc = 1;

	for (int stage = 0; rc == 1 && stage < 2; stage++) {
		rc = dataplane_is_quiet(pair->planes[stage]);
		if (rc == 1)
			rc = device_query(pair->passed[stage], NULL, NULL, &pair->err);
	}
	return rc;
}

int plane_pair_finish(struct plane_pair *pair)
{
	int64_t end_ns = clock_monotonic_ns() + (int64_t)(LIMIT_S * 1e9 * slowness_of_machine());
	int rc = 0;

	while (rc == 0 && clock_monotonic_ns() < end_ns) {
		rc = plane_pair_turn(pair, true);
		rc = rc ? rc : is_done(pair);
	}
	if (rc == 0)
		return err_set(&pair->err, -ETIMEDOUT, "what was sent has not arrived");
	return rc < 0 ? rc : 0;
}

int plane_pair_requested(const struct plane_pair *pair, int stage)
{
	int n = 0;

	for (int mb = 0; mb < pair->n_microbatches; mb++)
		n += dataplane_sent(pair->planes[stage], kind_sent(stage), mb).requested_ns >= 0;
	return n;
}

int plane_pair_intact(const struct plane_pair *pair, int stage)
{
	int n = 0;

	for (int mb = 0; mb < pair->n_microbatches; mb++)
		n += memcmp(tensor(pair->found, pair, stage, mb),
		            tensor(pair->made, pair, !stage, mb), pair->n_bytes) == 0;
	return n;
}
