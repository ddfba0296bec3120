/* topology.c - where the stages of a pipeline sit. */
#include "engine/scenario/topology.h"

int topology_stages_on_host(const struct topology *topology, int host)
{
	int share = topology->n_stages / topology->n_hosts;

	return share + (host < topology->n_stages % topology->n_hosts ? 1 : 0);
}

int topology_first_stage(const struct topology *topology, int host)
{
	int share = topology->n_stages / topology->n_hosts;
	int n_larger = topology->n_stages % topology->n_hosts;

	return host * share + (host < n_larger ? host : n_larger);
}

int topology_host_of_stage(const struct topology *topology, int stage)
{
	int share = topology->n_stages / topology->n_hosts;
	int n_larger = topology->n_stages % topology->n_hosts;
	int n_on_larger = n_larger * (share + 1);

	if (stage < n_on_larger)
		return stage / (share + 1);
	return n_larger + (stage - n_on_larger) / share;
}

int64_t topology_message_ns(const struct topology *topology, int64_t message_bytes)
{
	__int128 rate = topology->link_rate_bits_per_s;
	__int128 total_ns = topology->link_delay_ns;

	if (rate > 0)
		total_ns += ((__int128)message_bytes * 8 * 1000000000 + rate - 1) / rate;
	return total_ns > INT64_MAX ? INT64_MAX : (int64_t)total_ns;
}
