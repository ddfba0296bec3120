/* validate.h - the simulator against what was measured and recorded on real GPUs.
 *
 * Ground truth: a folder with the CSV files of data/pipemorph (its README.md says where every
 * number comes from). DESIGN.md section 4 has the rules, the offsets and the limits. */
#ifndef ENGINE_VALIDATE_VALIDATE_H
#define ENGINE_VALIDATE_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

enum { VALIDATE_TEXT_BYTES = 32 };

/* One measured run. error and control are predicted / measured − 1. */
struct validation_row {
	int run_id;
	char model[VALIDATE_TEXT_BYTES];
	char experiment[VALIDATE_TEXT_BYTES];
	char schedule[VALIDATE_TEXT_BYTES];
	char links[VALIDATE_TEXT_BYTES];
	double delay_ms;
	double measured_ms;
	double predicted_ms; /* offset added */
	double error_ratio;
	double control_ratio; /* the same under the table's control rules */
};

struct validation_errors {
	double mean, mean_absolute, least, most; /* ratios */
};

/* Rows under one set of rules. */
struct validation_table {
	const char *title;
	const char *rules;   /* what was modelled, one sentence */
	const char *control; /* what the control leaves out */
	double limit_ratio;  /* on the mean absolute error; 0: shown, not held */
	struct validation_row *rows;
	size_t n_rows;
	struct validation_errors errors, control_errors;
	bool is_held;
};

/* A number that was fitted, and on what. */
struct validation_fit {
	char model[VALIDATE_TEXT_BYTES];
	int run_id;       /* the fault-free ALL-CPU run */
	double target_ms; /* its clean median */
	double offset_ms; /* median clean time of the model's ZB rows − fault-free makespan of the
	                     ZB order */
	double cost_ms;   /* per message, on the op at either end */
};

enum { VALIDATE_TABLES = 4, VALIDATE_FITS = 4, VALIDATE_EXCLUDED = 4 };

struct validation {
	int n_orders; /* recorded orders replayed */
	int n_exact;  /* every start and end equal */
	int n_ops;
	int excluded[VALIDATE_EXCLUDED]; /* run ids left out, by name: several delays in one run */
	int first_wrong_run;             /* −1: none */
	struct validation_table tables[VALIDATE_TABLES];
	size_t n_tables;
	struct validation_fit fits[VALIDATE_FITS];
	size_t n_fits;
	bool is_held; /* all of the above */
};

/* -ENOENT: a file is missing; -EINVAL: it cannot be read as what it should be. *out is the caller's
 * on success. */
int validate_folder(const char *folder, struct validation *out, struct err *err);
void validation_fini(struct validation *validation);

#endif
