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
#include "engine/replay/worker_internal.h"
#include "engine/transport/shaped.h"

enum { CONNECT_S = 10 };

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

static int open_transport(struct worker *worker, struct err *err)
{
	const struct worker_config *config = worker->config;
	const struct scenario *scenario = config->live->scenario;
	int n_all = config->board->n_stages;
	struct transport_address *addresses = array_new((size_t)n_all, sizeof(*addresses));
	struct transport_config transport = {
		.run = config->run,
		.n_stages = n_all,
		.is_local = worker->is_local,
		.replica = config->replica,
		.n_rails = scenario->topology.n_rails,
		.n_queues = scenario->n_queues,
		.max_bytes = (int64_t)config->payload_bytes,
	};
	struct transport *inner = NULL;
	int rc = addresses ? 0 : err_set(err, -ENOMEM, "no memory for addresses");

	rc = rc ? rc : config->live->transport->open(&transport, addresses, &inner, err);
	if (rc == 0) {
		rc = shaped_wrap(inner, &transport, &worker->transport, err);
		if (rc)
			transport_close(inner);
	}
	for (int stage = 0; rc == 0 && stage < n_all; stage++)
		if (worker->is_local[stage])
			board_stage(config->board, config->replica, stage)->address =
				addresses[stage];
	free(addresses);
	return rc;
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
	worker->stages = array_new((size_t)worker->n_stages, sizeof(*worker->stages));
	if (!worker->is_local || !worker->stages)
		return err_set(err, -ENOMEM, "no memory for a worker");
	for (int i = 0; i < worker->n_stages; i++)
		worker->is_local[worker->first_stage + i] = true;
	rc = world_new(config->live->scenario, config->live->seed, &worker->world, err);
	rc = rc ? rc : open_transport(worker, err);
	return rc ? rc : open_stages(worker, err);
}

static int connect_all(struct worker *worker, struct err *err)
{
	const struct board *board = worker->config->board;
	struct transport_address *addresses =
		array_new((size_t)board->n_stages, sizeof(*addresses));
	int rc;

	if (!addresses)
		return err_set(err, -ENOMEM, "no memory for addresses");
	for (int stage = 0; stage < board->n_stages; stage++)
		addresses[stage] = board_stage(board, worker->config->replica, stage)->address;
	rc = transport_connect(worker->transport, addresses, CONNECT_S * (int64_t)NS_PER_S, err);
	for (int i = 0; rc == 0 && i < worker->n_stages; i++)
		rc = stage_measure(worker->stages[i],
		                   &board_stage(board, worker->config->replica,
		                                worker->first_stage + i)
		                            ->op_cpu_ns,
		                   err);
	free(addresses);
	return rc;
}

/* Gradients of all replicas, summed in their order, so that the bits do not depend on who was
 * first. */
static void reduce(struct worker *worker, int i)
{
	const struct board *board = worker->config->board;
	int stage = worker->first_stage + i;
	size_t n, first = board->first_gradient[stage], n_all;
	float *mine = model_gradients(stage_model(worker->stages[i]), &n);

	n_all = board->first_gradient[board->n_stages];
	for (size_t k = 0; k < n; k++) {
		float sum = 0;

		for (int replica = 0; replica < board->n_replicas; replica++)
			sum += board->gradients[(size_t)replica * n_all + first + k];
		mine[k] = sum;
	}
}

static void publish_gradients(struct worker *worker)
{
	const struct board *board = worker->config->board;
	size_t n_all = board->first_gradient[board->n_stages];

	for (int i = 0; board->n_replicas > 1 && i < worker->n_stages; i++) {
		size_t n, first = board->first_gradient[worker->first_stage + i];
		const float *mine = model_gradients(stage_model(worker->stages[i]), &n);

		memcpy(board->gradients + (size_t)worker->config->replica * n_all + first, mine,
		       n * sizeof(float));
	}
}

static int step(struct worker *worker, const struct order *order, struct err *err)
{
	const struct worker_config *config = worker->config;
	int next = order->iteration + 1, rc = 0;

	for (int i = 0; rc == 0 && i < worker->n_stages; i++) {
		struct model_stage *model = stage_model(worker->stages[i]);

		if (!stage_device(worker->stages[i])->runs_kernels)
			continue;
		if (config->board->n_replicas > 1)
			reduce(worker, i);
		rc = model_step(model, 1.0f / (float)config->board->n_replicas, err);
		if (rc == 0 && order->wants_checkpoint)
			rc = checkpoint_save(model, config->live->folder, config->replica, next,
			                     err);
		if (rc == 0 && order->wants_checkpoint)
			rc = checkpoint_prune(model, config->live->folder, config->replica, next,
			                      err);
	}
	return rc;
}

static void run_order(struct worker *worker, const struct order *order)
{
	struct answer what = {.kind = ANSWER_DONE, .iteration = order->iteration, .died_ns = -1};
	struct err err = {0};
	int rc = worker_run(worker, order, &what.fired, &what.died_ns, &err);

	if (rc && rc != -ENETDOWN)
		fail(worker, &err);
	if (rc == -ENETDOWN) {
		what.kind = ANSWER_DIED;
		memcpy(what.sentence, err.text, sizeof(what.sentence));
	} else {
		publish_gradients(worker);
	}
	answer(worker, &what);
}

static void obey(struct worker *worker)
{
	struct order order;
	struct err err = {0};

	for (;;) {
		struct answer what = {.kind = ANSWER_STEPPED};
		int rc = 0;

		if (control_receive(worker->config->control, &order, sizeof(order), -1))
			return;
		switch (order.kind) {
		case ORDER_CONNECT:
			what.kind = ANSWER_READY;
			rc = connect_all(worker, &err);
			break;
		case ORDER_RUN:
			run_order(worker, &order);
			continue;
		case ORDER_STEP:
			rc = step(worker, &order, &err);
			break;
		case ORDER_EXIT:
			return;
		}
		if (rc)
			fail(worker, &err);
		answer(worker, &what);
	}
}

_Noreturn void worker_main(const struct worker_config *config)
{
	struct worker worker = {.config = config};
	struct answer opened = {.kind = ANSWER_OPENED};
	struct err err = {0};

	/* A coordinator that is gone takes its workers along; an interrupt is the coordinator's to
	 * handle. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_DFL);
	if (open_worker(&worker, &err))
		fail(&worker, &err);
	answer(&worker, &opened);
	obey(&worker);
	_exit(0);
}
