/* transport_processes.c - pipelines of 2 to 8 stages over 1, 2 and as many processes as stages:
 * every activation travels down and every gradient back, through real processes, and nothing is
 * left. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "tests/child.h"
#include "tests/tap.h"
#include "tests/transport_case.h"

enum { N_MICROBATCHES_MAX = 24, BYTES = 2000, ADDRESS_TEXT = sizeof(struct transport_address) };

static const int64_t PATIENCE_NS = 20LL * NS_PER_S;

struct pipeline {
	int n_stages, n_workers, n_microbatches;
	int from_workers[2];                /* addresses, stage by stage */
	int to_worker[CASE_WORKERS_MAX][2]; /* all addresses */
};

/* A worker's side; buffers per stage, direction and microbatch, borrowed until ACKED. */
struct worker {
	const struct pipeline *pipeline;
	struct transport *transport;
	bool is_local[CASE_STAGES_MAX];
	uint8_t *buffers;
	int n_unacked;
	int n_received, n_wanted;
	bool is_wrong;
};

static int worker_of(const struct pipeline *pipeline, int stage)
{
	return stage * pipeline->n_workers / pipeline->n_stages;
}

static uint8_t *buffer_of(struct worker *worker, int stage, bool is_back, int mb)
{
	return worker->buffers + (size_t)((stage * 2 + is_back) * N_MICROBATCHES_MAX + mb) * BYTES;
}

static void worker_send(struct worker *worker, int from, int to, int mb, uint8_t value)
{
	struct message message = {
		.run = 9,
		.kind = to > from ? OP_F : OP_B,
		.microbatch = mb,
		.from_stage = from,
		.to_stage = to,
		.queue = mb % 2,
		.n_bytes = BYTES - mb,
	};
	uint8_t *buffer = buffer_of(worker, from, to < from, mb);

	memset(buffer, value, BYTES);
	worker->is_wrong |= transport_send(worker->transport, &message, buffer, NULL) != 0;
	worker->n_unacked++;
}

/* Each stage adds one on the way down; the last one turns the message round. */
static void pass_on(struct worker *worker, const struct transport_event *event)
{
	const struct message *m = &event->message;
	const uint8_t *bytes = event->payload;
	int stage = m->to_stage, last = worker->pipeline->n_stages - 1;
	uint8_t want = (uint8_t)(m->microbatch + (m->kind == OP_F ? stage : 2 * last - stage));

	worker->n_received++;
	worker->is_wrong |= m->n_bytes != BYTES - m->microbatch;
	for (int64_t i = 0; i < m->n_bytes; i++)
		worker->is_wrong |= bytes[i] != want;
	if (m->kind == OP_F && stage < last)
		worker_send(worker, stage, stage + 1, m->microbatch, (uint8_t)(want + 1));
	else if (m->kind == OP_F || stage > 0)
		worker_send(worker, stage, stage - 1, m->microbatch, (uint8_t)(want + 1));
	transport_release(worker->transport, event->payload);
}

static bool worker_run(struct worker *worker)
{
	int64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;

	for (int mb = 0; worker->is_local[0] && mb < worker->pipeline->n_microbatches; mb++)
		worker_send(worker, 0, 1, mb, (uint8_t)(mb + 1));
	while (worker->n_unacked > 0 || worker->n_received < worker->n_wanted) {
		struct transport_event events[CASE_BATCH];
		size_t n = 0;

		if (transport_poll(worker->transport, events, CASE_BATCH, &n, NULL) ||
		    clock_monotonic_ns() > end_ns)
			return false;
		for (size_t i = 0; i < n; i++) {
			if (events[i].kind == TRANSPORT_LOST)
				return false;
			worker->n_unacked -= events[i].kind == TRANSPORT_ACKED;
			if (events[i].kind == TRANSPORT_RECEIVED)
				pass_on(worker, &events[i]);
		}
	}
	return !worker->is_wrong;
}

static bool worker_open(struct worker *worker, int index, struct transport_address *addresses)
{
	const struct pipeline *pipeline = worker->pipeline;
	struct transport_config config = {.run = 9,
	                                  .n_stages = pipeline->n_stages,
	                                  .is_local = worker->is_local,
	                                  .n_rails = 1,
	                                  .n_queues = 2,
	                                  .max_bytes = BYTES,
	                                  .verbs = case_verbs()};
	const struct transport_ops *ops;

	for (int stage = 0; stage < pipeline->n_stages; stage++) {
		int n_messages = (stage > 0) + (stage < pipeline->n_stages - 1);

		worker->is_local[stage] = worker_of(pipeline, stage) == index;
		if (worker->is_local[stage])
			worker->n_wanted += n_messages * pipeline->n_microbatches;
	}
	worker->buffers = calloc((size_t)CASE_STAGES_MAX * 2 * N_MICROBATCHES_MAX, BYTES);
	return worker->buffers && transport_find(case_network(), &ops, NULL) == 0 &&
	       ops->open(&config, addresses, &worker->transport, NULL) == 0;
}

/* Tell the coordinator where the stages are, hear where all are, run, wait for the others' end. */
static int be_worker(const struct pipeline *pipeline, int index)
{
	struct transport_address addresses[CASE_STAGES_MAX] = {0};
	struct worker worker = {.pipeline = pipeline};
	int in = pipeline->to_worker[index][0], out = pipeline->from_workers[1];
	char byte = 0;
	bool has_held;

	if (!worker_open(&worker, index, addresses))
		return 1;
	for (int stage = 0; stage < pipeline->n_stages; stage++) {
		struct {
			int stage;
			struct transport_address address;
		} line = {stage, addresses[stage]};

		if (worker.is_local[stage] && write(out, &line, sizeof(line)) != sizeof(line))
			return 1;
	}
	for (int stage = 0; stage < pipeline->n_stages; stage++)
		if (!child_read(in, &addresses[stage], ADDRESS_TEXT))
			return 1;
	has_held = worker.transport->ops->connect(worker.transport, addresses, PATIENCE_NS, NULL) ==
	                   0 &&
	           worker_run(&worker);
	/* Nobody closes before all have their acknowledgements. */
	if (write(out, &byte, 1) != 1 || !child_read(in, &byte, 1))
		return 1;
	transport_close(worker.transport);
	free(worker.buffers);
	return has_held ? 0 : 1;
}

static bool coordinate(struct pipeline *pipeline)
{
	struct transport_address addresses[CASE_STAGES_MAX] = {0};
	char byte = 0;

	for (int i = 0; i < pipeline->n_stages; i++) {
		struct {
			int stage;
			struct transport_address address;
		} line;

		if (!child_read(pipeline->from_workers[0], &line, sizeof(line)))
			return false;
		addresses[line.stage] = line.address;
	}
	for (int w = 0; w < pipeline->n_workers; w++)
		for (int stage = 0; stage < pipeline->n_stages; stage++)
			if (write(pipeline->to_worker[w][1], &addresses[stage], ADDRESS_TEXT) !=
			    ADDRESS_TEXT)
				return false;
	for (int w = 0; w < pipeline->n_workers; w++)
		if (!child_read(pipeline->from_workers[0], &byte, 1))
			return false;
	for (int w = 0; w < pipeline->n_workers; w++)
		if (write(pipeline->to_worker[w][1], &byte, 1) != 1)
			return false;
	return true;
}

static void test_pipeline(int n_stages, int n_workers, int n_microbatches)
{
	struct pipeline p = {n_stages, n_workers, n_microbatches, {0}, {{0}}};
	pid_t children[CASE_WORKERS_MAX];
	int n_good = 0;

	if (pipe(p.from_workers))
		abort();
	for (int w = 0; w < n_workers; w++)
		if (pipe(p.to_worker[w]))
			abort();
	for (int w = 0; w < n_workers; w++) {
		children[w] = child_start();
		if (children[w] == 0)
			_exit(be_worker(&p, w));
	}
	/* Only workers hold the writing end: if all die, reading ends. */
	(void)close(p.from_workers[1]);
	(void)coordinate(&p);
	for (int w = 0; w < n_workers; w++) {
		(void)close(p.to_worker[w][0]);
		(void)close(p.to_worker[w][1]);
		n_good += child_wait(children[w]) == 0;
	}
	(void)close(p.from_workers[0]);
	tap_is_int(n_good, n_workers,
	           "%d stages in %d processes: %d microbatches travel down and back", n_stages,
	           n_workers, n_microbatches);
}

int main(void)
{
	/* A child that dies early must not take the test with it. */
	(void)signal(SIGPIPE, SIG_IGN);
	for (int n_stages = 2; n_stages <= 8; n_stages++) {
		test_pipeline(n_stages, 1, 3 * n_stages);
		test_pipeline(n_stages, 2, n_stages);
		if (n_stages > 2)
			test_pipeline(n_stages, n_stages, 1 + 2 * n_stages);
	}
	return tap_done();
}
