/* truth.h - the measured runs, profiles and orders, read from their CSV files. */
#ifndef ENGINE_VALIDATE_TRUTH_H
#define ENGINE_VALIDATE_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/format/csv_table.h"
#include "engine/schedule/plan.h"
#include "engine/validate/validate.h"

enum { TRUTH_STAGES_MAX = 8 };

/* Op times of every stage, [kind][stage]. */
struct truth_profile {
	int n_stages;
	int64_t op_ns[OP_KINDS][TRUTH_STAGES_MAX];
};

/* A recorded order: one string of letters a stage, the table's. */
struct truth_order {
	int n_stages;
	int n_microbatches;
	const char *letters[TRUTH_STAGES_MAX];
};

/* A run with one or several slow links. Strings are the truth's. */
struct truth_run {
	int run_id;
	const char *model;
	const char *experiment;
	const char
		*schedule; /* the artefact's name: 1F1B, ZB, ZB-CPU, ZB-CPU-ReSchedule, ALL-CPU */
	const char *links; /* "0_1,2_3"; "" when healthy */
	const char *delay; /* seconds, as written */
	bool is_slow[TRUTH_STAGES_MAX];
	int64_t delay_ns;
	double clean_ms; /* medians of summary.csv, last segment */
	double steady_ms;
};

struct truth;

int truth_open(const char *folder, struct truth **out, struct err *err);
void truth_close(struct truth *truth);

/* Every run of the delay experiments on a pipeline link (dpvspp left out: its clean iterations are
 * not comparable), and the fault-free ALL-CPU runs. The truth's. */
const struct truth_run *truth_runs(const struct truth *truth, size_t *n_out);

/* profiles.csv: what the run's planner saw. profiles_median.csv: of the model. -ENOENT: there is
 * none. */
int truth_run_profile(const struct truth *truth, const struct truth_run *run,
                      struct truth_profile *out, struct err *err);
int truth_median_profile(const struct truth *truth, const char *model, struct truth_profile *out,
                         struct err *err);

/* zb_original_orders.csv, by number of stages; schedules.csv, by run. */
int truth_zb_order(const struct truth *truth, int n_stages, struct truth_order *out,
                   struct err *err);
int truth_run_order(const struct truth *truth, int run_id, struct truth_order *out,
                    struct err *err);

/* schedules.csv: delay of every link for which the run's order was made; 0 for all orders but the
 * re-scheduled ones, whatever delayed the run. -EINVAL: the file does not know the run. */
int truth_recorded_delays(const struct truth *truth, int64_t run_id,
                          int64_t link_ns[TRUTH_STAGES_MAX], struct err *err);

/* The table name in folder; the caller frees it. */
int truth_open_file(const char *folder, const char *name, struct csv_table **out, struct err *err);

/* Turn "0_1,2_3" into a flag a link. */
int truth_links(const char *text, bool is_slow[TRUTH_STAGES_MAX], struct err *err);

#endif
