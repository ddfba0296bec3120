/* verbs_memory_internal.h - the caller's memory that devices read by themselves. */
#ifndef ENGINE_TRANSPORT_VERBS_MEMORY_INTERNAL_H
#define ENGINE_TRANSPORT_VERBS_MEMORY_INTERNAL_H

#include "engine/transport/verbs_internal.h"

/* The registration with this port of known memory that these bytes lie in; NULL: they are to be
 * copied. Good until that is forgotten. */
const struct ibv_mr *verbs_memory_around(struct verbs *verbs, const struct verbs_port *port,
                                         const void *bytes, size_t n_bytes);

/* Once: it may have been known twice. Returns when no device reads it any more. */
void verbs_memory_forget(struct verbs *verbs, const void *memory, size_t n_bytes);

/* When there are no queue pairs any more, and ports still. */
void verbs_memory_free(struct verbs *verbs);

#endif
