/* lab_ports.c - where the messages of a topology's stages leave in a lab. */
#include "injectors/lab_ports.h"

#include <errno.h>

static int check_target(const struct lab_ports *ports, const struct injector_target *target,
                        struct err *err)
{
	const struct topology *topology = ports->topology;

	if (target->replica < 0 || target->replica >= topology->n_replicas ||
	    target->from_stage < 0 || target->from_stage >= topology->n_stages ||
	    target->to_stage < 0 || target->to_stage >= topology->n_stages || target->rail < 0 ||
	    target->rail >= topology->n_rails)
		return err_set(err, -EINVAL, "no stages %d and %d with rail %d in replica %d",
		               target->from_stage, target->to_stage, target->rail, target->replica);
	return 0;
}

static int check_hosts(const struct lab_ports *ports, const struct injector_target *target,
                       struct err *err)
{
	int from = topology_host_of_stage(ports->topology, target->from_stage);
	int to = topology_host_of_stage(ports->topology, target->to_stage);

	if (target->from_stage == target->to_stage &&
	    topology_stages_on_host(ports->topology, from) > 1)
		return err_set(err, -ENOTSUP,
		               "the RNIC of stage %d is that of %d stages of host %d in a lab; "
		               "give each stage a host of its own",
		               target->from_stage, topology_stages_on_host(ports->topology, from),
		               from);
	if (target->from_stage != target->to_stage && from == to)
		return err_set(err, -ENOTSUP,
		               "stages %d and %d share host %d, so no packet between them leaves "
		               "it; give each stage a host of its own, or use the shaped injector",
		               target->from_stage, target->to_stage, from);
	return 0;
}

int lab_locate(void *context, const struct injector_target *target, struct egress_port *out,
               struct err *err)
{
	const struct lab_ports *ports = context;
	const struct topology *topology = ports->topology;
	int first_host = target->replica * topology->n_hosts, from, to;
	int rc = check_target(ports, target, err);

	if (!rc)
		rc = check_hosts(ports, target, err);
	if (rc)
		return rc;
	from = first_host + topology_host_of_stage(topology, target->from_stage);
	to = first_host + topology_host_of_stage(topology, target->to_stage);
	*out = (struct egress_port){
		.netlink = lab_netlink(ports->lab, from),
		.where = *lab_namespace(ports->lab, from),
		.namespace_fd = lab_namespace_fd(ports->lab, from),
		.destination = lab_address(to, target->rail),
		.mtu_bytes = lab_config(ports->lab)->mtu_bytes,
		.is_allowed = true,
	};
	lab_rail_name(target->rail, out->interface);
	return 0;
}
