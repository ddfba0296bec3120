/* topology.h - the machines: stages, the hosts they sit on, the links between them, their RNICs. */
#ifndef ENGINE_SCENARIO_TOPOLOGY_H
#define ENGINE_SCENARIO_TOPOLOGY_H

#include <stdint.h>

enum { TOPOLOGY_STAGES_MAX = 1024, TOPOLOGY_REPLICAS_MAX = 4096, TOPOLOGY_RAILS_MAX = 16 };

/* Stages 0 … n_stages − 1 in pipeline order, spread over the hosts in contiguous runs as equal as
 * possible, larger ones first. Link i joins stages i and i + 1. Every stage has an RNIC of its own,
 * rail 0; rail r of a stage is another RNIC of its host that it can reach. */
struct topology {
	int n_stages;
	int n_hosts;
	int n_replicas;               /* data-parallel copies, D */
	int n_rails;                  /* paths out of a stage; those after 0 are back-ups */
	int64_t link_delay_ns;        /* healthy link, one way */
	int64_t link_rate_bits_per_s; /* 0: a message takes link_delay_ns whatever its size */
};

int topology_host_of_stage(const struct topology *topology, int stage);

/* First stage and number of stages of host. */
int topology_first_stage(const struct topology *topology, int host);
int topology_stages_on_host(const struct topology *topology, int host);

/* Time on a healthy link from its first byte to the arrival of its last: delay + bytes / rate,
 * rounded up. */
int64_t topology_message_ns(const struct topology *topology, int64_t message_bytes);

#endif
