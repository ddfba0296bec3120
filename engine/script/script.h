/* script.h - a Lua scenario file becomes a scenario.
 *
 * Scripts run in a sandbox: no os, io, debug, load, dofile, package, no bytecode, no string
 * metatable tricks; a memory limit in the allocator; a wall-clock limit that the caller arms.
 * lua/README.md is the contract with scripts. */
#ifndef ENGINE_SCRIPT_SCRIPT_H
#define ENGINE_SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/scenario/scenario.h"

enum { SCRIPT_MEMORY_BYTES = 64 << 20 };

struct script;

struct script_request {
	const char *path;
	const char *const *assignments; /* "name=value" for options that the script declares */
	size_t n_assignments;
	const char *const *profile_folders; /* searched in order for ab.profile "name"; the script's
	                                       own profiles/ comes first */
	size_t n_profile_folders;
};

/* Run the script and build the scenario. -EINVAL: mistakes holds every sentence, or err one
 * (syntax, limits). *out is set only on success; free it with script_free(). */
int script_load(const struct script_request *request, struct script **out,
                struct scenario_mistakes *mistakes, struct err *err);
void script_free(struct script *script);

/* The script's; may be changed by the caller (--iterations, --seed) until it is freed. */
struct scenario *script_scenario(struct script *script);

/* A declared option, for list and --help. */
struct script_option {
	const char *name;
	const char *value; /* in force, as text */
	const char *default_value;
	const char *help;
};

size_t script_n_options(const struct script *script);
struct script_option script_option_at(const struct script *script, size_t i);

/* What a check sees of one schedule; r["1f1b"].p50_ms and so on. */
struct check_schedule {
	const char *name;
	double total_s, p50_ms, p95_ms, samples_per_s, bubble_ratio, compute_ms, wait_ms,
		blocked_ms;
	int iterations, restarts;
};

enum check_state { CHECK_HELD, CHECK_FAILED, CHECK_BROKEN };

/* name and detail are the script's, valid until it is freed or the checks run again. */
struct check_result {
	const char *name;
	enum check_state state;
	const char *detail; /* CHECK_BROKEN: the script's error; else "" */
};

/* Run the scenario's checks, in the order of their names. The results are the script's. */
int script_run_checks(struct script *script, const struct check_schedule *schedules,
                      size_t n_schedules, const struct check_result **results_out, size_t *n_out,
                      struct err *err);

#endif
