/* double_arena.c - memory of the GPU: out of the host's reach, as on a GPU.
 *
 * The program is given addresses of a view in which nothing can be read or written, so that a host
 * that tries is ended with a sentence. What streams run sees the same memory in another view, at a
 * fixed distance. Addresses are never given twice, and between two pieces of memory lies a page
 * that is in neither view, so that kernels which go astray are ended as well. */
#include <sanitizer/asan_interface.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cuda_double/double_internal.h"

static const size_t view_bytes = (size_t)1 << 38;
static const unsigned char untouched = 0xa5;

static char *given;  /* to the program */
static char *worked; /* on, by what streams run */
static size_t n_used;
static struct sigaction others;

static bool is_in(const char *view, const void *at)
{
	return view && (uintptr_t)at - (uintptr_t)view < view_bytes;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (is_in(given, info->si_addr))
		double_violation("the host reads or writes memory of the GPU");
	if (is_in(worked, info->si_addr))
		double_violation("a kernel reads or writes beside the memory of the GPU");
	/* It is met again, by whom it concerns. */
	(void)sigaction(number, &others, NULL);
}

static char *reserve(void)
{
	void *at = mmap(NULL, view_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                -1, 0);

	if (at == MAP_FAILED)
		double_violation("there are no addresses for memory of a GPU");
	return at;
}

static void make_views(void)
{
	struct sigaction own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	given = reserve();
	worked = reserve();
	if (sigaction(SIGSEGV, &own, &others))
		double_violation("there is no handler for faults of memory");
}

/* Of the pages that n_bytes take. */
static size_t rounded(size_t n_bytes)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	return (n_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

void *double_arena_take(size_t n_bytes)
{
	const size_t n_rounded = rounded(n_bytes), at = n_used + rounded(1);

	if (!given)
		make_views();
	if (n_rounded > view_bytes - at || mprotect(worked + at, n_rounded, PROT_READ | PROT_WRITE))
		return NULL;
	n_used = at + n_rounded;
	/* What was not cleared shows. */
	memset(worked + at, untouched, n_rounded);
	ASAN_POISON_MEMORY_REGION(worked + at + n_bytes, n_rounded - n_bytes);
	return given + at;
}

void double_arena_give_back(void *memory, size_t n_bytes)
{
	char *at = double_seen(memory);
	const size_t n_rounded = rounded(n_bytes);

	ASAN_UNPOISON_MEMORY_REGION(at, n_rounded);
	for (size_t i = n_bytes; i < n_rounded; i++)
		if ((unsigned char)at[i] != untouched)
			double_violation("a kernel has written behind the memory of the GPU");
	/* The pages go, the addresses stay taken. */
	if (mmap(at, n_rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
	         -1, 0) == MAP_FAILED)
		double_violation("memory of the GPU cannot be given back");
}

bool double_is_own(const void *at)
{
	return is_in(given, at);
}

void *double_seen(const void *at)
{
	const uintptr_t address = (uintptr_t)at;

	return (void *)(is_in(given, at) ? address - (uintptr_t)given + (uintptr_t)worked
	                                 : address);
}
