/* memory.c - foretells what open.c and staging.c take for messages. */
#include "engine/dataplane/memory.h"

#include "engine/dataplane/slots_internal.h"
#include "engine/dataplane/staging_internal.h"

struct dataplane_memory dataplane_memory(const struct dataplane_config *config, bool has_own_memory)
{
	int n_peers = (config->stage > 0) + (config->stage < config->n_stages - 1);
	double n = (double)n_peers * config->n_microbatches;
	double outputs = n * (double)config->payload_bytes;
	double inputs = n * (double)plane_input_bytes(config);

	if (has_own_memory)
		return (struct dataplane_memory){n_peers * staging_peer_bytes(config),
		                                 outputs + inputs};
	/* Each message is staged in memory of its own. */
	return (struct dataplane_memory){2 * outputs + inputs, 0};
}
