/* observed_record_internal.h - where an op stands in a whole iteration; for the two files that make
 * records. */
#ifndef ENGINE_FORMAT_OBSERVED_RECORD_INTERNAL_H
#define ENGINE_FORMAT_OBSERVED_RECORD_INTERNAL_H

#include "engine/format/observed_record.h"

bool observed_is_computation(const struct observed_op *op);

/* F, or B for whole backwards and those for the input, or W. */
enum op_kind observed_op_kind(const struct observed_op *op);

/* The replica that the op's rank is of its stage; n_replicas: it is none. */
int observed_replica(const struct observed_record *record, const struct observed_op *op);

uint32_t *observed_place(const struct observed_record *record, int stage, int replica,
                         enum op_kind kind, int microbatch);

/* Put every op of the iteration into its place, as the n-th from 1 that computes. false: one is
 * missing, or there twice. */
bool observed_fill_places(struct observed_record *record, const struct observed_slice *slice);

#endif
