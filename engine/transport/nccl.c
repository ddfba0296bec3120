/* nccl.c - exchanges over NCCL: a communicator of two ranks for each pair of neighbours.
 *
 * Communicators do not block: what a call begins goes on in a thread of NCCL, and until that has
 * said that it is over there may be no other one but to ask, or to abort. A pair connects with its
 * first group in each direction, which takes both ends. So each end sends some bytes and receives
 * as many before the exchange is ready; from then on a group is put on its stream without the
 * other end, and post() waits for that: what the caller issues next would else come before it. */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/cuda_stream.h"
#include "engine/transport/exchange_internal.h"
#include "engine/transport/nccl_internal.h"

_Static_assert(EXCHANGE_ID_BYTES == NCCL_UNIQUE_ID_BYTES, "an id is one of NCCL's");

enum { GREETING_BYTES = 64 };

/* Only a driver whose queue is full, or which hangs, takes longer to put a group on a stream. */
static const int64_t launch_limit_ns = 10 * (int64_t)NS_PER_S;
static const int64_t finalize_limit_ns = 300 * NS_PER_MS;

enum nccl_state {
	NCCL_MEETING,  /* the communicator is being made */
	NCCL_GREETING, /* the first group is on its way to the stream */
	NCCL_GREETED,  /* it is there, and the event behind it */
	NCCL_READY,
	NCCL_ENDED, /* aborted */
};

struct nccl {
	struct exchange base;
	struct nccl_library library;
	struct device *device;
	int stage, peer_stage;
	enum nccl_state state;
	ncclComm_t communicator;
	cudaStream_t stream; /* for the greeting */
	cudaEvent_t ended;   /* behind the last post; groups run in the order of posts */
	char *greeting;      /* what is sent, then what is received */
	struct err error;    /* code 0: none */
};

static int report(const struct nccl *nccl, struct err *err)
{
	return nccl->error.code ? err_set(err, nccl->error.code, "%s", nccl->error.text) : 0;
}

/* 0, or this is the end of the exchange. cannot: "meet", of the other stage. */
static int check_status(struct nccl *nccl, ncclResult_t status, const char *cannot, struct err *err)
{
	bool is_net = status == ncclRemoteError || status == ncclSystemError;
	struct err said = {0};

	if (status == ncclSuccess || status == ncclInProgress)
		return 0;
	nccl_library_say(&nccl->library, status, nccl->communicator, &said);
	if (!nccl->error.code)
		(void)err_set(&nccl->error, is_net ? -ENETDOWN : -EIO,
		              "stage %d cannot %s stage %d over NCCL: %s", nccl->stage, cannot,
		              nccl->peer_stage, said.text);
	return report(nccl, err);
}

/* A failure of CUDA is the device's, and the end of the exchange all the same. */
static int check_cuda(struct nccl *nccl, cudaError_t status, const char *cannot, struct err *err)
{
	int rc = cuda_stream_check(nccl->device, status, cannot, &nccl->error);

	return rc ? report(nccl, err) : 0;
}

static const char *what_it_does(const struct nccl *nccl)
{
	return nccl->state == NCCL_MEETING ? "meet" : "exchange with";
}

/* 1: what was begun is over; 0: not yet. */
static int settle(struct nccl *nccl, struct err *err)
{
	ncclResult_t async = ncclSuccess;
	int rc = report(nccl, err);

	if (rc)
		return rc;
	rc = check_status(nccl, nccl->library.get_async_error(nccl->communicator, &async),
	                  what_it_does(nccl), err);
	rc = rc ? rc : check_status(nccl, async, what_it_does(nccl), err);
	return rc ? rc : async != ncclInProgress;
}

static ncclResult_t put_part(const struct nccl *nccl, const struct exchange_part *part,
                             cudaStream_t stream)
{
	int peer_rank = nccl->stage < nccl->peer_stage;

	if (part->is_send)
		return nccl->library.send(part->memory, part->n_bytes, ncclUint8, peer_rank,
		                          nccl->communicator, stream);
	return nccl->library.receive(part->memory, part->n_bytes, ncclUint8, peer_rank,
	                             nccl->communicator, stream);
}

/* Begin to put a group on the stream. A group that was started has to be ended, whatever failed. */
static int begin_group(struct nccl *nccl, const struct exchange_part *parts, size_t n,
                       cudaStream_t stream, struct err *err)
{
	ncclResult_t status = nccl->library.group_start(), ended;
	int rc = check_status(nccl, status, "begin a group with", err);

	if (rc)
		return rc;
	for (size_t i = 0; status == ncclSuccess && i < n; i++)
		status = put_part(nccl, &parts[i], stream);
	ended = nccl->library.group_end();
	rc = check_status(nccl, status, "add to a group with", err);
	return rc ? rc : check_status(nccl, ended, "end a group with", err);
}

static int greet(struct nccl *nccl, struct err *err)
{
	const struct exchange_part parts[] = {
		{.is_send = true, .memory = nccl->greeting, .n_bytes = GREETING_BYTES},
		{.memory = nccl->greeting + GREETING_BYTES, .n_bytes = GREETING_BYTES},
	};
	int rc;

	(void)cuda_stream_choose(nccl->device, &nccl->error);
	rc = report(nccl, err);
	rc = rc ? rc : begin_group(nccl, parts, 2, nccl->stream, err);
	if (rc == 0)
		nccl->state = NCCL_GREETING;
	return rc;
}

static int mark_greeting(struct nccl *nccl, struct err *err)
{
	int rc = check_cuda(nccl, cudaEventRecord(nccl->ended, nccl->stream), "record an event",
	                    err);

	if (rc == 0)
		nccl->state = NCCL_GREETED;
	return rc;
}

static int await_greeting(struct nccl *nccl, struct err *err)
{
	cudaError_t status = cudaEventQuery(nccl->ended);

	if (status == cudaErrorNotReady)
		return 0;
	if (status == cudaSuccess)
		nccl->state = NCCL_READY;
	return check_cuda(nccl, status, "say whether an event has ended", err);
}

/* What comes next, now that nothing is in progress. */
static int step(struct nccl *nccl, struct err *err)
{
	switch (nccl->state) {
	case NCCL_MEETING:
		return greet(nccl, err);
	case NCCL_GREETING:
		return mark_greeting(nccl, err);
	case NCCL_GREETED:
		return await_greeting(nccl, err);
	case NCCL_READY:
	case NCCL_ENDED:
		break;
	}
	return 0;
}

static int nccl_progress(struct exchange *exchange, struct err *err)
{
	struct nccl *nccl = (struct nccl *)exchange;
	int rc = settle(nccl, err);

	if (rc != 1)
		return rc;
	rc = step(nccl, err);
	return rc ? rc : nccl->state == NCCL_READY;
}

static int await_launch(struct nccl *nccl, struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + launch_limit_ns;
	int rc;

	while ((rc = settle(nccl, err)) == 0 && clock_monotonic_ns() < end_ns)
		(void)sched_yield();
	if (rc == 0)
		return err_set(&nccl->error, -ETIMEDOUT,
		               "stage %d cannot exchange with stage %d over NCCL: the GPU has not "
		               "taken a group for %lld s",
		               nccl->stage, nccl->peer_stage,
		               (long long)(launch_limit_ns / NS_PER_S)),
		       report(nccl, err);
	return rc < 0 ? rc : 0;
}

static int check_post(const struct nccl *nccl, size_t n, struct err *err)
{
	int rc = report(nccl, err);

	if (rc)
		return rc;
	if (n == 0 || n > EXCHANGE_PARTS_MAX)
		return err_set(err, -EINVAL, "a post of %zu parts; it has 1 to %d", n,
		               EXCHANGE_PARTS_MAX);
	if (nccl->state != NCCL_READY)
		return err_set(err, -EAGAIN, "stages %d and %d have not met yet", nccl->stage,
		               nccl->peer_stage);
	return 0;
}

static int nccl_post(struct exchange *exchange, struct device_stream *stream,
                     const struct exchange_part *parts, size_t n, struct err *err)
{
	struct nccl *nccl = (struct nccl *)exchange;
	cudaStream_t below = NULL;
	int rc = check_post(nccl, n, err);

	if (rc)
		return rc;
	(void)cuda_stream_issue(stream, &below, &nccl->error);
	rc = report(nccl, err);
	rc = rc ? rc : begin_group(nccl, parts, n, below, err);
	rc = rc ? rc : await_launch(nccl, err);
	return rc ? rc
	          : check_cuda(nccl, cudaEventRecord(nccl->ended, below), "record an event", err);
}

static void nccl_abort(struct exchange *exchange)
{
	struct nccl *nccl = (struct nccl *)exchange;

	if (nccl->state != NCCL_ENDED)
		(void)nccl_ending_begin(nccl->library.abort, nccl->communicator);
	nccl->state = NCCL_ENDED;
}

/* Whether the communicator can go without being aborted. */
static bool is_finalized(struct nccl *nccl)
{
	int64_t end_ns = clock_monotonic_ns() + finalize_limit_ns;
	int rc;

	if (nccl->state != NCCL_READY || cudaEventQuery(nccl->ended) != cudaSuccess ||
	    settle(nccl, NULL) != 1 ||
	    check_status(nccl, nccl->library.finalize(nccl->communicator), "leave", NULL))
		return false;
	while ((rc = settle(nccl, NULL)) == 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	return rc == 1;
}

/* Nothing can be done about what fails here. */
static void nccl_close(struct exchange *exchange)
{
	struct nccl *nccl = (struct nccl *)exchange;

	(void)cuda_stream_choose(nccl->device, NULL);
	if (nccl->communicator && is_finalized(nccl))
		(void)nccl_ending_begin(nccl->library.destroy, nccl->communicator);
	else if (nccl->communicator)
		nccl_abort(exchange);
	if (nccl->ended)
		(void)cudaEventDestroy(nccl->ended);
	if (nccl->stream)
		(void)cudaStreamDestroy(nccl->stream);
	free(nccl);
}

/* The greeting is given back with the device: to free memory waits for all that runs on a GPU. */
static int prepare(struct nccl *nccl, struct err *err)
{
	int rc = nccl_library_find(&nccl->library, err);

	rc = rc ? rc : cuda_stream_choose(nccl->device, err);
	rc = rc ? rc
	        : check_cuda(nccl, cudaStreamCreateWithFlags(&nccl->stream, cudaStreamNonBlocking),
	                     "make a stream", err);
	rc = rc ? rc
	        : check_cuda(nccl, cudaEventCreateWithFlags(&nccl->ended, cudaEventBlockingSync),
	                     "make an event", err);
	if (rc)
		return rc;
	nccl->greeting = device_alloc(nccl->device, 2 * (size_t)GREETING_BYTES, false);
	return nccl->greeting ? 0 : err_set(err, -ENOMEM, "out of memory for an exchange");
}

static int meet(struct nccl *nccl, const struct exchange_id *id, struct err *err)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId unique;

	config.blocking = 0;
	memcpy(unique.internal, id->bytes, sizeof(unique.internal));
	return check_status(nccl,
	                    nccl->library.init_rank(&nccl->communicator, 2, unique,
	                                            nccl->stage > nccl->peer_stage, &config),
	                    "meet", err);
}

static int nccl_open(const struct exchange_config *config, struct exchange **out, struct err *err)
{
	struct nccl *nccl = array_new(1, sizeof(*nccl));
	int rc;

	if (!nccl)
		return err_set(err, -ENOMEM, "out of memory for an exchange");
	nccl->base.ops = &nccl_ops;
	nccl->device = config->device;
	nccl->stage = config->stage;
	nccl->peer_stage = config->peer_stage;
	rc = prepare(nccl, err);
	rc = rc ? rc : meet(nccl, &config->id, err);
	if (rc)
		nccl_close(&nccl->base);
	else
		*out = &nccl->base;
	return rc;
}

static int nccl_make_id(struct exchange_id *out, struct err *err)
{
	struct nccl_library library;
	ncclUniqueId unique;
	ncclResult_t status;
	struct err said = {0};
	int rc = nccl_library_find(&library, err);

	if (rc)
		return rc;
	status = library.get_unique_id(&unique);
	if (status != ncclSuccess) {
		nccl_library_say(&library, status, NULL, &said);
		return err_set(err, -EIO, "NCCL cannot make an id: %s", said.text);
	}
	memcpy(out->bytes, unique.internal, sizeof(out->bytes));
	return 0;
}

static int nccl_version(char out[EXCHANGE_VERSION_BYTES], struct err *err)
{
	struct nccl_library library;
	int code = 0, rc = nccl_library_find(&library, err);

	if (rc)
		return rc;
	if (library.get_version(&code) != ncclSuccess)
		return err_set(err, -ENODEV, "NCCL cannot say which version it is");
	snprintf(out, EXCHANGE_VERSION_BYTES, "NCCL %d.%d.%d", code / 10000, code / 100 % 100,
	         code % 100);
	return 0;
}

static int nccl_check(struct device *device, int n_stages, struct err *err)
{
	struct nccl_library library;

	if (!cuda_stream_is_below(device))
		return err_set(err, -ENODEV, "NCCL is for GPUs, which device %s is not",
		               device->ops->name);
	if (device->about.n_units < n_stages)
		return err_set(err, -ENODEV,
		               "NCCL takes a GPU for each stage: there are %d stages, and %d here",
		               n_stages, device->about.n_units);
	return nccl_library_find(&library, err);
}

const struct exchange_ops nccl_ops = {
	.name = "nccl",
	.version = nccl_version,
	.check = nccl_check,
	.make_id = nccl_make_id,
	.open = nccl_open,
	.progress = nccl_progress,
	.post = nccl_post,
	.abort = nccl_abort,
	.close = nccl_close,
};
