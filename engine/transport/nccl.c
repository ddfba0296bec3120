/* nccl.c - exchanges over NCCL: a communicator of two ranks for each pair of neighbours.
 *
 * Communicators do not block: what a call begins goes on in a thread of NCCL, and until that has
 * said that it is over there may be no other one but to ask, or to abort. A pair connects with its
 * first group in each direction, which takes both ends. So each end sends some bytes and receives
 * as many before the exchange is ready; from then on a group is put on its stream without the
 * other end, and post() waits for that: what the caller issues next would else come before it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/cuda_stream.h"
#include "engine/transport/nccl_internal.h"

_Static_assert(EXCHANGE_ID_BYTES == NCCL_UNIQUE_ID_BYTES, "an id is one of NCCL's");

static const int64_t finalize_limit_ns = 300 * NS_PER_MS;

static void nccl_abort(struct exchange *exchange)
{
	struct nccl *nccl = (struct nccl *)exchange;

	if (nccl->state != NCCL_ENDED)
		nccl->ending = nccl_ending_begin(nccl->library.abort, nccl->communicator);
	nccl->state = NCCL_ENDED;
}

/* Whether the communicator can go without being aborted. */
static bool is_finalized(struct nccl *nccl)
{
	int64_t end_ns = clock_monotonic_ns() + finalize_limit_ns;
	int rc;

	if (nccl->state != NCCL_READY || cudaEventQuery(nccl->ended) != cudaSuccess ||
	    nccl_settle(nccl, NULL) != 1 ||
	    nccl_check_status(nccl, nccl->library.finalize(nccl->communicator), "leave", NULL))
		return false;
	while ((rc = nccl_settle(nccl, NULL)) == 0 && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS / 10);
	return rc == 1;
}

/* Nothing can be done about what fails here. */
static void nccl_close(struct exchange *exchange)
{
	struct nccl *nccl = (struct nccl *)exchange;

	(void)cuda_stream_choose(nccl->device, NULL);
	if (nccl->communicator && is_finalized(nccl))
		nccl->ending = nccl_ending_begin(nccl->library.destroy, nccl->communicator);
	else if (nccl->communicator)
		nccl_abort(exchange);
	nccl_ending_await(nccl->ending);
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
	        : nccl_check_cuda(nccl,
	                          cudaStreamCreateWithFlags(&nccl->stream, cudaStreamNonBlocking),
	                          "make a stream", err);
	rc = rc ? rc
	        : nccl_check_cuda(nccl,
	                          cudaEventCreateWithFlags(&nccl->ended, cudaEventBlockingSync),
	                          "make an event", err);
	if (rc)
		return rc;
	nccl->greeting = device_alloc(nccl->device, 2 * (size_t)NCCL_GREETING_BYTES, false);
	return nccl->greeting ? 0 : err_set(err, -ENOMEM, "out of memory for an exchange");
}

static int meet(struct nccl *nccl, const struct exchange_id *id, struct err *err)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId unique;

	config.blocking = 0;
	memcpy(unique.internal, id->bytes, sizeof(unique.internal));
	return nccl_check_status(nccl,
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
