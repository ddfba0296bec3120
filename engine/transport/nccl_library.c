/* nccl_library.c - finds NCCL, and its words for what goes wrong. */
#include "engine/transport/nccl_library.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "engine/base/library.h"

#define AS_TEXT(x)          #x
#define EXPANDED_AS_TEXT(x) AS_TEXT(x)

static const char library_name[] = "libnccl.so." EXPANDED_AS_TEXT(NCCL_MAJOR);

static const struct library_function functions[] = {
	{"ncclGetVersion", offsetof(struct nccl_library, get_version)},
	{"ncclGetUniqueId", offsetof(struct nccl_library, get_unique_id)},
	{"ncclCommInitRankConfig", offsetof(struct nccl_library, init_rank)},
	{"ncclCommGetAsyncError", offsetof(struct nccl_library, get_async_error)},
	{"ncclCommFinalize", offsetof(struct nccl_library, finalize)},
	{"ncclCommDestroy", offsetof(struct nccl_library, destroy)},
	{"ncclCommAbort", offsetof(struct nccl_library, abort)},
	{"ncclGroupStart", offsetof(struct nccl_library, group_start)},
	{"ncclGroupEnd", offsetof(struct nccl_library, group_end)},
	{"ncclSend", offsetof(struct nccl_library, send)},
	{"ncclRecv", offsetof(struct nccl_library, receive)},
	{"ncclGetErrorString", offsetof(struct nccl_library, error_string)},
	{"ncclGetLastError", offsetof(struct nccl_library, last_error)},
};

int nccl_library_find(struct nccl_library *out, struct err *err)
{
	struct nccl_library found = {0};
	int rc = library_find(library_name, functions, sizeof(functions) / sizeof(functions[0]),
	                      &found, err);

	if (rc == 0)
		*out = found;
	else
		(void)err_wrap(err, "NCCL cannot be opened");
	return rc;
}

/* A last error can have several lines; the first says it. */
void nccl_library_say(const struct nccl_library *library, ncclResult_t status,
                      ncclComm_t communicator, struct err *out)
{
	const char *last = communicator ? library->last_error(communicator) : NULL;
	int length = last ? (int)strcspn(last, "\n") : 0;

	(void)err_set(out, -EIO, "%s%s%.*s%s", library->error_string(status), length ? " (" : "",
	              length, length ? last : "", length ? ")" : "");
}
