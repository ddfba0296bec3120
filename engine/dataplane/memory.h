/* memory.h - how much memory the messages of a stage take. */
#ifndef ENGINE_DATAPLANE_MEMORY_H
#define ENGINE_DATAPLANE_MEMORY_H

#include "engine/dataplane/dataplane.h"

/* In bytes. Doubles, since what is asked for can be more than there is. */
struct dataplane_memory {
	double host_bytes;
	double own_bytes; /* of a device that has memory of its own; else 0 */
};

/* What dataplane_open() takes. Of the configuration that needs the stages, microbatches, queues,
 * sizes and uses_exchanges. */
struct dataplane_memory dataplane_memory(const struct dataplane_config *config,
                                         bool has_own_memory);

#endif
