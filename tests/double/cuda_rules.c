/* cuda_rules.c - the double of CUDA ends who breaks a rule, and lets who keeps them go on. */
#include <cuda_runtime_api.h>
#include <string.h>
#include <unistd.h>

#include "engine/device/cuda_kernels.h"
#include "engine/model/work.h"
#include "tests/double/rule_fixture.h"

enum { COPIED_BYTES = 1 << 16 };

static cudaStream_t new_stream(void)
{
	cudaStream_t stream = NULL;

	(void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	return stream;
}

static cudaEvent_t new_event(void)
{
	cudaEvent_t event = NULL;

	(void)cudaEventCreateWithFlags(&event, cudaEventDefault);
	return event;
}

static char *host_memory(void)
{
	void *memory = NULL;

	(void)cudaHostAlloc(&memory, COPIED_BYTES, cudaHostAllocDefault);
	return memory;
}

static char *own_memory(void)
{
	void *memory = NULL;

	(void)cudaMalloc(&memory, COPIED_BYTES);
	return memory;
}

static void sleep_a_while(void *argument)
{
	(void)usleep(*(const unsigned int *)argument);
}

static void read_early(void)
{
	static unsigned int us = 200000;
	cudaStream_t stream = new_stream();
	cudaEvent_t from = new_event(), to = new_event();
	float ms;

	(void)cudaEventRecord(from, stream);
	(void)cudaLaunchHostFunc(stream, sleep_a_while, &us);
	(void)cudaEventRecord(to, stream);
	(void)cudaEventElapsedTime(&ms, from, to);
}

static void use_after_destruction(void)
{
	cudaStream_t stream = new_stream();

	(void)cudaStreamDestroy(stream);
	(void)cudaEventRecord(new_event(), stream);
}

static void copy(char *to, const char *from, cudaStream_t stream)
{
	(void)cudaMemcpyAsync(to, from, COPIED_BYTES, cudaMemcpyDefault, stream);
}

static void write_what_is_copied(void)
{
	cudaStream_t stream = new_stream();
	char *host = host_memory(), *own = own_memory();

	copy(own, host, stream);
	host[COPIED_BYTES - 1]++;
	(void)cudaStreamSynchronize(stream);
}

static void write_where_a_copy_goes(void)
{
	cudaStream_t stream = new_stream();
	char *host = host_memory(), *own = own_memory();

	copy(host, own, stream);
	host[0]++;
	(void)cudaStreamSynchronize(stream);
}

static void free_what_is_copied(void)
{
	cudaStream_t stream = new_stream();
	char *host = host_memory(), *own = own_memory();

	copy(own, host, stream);
	(void)cudaFreeHost(host);
}

static void copy_from_elsewhere(void)
{
	static char elsewhere[COPIED_BYTES];

	copy(own_memory(), elsewhere, new_stream());
}

static void call_cuda(void *argument)
{
	(void)cudaEventQuery(argument);
}

static void call_from_host_function(void)
{
	cudaStream_t stream = new_stream();

	(void)cudaLaunchHostFunc(stream, call_cuda, new_event());
	(void)cudaStreamSynchronize(stream);
}

static void free_as_another_kind(void)
{
	(void)cudaFree(host_memory());
}

static void read_own(void)
{
	(void)write(STDERR_FILENO, own_memory()[COPIED_BYTES - 1] ? "1" : "0", 1);
}

static void write_own(void)
{
	memset(own_memory(), 0, COPIED_BYTES);
}

/* The address was the GPU's, and still is nobody else's. */
static void read_freed(void)
{
	char *own = own_memory();

	(void)cudaFree(own);
	(void)write(STDERR_FILENO, own[0] ? "1" : "0", 1);
}

static void clear(char *at, size_t n_bytes)
{
	const struct work clear = {
		.kind = WORK_CLEAR, .n_items = n_bytes / sizeof(float), .clear = (float *)at};
	cudaStream_t stream = new_stream();

	(void)cuda_kernels_run(&clear, stream);
	(void)cudaStreamSynchronize(stream);
}

static void compute_beside(void)
{
	clear(own_memory(), 2 * COPIED_BYTES);
}

static void compute_in_freed(void)
{
	char *own = own_memory();

	(void)cudaFree(own);
	clear(own, COPIED_BYTES);
}

#ifndef __SANITIZE_ADDRESS__ /* which sees it when it happens */
static void compute_behind(void)
{
	void *own = NULL;

	(void)cudaMalloc(&own, 64);
	clear(own, 128);
	(void)cudaFree(own);
}
#endif

/* Copies behind each other over the same memory of the host, which is read when they have ended. */
static void keep_the_rules(void)
{
	cudaStream_t stream = new_stream();
	char *host = host_memory(), *own = own_memory();
	cudaEvent_t from = new_event(), to = new_event();
	float ms;

	(void)cudaEventRecord(from, stream);
	copy(own, host, stream);
	copy(host, own, stream);
	copy(own, host, stream);
	(void)cudaEventRecord(to, stream);
	(void)cudaEventSynchronize(to);
	(void)cudaEventElapsedTime(&ms, from, to);
	host[0]++;
	(void)cudaStreamDestroy(stream);
	(void)cudaFreeHost(host);
	(void)cudaFree(own);
}

static const struct rule rules[] = {
	{read_early, "an event is read before it has ended"},
	{use_after_destruction, "a stream is used after its destruction"},
	{write_what_is_copied, "memory of the host has changed while a copy of it was under way"},
	{write_where_a_copy_goes,
         "memory of the host has changed while a copy of it was under way"},
	{free_what_is_copied, "memory is freed while a copy of it is under way"},
	{copy_from_elsewhere, "a copy from or to memory that CUDA has not allocated"},
	{call_from_host_function, "a host function calls cudaEventQuery"},
	{free_as_another_kind, "memory is freed that was not allocated like that"},
	{read_own, "the host reads or writes memory of the GPU"},
	{write_own, "the host reads or writes memory of the GPU"},
	{read_freed, "the host reads or writes memory of the GPU"},
	{compute_beside, "a kernel reads or writes beside the memory of the GPU"},
	{compute_in_freed, "a kernel reads or writes beside the memory of the GPU"},
#ifndef __SANITIZE_ADDRESS__
	{compute_behind, "a kernel has written behind the memory of the GPU"},
#endif
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		rule_check(&rules[i]);
	rule_check_kept(keep_the_rules);
	return tap_done();
}
