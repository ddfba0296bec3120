/* beside.h - a live comparison beside the same in virtual time: what belongs to what, and how far
 * apart they are. */
#ifndef REPORTS_BESIDE_H
#define REPORTS_BESIDE_H

#include "reports/comparison.h"

/* Two numbers; NaN: there is none. */
struct beside {
	double measured;
	double simulated;
	double error_ratio; /* measured / simulated − 1; NaN too when either run is not done */
};

/* Of the schedule with that index in live; simulated has its own order. */
struct beside beside_total_s(const struct comparison *live, const struct comparison *simulated,
                             size_t schedule);
struct beside beside_p50_ms(const struct comparison *live, const struct comparison *simulated,
                            size_t schedule);

/* The p50 of the iterations of event, one of live's. */
struct beside beside_event_ms(const struct comparison *live, const struct comparison *simulated,
                              size_t event, size_t schedule);

#endif
