/* regions.c - memory of the caller's that a transport knows for longer than one message. */
#include "engine/transport/regions_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"

/* How many regions begin at this address or before it. It is asked for every piece that is sent. */
static size_t count_until(const struct regions *regions, const void *address)
{
	size_t low = 0, high = regions->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)regions->all[middle].start <= (uintptr_t)address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct region *regions_find(const struct regions *regions, const void *memory, size_t n_bytes)
{
	struct region *region = regions_around(regions, memory, n_bytes);

	return region && region->start == memory && region->n_bytes == n_bytes ? region : NULL;
}

struct region *regions_around(const struct regions *regions, const void *bytes, size_t n_bytes)
{
	size_t n = count_until(regions, bytes), offset;
	struct region *region;

	if (n == 0)
		return NULL;
	region = &regions->all[n - 1];
	offset = (uintptr_t)bytes - (uintptr_t)region->start;
	return offset <= region->n_bytes && n_bytes <= region->n_bytes - offset ? region : NULL;
}

int regions_add(struct regions *regions, const void *memory, size_t n_bytes)
{
	struct region *known = regions_find(regions, memory, n_bytes);
	size_t n = count_until(regions, memory);

	if (known) {
		known->n_known++;
		return 0;
	}
	known = array_grow(regions->all, &regions->capacity, regions->n + 1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	regions->all = known;
	memmove(&known[n + 1], &known[n], (regions->n - n) * sizeof(*known));
	known[n] = (struct region){.start = memory, .n_bytes = n_bytes, .n_known = 1};
	regions->n++;
	return 0;
}

void regions_remove(struct regions *regions, struct region *region)
{
	size_t n_behind = (size_t)(regions->all + regions->n - (region + 1));

	memmove(region, region + 1, n_behind * sizeof(*region));
	regions->n--;
}

void regions_fini(struct regions *regions)
{
	free(regions->all);
}
