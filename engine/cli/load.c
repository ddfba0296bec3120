/* load.c - reads a scenario with everything that the command line says about it. */
#include "engine/cli/load.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/script_time.h"
#include "engine/format/order_file.h"
#include "engine/script/limit.h"
#include "reports/paired.h"

static const char csv_prefix[] = "csv:";

/* All mistakes, then how many. Returns the exit code. */
static int tell_mistakes(const struct scenario_mistakes *mistakes, const char *path,
                         const struct err *err)
{
	if (mistakes->n_sentences == 0)
		return output_failure(err);
	for (size_t i = 0; i < mistakes->n_sentences; i++)
		output_error("%s", mistakes->sentences[i]);
	if (mistakes->n_sentences > 1)
		output_error("%zu mistakes in '%s'; nothing ran", mistakes->n_sentences, path);
	return EXIT_MISTAKE;
}

static bool is_same_option(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");

	return strcspn(b, "=") == length && strncmp(a, b, length) == 0;
}

/* The user's assignments but those that the variant makes otherwise, then the variant's. The caller
 * frees out's items. */
static int join_assignments(const struct text_list *users, const struct variant *variant,
                            struct text_list *out, struct err *err)
{
	size_t n_variant = variant ? variant->n_assignments : 0;

	out->items = array_new(users->n_items + n_variant, sizeof(*out->items));
	if (!out->items)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < users->n_items; i++) {
		bool is_replaced = false;

		for (size_t j = 0; j < n_variant; j++)
			is_replaced |= is_same_option(users->items[i], variant->assignments[j]);
		if (!is_replaced)
			out->items[out->n_items++] = users->items[i];
	}
	for (size_t j = 0; j < n_variant; j++)
		out->items[out->n_items++] = variant->assignments[j];
	return 0;
}

static int run_script(const struct paths *paths, const char *path,
                      const struct text_list *assignments, struct script **out,
                      struct scenario_mistakes *mistakes, struct err *err)
{
	const struct script_request request = {
		.path = path,
		.assignments = assignments->items,
		.n_assignments = assignments->n_items,
		.profile_folders = (const char *const *)paths->profile_folders,
		.n_profile_folders = paths->n_profile_folders,
	};
	int rc = script_time_start_loading(err);

	if (rc)
		return rc;
	rc = script_load(&request, out, mistakes, err);
	script_limit_stop();
	return rc;
}

int load_script(const struct paths *paths, const char *path, struct script **out, struct err *err)
{
	struct scenario_mistakes mistakes = {0};
	const struct text_list assignments = {0};
	int rc = run_script(paths, path, &assignments, out, &mistakes, err);

	if (rc && mistakes.n_sentences > 0)
		rc = err_set(err, rc, "%s", mistakes.sentences[0]);
	scenario_mistakes_fini(&mistakes);
	return rc;
}

/* --schedule: these instead of the scenario's. */
static int replace_schedules(struct scenario *scenario, const struct text_list *names,
                             struct err *err)
{
	char **schedules;

	if (names->n_items == 0)
		return 0;
	if (names->n_items > SCENARIO_SCHEDULES_MAX)
		return err_set(err, -EINVAL,
		               "--schedule is given %zu times; at most %d are compared",
		               names->n_items, SCENARIO_SCHEDULES_MAX);
	schedules = array_new(names->n_items, sizeof(*schedules));
	if (!schedules)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < scenario->n_schedules; i++)
		free(scenario->schedules[i]);
	free(scenario->schedules);
	scenario->schedules = schedules;
	scenario->n_schedules = names->n_items;
	for (size_t i = 0; i < names->n_items; i++) {
		schedules[i] = strdup(names->items[i]);
		if (!schedules[i])
			return err_set(err, -ENOMEM, "out of memory");
		for (size_t j = 0; j < i; j++)
			if (strcmp(schedules[i], schedules[j]) == 0)
				return err_set(err, -EINVAL, "--schedule %s is given twice",
				               names->items[i]);
	}
	return 0;
}

/* Fewer iterations leave some faults beyond the last one, which is fine; more of them may make a
 * run too long to be counted, which validation finds. */
static int set_iterations(struct loaded *loaded, const struct options *options,
                          struct scenario_mistakes *mistakes)
{
	struct scenario *scenario = loaded->scenario;
	bool is_longer = options->iterations > scenario->n_iterations;
	int n_lowered;

	if (options->iterations == 0)
		return 0;
	loaded->is_part |= options->iterations < scenario->n_iterations;
	scenario->n_iterations = (int)options->iterations;
	n_lowered = scenario->n_warmup - (scenario->n_iterations - 1);
	if (n_lowered > 0) {
		loaded->n_warmup_lowered = n_lowered;
		scenario->n_warmup -= n_lowered;
	}
	return is_longer ? scenario_validate(scenario, mistakes) : 0;
}

static int override(struct loaded *loaded, const struct options *options,
                    struct scenario_mistakes *mistakes, struct err *err)
{
	struct scenario *scenario = loaded->scenario;
	int rc;

	if (options->seed >= 0)
		scenario->seed = (uint64_t)options->seed;
	if (options->repeat > 0)
		scenario->n_repeats = (int)options->repeat;
	if (options->has_control && scenario->n_repeats < 2)
		return err_set(
			err, -EINVAL,
			"--control needs repeats, or there is nothing to tell chance by; add "
			"--repeat %d",
			PAIRED_FEW);
	loaded->is_part = options->schedules.n_items > 0;
	rc = set_iterations(loaded, options, mistakes);
	return rc ? rc : replace_schedules(scenario, &options->schedules, err);
}

static int read_order(const char *name, struct plan *out, struct err *err)
{
	if (strncmp(name, csv_prefix, strlen(csv_prefix)) != 0)
		return 0;
	return order_file_read(name + strlen(csv_prefix), out, err);
}

/* Every name that is wrong is told, not only the first. */
static int find_schedules(struct loaded *loaded)
{
	const struct scenario *scenario = loaded->scenario;
	int code = EXIT_DONE;

	loaded->schedules = array_new(scenario->n_schedules, sizeof(struct schedule_ops *));
	loaded->orders = array_new(scenario->n_schedules, sizeof(*loaded->orders));
	if (!loaded->schedules || !loaded->orders) {
		output_error("out of memory");
		return EXIT_CANNOT;
	}
	for (size_t i = 0; i < scenario->n_schedules; i++) {
		struct err err = {0};

		loaded->schedules[i] = schedule_find(scenario->schedules[i], &err);
		if (loaded->schedules[i] &&
		    read_order(scenario->schedules[i], &loaded->orders[i], &err) == 0)
			continue;
		code = output_failure(&err);
	}
	return code;
}

int load_scenario(const struct options *options, const struct paths *paths, const char *name,
                  const struct variant *variant, struct loaded *out)
{
	struct scenario_mistakes mistakes = {0};
	struct loaded loaded = {0};
	struct err err = {0};
	struct text_list assignments = {0};
	char *path = NULL;
	int code, rc = join_assignments(&options->assignments, variant, &assignments, &err);

	if (rc == 0)
		rc = paths_find_scenario(paths, name, &path, &err);
	if (rc == 0)
		rc = run_script(paths, path, &assignments, &loaded.script, &mistakes, &err);
	if (rc == 0) {
		loaded.scenario = script_scenario(loaded.script);
		rc = override(&loaded, options, &mistakes, &err);
	}
	if (rc)
		code = tell_mistakes(&mistakes, path, &err);
	else
		code = find_schedules(&loaded);
	if (code)
		loaded_fini(&loaded);
	else
		*out = loaded;
	scenario_mistakes_fini(&mistakes);
	free(assignments.items);
	free(path);
	return code;
}

void loaded_fini(struct loaded *loaded)
{
	for (size_t i = 0; loaded->orders && i < loaded->scenario->n_schedules; i++)
		plan_fini(&loaded->orders[i]);
	free(loaded->orders);
	free(loaded->schedules);
	script_free(loaded->script);
	*loaded = (struct loaded){0};
}

struct sim_request loaded_request(const struct loaded *loaded, const struct options *options,
                                  size_t i, int repeat)
{
	return (struct sim_request){
		.scenario = loaded->scenario,
		.schedule = loaded->schedules[i],
		.name = loaded->scenario->schedules[i],
		.order = loaded->orders[i].n_stages > 0 ? &loaded->orders[i] : NULL,
		.repeat = repeat,
		.is_oracle = options->is_oracle,
	};
}

enum plane_kind loaded_plane(const struct loaded *loaded, size_t i)
{
	return scenario_plane_of(loaded->scenario, loaded->scenario->schedules[i],
	                         loaded->schedules[i]->plane);
}

struct plane_rules loaded_stream_rules(const struct loaded *loaded, size_t i)
{
	struct plane_rules rules = schedule_plane_rules(loaded->schedules[i], PLANE_STREAM);

	if (loaded->orders[i].n_stages > 0 && loaded->orders[i].merges_backward)
		rules = plane_batched();
	scenario_choose_stream(loaded->scenario, &rules);
	return rules;
}

int load_check_plans(const struct loaded *loaded, const struct options *options)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < loaded->scenario->n_schedules; i++) {
		struct sim_request request = loaded_request(loaded, options, i, 0);
		enum plane_kind plane;
		struct err err = {0};
		struct plan plan;

		if (sim_plan_at(&request, 0, &plan, &plane, &err) == 0) {
			plan_fini(&plan);
			continue;
		}
		(void)err_wrap(&err, "schedule %s", loaded->scenario->schedules[i]);
		code = output_failure(&err);
	}
	return code;
}
