/* double_nccl_group.c - groups: put together, put on a stream, run in one order. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cuda_double/double_nccl_internal.h"

enum { LAUNCH_TAKES_US = 100 };

/* What is between ncclGroupStart() and ncclGroupEnd(); communicator NULL: nothing yet. */
struct draft {
	bool is_open;
	ncclResult_t error;
	struct double_group group;
};

static _Thread_local struct draft draft;

/* NCCL's header says nothing of their arguments. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

ncclResult_t ncclGroupStart(void)
{
	ncclResult_t status = double_nccl_enter(__func__);

	if (draft.is_open)
		double_violation("a group in a group");
	if (status == ncclSuccess)
		draft = (struct draft){.is_open = true};
	return status;
}

static void check_part(const struct ncclComm *communicator, int peer, cudaStream_t stream)
{
	const struct double_group *group = &draft.group;

	if (!draft.is_open)
		double_violation("ncclSend or ncclRecv outside of a group");
	if (peer != !communicator->rank)
		double_violation("rank %d exchanges with rank %d", communicator->rank, peer);
	if (group->n_parts == DOUBLE_PARTS_MAX)
		double_violation("a group of more than %d sends and receives", DOUBLE_PARTS_MAX);
	if (group->n_parts > 0 && (group->communicator != communicator || group->stream != stream))
		double_violation("a group of two communicators or streams");
}

static ncclResult_t add_part(struct double_part part, int peer, ncclComm_t communicator,
                             cudaStream_t stream, const char *function)
{
	ncclResult_t status = double_nccl_enter(function);

	check_part(communicator, peer, stream);
	double_lock();
	double_nccl_check_usable(communicator, function);
	if (communicator->is_finalized)
		double_violation("%s is called with a communicator that is finalized", function);
	double_check_own_memory(part.at, part.n_bytes);
	double_unlock();
	draft.group.communicator = communicator;
	draft.group.stream = stream;
	if (status == ncclSuccess)
		draft.group.parts[draft.group.n_parts++] = part;
	else
		draft.error = status;
	return status;
}

ncclResult_t ncclSend(const void *memory, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream)
{
	const struct double_part part = {.is_send = 1, .at = (char *)memory, .n_bytes = count};

	if (type != ncclUint8)
		double_violation("ncclSend of something else than bytes");
	return add_part(part, peer, communicator, stream, __func__);
}

ncclResult_t ncclRecv(void *memory, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream)
{
	const struct double_part part = {.at = memory, .n_bytes = count};

	if (type != ncclUint8)
		double_violation("ncclRecv of something else than bytes");
	return add_part(part, peer, communicator, stream, __func__);
}

/* From now on the memory is the group's, until it has run. */
static void add_regions(const struct double_group *group)
{
	for (int i = 0; i < group->n_parts; i++)
		double_region_add(group->parts[i].at, group->parts[i].n_bytes,
		                  !group->parts[i].is_send);
}

static void remove_regions(const struct double_group *group)
{
	for (int i = 0; i < group->n_parts; i++)
		double_region_remove(group->parts[i].at, group->parts[i].n_bytes);
}

ncclResult_t ncclGroupEnd(void)
{
	ncclResult_t status = double_nccl_enter(__func__);
	struct double_group *group;

	if (!draft.is_open)
		double_violation("the end of a group that has not begun");
	draft.is_open = false;
	if (status != ncclSuccess || draft.error != ncclSuccess)
		return status != ncclSuccess ? status : draft.error;
	if (draft.group.n_parts == 0)
		return ncclSuccess;
	group = malloc(sizeof(*group));
	if (!group)
		return ncclSystemError;
	*group = draft.group;
	double_lock();
	double_nccl_check_usable(group->communicator, __func__);
	double_promise(group->stream, true);
	add_regions(group);
	group->communicator->next_group = group;
	(void)pthread_cond_signal(&group->communicator->has_work);
	double_unlock();
	return ncclInProgress;
}

/* Groups of a communicator run one after the other, on whichever streams. */
static bool await_turn(const struct double_group *group)
{
	const struct ncclComm *communicator = group->communicator;
	bool is_wanted;

	double_lock();
	while (!communicator->is_aborted && communicator->n_run != group->number)
		double_await_change();
	is_wanted = !communicator->is_aborted;
	double_unlock();
	return is_wanted;
}

/* A kernel of NCCL whose other end is gone runs until it is aborted. */
static void run_group(void *payload)
{
	struct double_group *group = *(struct double_group **)payload;
	struct ncclComm *communicator = group->communicator;

	if (await_turn(group) && !double_nccl_transfer(group)) {
		double_lock();
		double_nccl_fail(communicator, ncclRemoteError, "the other rank is gone");
		while (!communicator->is_aborted)
			double_await_change();
		double_unlock();
	}
	double_lock();
	remove_regions(group);
	communicator->n_run++;
	double_tell_change();
	double_unlock();
	free(group);
}

/* Under the lock. */
static void put_on_stream(struct ncclComm *communicator, struct double_group *group)
{
	double_promise(group->stream, false);
	communicator->next_group = NULL;
	if (communicator->is_aborted) {
		remove_regions(group);
		free(group);
	} else {
		group->number = communicator->n_launched++;
		double_issue_locked(group->stream, run_group, &group, sizeof(group));
	}
	double_tell_change();
}

static unsigned int directions_of(const struct double_group *group)
{
	unsigned int directions = 0;

	for (int i = 0; i < group->n_parts; i++)
		directions |= group->parts[i].is_send ? DOUBLE_SENDS : DOUBLE_RECEIVES;
	return directions;
}

void double_nccl_launch(struct ncclComm *communicator)
{
	struct double_group *group = communicator->next_group;
	bool is_possible = double_nccl_connect(communicator, directions_of(group));
	bool hangs = double_nccl_enter("ncclLaunch") != ncclSuccess;

	(void)usleep(LAUNCH_TAKES_US);
	double_lock();
	if (!is_possible)
		double_nccl_fail(communicator, ncclRemoteError, "the other rank is gone");
	while ((hangs || !is_possible) && !communicator->is_aborted)
		double_await_change();
	put_on_stream(communicator, group);
	double_unlock();
}
