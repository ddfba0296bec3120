/* double_nccl_internal.h - what the parts of NCCL's double share.
 *
 * A communicator has two ranks, in one process or in two. They meet at a socket that the unique id
 * names, where who made the id hands each of them two sockets to the other: what is sent goes
 * through one of them, and through the other each rank says which directions it connects and, in
 * the end, that it leaves. A thread of the communicator does what NCCL does in the background. A
 * group is one item of its stream. All of it is guarded by the lock of the double. */
#ifndef TESTS_CUDA_DOUBLE_DOUBLE_NCCL_INTERNAL_H
#define TESTS_CUDA_DOUBLE_DOUBLE_NCCL_INTERNAL_H

#include <nccl.h>
#include <stdint.h>

#include "tests/cuda_double/double_internal.h"

enum { DOUBLE_PARTS_MAX = 8, DOUBLE_SOCKETS = 2, DOUBLE_SAID_BYTES = 96 };

struct double_part {
	int is_send;
	char *at;
	size_t n_bytes;
};

struct double_group {
	struct ncclComm *communicator;
	cudaStream_t stream;
	int n_parts;
	struct double_part parts[DOUBLE_PARTS_MAX];
	uint64_t number; /* of the communicator's groups */
};

struct ncclComm {
	struct ncclComm *next;   /* of all that ever were, so that late use is seen */
	pthread_cond_t has_work; /* in the background, or is gone */
	int rank, gpu;
	ncclUniqueId id;
	int root;                        /* the socket where ranks meet; -1 */
	int data, control;               /* to the other rank; -1 */
	bool is_meeting;                 /* in the background */
	bool is_finalizing;              /* in the background */
	struct double_group *next_group; /* on its way to its stream, in the background */
	unsigned int connected;          /* of enum double_direction */
	bool is_finalized;
	bool has_other_left; /* finalized, too */
	bool is_aborted;     /* what has been issued ends as soon as it begins */
	bool is_gone;
	uint64_t n_launched, n_run;
	ncclResult_t error; /* for ncclCommGetAsyncError() */
	char said[DOUBLE_SAID_BYTES];
};

enum double_direction { DOUBLE_SENDS = 1, DOUBLE_RECEIVES = 2 };

/* Every function of NCCL begins with this: whether it is to fail. */
ncclResult_t double_nccl_enter(const char *name);

/* Under the lock: for others than to abort it or to ask; may it be used? */
void double_nccl_check_usable(const struct ncclComm *communicator, const char *function);

/* Under the lock: the communicator fails from now on; the first reason counts. */
void double_nccl_fail(struct ncclComm *communicator, ncclResult_t error, const char *said);

/* double_nccl_meeting.c: make an id, at which two ranks meet. */
ncclResult_t double_nccl_listen(ncclUniqueId *out);

/* double_nccl_meeting.c: meet the other rank; without the lock, in the background. */
void double_nccl_meet(struct ncclComm *communicator);

/* double_nccl_meeting.c: connect the directions of its next group; false: it cannot be, or is
 * aborted. */
bool double_nccl_connect(struct ncclComm *communicator, unsigned int directions);

/* double_nccl_meeting.c: under the lock, when nothing goes on in the background: has the other rank
 * gone without having said that it leaves? */
bool double_nccl_is_deserted(struct ncclComm *communicator);

/* double_nccl_meeting.c: tell the other rank that this one leaves. */
void double_nccl_leave(const struct ncclComm *communicator);

/* double_nccl_group.c: put its next group on its stream; without the lock, in the background. */
void double_nccl_launch(struct ncclComm *communicator);

/* double_nccl_transfer.c: do what a group asks for; false: the other rank is gone, or this one is
 * aborted. */
bool double_nccl_transfer(const struct double_group *group);

#endif
