/* regions_internal.h - memory of the caller's that a transport knows for longer than one message.
 */
#ifndef ENGINE_TRANSPORT_REGIONS_INTERNAL_H
#define ENGINE_TRANSPORT_REGIONS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct region {
	const uint8_t *start;
	size_t n_bytes;
	int n_known; /* how often */
	void *held;  /* what the backend has of it; NULL at first */
};

/* In the order of their addresses, without overlaps. Start zeroed; pointers to regions are good
 * until the next one comes or goes. */
struct regions {
	struct region *all;
	size_t capacity, n;
};

/* Known once more. -ENOMEM: it is not, then. */
int regions_add(struct regions *regions, const void *memory, size_t n_bytes);

/* The region that is exactly this; NULL: there is none. */
struct region *regions_find(const struct regions *regions, const void *memory, size_t n_bytes);

/* The region that these bytes lie in, with the first and the last of them; NULL: there is none. */
struct region *regions_around(const struct regions *regions, const void *bytes, size_t n_bytes);

void regions_remove(struct regions *regions, struct region *region);
void regions_fini(struct regions *regions);

#endif
