/* double_memory.c - memory and copies, and whether anybody touches what is being copied. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda_double/double_internal.h"

enum { COPY_BEGINS_AFTER_US = 100, ALIGNMENT = 256 };

struct block {
	char *at;
	size_t n_bytes;
	bool is_host;
	struct block *next;
};

/* A copy that was issued and has not ended, with what its host side held when it was issued. */
struct flight {
	char *to;
	const char *from;
	size_t n_bytes;
	const char *host; /* the side that is memory of the host; NULL: neither */
	uint64_t sum;     /* over it */
	struct flight *next;
};

static struct block *blocks;
static struct flight *flights;

/* FNV-1a. */
static uint64_t sum_of(const char *at, size_t n_bytes)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n_bytes; i++)
		sum = (sum ^ (unsigned char)at[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static bool overlap(const char *a, size_t n_a, const char *b, size_t n_b)
{
	return a < b + n_b && b < a + n_a;
}

static const struct block *block_of(const char *at, size_t n_bytes)
{
	for (const struct block *block = blocks; block; block = block->next)
		if (at >= block->at && at + n_bytes <= block->at + block->n_bytes)
			return block;
	double_violation("a copy from or to memory that CUDA has not allocated");
}

void double_check_own_memory(const char *at, size_t n_bytes)
{
	if (block_of(at, n_bytes)->is_host)
		double_violation("memory of the host is handed to NCCL");
}

/* Under the lock. The GPUs of a process have it together. */
static size_t free_bytes(void)
{
	size_t used = 0, all = double_gpu_bytes();

	for (const struct block *block = blocks; block; block = block->next)
		used += block->is_host ? 0 : block->n_bytes;
	return used < all ? all - used : 0;
}

/* Under the lock: more than a GPU has is refused. */
static void *take_own(size_t n_bytes)
{
	return n_bytes <= free_bytes() ? double_arena_take(n_bytes) : NULL;
}

/* More is refused, as a machine would. */
static const size_t most_host_bytes = (size_t)1 << 34;

static void *take_host(size_t n_bytes)
{
	size_t n_rounded = (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	void *at = n_bytes <= most_host_bytes ? aligned_alloc(ALIGNMENT, n_rounded) : NULL;

	/* What was not cleared shows. */
	return at ? memset(at, 0xa5, n_rounded) : NULL;
}

static cudaError_t allocate(void **out, size_t n_bytes, bool is_host)
{
	struct block *block = malloc(sizeof(*block));

	if (!block)
		return cudaErrorMemoryAllocation;
	*block = (struct block){.n_bytes = n_bytes, .is_host = is_host};
	double_lock();
	if (n_bytes > 0)
		block->at = is_host ? take_host(n_bytes) : take_own(n_bytes);
	if (block->at) {
		block->next = blocks;
		blocks = block;
	}
	double_unlock();
	if (!block->at) {
		free(block);
		return cudaErrorMemoryAllocation;
	}
	*out = block->at;
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t n_bytes)
{
	cudaError_t status = double_enter(__func__);

	return status == cudaSuccess ? allocate(out, n_bytes, false) : status;
}

cudaError_t cudaMemGetInfo(size_t *free_out, size_t *all_out)
{
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	double_lock();
	*free_out = free_bytes();
	double_unlock();
	*all_out = double_gpu_bytes();
	return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **out, size_t n_bytes, unsigned int flags)
{
	cudaError_t status = double_enter(__func__);

	(void)flags;
	return status == cudaSuccess ? allocate(out, n_bytes, true) : status;
}

static void check_unused(const struct block *block)
{
	for (const struct flight *flight = flights; flight; flight = flight->next)
		if (overlap(flight->to, flight->n_bytes, block->at, block->n_bytes) ||
		    overlap(flight->from, flight->n_bytes, block->at, block->n_bytes))
			double_violation("memory is freed while a copy of it is under way");
	double_region_check_freed(block->at, block->n_bytes);
}

static void release(void *memory, bool is_host)
{
	struct block **at = &blocks;
	struct block *block;

	double_lock();
	while ((block = *at) && block->at != memory)
		at = &block->next;
	if (!block || block->is_host != is_host)
		double_violation("memory is freed that was not allocated like that");
	check_unused(block);
	*at = block->next;
	if (!is_host)
		double_arena_give_back(block->at, block->n_bytes);
	double_unlock();
	if (is_host)
		free(block->at);
	free(block);
}

cudaError_t cudaFree(void *memory)
{
	cudaError_t status = double_enter(__func__);

	release(memory, false);
	return status;
}

cudaError_t cudaFreeHost(void *memory)
{
	cudaError_t status = double_enter(__func__);

	release(memory, true);
	return status;
}

struct clearing {
	char *at;
	int value;
	size_t n_bytes;
};

static void run_clearing(void *payload)
{
	const struct clearing *clearing = payload;

	double_lock();
	double_region_check_used(clearing->at, clearing->n_bytes, true);
	double_unlock();
	memset(double_seen(clearing->at), clearing->value, clearing->n_bytes);
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t n_bytes, cudaStream_t stream)
{
	const struct clearing clearing = {at, value, n_bytes};
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	double_lock();
	if (block_of(at, n_bytes)->is_host)
		double_violation("memory of the host is cleared by the GPU");
	double_issue_locked(stream, run_clearing, &clearing, sizeof(clearing));
	double_unlock();
	return cudaSuccess;
}

/* What this copy has written, others expect to find from now on. */
static void renew_sums(const char *at, size_t n_bytes)
{
	for (struct flight *flight = flights; flight; flight = flight->next)
		if (flight->host && overlap(flight->host, flight->n_bytes, at, n_bytes))
			flight->sum = sum_of(flight->host, flight->n_bytes);
}

static void run_copy(void *payload)
{
	struct flight *flight = *(struct flight **)payload;
	struct flight **at = &flights;

	(void)usleep(COPY_BEGINS_AFTER_US);
	double_lock();
	if (flight->host && sum_of(flight->host, flight->n_bytes) != flight->sum)
		double_violation("memory of the host has changed while a copy of it was under way");
	double_region_check_used(flight->from, flight->n_bytes, false);
	double_region_check_used(flight->to, flight->n_bytes, true);
	memmove(double_seen(flight->to), double_seen(flight->from), flight->n_bytes);
	while (*at != flight)
		at = &(*at)->next;
	*at = flight->next;
	renew_sums(flight->to, flight->n_bytes);
	double_unlock();
	free(flight);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n_bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
	struct flight *flight;
	cudaError_t status = double_enter(__func__);

	if (status != cudaSuccess)
		return status;
	if (kind != cudaMemcpyDefault)
		double_violation("a copy of kind %d", (int)kind);
	flight = malloc(sizeof(*flight));
	if (!flight)
		return cudaErrorMemoryAllocation;
	*flight = (struct flight){.to = to, .from = from, .n_bytes = n_bytes};
	double_lock();
	if (block_of(to, n_bytes)->is_host)
		flight->host = to;
	if (block_of(from, n_bytes)->is_host)
		flight->host = from;
	if (flight->host)
		flight->sum = sum_of(flight->host, n_bytes);
	flight->next = flights;
	flights = flight;
	double_issue_locked(stream, run_copy, &flight, sizeof(flight));
	double_unlock();
	return cudaSuccess;
}
