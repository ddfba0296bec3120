/* script.c - from a file to a scenario. */
#include "engine/script/script.h"

#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/scenario/digest.h"
#include "engine/script/script_internal.h"

struct scenario *script_scenario(struct script *script)
{
	return &script->scenario;
}

size_t script_n_options(const struct script *script)
{
	return script->n_options;
}

struct script_option script_option_at(const struct script *script, size_t i)
{
	const struct option *option = &script->options[i];

	return (struct script_option){
		.name = option->name,
		.value = option->value,
		.default_value = option->default_value,
		.help = option->help,
	};
}

void script_free(struct script *script)
{
	if (!script)
		return;
	if (script->lua)
		lua_close(script->lua);
	for (size_t i = 0; i < script->n_sources; i++)
		free(script->sources[i].text);
	for (size_t i = 0; i < script->n_options; i++)
		option_fini(&script->options[i]);
	check_results_fini(script);
	scenario_fini(&script->scenario);
	free(script->options);
	free(script->targets);
	free(script->trace_file);
	free(script->folder);
	free(script);
}

/* Everything that calls into Lua while a script is loaded; runs protected. */
static int load(lua_State *lua)
{
	struct script *script = script_of(lua);

	sandbox_open_libraries(lua);
	vocabulary_open(lua);
	source_load(script, lua, script->request->path);
	script_follow(lua);
	lua_call(lua, 0, 1);
	read_scenario(script);
	return 0;
}

static int script_new(const struct script_request *request, struct scenario_mistakes *mistakes,
                      struct script **out, struct err *err)
{
	struct script *script = calloc(1, sizeof(*script));

	if (!script)
		return err_set(err, -ENOMEM, "out of memory");
	script->request = request;
	script->mistakes = mistakes;
	script->digest = DIGEST_START;
	scenario_init(&script->scenario);
	script->folder = file_folder(request->path);
	script->scenario.path = strdup(request->path);
	script->lua = sandbox_new(&script->memory_used);
	if (!script->folder || !script->scenario.path || !script->lua) {
		script_free(script);
		return err_set(err, -ENOMEM, "out of memory");
	}
	memcpy(lua_getextraspace(script->lua), &script, sizeof(script));
	*out = script;
	return 0;
}

/* What can be checked only when everything was read. Where the rest has mistakes, the faults are
 * checked all the same if the pipeline is known. */
static int check(struct script *script)
{
	struct scenario_mistakes *mistakes = script->mistakes;
	int rc = 0;

	option_check_assignments(script);
	mistakes->script_name = script->sources[0].name;
	if (mistakes->n_sentences == 0)
		rc = scenario_validate(&script->scenario, mistakes);
	else if (script->has_topology)
		rc = scenario_validate_faults(&script->scenario, mistakes);
	mistakes->script_name = NULL;
	return script->rc ? script->rc : rc;
}

/* The number in "name.lua:14: …"; those without a line come last. */
static int line_of(const char *sentence)
{
	const char *colon = strchr(sentence, ':');
	int line;

	return colon && sscanf(colon, ":%9d:", &line) == 1 ? line : INT_MAX;
}

static int compare_sentences(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;
	size_t a_file = strcspn(a, ":"), b_file = strcspn(b, ":");
	bool is_same_file = a_file == b_file && strncmp(a, b, a_file) == 0;

	if (is_same_file && line_of(a) != line_of(b))
		return line_of(a) < line_of(b) ? -1 : 1;
	return strcmp(a, b);
}

/* From top to bottom, as a person mends them; and always in the same order, which Lua's tables do
 * not have. */
static void sort_mistakes(struct scenario_mistakes *mistakes, size_t first)
{
	qsort(mistakes->sentences + first, mistakes->n_sentences - first,
	      sizeof(*mistakes->sentences), compare_sentences);
}

static int set_digest(struct script *script)
{
	char text[17];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)script->digest);
	script->scenario.text_digest = strdup(text);
	return script->scenario.text_digest ? 0 : -ENOMEM;
}

int script_load(const struct script_request *request, struct script **out,
                struct scenario_mistakes *mistakes, struct err *err)
{
	size_t n_before = mistakes->n_sentences;
	struct script *script = NULL;
	int rc = script_new(request, mistakes, &script, err);

	if (rc)
		return rc;
	lua_pushcfunction(script->lua, load);
	rc = script_call(script, 0, 0, err);
	if (rc && mistakes->n_sentences > n_before)
		(void)scenario_mistake_add(mistakes, 0, "%s", err->text); /* err has it too */
	if (rc == 0)
		rc = check(script);
	if (rc == 0)
		rc = set_digest(script);
	if (rc == -ENOMEM)
		err_set(err, rc, "out of memory");
	else if (rc == 0 && mistakes->n_sentences > n_before)
		rc = -EINVAL;
	if (mistakes->n_sentences > n_before)
		sort_mistakes(mistakes, n_before);
	if (rc == -EINVAL && (!err || err->text[0] == '\0'))
		err_set(err, rc, "%s", mistakes->sentences[n_before]);
	script->mistakes = NULL;
	script->request = NULL;
	if (rc) {
		script_free(script);
		return rc;
	}
	*out = script;
	return 0;
}
