/* session.c - runs a scenario: everything is loaded and planned first, so that nothing half-runs,
 * then every schedule is run and stored, and only then is anything reported. */
#include "engine/cli/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/interrupt.h"
#include "engine/cli/checks.h"
#include "engine/cli/command.h"
#include "engine/cli/load.h"
#include "engine/cli/output.h"
#include "engine/cli/result.h"
#include "engine/cli/run_schedules.h"
#include "engine/cli/stored.h"
#include "engine/cli/timeline.h"
#include "engine/cli/variants.h"
#include "engine/store/store.h"
#include "reports/comparison.h"
#include "reports/kept_extras.h"

struct session {
	const struct options *options;
	struct loaded loaded;
	struct variants variants;
	struct backend backend;
	struct store *store;
	int64_t comparison;
	int64_t simulated; /* the comparison beside a live one; 0: none */
	struct comparison beside;
};

/* What only the simulator can do. */
static int check_live(const struct loaded *loaded, size_t i)
{
	const struct plane_rules rules = loaded_stream_rules(loaded, i);
	const char *why;

	/* Losses are compared bit for bit, so every order must keep the microbatches'. */
	if (loaded->orders[i].n_stages > 0 && !plan_is_in_microbatch_order(&loaded->orders[i]))
		why = "does not keep the microbatches in order";
	else if (!plane_is_stream_preset(&rules))
		why = "departs from the presets of the stream plane";
	else
		return EXIT_DONE;
	output_error("%s %s, so it runs in virtual time only; use adaptra-bench sim",
	             loaded->scenario->schedules[i], why);
	return EXIT_MISTAKE;
}

int session_choose_live(const struct options *options, const struct loaded *loaded,
                        struct backend *out)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < loaded->scenario->n_schedules && code == EXIT_DONE; i++)
		code = check_live(loaded, i);
	if (code)
		return code;
	/* From here on there may be a lab, which has to be undone. */
	interrupt_install();
	code = backend_choose_live(options, loaded->scenario, out);
	if (code || !interrupt_is_pending())
		return code;
	output_error("interrupted before anything ran");
	return EXIT_INTERRUPTED;
}

int session_check_virtual(const struct options *options, const struct loaded *loaded)
{
	struct err err = {0};

	/* Nothing is simulated. */
	if (options->is_dry_run || sim_check(loaded->scenario, &err) == 0)
		return EXIT_DONE;
	output_error("%s", err.text);
	return EXIT_CANNOT;
}

static int choose_live(struct session *session)
{
	int code = session_choose_live(session->options, &session->loaded, &session->backend);

	if (code == EXIT_DONE)
		variants_set_live_messages(&session->variants);
	return code;
}

static int load(struct session *session, const struct paths *paths, const char *scenario)
{
	int code = load_scenario(session->options, paths, scenario, NULL, &session->loaded);

	if (code == EXIT_DONE)
		code = load_check_plans(&session->loaded, session->options);
	if (code == EXIT_DONE)
		code = variants_load(session->options, paths, &session->loaded, &session->variants);
	return code;
}

/* The first line says what stands in for the real machines, and why. */
static void tell_backends(const struct session *session)
{
	const struct scenario *scenario = session->loaded.scenario;
	char text[1024];

	backend_describe(&session->backend, text, sizeof(text));
	output_note(session->options, "%s", text);
	if (session->backend.lowered_from > 0)
		output_note(session->options,
		            "the speed is lowered from %g, the scenario's, to %g: ops would be too "
		            "short for the model on this machine; --speed names another",
		            session->backend.lowered_from, session->backend.speed);
	if (session->loaded.n_warmup_lowered > 0)
		output_note(session->options,
		            "warm-up lowered from %d to %d, for there are %d iterations",
		            scenario->n_warmup + session->loaded.n_warmup_lowered,
		            scenario->n_warmup, scenario->n_iterations);
}

static int open_store(struct session *session)
{
	struct err err = {0};

	return stored_open_to_write(session->options, &session->store, &err) ? output_failure(&err)
	                                                                     : EXIT_DONE;
}

static int close_store(struct session *session)
{
	struct err err = {0};
	int rc = store_close(session->store, &err);

	session->store = NULL;
	if (rc)
		output_error("%s", err.text);
	return rc ? EXIT_RUN_FAILED : EXIT_DONE;
}

static void tell_interrupted(const struct session *session)
{
	output_error(
		"interrupted; what was recorded is comparison %lld in '%s'; adaptra-bench report "
		"%s%s%sshows it",
		(long long)(session->comparison ? session->comparison : session->simulated),
		store_path(session->store), session->options->store ? "--store " : "",
		session->options->store ? session->options->store : "",
		session->options->store ? " " : "");
}

/* Checks are claims about the scenario as it is written. */
static int check(const struct session *session, const struct comparison *comparison,
                 struct checks *checks)
{
	if (!session->loaded.is_part)
		return checks_run(session->loaded.script, comparison, checks);
	output_note(session->options,
	            "checks are about the whole scenario; with fewer iterations or --schedule they "
	            "are not run");
	return EXIT_DONE;
}

static int worse(int code, int other)
{
	return code ? code : other;
}

static struct report_extras extras_of(const struct session *session, const struct checks *checks)
{
	return (struct report_extras){
		.variants = session->variants.reports,
		.n_variants = session->variants.n_runs,
		.simulated = session->simulated ? &session->beside : NULL,
		.checks = checks->reports,
		.n_checks = checks->n_reports,
	};
}

/* For later reports of the comparison. The store was closed while checks ran: they may take long,
 * and others may want to write. */
static int keep(struct session *session, const struct comparison *comparison,
                const struct report_extras *extras)
{
	struct err err = {0};
	int code, closed;

	if (extras->n_checks == 0 && extras->n_variants == 0)
		return EXIT_DONE;
	code = open_store(session);
	if (code)
		return code;
	if (kept_extras_put(session->store, comparison, extras, &err)) {
		output_error("%s", err.text);
		code = EXIT_RUN_FAILED;
	}
	closed = close_store(session);
	return worse(code, closed);
}

/* As one document everything has to be there first. */
static int print_document(struct session *session, const struct comparison *comparison)
{
	struct checks checks = {0};
	int checked = check(session, comparison, &checks);
	const struct report_extras extras = extras_of(session, &checks);
	int code = result_print(session->options, comparison, &extras);

	code = worse(worse(code, checked), keep(session, comparison, &extras));
	checks_fini(&checks);
	return code;
}

/* A check that never ends is stopped together with the program, so the tables come first. */
static int print_tables(struct session *session, const struct comparison *comparison)
{
	const struct report_style style = output_style(session->options);
	struct checks checks = {0};
	struct report_extras extras = extras_of(session, &checks);
	struct strbuf out = {0};
	int code = result_print(session->options, comparison, &extras);

	code = worse(code, check(session, comparison, &checks));
	report_checks(checks.reports, checks.n_reports, &style, &out);
	code = worse(code, output_result(&out));
	extras = extras_of(session, &checks);
	code = worse(code, keep(session, comparison, &extras));
	strbuf_fini(&out);
	checks_fini(&checks);
	return code;
}

int session_check_losses(const struct comparison *comparison)
{
	struct strbuf sentence = {0};
	bool agree = comparison_losses_agree(comparison, &sentence);

	if (!agree)
		output_error("%s", strbuf_text(&sentence));
	strbuf_fini(&sentence);
	return agree ? EXIT_DONE : EXIT_RUN_FAILED;
}

static int load_comparisons(struct session *session, struct comparison *out, struct err *err)
{
	int rc = comparison_load(session->store, session->comparison, out, err);

	if (rc == 0 && session->simulated) {
		rc = comparison_load(session->store, session->simulated, &session->beside, err);
		if (rc)
			comparison_fini(out);
	}
	return rc;
}

/* Variants are shown with the comparison, so they run before it is printed; by then all is stored.
 */
static int report(struct session *session)
{
	struct comparison comparison;
	struct err err = {0};
	int code;

	if (load_comparisons(session, &comparison, &err))
		return output_failure(&err), EXIT_RUN_FAILED;
	code = worse(close_store(session), session_check_losses(&comparison));
	code = worse(code, variants_run(&session->variants, session->options, &comparison));
	code = worse(code, session->options->is_json ? print_document(session, &comparison)
	                                             : print_tables(session, &comparison));
	comparison_fini(&comparison);
	comparison_fini(&session->beside);
	return code;
}

/* All schedules as one comparison. */
static int run_comparison(struct session *session, struct backend *backend, int64_t *out)
{
	struct err err = {0};
	int rc = store_begin_comparison(session->store, session->loaded.scenario, out, &err);

	if (rc == 0 && backend->is_live && session->simulated)
		rc = store_put_simulated(session->store, *out, session->simulated, &err);
	if (rc) {
		if (err.code == -EFBIG)
			err.code = -ENOSPC;
		return output_failure(&err);
	}
	return run_schedules(&session->loaded, session->options, backend, session->store, *out);
}

/* What a live run is compared with. */
static int run_beside(struct session *session)
{
	struct backend virtual = {0};

	if (sim_check(session->loaded.scenario, NULL)) {
		output_note(session->options,
		            "packets are lost or overtake each other, which virtual time has no "
		            "model of, so nothing is simulated beside this run");
		return EXIT_DONE;
	}
	output_note(session->options, "in virtual time first, for comparison");
	return run_comparison(session, &virtual, &session->simulated);
}

static int run_all(struct session *session)
{
	int code = session->backend.is_live ? run_beside(session) : EXIT_DONE;

	return code ? code : run_comparison(session, &session->backend, &session->comparison);
}

/* A run that failed is part of the report; one that was interrupted ends the command. */
static int run(struct session *session)
{
	int code, reported, closed;

	interrupt_install();
	code = open_store(session);
	if (code)
		goto close_store;
	code = run_all(session);
	if (code == EXIT_INTERRUPTED) {
		tell_interrupted(session);
		goto close_store;
	}
	if (session->comparison == 0)
		goto close_store;
	reported = report(session);
	code = code ? code : reported;
	output_next(session->options, "report --html report.html%s%s",
	            session->options->store ? " --store " : "",
	            session->options->store ? session->options->store : "");

close_store:
	closed = session->store ? close_store(session) : EXIT_DONE;
	return code ? code : closed;
}

/* A dry run starts nothing, not even to find this out. */
static int fit_speed(struct session *session)
{
	struct err err = {0};

	if (session->options->is_dry_run)
		return EXIT_DONE;
	if (backend_fit_speed(session->options, session->loaded.scenario, &session->backend, &err))
		return output_failure(&err);
	return EXIT_DONE;
}

int session_run(const struct options *options, const char *scenario, enum session_mode mode)
{
	struct session session = {.options = options};
	struct paths paths;
	struct err err = {0};
	int code;

	if (options->skips_ops && options->wants_messages) {
		output_error("--messages are kept with their ops; leave out --no-ops");
		return EXIT_MISTAKE;
	}
	if (paths_init(&paths, &err))
		return output_failure(&err);
	code = load(&session, &paths, scenario);
	if (code == EXIT_DONE && mode == SESSION_LIVE)
		code = choose_live(&session);
	if (code == EXIT_DONE && mode == SESSION_LIVE)
		code = fit_speed(&session);
	if (code == EXIT_DONE && mode == SESSION_SIM)
		code = session_check_virtual(options, &session.loaded);
	if (code == EXIT_DONE) {
		tell_backends(&session);
		code = options->is_dry_run ? timeline_print(&session.loaded, options)
		                           : run(&session);
	}
	if (code == EXIT_DONE && options->is_dry_run)
		output_next(options, "sim %s", scenario);
	variants_fini(&session.variants);
	loaded_fini(&session.loaded);
	paths_fini(&paths);
	return code;
}
