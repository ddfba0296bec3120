/* comparison_live.h - what only live runs have: losses, and facts about their workers. Part of
 * comparison.h. */
#ifndef REPORTS_COMPARISON_LIVE_H
#define REPORTS_COMPARISON_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* The losses of a live run, each iteration's in its last attempt. */
struct comparison_losses {
	uint64_t subject; /* of workload, seed, repeat, host: equal where losses must be */
	int repeat;       /* from 0 */
	double *loss;     /* [n_iterations_asked]; NaN: none */
	int missing;      /* the first complete iteration without a loss; −1: none */
	int conflict;     /* the first one that two attempts gave different losses; −1: none */
};

/* What live runs were like, in real time, over the repeats that count. NaN: not known. */
struct comparison_facts {
	double n_workers;
	double speed;
	double lowered_from; /* the scenario's speed, when it was too much for the machine */
	double payload_bytes;
	double n_ops;        /* a sum */
	double late_mean_us; /* from an op's end on its device until it was seen */
	double late_max_us;
	double n_overruns;    /* a sum: ops that computed for longer than they should take */
	double op_cpu_us;     /* that an op computed, mean */
	double foreign_cores; /* busy with other programs, in the repeat with the most */
	double between_s;     /* between iterations, left out of all times; a sum */
	/* Of runs in a lab, whose faults somebody else than the workers applied. */
	double n_applied; /* changes inside iterations, a sum: how late were they? */
	double apply_mean_us, apply_max_us;
	double n_outages; /* of RNICs, a sum: the longest until it was noticed, and overcome? */
	double notice_max_us, recover_max_ms;
	double n_packets, n_lost, n_dropped; /* sums: led through faults; lost as asked, or not */
	double n_relayed; /* a sum, of these by the relay: how late did they leave? */
	double relay_mean_us, relay_p99_us, relay_max_us;
};

/* What passed one way between two stages while a fault was in force there, of one schedule, over
 * the repeats that count. Times and rates are profile time. NaN: not known. */
struct comparison_passed {
	double n_messages;                           /* that arrived, a sum */
	double extra_ms, extra_p50_ms, extra_p95_ms; /* that they took; of several times in force
	                                                the mean over messages */
	double goodput_mbit_per_s;                   /* of payload, while a message was under way */
	double n_packets, n_lost;                    /* sums: got through; lost as asked for */
	double held_ms;                              /* a packet, in the mean, by who delays it */
	double n_resent;                             /* segments that TCP sent again, a sum */
};

/* Faults of one way that begin and end together, as they are asked for. NaN: not of that kind. */
struct comparison_link {
	int from_stage, to_stage;
	double delay_ms, jitter_ms, loss_ratio, rate_mbit_per_s;
	char *delay_model;                /* "" without a delay */
	struct comparison_passed *passed; /* [n_schedules] */
};

/* Have other programs used so much CPU meanwhile that times are longer than on a free machine? */
bool comparison_is_crowded(double foreign_cores);

/* The losses that stand for all: of the run with the most of them. */
struct comparison_loss {
	const double *loss; /* [n_iterations_asked], NaN: none; NULL: there are no losses */
	double first, last;
	int n_iterations; /* that have one */
	int n_compared;   /* iterations of which two runs or more have one */
	bool is_equal;    /* as comparison_losses_agree() */
	int difference;   /* the first iteration that is not as it should be; −1: none */
};

struct comparison;

struct comparison_loss comparison_loss_of(const struct comparison *comparison);

#endif
