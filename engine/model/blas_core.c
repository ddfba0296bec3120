/* blas_core.c - has OpenBLAS use kernels that the processor deserves. */
#include "engine/model/blas_core.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char variable[] = "OPENBLAS_CORETYPE";

/* What OpenBLAS falls back to; no processor that runs Debian 12 at any speed is one. */
static const char fallback[] = "Prescott";

const char *blas_core_name(void)
{
	return openblas_get_corename();
}

#if defined(__x86_64__)
/* The best kernels that need no more than this processor has. */
static const char *best_core(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
	return __builtin_cpu_supports("avx") ? "Sandybridge" : NULL;
}
#else
static const char *best_core(void)
{
	return NULL;
}
#endif

void blas_core_choose(char **argv)
{
	const char *best = best_core();

	if (!best || getenv(variable) || strcmp(blas_core_name(), fallback) != 0)
		return;
	if (setenv(variable, best, 0) == 0)
		(void)execv("/proc/self/exe", argv);
}
