/* injection_internal.h - what injection.c (faults of links that a site applies) and
 * injection_rnics.c (RNICs that it takes down) share. */
#ifndef ENGINE_REPLAY_INJECTION_INTERNAL_H
#define ENGINE_REPLAY_INJECTION_INTERNAL_H

#include "engine/replay/live_internal.h"

/* injection.c: a moment of CLOCK_MONOTONIC as profile time since the run's start; and now. */
int64_t injection_run_ns(const struct live *live, int64_t moment_ns);
int64_t injection_now_ns(const struct live *live);

/* injection.c: have the site put the fault in force, or take it out. */
int injection_set(struct live *live, size_t fault, bool is_on, struct err *err);

/* injection.c: a change inside an iteration, wanted and done at these moments of the run. */
void injection_note_lateness(struct live *live, int64_t asked_ns, int64_t done_ns);

/* injection_rnics.c: the parts of injection_open() and the others that are about RNICs.
 * rnics_continue() lowers *next_ns, a moment of the run. */
int rnics_open(struct live *live, struct err *err);
int rnics_begin(struct live *live, const struct executor_job *job, struct err *err);
int rnics_continue(struct live *live, int64_t *next_ns, struct err *err);
void rnics_close(struct live *live);

#endif
