/* double_nccl.c - communicators of NCCL's double: how they begin, fail and end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cuda_double/cuda_double.h"
#include "tests/cuda_double/double_nccl_internal.h"

static struct ncclComm *all_communicators;
static bool are_aborts_held;
static int n_aborting;

void cuda_double_hold_aborts(bool is_on)
{
	double_lock();
	are_aborts_held = is_on;
	double_tell_change();
	double_unlock();
}

void cuda_double_await_aborts(int n)
{
	double_lock();
	while (n_aborting < n)
		double_await_change();
	double_unlock();
}

ncclResult_t double_nccl_enter(const char *name)
{
	return double_enter(name) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

static bool is_in_progress(const struct ncclComm *communicator)
{
	return communicator->is_meeting || communicator->is_finalizing || communicator->next_group;
}

static void check_there(const struct ncclComm *communicator, const char *function)
{
	if (communicator->is_gone)
		double_violation("%s is called with a communicator that is gone", function);
}

void double_nccl_check_usable(const struct ncclComm *communicator, const char *function)
{
	check_there(communicator, function);
	if (is_in_progress(communicator))
		double_violation("%s is called while another call is in progress", function);
	if (communicator->is_aborted)
		double_violation("%s is called with a communicator that is aborted", function);
}

void double_nccl_fail(struct ncclComm *communicator, ncclResult_t error, const char *said)
{
	if (communicator->error != ncclSuccess || communicator->is_aborted)
		return;
	communicator->error = error;
	snprintf(communicator->said, sizeof(communicator->said), "%s", said);
	double_tell_change();
}

/* Under the lock. */
static void finalize(struct ncclComm *communicator)
{
	while (communicator->n_run != communicator->n_launched && !communicator->is_aborted)
		double_await_change();
	if (!communicator->is_aborted)
		double_nccl_leave(communicator);
	communicator->is_finalized = !communicator->is_aborted;
	communicator->is_finalizing = false;
	double_tell_change();
}

/* What NCCL does in the background. */
static void *run_background(void *argument)
{
	struct ncclComm *communicator = argument;

	double_nccl_meet(communicator);
	double_lock();
	communicator->is_meeting = false;
	double_tell_change();
	while (!communicator->is_gone) {
		if (communicator->next_group) {
			double_unlock();
			double_nccl_launch(communicator);
			double_lock();
		} else if (communicator->is_finalizing) {
			finalize(communicator);
		} else {
			double_await(&communicator->has_work);
		}
	}
	double_unlock();
	return NULL;
}

ncclResult_t ncclGetVersion(int *out)
{
	/* Of no NCCL there ever was. */
	*out = 0;
	return double_nccl_enter(__func__);
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *out)
{
	ncclResult_t status = double_nccl_enter(__func__);

	return status == ncclSuccess ? double_nccl_listen(out) : status;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int n_ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
	struct ncclComm *communicator;
	pthread_t thread;
	ncclResult_t status = double_nccl_enter(__func__);

	if (status != ncclSuccess)
		return status;
	if (n_ranks != 2 || rank < 0 || rank >= n_ranks)
		double_violation("a communicator of %d ranks; the double has those of 2", n_ranks);
	if (config->blocking != 0)
		double_violation("a communicator that blocks");
	communicator = calloc(1, sizeof(*communicator));
	if (!communicator)
		return ncclSystemError;
	*communicator = (struct ncclComm){.rank = rank,
	                                  .gpu = double_gpu(),
	                                  .id = id,
	                                  .root = -1,
	                                  .data = -1,
	                                  .control = -1,
	                                  .is_meeting = true};
	double_lock();
	communicator->next = all_communicators;
	all_communicators = communicator;
	if (pthread_cond_init(&communicator->has_work, NULL) != 0 ||
	    pthread_create(&thread, NULL, run_background, communicator) != 0)
		double_violation("there is no thread for a communicator");
	(void)pthread_detach(thread);
	double_unlock();
	*out = communicator;
	return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t *out)
{
	ncclResult_t status = double_nccl_enter(__func__);
	bool fails = double_nccl_enter("ncclAsyncError") != ncclSuccess;

	if (status != ncclSuccess)
		return status;
	double_lock();
	check_there(communicator, __func__);
	if (fails)
		double_nccl_fail(communicator, ncclSystemError, "as it was told to");
	else if (!is_in_progress(communicator) && double_nccl_is_deserted(communicator))
		double_nccl_fail(communicator, ncclRemoteError, "the other rank is gone");
	*out = communicator->error;
	if (*out == ncclSuccess && is_in_progress(communicator))
		*out = ncclInProgress;
	double_unlock();
	return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t communicator)
{
	ncclResult_t status = double_nccl_enter(__func__);

	if (status != ncclSuccess)
		return status;
	double_lock();
	double_nccl_check_usable(communicator, __func__);
	communicator->is_finalizing = true;
	(void)pthread_cond_signal(&communicator->has_work);
	double_unlock();
	return ncclInProgress;
}

static void close_socket(int *descriptor)
{
	if (*descriptor >= 0)
		(void)close(*descriptor);
	*descriptor = -1;
}

/* Under the lock. */
static void be_gone(struct ncclComm *communicator)
{
	communicator->is_gone = true;
	close_socket(&communicator->root);
	close_socket(&communicator->data);
	close_socket(&communicator->control);
	(void)pthread_cond_signal(&communicator->has_work);
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator)
{
	ncclResult_t status = double_nccl_enter(__func__);

	double_lock();
	double_nccl_check_usable(communicator, __func__);
	if (!communicator->is_finalized)
		double_violation("a communicator is destroyed that is not finalized");
	be_gone(communicator);
	double_unlock();
	return status;
}

/* Whoever stands at one of the sockets goes on. */
static void break_sockets(const struct ncclComm *communicator)
{
	const int descriptors[] = {communicator->root, communicator->data, communicator->control};

	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		if (descriptors[i] >= 0)
			(void)shutdown(descriptors[i], SHUT_RDWR);
}

/* As the real one, this waits until the streams have got to what was put on them. */
ncclResult_t ncclCommAbort(ncclComm_t communicator)
{
	ncclResult_t status = double_nccl_enter(__func__);

	double_lock();
	check_there(communicator, __func__);
	communicator->is_aborted = true;
	break_sockets(communicator);
	n_aborting++;
	double_tell_change();
	while (are_aborts_held || is_in_progress(communicator) ||
	       communicator->n_run != communicator->n_launched)
		double_await_change();
	n_aborting--;
	be_gone(communicator);
	double_unlock();
	return status;
}

const char *ncclGetErrorString(ncclResult_t status)
{
	switch (status) {
	case ncclSuccess:
		return "no error";
	case ncclUnhandledCudaError:
		return "unhandled cuda error";
	case ncclSystemError:
		return "unhandled system error";
	case ncclRemoteError:
		return "remote process exited or there was a network error";
	case ncclInternalError:
	case ncclInvalidArgument:
	case ncclInvalidUsage:
	case ncclInProgress:
	case ncclNumResults:
		break;
	}
	return "another error of NCCL";
}

/* What it points to changes no more once there is an error. */
const char *ncclGetLastError(ncclComm_t communicator)
{
	const char *said;

	double_lock();
	check_there(communicator, __func__);
	said = communicator->error == ncclSuccess ? "" : communicator->said;
	double_unlock();
	return said;
}
