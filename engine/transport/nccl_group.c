/* nccl_group.c - what exchanges over NCCL put on streams: the greeting, and posts. */
#include <errno.h>
#include <sched.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/device/cuda_stream.h"
#include "engine/transport/nccl_internal.h"

/* Only a driver whose queue is full, or which hangs, takes longer to put a group on a stream. */
static const int64_t launch_limit_ns = 10 * (int64_t)NS_PER_S;

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
	int rc = nccl_check_status(nccl, status, "begin a group with", err);

	if (rc)
		return rc;
	for (size_t i = 0; status == ncclSuccess && i < n; i++)
		status = put_part(nccl, &parts[i], stream);
	ended = nccl->library.group_end();
	rc = nccl_check_status(nccl, status, "add to a group with", err);
	return rc ? rc : nccl_check_status(nccl, ended, "end a group with", err);
}

static int greet(struct nccl *nccl, struct err *err)
{
	const struct exchange_part parts[] = {
		{.is_send = true, .memory = nccl->greeting, .n_bytes = NCCL_GREETING_BYTES},
		{.memory = nccl->greeting + NCCL_GREETING_BYTES, .n_bytes = NCCL_GREETING_BYTES},
	};
	int rc;

	(void)cuda_stream_choose(nccl->device, &nccl->error);
	rc = nccl_report(nccl, err);
	rc = rc ? rc : begin_group(nccl, parts, 2, nccl->stream, err);
	if (rc == 0)
		nccl->state = NCCL_GREETING;
	return rc;
}

static int mark_greeting(struct nccl *nccl, struct err *err)
{
	int rc = nccl_check_cuda(nccl, cudaEventRecord(nccl->ended, nccl->stream),
	                         "record an event", err);

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
	return nccl_check_cuda(nccl, status, "say whether an event has ended", err);
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

int nccl_progress(struct exchange *exchange, struct err *err)
{
	struct nccl *nccl = (struct nccl *)exchange;
	int rc;

	if (nccl->state == NCCL_ENDED)
		return nccl_ending_is_over(nccl->ending);
	rc = nccl_settle(nccl, err);
	if (rc != 1)
		return rc;
	rc = step(nccl, err);
	return rc ? rc : nccl->state == NCCL_READY;
}

static int await_launch(struct nccl *nccl, struct err *err)
{
	int64_t end_ns = clock_monotonic_ns() + launch_limit_ns;
	int rc;

	while ((rc = nccl_settle(nccl, err)) == 0 && clock_monotonic_ns() < end_ns)
		(void)sched_yield();
	if (rc == 0)
		(void)err_set(&nccl->error, -ETIMEDOUT,
		              "stage %d cannot exchange with stage %d over NCCL: the GPU has not "
		              "taken a group for %lld s",
		              nccl->stage, nccl->peer_stage,
		              (long long)(launch_limit_ns / NS_PER_S));
	return nccl_report(nccl, err);
}

static int check_post(const struct nccl *nccl, size_t n, struct err *err)
{
	int rc = nccl_report(nccl, err);

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

int nccl_post(struct exchange *exchange, struct device_stream *stream,
              const struct exchange_part *parts, size_t n, struct err *err)
{
	struct nccl *nccl = (struct nccl *)exchange;
	cudaStream_t below = NULL;
	int rc = check_post(nccl, n, err);

	if (rc)
		return rc;
	(void)cuda_stream_issue(stream, &below, &nccl->error);
	rc = nccl_report(nccl, err);
	rc = rc ? rc : begin_group(nccl, parts, n, below, err);
	rc = rc ? rc : await_launch(nccl, err);
	return rc ? rc
	          : nccl_check_cuda(nccl, cudaEventRecord(nccl->ended, below), "record an event",
	                            err);
}
