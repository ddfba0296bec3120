/* worker.c - the life of a worker process: open, connect, run what it is told, end. */
#include "engine/replay/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/model/checkpoint.h"
#include "engine/replay/streams.h"
#include "engine/replay/worker_internal.h"
#include "engine/transport/shaped.h"
#include "engine/transport/threaded.h"
#include "engine/transport/verbs.h"

enum { IDLE_MS = 1 };

static void answer(const struct worker *worker, const struct answer *what)
{
	/* Nobody is left to be told when this fails. */
	if (control_send(worker->config->control, what, sizeof(*what)))
		_exit(1);
}

static _Noreturn void fail(const struct worker *worker, const struct err *err)
{
	struct answer what = {.kind = ANSWER_FAILED, .code = err->code ? err->code : -EIO};

	memcpy(what.sentence, err->text, sizeof(what.sentence));
	answer(worker, &what);
	_exit(1);
}

/* What moves bytes, in a thread of its own where there is one, and around it what holds messages:
 * that asks the world, which is this thread's. */
static int wrap_transport(struct worker *worker, const struct transport_config *transport,
                          struct transport_address *addresses_out, struct err *err)
{
	const struct worker_config *config = worker->config;
	struct transport *inner = NULL, *outer = NULL;
	int rc = config->live->transport->open(transport, addresses_out, &inner, err);

	if (rc)
		return rc;
	outer = inner;
	if (config->has_delegate_thread)
		rc = threaded_wrap(inner, transport, &outer, err);
	rc = rc ? rc : shaped_wrap(outer, transport, &worker->transport, err);
	if (rc)
		transport_close(outer);
	return rc;
}

/* Where the stages of this worker listen on its host. */
static void find_addresses(const struct worker *worker, struct transport_address *listen)
{
	const struct worker_config *config = worker->config;
	const struct site *site = config->live->site;

	for (int stage = 0; stage < config->board->n_stages; stage++)
		for (int rail = 0; worker->is_local[stage] && rail < config->board->n_rails; rail++)
			(void)site->ops->address(site, config->replica, stage, rail,
			                         listen[stage].text[rail]);
}

int worker_n_received(int n_queues, int n_microbatches)
{
	int n = 2 * n_queues;

	return n < n_microbatches ? n : n_microbatches;
}

static size_t received_bytes(const struct worker *worker)
{
	const struct worker_config *config = worker->config;
	int n_all = config->board->n_stages, last = worker->first_stage + worker->n_stages;
	int n_neighbours = 2 * worker->n_stages - (worker->first_stage == 0) - (last == n_all);
	int n = worker_n_received(config->live->scenario->n_queues, config->model->n_microbatches);

	return (size_t)(n_neighbours * n) * payload_area_bytes((int64_t)config->payload_bytes);
}

/* Where a device has memory of its own it copies what was received by itself, if that lies in
 * memory that it has pinned. That is done here once, since a GPU may stand still for it. */
static int open_payloads(struct worker *worker, struct err *err)
{
	const struct worker_config *config = worker->config;
	const struct streams streams = streams_of_live(config->live, worker->n_stages);
	const struct device_config device = {
		.speed = config->live->speed,
		.unit = config->replica * config->board->n_stages + worker->first_stage,
		.n_streams = streams.n_of_stage,
		.n_devices = streams.n_sharing,
	};
	struct payload_area area = {.n_bytes = received_bytes(worker)};
	int rc = config->live->device->open(&device, &worker->pinning, err);

	if (rc || !worker->pinning->has_own_memory)
		return rc;
	area.at = device_alloc(worker->pinning, area.n_bytes, true);
	if (!area.at)
		return err_set(err, -ENOMEM, "no pinned memory for %zu bytes of messages",
		               area.n_bytes);
	worker->payloads = area;
	return 0;
}

static int open_transport(struct worker *worker, struct err *err)
{
	const struct worker_config *config = worker->config;
	const struct scenario *scenario = config->live->scenario;
	int n_all = config->board->n_stages;
	struct transport_address *addresses = array_new((size_t)n_all * 2, sizeof(*addresses));
	const struct verbs_settings verbs = {.devices = config->live->rdma_devices,
	                                     .retry = scenario->rdma};
	struct transport_config transport = {
		.run = config->run,
		.n_stages = n_all,
		.is_local = worker->is_local,
		.replica = config->replica,
		.n_rails = scenario->topology.n_rails,
		.n_queues = scenario->n_queues,
		.max_bytes = (int64_t)config->payload_bytes,
		.silence_ns = limits_silence_ns(config->live),
		.verbs = &verbs,
		.payloads = &worker->payloads,
		.parts = config->live->transport_parts,
	};
	int rc = addresses ? 0 : err_set(err, -ENOMEM, "no memory for addresses");

	if (rc == 0 && config->live->site) {
		find_addresses(worker, addresses + n_all);
		transport.listen = addresses + n_all;
	}
	rc = rc ? rc : wrap_transport(worker, &transport, addresses, err);
	for (int stage = 0; rc == 0 && stage < n_all; stage++)
		if (worker->is_local[stage])
			board_stage(config->board, config->replica, stage)->address =
				addresses[stage];
	free(addresses);
	return rc;
}

/* Whoever applies faults sleeps until somebody says that. */
static void tell_op_started(void *context)
{
	const struct answer what = {.kind = ANSWER_OP_STARTED};

	answer(context, &what);
}

static int open_stages(struct worker *worker, struct err *err)
{
	const struct worker_config *config = worker->config;
	const struct stage_config stage = {
		.live = config->live,
		.model = config->model,
		.transport = worker->transport,
		.board = config->board,
		.world = worker->world,
		.run = config->run,
		.replica = config->replica,
		.payload_bytes = config->payload_bytes,
		.n_stages = worker->n_stages,
		.reachable = worker->payloads,
		.hold_ns = worker_hold_ns,
		.hold_context = worker,
		.op_started = config->live->site ? tell_op_started : NULL,
		.op_started_context = worker,
	};
	int rc = 0;

	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		rc = stage_open(&stage, worker->first_stage + i, &worker->stages[i], err);
		if (rc == 0 && config->first_iteration > 0 &&
		    stage_device(worker->stages[i])->runs_kernels)
			rc = checkpoint_load(stage_model(worker->stages[i]), config->live->folder,
			                     config->replica, config->first_iteration, err);
	}
	return rc;
}

static int open_worker(struct worker *worker, struct err *err)
{
	const struct worker_config *config = worker->config;
	const struct topology *topology = &config->live->scenario->topology;
	int rc;

	worker->first_stage = topology_first_stage(topology, config->host);
	worker->n_stages = topology_stages_on_host(topology, config->host);
	worker->is_local = array_new((size_t)topology->n_stages, sizeof(bool));
	worker->is_rail_down = array_new((size_t)topology->n_stages * (size_t)topology->n_rails,
	                                 sizeof(*worker->is_rail_down));
	worker->stages = array_new((size_t)worker->n_stages, sizeof(*worker->stages));
	if (!worker->is_local || !worker->is_rail_down || !worker->stages)
		return err_set(err, -ENOMEM, "no memory for a worker");
	for (int i = 0; i < worker->n_stages; i++)
		worker->is_local[worker->first_stage + i] = true;
	rc = world_new(config->live->scenario, config->live->seed, &worker->world, err);
	if (rc)
		return rc;
	world_share_ops(worker->world, config->board->op_starts);
	if (config->live->site)
		world_leave(worker->world, config->live->site->is_taken);
	rc = open_payloads(worker, err);
	rc = rc ? rc : open_transport(worker, err);
	rc = rc ? rc : open_stages(worker, err);
	return rc ? rc : worker_name_exchanges(worker, err);
}

static int connect_and_measure(struct worker *worker, struct err *err)
{
	const struct worker_config *config = worker->config;
	int rc = worker_connect(worker, err);

	rc = rc ? rc : worker_open_exchanges(worker, err);
	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		int stage = worker->first_stage + i;

		rc = stage_measure(worker->stages[i],
		                   &board_stage(config->board, config->replica, stage)->op_cpu_ns,
		                   err);
		if (rc)
			return err_wrap(err, "stage %d", stage);
	}
	return rc;
}

/* Gradients of all replicas, summed in their order, so that the bits do not depend on who was
 * first. */
static int reduce(struct worker *worker, int i, struct err *err)
{
	const struct board *board = worker->config->board;
	int stage = worker->first_stage + i;
	size_t n, first = board->first_gradient[stage], n_all;
	float *mine = model_gradients(stage_model(worker->stages[i]), &n);
	float *sums = array_new(n, sizeof(*sums));
	int rc;

	if (!sums)
		return err_set(err, -ENOMEM, "no memory for the gradients of stage %d", stage);
	n_all = board->first_gradient[board->n_stages];
	for (size_t k = 0; k < n; k++) {
		float sum = 0;

		for (int replica = 0; replica < board->n_replicas; replica++)
			sum += board->gradients[(size_t)replica * n_all + first + k];
		sums[k] = sum;
	}
	rc = arithmetic_store(stage_arithmetic(worker->stages[i]), mine, sums, n * sizeof(*sums),
	                      err);
	free(sums);
	return rc;
}

static int publish_gradients(struct worker *worker, struct err *err)
{
	const struct board *board = worker->config->board;
	size_t n_all = board->first_gradient[board->n_stages];
	int rc = 0;

	for (int i = 0; rc == 0 && board->n_replicas > 1 && i < worker->n_stages; i++) {
		size_t n, first = board->first_gradient[worker->first_stage + i];
		const float *mine = model_gradients(stage_model(worker->stages[i]), &n);

		rc = arithmetic_fetch(stage_arithmetic(worker->stages[i]),
		                      board->gradients + (size_t)worker->config->replica * n_all +
		                              first,
		                      mine, n * sizeof(*mine), err);
	}
	return rc;
}

/* The state before iteration next; what was before it is not needed any more then. */
static int save_checkpoint(const struct worker *worker, const struct model_stage *model, int next,
                           struct err *err)
{
	const struct worker_config *config = worker->config;
	const char *folder = config->live->folder;
	int rc = checkpoint_save(model, folder, config->replica, next, err);

	if (rc == -ENOSPC)
		return err_wrap(err, "TMPDIR has to name a larger disk");
	return rc ? rc : checkpoint_prune(model, folder, config->replica, next, err);
}

static int step(struct worker *worker, const struct order *order, struct err *err)
{
	const struct worker_config *config = worker->config;
	int next = order->iteration + 1;
	int rc = worker_settle_outages(worker, order, err);

	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		struct model_stage *model = stage_model(worker->stages[i]);

		if (!stage_device(worker->stages[i])->runs_kernels)
			continue;
		if (config->board->n_replicas > 1)
			rc = reduce(worker, i, err);
		rc = rc ? rc : model_step(model, 1.0f / (float)config->board->n_replicas, err);
		if (rc == 0 && order->wants_checkpoint)
			rc = save_checkpoint(worker, model, next, err);
	}
	return rc;
}

static void tell_died(struct worker *worker, int64_t died_ns, const struct err *err)
{
	/* What is found at once may be found before the iteration's clock runs. */
	struct answer what = {.kind = ANSWER_DIED, .died_ns = died_ns > 0 ? died_ns : 0};

	worker->run.has_died = true;
	memcpy(what.sentence, err->text, sizeof(what.sentence));
	answer(worker, &what);
}

static int run_order(struct worker *worker, const struct order *order, struct err *err)
{
	struct answer what = {.kind = ANSWER_DONE};
	int64_t died_ns = -1;
	int rc = worker_run(worker, order, &died_ns, err);

	if (rc == -ENETDOWN) {
		tell_died(worker, died_ns, err);
		return 0;
	}
	if (rc)
		return rc;
	what.handled = worker->run.handled;
	rc = publish_gradients(worker, err);
	if (rc == 0)
		answer(worker, &what);
	return rc;
}

static int obey(struct worker *worker, const struct order *order, struct err *err)
{
	struct answer what = {.kind = ANSWER_READY};
	int rc = 0;

	switch (order->kind) {
	case ORDER_CONNECT:
		rc = connect_and_measure(worker, err);
		break;
	case ORDER_RAILS:
		rc = worker_set_rails(worker, err);
		break;
	case ORDER_RUN:
		return run_order(worker, order, err);
	case ORDER_STEP:
		what.kind = ANSWER_STEPPED;
		rc = step(worker, order, err);
		break;
	case ORDER_EXIT:
		_exit(0);
	}
	if (rc == 0)
		answer(worker, &what);
	return rc;
}

/* A look at the messages while others are not done yet. */
static int look_around(struct worker *worker, struct err *err)
{
	int rc = worker_turn(worker, err);

	if (rc != -ENETDOWN)
		return rc;
	tell_died(worker, worker_since_start_ns(worker), err);
	return 0;
}

/* Who is done before others goes on looking at its messages until all are: one that was sent again
 * wants its acknowledgement, a rail that is back its connections. */
static int next_order(struct worker *worker, bool is_running, struct order *out, struct err *err)
{
	int rc = 0;

	while (rc == 0) {
		rc = control_receive(worker->config->control, out, sizeof(*out),
		                     is_running && !worker->run.has_died ? IDLE_MS : -1);
		if (rc == -EPIPE)
			_exit(0); /* the coordinator is gone */
		if (rc == 0)
			return 0;
		rc = look_around(worker, err);
	}
	return rc;
}

/* A coordinator that is gone takes its workers along, whenever it went. What else ends a run is the
 * coordinator's to handle. */
static void depend_on(pid_t coordinator)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != coordinator)
		_exit(1);
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
}

_Noreturn void worker_main(const struct worker_config *config)
{
	struct worker worker = {.config = config};
	struct answer opened = {.kind = ANSWER_OPENED};
	struct order order = {.kind = ORDER_CONNECT};
	struct err err = {0};
	int rc;

	depend_on(config->coordinator);
	rc = open_worker(&worker, &err);
	if (rc == 0)
		answer(&worker, &opened);
	while (rc == 0) {
		rc = next_order(&worker, order.kind == ORDER_RUN, &order, &err);
		rc = rc ? rc : obey(&worker, &order, &err);
	}
	fail(&worker, &err);
}
