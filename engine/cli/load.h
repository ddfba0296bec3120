/* load.h - a scenario file, the command line's overrides, and the schedules it names: ready to run.
 */
#ifndef ENGINE_CLI_LOAD_H
#define ENGINE_CLI_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/cli/options.h"
#include "engine/cli/paths.h"
#include "engine/scenario/scenario.h"
#include "engine/schedule/schedule.h"
#include "engine/script/script.h"
#include "engine/sim/sim.h"

struct loaded {
	struct script *script;
	struct scenario *scenario; /* the script's, with what the command line overrides */
	const struct schedule_ops **schedules; /* [scenario->n_schedules] */
	struct plan *orders;                   /* the same; without stages unless from csv:FILE */
	bool is_part;         /* fewer iterations or other schedules than the scenario's own */
	int n_warmup_lowered; /* iterations that --iterations took from the warm-up */
};

/* Load what the first argument names. 0, or an exit code after every mistake was printed. variant:
 * under its assignments as well, which win over the user's; NULL: none. *out is set only on
 * success; loaded_fini(). */
int load_scenario(const struct options *options, const struct paths *paths, const char *name,
                  const struct variant *variant, struct loaded *out);
void loaded_fini(struct loaded *loaded);

/* The request for schedule i. Borrows from both. */
struct sim_request loaded_request(const struct loaded *loaded, const struct options *options,
                                  size_t i, int repeat);

/* The plane that schedule i starts on: the scenario's choice, else the schedule's own. */
enum plane_kind loaded_plane(const struct loaded *loaded, size_t i);

/* The rules of the stream plane under schedule i: the schedule's own, and the scenario's
 * departures.
 */
struct plane_rules loaded_stream_rules(const struct loaded *loaded, size_t i);

/* Make every schedule's initial plan, so that what cannot be planned is told before anything runs.
 * Returns as load_scenario(). */
int load_check_plans(const struct loaded *loaded, const struct options *options);

/* The script alone, for lists: nothing is overridden. -EINVAL: it has mistakes, which are dropped.
 */
int load_script(const struct paths *paths, const char *path, struct script **out, struct err *err);

#endif
