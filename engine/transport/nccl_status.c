/* nccl_status.c - what has failed of an exchange over NCCL, and what is in progress. */
#include <errno.h>

#include "engine/device/cuda_stream.h"
#include "engine/transport/nccl_internal.h"

int nccl_report(const struct nccl *nccl, struct err *err)
{
	return nccl->error.code ? err_set(err, nccl->error.code, "%s", nccl->error.text) : 0;
}

int nccl_check_status(struct nccl *nccl, ncclResult_t status, const char *cannot, struct err *err)
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
	return nccl_report(nccl, err);
}

int nccl_check_cuda(struct nccl *nccl, cudaError_t status, const char *cannot, struct err *err)
{
	int rc = cuda_stream_check(nccl->device, status, cannot, &nccl->error);

	return rc ? nccl_report(nccl, err) : 0;
}

static const char *what_it_does(const struct nccl *nccl)
{
	return nccl->state == NCCL_MEETING ? "meet" : "exchange with";
}

int nccl_settle(struct nccl *nccl, struct err *err)
{
	ncclResult_t async = ncclSuccess;
	int rc = nccl_report(nccl, err);

	if (rc)
		return rc;
	rc = nccl_check_status(nccl, nccl->library.get_async_error(nccl->communicator, &async),
	                       what_it_does(nccl), err);
	rc = rc ? rc : nccl_check_status(nccl, async, what_it_does(nccl), err);
	return rc ? rc : async != ncclInProgress;
}
