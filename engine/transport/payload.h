/* payload.h - memory of the caller's in which received payloads lie, such as one that a device
 * reaches. */
#ifndef ENGINE_TRANSPORT_PAYLOAD_H
#define ENGINE_TRANSPORT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Aligned to 64. Payloads lie in it as long as there is room, and elsewhere then. */
struct payload_area {
	void *at; /* NULL: there is none */
	size_t n_bytes;
};

/* What one payload of so many bytes takes of it. */
size_t payload_area_bytes(int64_t n_bytes);

static inline bool payload_area_holds(const struct payload_area *area, const void *payload)
{
	return (uintptr_t)payload - (uintptr_t)area->at < area->n_bytes;
}

#endif
