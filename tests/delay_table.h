/* delay_table.h - the table of delay models of DESIGN.md section 2: what N messages back to back
 * over one link cost. Simulator, data planes and transports are held to the same one. */
#ifndef TESTS_DELAY_TABLE_H
#define TESTS_DELAY_TABLE_H

#include "engine/scenario/fault.h"
#include "engine/scenario/plane.h"
#include "engine/sim/net.h"

/* A row of the table, for so many messages and queues a direction. */
struct delay_row {
	enum delay_model model;
	enum plane_kind plane;
	int n_messages, n_queues;
};

/* Row i of all models and planes, for 1, 6, 7 and 24 messages and the default of queues; false:
 * there are no more. */
bool delay_row_at(int i, struct delay_row *out);

/* When the last message arrives if they are asked for every every_ns, the first after every_ns, on
 * a link that is slower by delay_ns. */
int64_t delay_row_ns(const struct delay_row *row, int64_t every_ns, int64_t delay_ns);

/* What a message meets on such a link. */
struct shape delay_message(enum delay_model model, int64_t delay_ns);

#endif
