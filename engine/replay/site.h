/* site.h - the hosts that a run's workers are on, where those are not the machine that it runs on.
 *
 * Without a site all workers share the machine's own network, and make their links as slow as the
 * scenario asks by themselves. A site gives every worker a host of its own, and takes over faults
 * that it can put into the network between them; the workers leave those to it. It belongs to the
 * coordinator, in one thread. A worker is born with a copy, of which it calls enter() once, and
 * address() and is_up() after that. Every site keeps these promises: to apply what is in force, or
 * clear what is not, succeeds; close() clears everything. */
#ifndef ENGINE_REPLAY_SITE_H
#define ENGINE_REPLAY_SITE_H

#include "engine/base/strbuf.h"
#include "engine/scenario/scenario.h"
#include "engine/transport/transport.h"

enum { SITE_TEXT_BYTES = 512, SITE_NAME_BYTES = 32 };

/* Borrowed until close(). */
struct site_config {
	const struct scenario *scenario;
	double speed;            /* profile time / real time */
	int64_t message_bytes;   /* of a message with all that the transport puts around it, at most
	                          */
	const char *injector;    /* who is to apply faults of links: a name, or "auto" */
	const char *transport;   /* what moves tensors */
	const char *interfaces;  /* of the site "machine": "NAME[,NAME…]", rail by rail */
	struct strbuf *timeline; /* gets a line for what is done only on paper (dry_run) */
};

/* What packets met that were led through faults, all of them together. */
struct site_report {
	int64_t sent_packets;
	int64_t lost_packets;    /* as losses asked for */
	int64_t dropped_packets; /* nobody asked for that; 0: cannot be told from those lost */
	/* How late packets left that were delayed by this process; 0 packets: none were. */
	int64_t delayed_packets;
	int64_t late_mean_ns, late_p99_ns, late_max_ns;
};

/* Packets that went the way of one fault, since the site was opened, in real time. */
struct site_counts {
	int64_t sent_packets;
	int64_t lost_packets; /* as losses asked for */
	int64_t delayed_packets;
	int64_t delay_sum_ns; /* how long those were held, together */
};

struct site;

struct site_ops {
	const char *name;

	/* Make the hosts. -EPERM: not allowed here; -ENOTSUP: this machine or build cannot do what
	 * config.injector names; -EINVAL: the scenario has what no site can do; -ENOENT: no such
	 * injector. *out is set only on success, and nothing is left otherwise. Blocks for some
	 * hundred milliseconds. */
	int (*open)(const struct site_config *config, struct site **out, struct err *err);

	/* In a worker, between fork() and its first socket: go to where a host of a replica is, for
	 * good. */
	int (*enter)(struct site *site, int replica, int host, struct err *err);

	/* Where a stage listens on a rail, as "ADDRESS:0", written to text, which it returns. */
	char *(*address)(const struct site *site, int replica, int stage, int rail,
	                 char text[TRANSPORT_ADDRESS_BYTES]);

	/* In a worker: is the RNIC of one of its stages up, as its own host sees it? One system
	 * call. */
	bool (*is_up)(const struct site *site, int replica, int stage, int rail);

	/* A fault that is_taken is in force, or no more, for what leaves after the return. */
	int (*set)(struct site *site, size_t fault, bool is_on, struct err *err);

	/* What packets met that go where those of a fault do which is_taken. */
	int (*count)(struct site *site, size_t fault, struct site_counts *out, struct err *err);

	int (*report)(struct site *site, struct site_report *out, struct err *err);

	/* Remove everything, whoever is still on a host, and free the site. The first error is
	 * returned. */
	int (*close)(struct site *site, struct err *err);
};

/* Sites embed it first. */
struct site {
	const struct site_ops *ops;
	const bool *is_taken;              /* [n_faults] of the scenario: the site applies it */
	char injector[SITE_NAME_BYTES];    /* who does, in a word; "shaped": the workers do all */
	char description[SITE_TEXT_BYTES]; /* "relay for delays (…), link for RNICs" and why */
};

/* -ENOENT: no such site, err names those there are; -ENOTSUP: left out of this build, err says what
 * to install. */
int site_find(const char *name, const struct site_ops **out, struct err *err);

/* NULL is nothing. */
static inline int site_close(struct site *site, struct err *err)
{
	return site ? site->ops->close(site, err) : 0;
}

static inline bool site_takes(const struct site *site, size_t fault)
{
	return site && site->is_taken[fault];
}

#endif
