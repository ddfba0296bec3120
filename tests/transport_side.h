/* transport_side.h - two stages in two processes that exchange messages as fast as they can. */
#ifndef TESTS_TRANSPORT_SIDE_H
#define TESTS_TRANSPORT_SIDE_H

#include <sys/types.h>

#include "engine/transport/transport.h"

/* How many messages may be under way. Each has bytes of its own, as tensors have. */
enum { SIDE_WINDOW = 4, SIDE_ROUNDS = 5 };

/* Which transport, with messages of what size at most. */
struct side_setting {
	const char *transport;
	const struct verbs_settings *verbs;
	int64_t n_bytes;
};

/* One of the stages. A program with a side that fails ends with 1 and a sentence. */
struct side {
	struct side_setting setting;
	struct transport *transport;
	int stage;
	bool has_cores; /* more than one */
	int64_t n_sent, n_received, n_acked;
	bool is_lost;
	char *payload;
};

/* Stage 0 here, and stage 1 in a process of its own, which receives until the rail is lost;
 * is_echo: and answers each message with 64 bytes. */
void side_start(struct side *side, const struct side_setting *setting, bool is_echo,
                pid_t *child_out);
void side_stop(struct side *side, pid_t child);

/* Returns whether there was nothing. */
bool side_poll(struct side *side);

/* As a worker's loop does it: who has nothing to do leaves the core to who has. On a single one it
 * sleeps a little instead: whoever spins takes that from the others, and from a device that is
 * software. */
void side_work(struct side *side);
void side_send(struct side *side, int64_t n_bytes);

/* Gbit/s of messages of the largest size, as many under way as there may be, for so long. */
double side_throughput(const struct side_setting *setting, int64_t round_ns);

/* The same over SIDE_ROUNDS rounds, in turns with another program, so that both see the same
 * machine. measure: the other's Gbit/s between the same ends; 0: it is not installed, or has
 * failed, and such a round is compared with nothing. */
struct side_comparison {
	int n_whole;                           /* rounds in which the other one gave a figure */
	double ours, theirs;                   /* medians */
	double ratio, ratio_least, ratio_most; /* ours over theirs; the first is the median */
};

/* Prints how many rounds the comparison is of, if those are not all. */
void side_say_rounds(const struct side_comparison *comparison);
struct side_comparison side_compare(const struct side_setting *setting, int64_t round_ns,
                                    double (*measure)(const struct side_setting *setting));

/* Half a round trip of 64 bytes, both sides polling. */
double side_latency_us(const struct side_setting *setting, int n_echoes);

/* What a poll costs that finds nothing. */
double side_idle_poll_ns(const struct side_setting *setting, int n_polls);

#endif
