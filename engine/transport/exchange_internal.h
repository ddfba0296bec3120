/* exchange_internal.h - the exchanges that exchange_registry.c lists. */
#ifndef ENGINE_TRANSPORT_EXCHANGE_INTERNAL_H
#define ENGINE_TRANSPORT_EXCHANGE_INTERNAL_H

#include "engine/transport/exchange.h"

extern const struct exchange_ops nccl_ops;

#endif
