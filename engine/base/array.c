/* array.c - arrays that grow, and sizes that do not overflow. */
#include "engine/base/array.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_AT_FIRST = 8 };

void *array_grow(void *items, size_t *capacity, size_t n_wanted, size_t item_bytes)
{
	size_t n_most, n_items;
	void *grown;

	assert(item_bytes > 0);
	if (items && n_wanted <= *capacity)
		return items;
	n_most = PTRDIFF_MAX / item_bytes;
	if (n_wanted > n_most)
		return NULL;
	n_items = *capacity > n_most / 2 ? n_most : *capacity * 2;
	if (n_items < CAPACITY_AT_FIRST && n_most >= CAPACITY_AT_FIRST)
		n_items = CAPACITY_AT_FIRST;
	if (n_items < n_wanted)
		n_items = n_wanted;
	grown = realloc(items, n_items * item_bytes);
	if (!grown)
		return NULL;
	*capacity = n_items;
	return grown;
}

void *array_new(size_t n_items, size_t item_bytes)
{
	if (n_items == 0 || item_bytes == 0)
		return calloc(1, 1);
	if (n_items > PTRDIFF_MAX / item_bytes)
		return NULL;
	return calloc(n_items, item_bytes);
}

void *array_copy(const void *items, size_t n_items, size_t item_bytes)
{
	void *copy;

	if (item_bytes > 0 && n_items > PTRDIFF_MAX / item_bytes)
		return NULL;
	copy = array_new(n_items, item_bytes);
	if (copy && n_items * item_bytes > 0)
		memcpy(copy, items, n_items * item_bytes);
	return copy;
}
