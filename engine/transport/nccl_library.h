/* nccl_library.h - the functions of NCCL that are used.
 *
 * The library is 0.2 GB and belongs to the toolkit, so it is opened with the first exchange, not
 * with the program: that starts where neither it nor a driver is. */
#ifndef ENGINE_TRANSPORT_NCCL_LIBRARY_H
#define ENGINE_TRANSPORT_NCCL_LIBRARY_H

#include <nccl.h>

#include "engine/base/err.h"

struct nccl_library {
	__typeof__(ncclGetVersion) *get_version;
	__typeof__(ncclGetUniqueId) *get_unique_id;
	__typeof__(ncclCommInitRankConfig) *init_rank;
	__typeof__(ncclCommGetAsyncError) *get_async_error;
	__typeof__(ncclCommFinalize) *finalize;
	__typeof__(ncclCommDestroy) *destroy;
	__typeof__(ncclCommAbort) *abort;
	__typeof__(ncclGroupStart) *group_start;
	__typeof__(ncclGroupEnd) *group_end;
	__typeof__(ncclSend) *send;
	__typeof__(ncclRecv) *receive;
	__typeof__(ncclGetErrorString) *error_string;
	__typeof__(ncclGetLastError) *last_error;
};

/* -ENODEV: the library is missing, or is not what its name says. */
int nccl_library_find(struct nccl_library *out, struct err *err);

/* Write what NCCL says of a status into out: its words for it, and behind them what the
 * communicator (NULL: none) was last told of. */
void nccl_library_say(const struct nccl_library *library, ncclResult_t status,
                      ncclComm_t communicator, struct err *out);

#endif
