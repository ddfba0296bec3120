/* transport_case.h - workers of one process that exchange messages, and what they were told. */
#ifndef TESTS_TRANSPORT_CASE_H
#define TESTS_TRANSPORT_CASE_H

#include "engine/transport/shaped.h"
#include "engine/transport/threaded.h"
#include "engine/transport/transport.h"
#include "engine/transport/verbs.h"

enum { CASE_STAGES_MAX = 16, CASE_WORKERS_MAX = 8, CASE_BATCH = 32 };

/* What "tcp" stands for in variants: the backend that ADAPTRA_TEST_TRANSPORT names, which has to
 * move bytes between processes; without it tcp itself. */
const char *case_network(void);

/* With the devices that ADAPTRA_TEST_RDMA names. */
const struct verbs_settings *case_verbs(void);

/* A way to set up a transport that every test of the contract goes through. */
struct transport_variant {
	const char *name; /* of a backend, "tcp", or a list of them */
	bool is_shaped;
	int n_workers; /* of which each runs an equal share of the stages */
	bool is_threaded;
};

/* All that are tested, ending with name NULL. Of another network than tcp those in which it has a
 * part of its own. */
const struct transport_variant *transport_variants(void);

/* "shaped(threaded(tcp)), 2 workers". */
const char *transport_variant_text(const struct transport_variant *variant);

/* What a worker was told. payload was checked and released: is_intact says whether it was the one
 * that case_payload() makes for the message. */
struct case_event {
	struct transport_event event;
	int worker;
	bool is_intact;
};

/* Fill variant and config (clock, rails, queues, sizes; is_local is made) between _init and _open.
 */
struct transport_case {
	struct transport_variant variant;
	struct transport_config config;
	struct transport_address addresses[CASE_STAGES_MAX];
	struct transport *workers[CASE_WORKERS_MAX];
	struct case_event *log;
	size_t capacity, n_log;
	bool keeps_payloads;    /* payloads are neither checked nor released */
	int n_descriptors;      /* open when the case began */
	_Atomic int64_t now_ns; /* of the virtual clock, which other threads may read */
};

void case_init(struct transport_case *c, const struct transport_variant *variant, int n_stages);

/* Before _open: time is c->now_ns, and stands still until the test moves it. */
void case_use_virtual_clock(struct transport_case *c);

/* Poll for a while of real time, so that what is under way arrives. */
void case_settle(struct transport_case *c);

/* Open all workers and connect them. false and a failed check: it cannot be. */
bool case_open(struct transport_case *c);
bool case_open_workers(struct transport_case *c);
bool case_open_worker(struct transport_case *c, int worker);
bool case_connect(struct transport_case *c);

/* Close what is open; checks that no descriptor is left behind. */
void case_fini(struct transport_case *c);

struct transport *case_worker(struct transport_case *c, int stage);
int case_worker_index(const struct transport_case *c, int stage);

/* A message of F or B, by its direction. */
struct message case_message(const struct transport_case *c, int from_stage, int to_stage,
                            int microbatch, int64_t n_bytes);

/* The payload of a message depends on all that names it. */
void case_payload(const struct message *message, void *out);

int case_send(struct transport_case *c, const struct message *message, const void *payload);

/* Poll every worker, or one, once and log what they are told. */
void case_poll(struct transport_case *c);
void case_poll_worker(struct transport_case *c, int worker);

/* Events of a kind for a stage (−1: any): its own SENT, ACKED, LOST, or what it RECEIVED. */
int case_count(const struct transport_case *c, enum transport_event_kind kind, int stage);

/* Poll until there are n such events or twenty seconds are over. */
bool case_wait(struct transport_case *c, enum transport_event_kind kind, int stage, int n);

/* Poll until a worker says that nothing comes before next_ns, or twenty seconds are over. */
bool case_await_next(struct transport_case *c, int worker, int64_t next_ns);

/* Descriptors this process has open. */
int case_descriptors(void);

#endif
