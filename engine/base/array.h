/* array.h - arrays that grow, and sizes that do not overflow. */
#ifndef ENGINE_BASE_ARRAY_H
#define ENGINE_BASE_ARRAY_H

#include <stddef.h>

/* Return items with room for at least n_wanted of item_bytes each, moved if need be, and set
 * *capacity; at least doubles, so that appending is linear. NULL: out of memory, or the size
 * overflows; items is untouched then. */
void *array_grow(void *items, size_t *capacity, size_t n_wanted, size_t item_bytes);

/* calloc() that returns a non-NULL pointer for n_items 0 as well. NULL: out of memory. */
void *array_new(size_t n_items, size_t item_bytes);

/* A heap copy. NULL: out of memory. */
void *array_copy(const void *items, size_t n_items, size_t item_bytes);

#endif
