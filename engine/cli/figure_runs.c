/* figure_runs.c - makes the runs that a figure is drawn from. */
#include "engine/cli/figure_runs.h"

#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/cli/command.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/cli/run_schedules.h"

/* The texts of a list that ends with NULL or when it is full. */
static struct text_list list_of(const char *const *items, size_t most, const char **storage)
{
	struct text_list list = {storage, 0};

	while (list.n_items < most && items[list.n_items]) {
		storage[list.n_items] = items[list.n_items];
		list.n_items++;
	}
	return list;
}

static int simulate(const struct loaded *loaded, const struct options *options, struct store *store,
                    int64_t *comparison_out)
{
	struct backend virtual = {0};
	struct err err = {0};

	if (store_begin_comparison(store, loaded->scenario, comparison_out, &err))
		return output_failure(&err), EXIT_RUN_FAILED;
	return run_schedules(loaded, options, &virtual, store, *comparison_out);
}

/* As sim would run it with the same words on its command line. */
static int run_one(const struct figure_run *run, const struct paths *paths, struct store *store,
                   int64_t *comparison_out)
{
	const char *assignments[FIGURE_ASSIGNMENTS], *schedules[FIGURE_SCHEDULES];
	const struct options options = {
		.seed = -1,
		.at = -1,
		.is_quiet = true,
		.skips_ops = !run->needs_ops,
		.assignments = list_of(run->assignments, FIGURE_ASSIGNMENTS, assignments),
		.schedules = list_of(run->schedules, FIGURE_SCHEDULES, schedules),
	};
	struct loaded loaded;
	int code = load_scenario(&options, paths, run->scenario, NULL, &loaded);

	if (code)
		return code;
	code = load_check_plans(&loaded, &options);
	if (code == EXIT_DONE)
		code = simulate(&loaded, &options, store, comparison_out);
	loaded_fini(&loaded);
	return code;
}

static int read_one(struct store *store, int64_t number, struct figure_runs *out)
{
	struct comparison *comparison = &out->comparisons[out->n_read];
	const struct report_extras none = {0};
	struct err err = {0};

	if (comparison_load(store, number, comparison, &err))
		return output_failure(&err);
	if (page_read(&out->pages[out->n_read], store, comparison, &none, &err)) {
		comparison_fini(comparison);
		return output_failure(&err);
	}
	out->n_read++;
	return EXIT_DONE;
}

int figure_runs_make(const struct figure *figure, const struct options *options,
                     const struct paths *paths, struct store *store, struct figure_runs *out)
{
	int code = EXIT_DONE;

	out->comparisons = array_new(figure->n_runs, sizeof(*out->comparisons));
	out->pages = array_new(figure->n_runs, sizeof(*out->pages));
	if (!out->comparisons || !out->pages) {
		output_error("out of memory");
		return EXIT_RUN_FAILED;
	}
	output_note(options, "%s: %zu comparison%s", figure->title, figure->n_runs,
	            figure->n_runs == 1 ? "" : "s");
	for (size_t i = 0; i < figure->n_runs && code == EXIT_DONE; i++) {
		int64_t number = 0;

		code = run_one(&figure->runs[i], paths, store, &number);
		if (code == EXIT_DONE)
			code = read_one(store, number, out);
	}
	return code;
}

void figure_runs_fini(struct figure_runs *runs)
{
	for (size_t i = 0; i < runs->n_read; i++) {
		page_fini(&runs->pages[i]);
		comparison_fini(&runs->comparisons[i]);
	}
	free(runs->pages);
	free(runs->comparisons);
	*runs = (struct figure_runs){0};
}
