/* packed.h - gzip data for tests. */
#ifndef TESTS_PACKED_H
#define TESTS_PACKED_H

#include <stddef.h>

/* One gzip member, the caller's to free. NULL: out of memory. */
char *packed(const char *bytes, size_t n_bytes, size_t *n_out);

#endif
