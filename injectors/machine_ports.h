/* machine_ports.h - interfaces of the machine itself, for faults that the user allows there.
 *
 * An interface that the run did not make is only touched when it was named. The first that is named
 * is rail 0 of every stage of this machine, the next one rail 1. A fault of a link slows all that
 * leaves the interface, whoever it is for. An RDMA port over Ethernet goes down with the interface
 * it belongs to; one of InfiniBand does not, and is left alone. */
#ifndef INJECTORS_MACHINE_PORTS_H
#define INJECTORS_MACHINE_PORTS_H

#include "injectors/injector.h"

struct machine_ports;

/* names are copied. They are looked up in the caller's namespace. -ENODEV: there is none of that
 * name, err names those there are; -EINVAL: one is named twice; -ENOTSUP: one is down; -EPERM: one
 * may not be touched, whoever names it: the loopback interface, and one with a default route, or
 * under one that has it, by which the user may have come. */
int machine_ports_open(const char *const *names, int n_names, struct machine_ports **out,
                       struct err *err);

/* NULL is nothing. Close the injectors and the egress before. */
void machine_ports_close(struct machine_ports *ports);

/* For injector_config; context is a struct machine_ports. -ENOTSUP: no interface is named for that
 * rail. */
int machine_locate(void *context, const struct injector_target *target, struct egress_port *out,
                   struct err *err);

#endif
