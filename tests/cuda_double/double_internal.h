/* double_internal.h - what the parts of the test double of CUDA share.
 *
 * One lock guards all of it but what an item of a stream does, which runs without. */
#ifndef TESTS_CUDA_DOUBLE_DOUBLE_INTERNAL_H
#define TESTS_CUDA_DOUBLE_DOUBLE_INTERNAL_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef void double_run(void *payload);

/* What a stream runs in its turn. */
struct double_item {
	struct double_item *next;
	double_run *run;
	_Alignas(16) char payload[];
};

struct CUstream_st {
	struct double_item *first, *last; /* the first one is under way */
	pthread_cond_t has_work;          /* or is destroyed */
	bool is_destroyed;
	bool is_promised;         /* a group of NCCL is on its way to it */
	struct CUstream_st *next; /* of all that ever were, so that late use is seen */
};

/* One record of an event. */
struct double_mark {
	int n_users;
	bool is_done;
	struct timespec at;
};

struct CUevent_st {
	struct double_mark *mark; /* NULL: never recorded */
};

void double_lock(void);
void double_unlock(void);

/* Under the lock: until something has changed, and that something has. */
void double_await_change(void);
void double_tell_change(void);

/* Under the lock: until who has work for this thread alone has signalled its condition. Threads
 * that have nothing to do are many, and changes that are none of theirs do not wake them. */
void double_await(pthread_cond_t *condition);

/* What a program may not do with CUDA ends it. */
_Noreturn void double_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Every function of CUDA begins with this: whether it is to fail, and how. */
cudaError_t double_enter(const char *name);

/* The GPU that this thread's calls are for. */
int double_gpu(void);

/* The memory of each. */
size_t double_gpu_bytes(void);

/* Around a host function. */
void double_enter_host_function(void);
void double_leave_host_function(void);

/* double_arena.c, under the lock: memory of the GPU, at an address at which the program finds
 * nothing; NULL: there is none. Pages are whole, so it is aligned to them. */
void *double_arena_take(size_t n_bytes);
void double_arena_give_back(void *memory, size_t n_bytes);

/* Is this an address of the GPU's memory? */
bool double_is_own(const void *at);

/* Where what streams run finds what the program knows by this address; memory of the host is
 * where it is. */
void *double_seen(const void *at);

/* Append to stream (NULL: the default one) what runs with a copy of payload. */
void double_issue(cudaStream_t stream, double_run *run, const void *payload, size_t n_bytes);

/* Under the lock; the same with the lock held by the caller. */
void double_issue_locked(cudaStream_t stream, double_run *run, const void *payload, size_t n_bytes);

/* Under the lock: what is promised to a stream comes before all else that is issued to it. */
void double_promise(cudaStream_t stream, bool is_promised);

/* Under the lock: memory of the GPU, or a violation. */
void double_check_own_memory(const char *at, size_t n_bytes);

/* Under the lock: memory belongs to a group of NCCL from _add to _remove; from _run on it moves. */
void double_region_add(const char *at, size_t n_bytes, bool is_written);
void double_region_run(const char *at, size_t n_bytes);
void double_region_remove(const char *at, size_t n_bytes);

/* Under the lock: may memory be freed, or used by something else? */
void double_region_check_freed(const char *at, size_t n_bytes);
void double_region_check_used(const char *at, size_t n_bytes, bool is_write);

#endif
