/* double_state.c - the double's lock, its errors on demand, and the end of who breaks a rule. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda_double/cuda_double.h"
#include "tests/cuda_double/double_internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *failing;
static int calls_till_failure;
static cudaError_t failing_as; /* cudaSuccess: as such a function fails */
static bool has_read_environment;
static _Thread_local bool is_in_host_function;

void double_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void double_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}

void double_await_change(void)
{
	(void)pthread_cond_wait(&changed, &lock);
}

void double_await(pthread_cond_t *condition)
{
	(void)pthread_cond_wait(condition, &lock);
}

void double_tell_change(void)
{
	(void)pthread_cond_broadcast(&changed);
}

void double_violation(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# the double of CUDA: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	/* No core of it is wanted, nor what a sanitizer would say about a signal. */
	_Exit(86);
}

void cuda_double_fail(const char *name, int nth)
{
	cuda_double_fail_as(name, nth, cudaSuccess);
}

void cuda_double_fail_as(const char *name, int nth, cudaError_t status)
{
	double_lock();
	has_read_environment = true;
	failing = name;
	calls_till_failure = nth;
	failing_as = status;
	double_unlock();
}

/* NAME:NTH. */
static void read_environment(void)
{
	static char name[64];
	const char *text = getenv("CUDA_DOUBLE_FAIL");

	has_read_environment = true;
	if (!text)
		return;
	if (sscanf(text, "%63[^:]:%d", name, &calls_till_failure) != 2)
		double_violation("CUDA_DOUBLE_FAIL is '%s'; wanted is NAME:NTH", text);
	failing = name;
}

static bool fails_now(const char *name)
{
	bool fails = false;

	double_lock();
	if (!has_read_environment)
		read_environment();
	if (failing && strcmp(failing, name) == 0 && --calls_till_failure == 0) {
		failing = NULL;
		fails = true;
	}
	double_unlock();
	return fails;
}

static cudaError_t failure_of(const char *name)
{
	if (failing_as != cudaSuccess)
		return failing_as;
	if (strcmp(name, "cudaMalloc") == 0 || strcmp(name, "cudaHostAlloc") == 0)
		return cudaErrorMemoryAllocation;
	if (strcmp(name, "cudaGetDeviceCount") == 0)
		return cudaErrorInsufficientDriver;
	return cudaErrorLaunchFailure;
}

cudaError_t double_enter(const char *name)
{
	if (is_in_host_function)
		double_violation("a host function calls %s", name);
	return fails_now(name) ? failure_of(name) : cudaSuccess;
}

void double_enter_host_function(void)
{
	is_in_host_function = true;
}

void double_leave_host_function(void)
{
	is_in_host_function = false;
}
