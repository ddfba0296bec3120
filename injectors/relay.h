/* relay.h - the injector for kernels without netem, and how well it does. */
#ifndef INJECTORS_RELAY_H
#define INJECTORS_RELAY_H

#include "injectors/delay_line.h"
#include "injectors/injector.h"

/* How late packets left it. -EINVAL: injector is another one. */
int relay_accuracy(const struct injector *injector, struct delay_accuracy *out, struct err *err);

#endif
