/* live_internal.h - what live.c (iterations), crew.c and silence.c (processes), injection.c and
 * injection_rnics.c (faults of a site), traffic.c (packets on their ways), limits.c and memory.c
 * (what they may need), speed.c (how fast), watch.c (what is seen) and facts.c (what they cost)
 * share. */
#ifndef ENGINE_REPLAY_LIVE_INTERNAL_H
#define ENGINE_REPLAY_LIVE_INTERNAL_H

#include <poll.h>
#include <sys/types.h>

#include "engine/replay/board.h"
#include "engine/replay/control.h"
#include "engine/replay/live.h"
#include "engine/sim/world.h"

/* Faults that a site applies. Zeroed without one. */
struct injection {
	struct world *world; /* the coordinator's own, for when faults are in force */
	bool *is_on;         /* [n_faults], like all that follow */
	struct fault_times *times;
	bool *has_begun;                /* an RNIC's outage, in the iteration in hand */
	int64_t *until_ns;              /* an RNIC is down, if it is, since the run's start */
	const struct executor_job *job; /* the iteration in hand */
	int64_t start_ns;               /* of that, since the run's start */
	int64_t died_ns;                /* the job, last, since the run's start */
};

struct crew_member {
	pid_t pid;   /* 0: none */
	int control; /* socket; -1: none */
	int host;
	int replica;
};

/* watch.c */
struct watch {
	struct watch_moment moment;
	struct watch_stage *stages;     /* NULL: nobody watches */
	const struct executor_job *job; /* in hand; NULL: none */
	int64_t real_start_ns;          /* of its iteration */
	int64_t due_ns;                 /* when to look again */
};

struct live {
	struct executor base;
	struct live_config config;
	struct model_config model;
	struct board board;
	size_t payload_bytes;
	uint64_t run;
	struct crew_member *crew;
	int n_crew;
	struct pollfd *polled; /* [n_crew] */
	bool *has_answered;    /* [n_crew] */
	bool has_delegate_threads;
	int plan_version;   /* on the board */
	bool *is_rail_down; /* [stage * n_rails + rail], as far as the workers know */
	bool has_rail_died; /* of these, and they may not know */
	bool has_stepped;   /* the workers have ended the iteration before */
	struct injection injection;
	struct traffic *traffic; /* traffic_internal.h; NULL: no link has faults */
	struct live_facts facts;
	int64_t begun_ns, ended_ns;     /* of iterations, real time */
	int64_t cpu_busy_ns, opened_ns; /* of the whole machine, when the run began */
	struct watch watch;
};

extern const struct executor_ops live_executor_ops;

/* crew.c: start a worker for each host and replica; crew_end() in any case. */
int crew_start(struct live *live, int attempt, int first_iteration, struct err *err);
int crew_order(struct live *live, const struct order *order, struct err *err);

struct crew_report {
	uint32_t handled;                      /* outages that began, anywhere */
	int64_t died_ns;                       /* -1: nobody's job died */
	char sentence[CONTROL_SENTENCE_BYTES]; /* of what, else */
};

/* crew.c: one answer of that kind from everybody. Where report is given, it may be DIED instead:
 * once somebody has said so all others are told, and who does not stop soon is killed, so that
 * nobody writes on the board any more; report has the first death. -EPIPE: a worker is gone;
 * -ETIMEDOUT; -EINTR; what a worker FAILED with. */
int crew_collect(struct live *live, enum answer_kind kind, int timeout_ms,
                 struct crew_report *report, struct err *err);

/* silence.c: those that have not answered when timeout_ms are over; returns -ETIMEDOUT. */
int silence_tell(const struct live *live, int timeout_ms, struct err *err);

/* crew.c: has a worker gone, or does it in the next moments? -EPIPE and how; 0: no. */
int crew_find_gone(const struct live *live, struct err *err);

/* crew.c: politely, then not; and at once. */
void crew_end(struct live *live);
void crew_kill(struct live *live);

/* limits.c: -EINVAL: what this machine has not enough of. Nothing has been started. */
int limits_check(const struct live *live, struct err *err);

/* memory.c: the same of memory. */
int memory_check(const struct live *live, struct err *err);

/* limits.c: as many descriptors as host may need. */
void limits_raise(const struct live_config *config, int host);

/* limits.c: how long to wait at most, real time: for what is not an iteration, and for one. */
int limits_patience_ms(const struct live *live);
int limits_timeout_ms(const struct live *live, const struct executor_job *job);

/* speed.c: the highest speed that leaves the model its share of an op, INFINITY where ops are not
 * held to their times; and -EINVAL, with a sentence, where the config's is higher. */
double speed_fastest(const struct live *live);
int speed_check(const struct live *live, struct err *err);

/* watch.c: show the watcher what goes on, if it is time to; without a watcher nothing. A job is
 * watched from watch_begin() to watch_end(). */
int watch_open(struct live *live, struct err *err);
void watch_close(struct live *live);
void watch_begin(struct live *live, const struct executor_job *job, int64_t real_start_ns);
void watch_end(struct live *live);
void watch_look(struct live *live);
void watch_look_restart(struct live *live, int attempt, int iteration);

/* watch.c: how long to sleep, at most most_ms, so that the next look is not missed. */
int watch_wait_ms(const struct live *live, int most_ms);

/* injection.c: let the site have faults in force as the job wants them when it begins; and, while
 * it runs, as its moments come: *wait_ns becomes less where the next one comes sooner. All do
 * nothing without a site. injection_close() in any case. */
int injection_open(struct live *live, struct err *err);
int injection_begin(struct live *live, const struct executor_job *job, struct err *err);
int injection_continue(struct live *live, int64_t *wait_ns, struct err *err);
void injection_close(struct live *live);

/* injection_rnics.c: what a site does to RNICs. _follow: at an edge they are as is_down says,
 * [stage * n_rails + rail]; _finish: an iteration has ended as result says; _restore: the job has
 * died, so all are replaced, and it goes on cost_ns of profile time later. */
int rnics_follow(struct live *live, const bool *is_down, struct err *err);
int rnics_finish(struct live *live, const struct executor_job *job,
                 const struct executor_result *result, struct err *err);
int rnics_restore(struct live *live, int64_t cost_ns, struct err *err);

/* facts.c */
void facts_start(struct live *live);
void facts_begin_iteration(struct live *live, int64_t now_ns);
void facts_end_iteration(struct live *live);
void facts_add(struct live *live);

#endif
