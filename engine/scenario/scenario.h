/* scenario.h - what is asked: topology, workload, schedules to compare, faults, and how long. */
#ifndef ENGINE_SCENARIO_SCENARIO_H
#define ENGINE_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/scenario/fault.h"
#include "engine/scenario/parts.h"
#include "engine/scenario/plane.h"
#include "engine/scenario/profile.h"
#include "engine/scenario/rdma.h"
#include "engine/scenario/topology.h"

enum {
	SCENARIO_ITERATIONS_MAX = 10000000,
	SCENARIO_MICROBATCHES_MAX = 65536,
	SCENARIO_MESSAGES_MAX = 1 << 20, /* stages times microbatches */
	SCENARIO_SCHEDULES_MAX = 32,
	SCENARIO_REPEATS_MAX = 1000,
	SCENARIO_QUEUES_MAX = 1024,
	SCENARIO_OPS_MAX = 64, /* of one iteration, at which faults start or end */
};

/* Owns everything it points to. Made by engine/script or by scenario_init and setters of the
 * caller's own; valid once scenario_validate() has passed. */
struct scenario {
	char *title;
	char *path;        /* of the script; "" when not from a file */
	char *text_digest; /* of the script and its options, 16 hex digits */
	struct topology topology;
	struct profile profile;
	int n_microbatches;   /* per iteration and replica, N */
	int activation_limit; /* for every stage and schedule; 0: none but zb's own */
	char **schedules;
	size_t n_schedules;
	int n_iterations;
	int n_warmup; /* first iterations, left out of p50 and p95 */
	int n_repeats;
	uint64_t seed;
	int n_queues; /* delegate queues per direction */
	int64_t window_bytes;
	int64_t delegate_cost_ns; /* per delegated message; starts as the profile's */
	struct live_settings live;
	struct recovery recovery;
	struct rdma_retry rdma; /* where messages travel over RDMA */
	struct detection detection;
	struct fault *faults;
	size_t n_faults;
	struct event *events;
	size_t n_events;
	struct variant *variants;
	size_t n_variants;
	struct stream_choice stream;
	struct plane_choice *planes;
	size_t n_planes;
	char *note; /* printed under the comparison; NULL: none */
};

/* Defaults for every number; strings and arrays empty. */
void scenario_init(struct scenario *scenario);
void scenario_fini(struct scenario *scenario);

/* A list of mistakes, each one sentence with the script's line where there is one. Start zeroed. */
struct scenario_mistakes {
	const char *script_name; /* borrowed; stands in front of a line; NULL: "line 14: …" */
	char **sentences;
	size_t n_sentences;
	size_t capacity;
};

/* Check all ranges and references, and that no two faults of one kind on one target overlap. Adds a
 * sentence for each mistake; 0 when there is none, else -EINVAL (-ENOMEM: a sentence could not be
 * kept). Schedule names are checked by who knows them. */
int scenario_validate(const struct scenario *scenario, struct scenario_mistakes *mistakes);

/* The part of it that is about faults; topology and iterations must be valid. For a reader of
 * scripts that has complained about the rest already. */
int scenario_validate_faults(const struct scenario *scenario, struct scenario_mistakes *mistakes);

/* script_line 0: no line is named. -ENOMEM when it cannot be kept. */
int scenario_mistake_add(struct scenario_mistakes *mistakes, int script_line, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));
void scenario_mistakes_fini(struct scenario_mistakes *mistakes);

/* The ops at which faults start or end, each once, by iteration, stage, kind and microbatch. The
 * caller frees *out. -ENOMEM. */
int scenario_list_ops(const struct scenario *scenario, struct moment **out, size_t *n_out);

/* Order of two of them: < 0, 0 or > 0. */
int scenario_compare_ops(const struct moment *a, const struct moment *b);

/* Write the scenario's departures into the rules of a stream plane. */
void scenario_choose_stream(const struct scenario *scenario, struct plane_rules *rules);

/* The plane on which schedule starts, preset unless the scenario chose another. */
enum plane_kind scenario_plane_of(const struct scenario *scenario, const char *schedule,
                                  enum plane_kind preset);

/* Bytes of one activation or gradient message; 0: not known. */
int64_t scenario_message_bytes(const struct scenario *scenario);

/* What a repeat, from 0, draws its jitter and its model from: the first from the scenario's seed
 * itself, every other from one of its own. */
uint64_t scenario_repeat_seed(const struct scenario *scenario, int repeat);

/* What must agree before two runs may be compared: topology, profile, microbatches, faults, seed,
 * iterations. A hash, and the same for every schedule. */
uint64_t scenario_workload_fingerprint(const struct scenario *scenario);

#endif
