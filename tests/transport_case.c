/* transport_case.c - workers of one process that exchange messages, and what they were told. */
#include "tests/transport_case.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "tests/slowness.h"
#include "tests/tap.h"

static const int64_t SETTLE_NS = 5 * NS_PER_MS;

static const struct transport_variant all_variants[] = {
	{"loopback", false, 1, false}, {"loopback", true, 1, false},
	{"tcp", false, 1, false},      {"tcp", false, 2, false},
	{"tcp", true, 1, false},       {"tcp", true, 2, false},
	{"loopback", false, 1, true},  {"tcp", false, 1, true},
	{"tcp", false, 2, true},       {"tcp", true, 2, true},
	{"tcp,tcp", false, 2, false},  {"loopback,tcp", true, 1, true},
	{NULL, false, 0, false},
};

static const struct transport_variant network_variants[] = {
	{"tcp", false, 1, false},     {"tcp", false, 2, false}, {"tcp", true, 2, false},
	{"tcp,tcp", false, 2, false}, {NULL, false, 0, false},
};

/* Twenty seconds, or as long as a slow build or machine needs for the same. */
static int64_t patience_ns(void)
{
	return (int64_t)(20 * slowness_of_build() * slowness_of_machine()) * NS_PER_S;
}

const char *case_network(void)
{
	const char *name = getenv("ADAPTRA_TEST_TRANSPORT");

	return name && *name ? name : "tcp";
}

const struct verbs_settings *case_verbs(void)
{
	static struct verbs_settings settings;

	settings.devices = getenv("ADAPTRA_TEST_RDMA");
	settings.retry = rdma_retry_default;
	return &settings;
}

const struct transport_variant *transport_variants(void)
{
	return strcmp(case_network(), "tcp") == 0 ? all_variants : network_variants;
}

/* Of two that are tcp the first one is the network's. */
static const char *backend_of(const struct transport_variant *variant)
{
	static char mixed[64];

	if (strcmp(variant->name, "tcp") == 0)
		return case_network();
	if (strcmp(variant->name, "tcp,tcp") != 0)
		return variant->name;
	(void)snprintf(mixed, sizeof(mixed), "%s,tcp", case_network());
	return mixed;
}

const char *transport_variant_text(const struct transport_variant *variant)
{
	static char text[64];

	(void)snprintf(text, sizeof(text), "%s%s%s%s%s, %d worker%s",
	               variant->is_shaped ? "shaped(" : "", variant->is_threaded ? "threaded(" : "",
	               backend_of(variant), variant->is_threaded ? ")" : "",
	               variant->is_shaped ? ")" : "", variant->n_workers,
	               variant->n_workers > 1 ? "s" : "");
	return text;
}

int case_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		(void)closedir(folder);
	return n;
}

void case_init(struct transport_case *c, const struct transport_variant *variant, int n_stages)
{
	memset(c, 0, sizeof(*c));
	c->variant = *variant;
	if (c->variant.n_workers > n_stages)
		c->variant.n_workers = n_stages;
	c->config = (struct transport_config){
		.run = 77,
		.n_stages = n_stages,
		.n_rails = 1,
		.n_queues = 1,
		.max_bytes = 1 << 20,
		.verbs = case_verbs(),
	};
	c->n_descriptors = case_descriptors();
}

static int64_t virtual_ns(void *context)
{
	return ((struct transport_case *)context)->now_ns;
}

void case_use_virtual_clock(struct transport_case *c)
{
	c->config.clock_ns = virtual_ns;
	c->config.clock_context = c;
}

/* A thread of its own has to be given a core first. */
void case_settle(struct transport_case *c)
{
	int64_t end_ns = clock_monotonic_ns() + (c->variant.is_threaded ? 8 : 1) * SETTLE_NS;

	while (clock_monotonic_ns() < end_ns)
		case_poll(c);
}

int case_worker_index(const struct transport_case *c, int stage)
{
	return stage * c->variant.n_workers / c->config.n_stages;
}

struct transport *case_worker(struct transport_case *c, int stage)
{
	return c->workers[case_worker_index(c, stage)];
}

static int try_open(struct transport_case *c, int worker, struct err *err)
{
	const struct transport_ops *ops;
	struct transport_config config = c->config;
	struct transport *transport;
	bool is_local[CASE_STAGES_MAX];
	int rc = transport_find(backend_of(&c->variant), &ops, err);

	for (int stage = 0; stage < config.n_stages; stage++)
		is_local[stage] = case_worker_index(c, stage) == worker;
	config.is_local = is_local;
	config.parts = backend_of(&c->variant);
	rc = rc ? rc : ops->open(&config, c->addresses, &transport, err);
	if (rc)
		return rc;
	c->workers[worker] = transport;
	if (c->variant.is_threaded)
		rc = threaded_wrap(transport, &config, &c->workers[worker], err);
	transport = c->workers[worker];
	if (rc == 0 && c->variant.is_shaped)
		rc = shaped_wrap(transport, &config, &c->workers[worker], err);
	return rc;
}

bool case_open_worker(struct transport_case *c, int worker)
{
	struct err err = {0};

	return try_open(c, worker, &err) == 0 ||
	       tap_ok(false, "%s opens: %s", transport_variant_text(&c->variant), err.text);
}

bool case_open_workers(struct transport_case *c)
{
	for (int worker = 0; worker < c->variant.n_workers; worker++)
		if (!case_open_worker(c, worker))
			return false;
	return true;
}

struct connecting {
	struct transport_case *c;
	int worker;
	int rc;
	struct err err;
};

static void *connect_worker(void *argument)
{
	struct connecting *connecting = argument;
	struct transport *transport = connecting->c->workers[connecting->worker];

	connecting->rc = transport->ops->connect(transport, connecting->c->addresses, patience_ns(),
	                                         &connecting->err);
	return NULL;
}

bool case_connect(struct transport_case *c)
{
	struct connecting *all = array_new(CASE_WORKERS_MAX, sizeof(*all));
	pthread_t threads[CASE_WORKERS_MAX];
	bool has_held = all != NULL;
	int n = 0;

	for (; has_held && n < c->variant.n_workers; n++) {
		all[n].c = c;
		all[n].worker = n;
		if (pthread_create(&threads[n], NULL, connect_worker, &all[n]))
			break;
	}
	has_held = n == c->variant.n_workers;
	for (int i = 0; i < n; i++) {
		(void)pthread_join(threads[i], NULL);
		if (all[i].rc)
			has_held = tap_ok(false, "worker %d connects: %s", i, all[i].err.text);
	}
	free(all);
	return has_held || tap_ok(false, "all workers connect");
}

bool case_open(struct transport_case *c)
{
	return case_open_workers(c) && case_connect(c);
}

void case_fini(struct transport_case *c)
{
	for (int worker = 0; worker < c->variant.n_workers; worker++)
		transport_close(c->workers[worker]);
	free(c->log);
	if (case_descriptors() != c->n_descriptors)
		tap_is_int(case_descriptors(), c->n_descriptors, "%s leaves no descriptor open",
		           transport_variant_text(&c->variant));
}

struct message case_message(const struct transport_case *c, int from_stage, int to_stage,
                            int microbatch, int64_t n_bytes)
{
	return (struct message){
		.run = c->config.run,
		.attempt = 1,
		.iteration = 5,
		.kind = to_stage > from_stage ? OP_F : OP_B,
		.microbatch = microbatch,
		.replica = c->config.replica,
		.from_stage = from_stage,
		.to_stage = to_stage,
		.n_bytes = n_bytes,
	};
}

static uint64_t seed_of(const struct message *message)
{
	uint64_t seed = rng_mix((uint64_t)message->microbatch, (uint64_t)message->n_bytes);

	return rng_mix(seed, (uint64_t)(message->from_stage * 64 + message->to_stage));
}

void case_payload(const struct message *message, void *out)
{
	uint64_t seed = seed_of(message);
	uint8_t *bytes = out;

	for (int64_t i = 0; i < message->n_bytes; i++) {
		if (i % 8 == 0)
			seed += 0x9e3779b97f4a7c15;
		bytes[i] = (uint8_t)(seed >> (i % 8 * 8));
	}
}

static bool is_payload_of(const struct message *message, const void *payload)
{
	uint64_t seed = seed_of(message);
	const uint8_t *bytes = payload;

	for (int64_t i = 0; i < message->n_bytes; i++) {
		if (i % 8 == 0)
			seed += 0x9e3779b97f4a7c15;
		if (bytes[i] != (uint8_t)(seed >> (i % 8 * 8)))
			return false;
	}
	return payload != NULL;
}

int case_send(struct transport_case *c, const struct message *message, const void *payload)
{
	struct err err = {0};

	return transport_send(case_worker(c, message->from_stage), message, payload, &err);
}

static void log_event(struct transport_case *c, int worker, const struct transport_event *event)
{
	struct case_event *log = array_grow(c->log, &c->capacity, c->n_log + 1, sizeof(*log));
	bool is_received = event->kind == TRANSPORT_RECEIVED;

	if (!log)
		abort();
	c->log = log;
	log[c->n_log++] = (struct case_event){*event, worker, true};
	if (!is_received || c->keeps_payloads)
		return;
	log[c->n_log - 1].is_intact = is_payload_of(&event->message, event->payload);
	transport_release(c->workers[worker], event->payload);
}

void case_poll_worker(struct transport_case *c, int worker)
{
	struct transport_event events[CASE_BATCH];
	struct err err = {0};
	size_t n = 0;

	if (transport_poll(c->workers[worker], events, CASE_BATCH, &n, &err))
		tap_ok(false, "a worker polls: %s", err.text);
	for (size_t i = 0; i < n; i++)
		log_event(c, worker, &events[i]);
}

void case_poll(struct transport_case *c)
{
	for (int worker = 0; worker < c->variant.n_workers; worker++)
		case_poll_worker(c, worker);
}

int case_count(const struct transport_case *c, enum transport_event_kind kind, int stage)
{
	int n = 0;

	for (size_t i = 0; i < c->n_log; i++) {
		const struct message *message = &c->log[i].event.message;
		int of_stage = kind == TRANSPORT_RECEIVED ? message->to_stage : message->from_stage;

		n += c->log[i].event.kind == kind && (stage < 0 || of_stage == stage);
	}
	return n;
}

bool case_wait(struct transport_case *c, enum transport_event_kind kind, int stage, int n)
{
	int64_t end_ns = clock_monotonic_ns() + patience_ns();

	while (case_count(c, kind, stage) < n) {
		if (clock_monotonic_ns() > end_ns)
			return false;
		case_poll(c);
	}
	return true;
}

bool case_await_next(struct transport_case *c, int worker, int64_t next_ns)
{
	int64_t end_ns = clock_monotonic_ns() + patience_ns();

	while (transport_next_ns(c->workers[worker]) != next_ns) {
		if (clock_monotonic_ns() > end_ns)
			return false;
		case_poll(c);
	}
	return true;
}
