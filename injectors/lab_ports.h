/* lab_ports.h - where the messages of a topology's stages leave in a lab. */
#ifndef INJECTORS_LAB_PORTS_H
#define INJECTORS_LAB_PORTS_H

#include "injectors/injector.h"
#include "injectors/lab.h"

/* Host h of replica r is the lab's host r × n_hosts + h. Both stay the caller's. */
struct lab_ports {
	const struct lab *lab;
	const struct topology *topology;
};

/* For injector_config; context is a struct lab_ports. -ENOTSUP: the stages share a host, so no
 * packet between them leaves it; for an RNIC: other stages use the host's interface as well.
 * -EINVAL: no such replica, stage or rail. */
int lab_locate(void *context, const struct injector_target *target, struct egress_port *out,
               struct err *err);

#endif
