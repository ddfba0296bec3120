/* script_internal.h - what the files of engine/script share. */
#ifndef ENGINE_SCRIPT_SCRIPT_INTERNAL_H
#define ENGINE_SCRIPT_SCRIPT_INTERNAL_H

#include <lua.h>
#include <stdint.h>

#include "engine/script/script.h"

enum {
	SCRIPT_SOURCE_BYTES = 4 << 20, /* of one script or profile */
	SCRIPT_NAME_BYTES = 56,        /* of a chunk; Lua cuts at 60 */
	SCRIPT_SOURCES_MAX = 64,
	SCRIPT_FAULTS_MAX = 1 << 20,
};

/* A file that was run; its text is kept to find the line of a field. */
struct source {
	char name[SCRIPT_NAME_BYTES];
	char *text;
};

/* Where a statement stands in a script. */
struct place {
	char file[SCRIPT_NAME_BYTES];
	int line; /* 0: not known */
};

struct option {
	char *name;
	char *value;
	char *default_value;
	char *help;
};

/* A message direction, or a stage twice. */
struct target {
	int from_stage;
	int to_stage;
};

/* Owns everything but request and mistakes, which are there only while it loads (checks run later).
 * What is allocated hangs here at once, since any call into Lua may end the function that makes it.
 */
struct script {
	lua_State *lua;
	size_t memory_used;
	const struct script_request *request;
	struct scenario_mistakes *mistakes;
	int rc; /* -ENOMEM once a mistake could not be kept */
	char *folder;
	struct place trail; /* the script's line that ran last */
	struct source sources[SCRIPT_SOURCES_MAX];
	size_t n_sources;
	uint64_t digest;
	struct scenario scenario;
	bool has_topology;           /* the number of stages is known */
	bool has_hosts;              /* and everything else about the pipeline */
	struct place workload_place; /* of the statement in the scenario, whatever file its times
	                                are from */
	struct option *options;
	size_t n_options;
	size_t option_capacity;
	size_t fault_capacity;
	size_t event_capacity;
	struct target *targets; /* of the fault that is being read */
	size_t n_targets;
	size_t target_capacity;
	char *trace_file; /* of the trace that is being read */
	struct check_result *results;
	size_t n_results;
};

/* sandbox.c: a state with safe libraries and a memory limit. */
lua_State *sandbox_new(size_t *memory_used);
void sandbox_open_libraries(lua_State *lua); /* may raise */

/* call.c: function(arguments…) is on the stack; runs it with a traceback. -EINVAL: err is one
 * sentence that names the script's line. */
int script_call(struct script *script, int n_arguments, int n_results, struct err *err);

struct script *script_of(lua_State *lua);

/* call.c: where the running script is, and the hook that remembers it. */
struct place script_place(lua_State *lua);
void script_follow(lua_State *lua);

/* source.c: load a file as a function on the stack, or raise; text is kept. */
void source_load(struct script *script, lua_State *lua, const char *path);

/* source.c: the last part of a path. */
const char *source_name(const char *path);

/* field_line.c: the line of `field = …` in the table constructor that starts at statement_line;
 * statement_line when it is not found. */
int field_line(const char *text, int statement_line, const char *field);

/* vocabulary.c: what `require "adaptra"` gives; may raise. */
void vocabulary_open(lua_State *lua);

/* option.c. Declare an option (name, default, help are Lua's arguments 1 to 3) and push its value;
 * may raise. */
int option_declare(lua_State *lua);
void option_check_assignments(struct script *script);
void option_fini(struct option *option);

/* profile_file.c: a Lua function: name -> the profile's statement, or nil after a complaint. */
int profile_file_load(lua_State *lua);

/* read_scenario.c: the script's result is on the stack; fills script->scenario. May raise. */
void read_scenario(struct script *script);

/* check.c */
void check_results_fini(struct script *script);

/* A sentence with a place in front. */
void script_complain(struct script *script, const struct place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
