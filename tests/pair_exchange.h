/* pair_exchange.h - an exchange between two stages of one process, whose devices are CPUs: posts
 * meet as streams do, and whoever is strict about their contract fails the test program.
 *
 * A post waits for the other end's in stream order, and ends when both have taken what they
 * receive. progress() is once not ready after every post. What an abort leaves in the memory to be
 * filled is not what was sent, and it is over after some looks. Both ends belong to one thread. */
#ifndef TESTS_PAIR_EXCHANGE_H
#define TESTS_PAIR_EXCHANGE_H

#include "engine/transport/exchange.h"

extern const struct exchange_ops pair_exchange_ops;

/* Ends of exchanges that are open. */
int pair_exchange_n_open(void);

/* Posts so far, and those of more than one part. */
int pair_exchange_n_posts(void);
int pair_exchange_n_groups(void);

/* From here on processes that are forked count into the same; one of them at a time. */
void pair_exchange_share_counts(void);

/* From its nth post on (0-based) the end of stage towards peer_stage finds that the other one is
 * gone, in every process that is forked from here on; -1: never again. */
void pair_exchange_fail(int stage, int peer_stage, int nth_post);

/* From here on, also in processes that are forked, nobody may wait for the end of one exchange
 * while another that is open in its process has not been aborted. */
void pair_exchange_end_together(bool is_on);

#endif
