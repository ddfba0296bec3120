/* nccl_internal.h - the parts of exchanges over NCCL.
 *
 * nccl.c: the table, the ids, opening, ending · nccl_group.c: the greeting and posts ·
 * nccl_status.c: what has failed, what is in progress · nccl_ending.c: a thread for the end of a
 * communicator · nccl_library.c: the functions of NCCL. */
#ifndef ENGINE_TRANSPORT_NCCL_INTERNAL_H
#define ENGINE_TRANSPORT_NCCL_INTERNAL_H

#include <stdbool.h>

#include "engine/transport/exchange_internal.h"
#include "engine/transport/nccl_library.h"

enum { NCCL_GREETING_BYTES = 64 };

enum nccl_state {
	NCCL_MEETING,  /* the communicator is being made */
	NCCL_GREETING, /* the first group is on its way to the stream */
	NCCL_GREETED,  /* it is there, and the event behind it */
	NCCL_READY,
	NCCL_ENDED, /* aborted */
};

struct nccl_ending;

struct nccl {
	struct exchange base;
	struct nccl_library library;
	struct device *device;
	int stage, peer_stage;
	enum nccl_state state;
	ncclComm_t communicator;
	cudaStream_t stream;        /* for the greeting */
	cudaEvent_t ended;          /* behind the last post; groups run in the order of posts */
	char *greeting;             /* what is sent, then what is received */
	struct nccl_ending *ending; /* NULL: none, or it is over */
	struct err error;           /* code 0: none */
};

/* nccl_status.c: the error of the exchange, if it has one. */
int nccl_report(const struct nccl *nccl, struct err *err);

/* nccl_status.c: 0, or this is the end of the exchange. cannot: "meet", of the other stage. */
int nccl_check_status(struct nccl *nccl, ncclResult_t status, const char *cannot, struct err *err);

/* nccl_status.c: a failure of CUDA is the device's, and the end of the exchange all the same. */
int nccl_check_cuda(struct nccl *nccl, cudaError_t status, const char *cannot, struct err *err);

/* nccl_status.c: 1: what was begun is over; 0: not yet. */
int nccl_settle(struct nccl *nccl, struct err *err);

/* nccl_group.c: members of the table. */
int nccl_progress(struct exchange *exchange, struct err *err);
int nccl_post(struct exchange *exchange, struct device_stream *stream,
              const struct exchange_part *parts, size_t n, struct err *err);

/* nccl_ending.c: have end, ncclCommAbort or ncclCommDestroy, called in a thread of its own. Either
 * may stand for long: in a process with several communicators until the others end as well, since
 * both free memory of the GPU, which waits for what runs there. NULL: there was no thread, and it
 * has been called here. */
struct nccl_ending *nccl_ending_begin(ncclResult_t (*end)(ncclComm_t), ncclComm_t communicator);

/* nccl_ending.c: has it returned, or has it begun some hundred milliseconds ago? NULL: yes. */
bool nccl_ending_is_over(const struct nccl_ending *ending);

/* nccl_ending.c: wait for that; ending is gone then. */
void nccl_ending_await(struct nccl_ending *ending);

#endif
