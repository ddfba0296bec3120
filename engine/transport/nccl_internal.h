/* nccl_internal.h - the parts of exchanges over NCCL.
 *
 * nccl.c: the table, the ids, meeting, posting · nccl_ending.c: the ends of communicators ·
 * nccl_library.c: the functions of NCCL. */
#ifndef ENGINE_TRANSPORT_NCCL_INTERNAL_H
#define ENGINE_TRANSPORT_NCCL_INTERNAL_H

#include <stdbool.h>

#include "engine/transport/nccl_library.h"

/* Have end, ncclCommAbort or ncclCommDestroy, called in a thread of its own, and wait until it has
 * returned, or for some hundred milliseconds. Either may stand for longer: in a process with
 * several communicators until the others end as well, since both free memory of the GPU, which
 * waits for what runs there. Whether it has returned. */
bool nccl_ending_begin(ncclResult_t (*end)(ncclComm_t), ncclComm_t communicator);

#endif
