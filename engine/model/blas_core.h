/* blas_core.h - which of its kernels OpenBLAS computes with. */
#ifndef ENGINE_MODEL_BLAS_CORE_H
#define ENGINE_MODEL_BLAS_CORE_H

/* "Haswell": the processor for which they were written. */
const char *blas_core_name(void);

/* OpenBLAS chooses when it is loaded, and one that is older than the processor does not know it:
 * it then takes kernels of 2004 that need four times as long. Where this processor can do better
 * and the user chose nothing (OPENBLAS_CORETYPE), choose and start this program again with argv, so
 * call it before anything else is done. Returns if all is well, or if that was not possible. */
void blas_core_choose(char **argv);

#endif
