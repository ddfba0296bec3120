/* digest.h - short names for long contents: 64-bit FNV-1a over bytes in a fixed order. */
#ifndef ENGINE_SCENARIO_DIGEST_H
#define ENGINE_SCENARIO_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* Start with this, pass each result on to the next. */
#define DIGEST_START UINT64_C(0xcbf29ce484222325)

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n_bytes);

/* Little-endian on every machine. */
uint64_t digest_int(uint64_t digest, int64_t value);

/* The end counts as well, so that "ab" "c" and "a" "bc" differ. NULL counts as "". */
uint64_t digest_text(uint64_t digest, const char *text);

#endif
