/* cmd_plan.c - `plan SCENARIO --schedule NAME`: what every stage does, and what its links tolerate.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/cli/command.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/format/order_file.h"
#include "reports/report.h"

/* A plan with everything that is shown of it. */
struct view {
	const struct options *options;
	const struct loaded *loaded;
	struct plan plan;
	enum plane_kind plane;
	struct plan_times times; /* without any fault */
	int64_t *numbers;        /* what times and tolerated_ns point into */
	int64_t *tolerated_ns;
	char warning[PLAN_WARNING_BYTES];
};

/* Op times of the profile and links without a fault. */
static int fill_times(struct view *view, struct err *err)
{
	const struct scenario *scenario = view->loaded->scenario;
	size_t n = (size_t)scenario->topology.n_stages;
	int64_t *numbers = array_new(n * (OP_KINDS + 2), sizeof(*numbers));

	if (!numbers)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t s = 0; s < n; s++) {
		const struct profile_stage *stage = &scenario->profile.stages[s];

		numbers[OP_F * n + s] = stage->forward_ns;
		numbers[OP_B * n + s] = stage->backward_input_ns;
		numbers[OP_W * n + s] = stage->backward_weight_ns;
		numbers[OP_KINDS * n + s] =
			topology_message_ns(&scenario->topology, scenario_message_bytes(scenario));
	}
	view->numbers = numbers;
	view->times = (struct plan_times){
		.n_stages = (int)n,
		.op_ns = {numbers + OP_F * n, numbers + OP_B * n, numbers + OP_W * n},
		.link_ns = numbers + OP_KINDS * n,
	};
	view->tolerated_ns = numbers + (OP_KINDS + 1) * n;
	return 0;
}

static int make_plan(struct view *view, struct err *err)
{
	const struct options *options = view->options;
	struct sim_request request = loaded_request(view->loaded, options, 0, 0);
	int iteration = options->at > 0 ? (int)options->at : 0;

	if (iteration >= view->loaded->scenario->n_iterations)
		return err_set(err, -EINVAL, "--at %d is past the scenario's last iteration, %d",
		               iteration, view->loaded->scenario->n_iterations - 1);
	return sim_plan_at(&request, iteration, &view->plan, &view->plane, err);
}

static int fill(struct view *view, struct err *err)
{
	int rc = make_plan(view, err);

	if (rc == 0)
		rc = fill_times(view, err);
	if (rc == 0)
		rc = plan_verify(&view->plan, NULL, view->warning, err);
	for (int link = 0; rc == 0 && link < view->plan.n_stages - 1; link++) {
		if (interrupt_is_pending())
			return err_set(err, -EINTR, "interrupted");
		rc = sim_tolerated_delay(&view->plan, &view->times, link, &view->tolerated_ns[link],
		                         err);
	}
	return rc;
}

/* "-" is the whole result then. */
static int export_csv(const struct view *view)
{
	const char *path = view->options->csv;
	struct strbuf csv = {0};
	struct err err = {0};
	int rc = order_file_write_csv(&view->plan, view->options->has_comms, &csv, &err);
	int code = EXIT_DONE;

	if (rc == 0 && csv.is_failed)
		rc = err_set(&err, -ENOMEM, "out of memory");
	if (rc == 0 && strcmp(path, "-") == 0)
		code = output_result(&csv);
	else if (rc == 0)
		rc = file_write(path, strbuf_text(&csv), csv.length, &err);
	strbuf_fini(&csv);
	return rc ? output_failure(&err) : code;
}

static int print(const struct view *view)
{
	const struct options *options = view->options;
	const struct report_style style = output_style(options);
	const struct plan_report report = {
		.scenario_title = view->loaded->scenario->title,
		.schedule = view->loaded->scenario->schedules[0],
		.plane = plane_kind_name(view->plane),
		.iteration = (int)options->at,
		.plan = &view->plan,
		.times = &view->times,
		.tolerated_delay_ns = view->tolerated_ns,
		.warning = view->warning,
	};
	struct strbuf out = {0};
	int code;

	if (options->is_json)
		report_plan_json(&report, &out);
	else
		report_plan_terminal(&report, &style, &out);
	code = output_result(&out);
	strbuf_fini(&out);
	return code;
}

static int show(const struct view *view, const char *scenario)
{
	const char *schedule = view->loaded->scenario->schedules[0];
	int code = view->options->csv ? export_csv(view) : EXIT_DONE;

	if (code || (view->options->csv && strcmp(view->options->csv, "-") == 0))
		return code;
	code = print(view);
	if (code == EXIT_DONE && view->options->csv)
		output_next(view->options, "sim %s --schedule %s --schedule csv:%s", scenario,
		            schedule, view->options->csv);
	else if (code == EXIT_DONE)
		output_next(view->options, "plan %s --schedule %s --csv plan.csv", scenario,
		            schedule);
	return code;
}

static int check_options(const struct options *options)
{
	bool is_csv_alone = options->csv && strcmp(options->csv, "-") == 0;

	if (options->schedules.n_items != 1)
		output_error("plan shows one schedule, and %zu are named; write --schedule NAME, "
		             "adaptra-bench list schedules shows the names",
		             options->schedules.n_items);
	else if (is_csv_alone && options->is_json)
		output_error("--json and --csv - both want standard output; name a file for the "
		             "CSV");
	else if (options->has_comms && !options->csv)
		output_error("--with-comms is about the CSV; write --csv FILE as well");
	else
		return EXIT_DONE;
	return EXIT_MISTAKE;
}

int cmd_plan(struct cli *cli)
{
	const struct options *options = &cli->options;
	struct loaded loaded;
	struct paths paths;
	struct view view = {.options = options, .loaded = &loaded};
	struct err err = {0};
	int code = check_options(options);

	if (code)
		return code;
	if (paths_init(&paths, &err))
		return output_failure(&err);
	code = load_scenario(options, &paths, options->arguments.items[0], NULL, &loaded);
	if (code)
		goto free_paths;
	interrupt_install();
	if (fill(&view, &err))
		code = output_failure(&err);
	else
		code = show(&view, options->arguments.items[0]);
	free(view.numbers);
	plan_fini(&view.plan);
	loaded_fini(&loaded);

free_paths:
	paths_fini(&paths);
	return code;
}
