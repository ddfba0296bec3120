/* delay_line.h - takes packets from one file descriptor and puts them into another one later.
 *
 * One thread serves any number of lanes. It does in user space what netem does in the kernel, with
 * the same parameters, for kernels that have no netem; and it measures how well. Packets are read
 * when the thread gets to it and sent when their time has come: the thread sleeps until a moment
 * before and watches the clock for the rest, since a sleeping thread is woken 0.1 ms late. All
 * functions are for one other thread. */
#ifndef INJECTORS_DELAY_LINE_H
#define INJECTORS_DELAY_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/scenario/fault.h"

/* What the packets of a lane meet. */
struct delay_shape {
	int64_t delay_ns;
	int64_t jitter_ns; /* as fault.h says; cut at four sigma, like the kernel's */
	enum distribution distribution;
	bool allows_reordering;        /* jitter may let packets overtake each other */
	double loss_ratio;             /* 0 to 1 */
	double loss_correlation_ratio; /* as fault.h says */
	int64_t rate_bits_per_s;       /* 0: any; one packet after another, in front of the delay */
	int64_t limit_packets;         /* that wait at once; those beyond are dropped */
};

/* Where packets come from and go to: a packet is what one read() gives, and is sent with one
 * write(). */
struct delay_ends {
	int in_fd, out_fd;
	int packet_bytes; /* of the largest */
};

struct delay_line;

struct delay_counts {
	int64_t sent_packets;
	int64_t lost_packets;    /* as loss_ratio asked */
	int64_t dropped_packets; /* beyond the limit, or not taken by the interface */
	int64_t waiting_packets;
	int64_t delay_sum_ns; /* of those sent: from when they were read */
};

/* How late packets were sent: after their time until the system call returned. All 0: none was. */
struct delay_accuracy {
	int64_t n_packets;
	int64_t mean_ns;
	int64_t p99_ns; /* to 10 µs; at most 10 ms */
	int64_t max_ns;
};

/* Start the thread. The same seed draws the same jitter and losses for the same packets. */
int delay_line_open(uint64_t seed, struct delay_line **out, struct err *err);

/* Serve ends from now on; their file descriptors are taken over, also on failure, and made
 * non-blocking. Lanes are numbered from 0. */
int delay_line_add(struct delay_line *line, const struct delay_ends *ends,
                   const struct delay_shape *shape, int *lane_out, struct err *err);

/* For packets that are read from now on; those that wait keep what they met. */
void delay_line_set(struct delay_line *line, int lane, const struct delay_shape *shape);

void delay_line_count(struct delay_line *line, int lane, struct delay_counts *out);

/* Of all lanes, since the line was opened. */
void delay_line_accuracy(struct delay_line *line, struct delay_accuracy *out);

/* End the thread; packets that wait are lost. NULL is nothing. */
void delay_line_close(struct delay_line *line);

#endif
