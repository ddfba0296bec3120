/* cmd_doctor.c - `doctor`: what this machine and build can do. It says only what it has looked at.
 */
#include <errno.h>
#include <lua.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/cli/doctor.h"
#include "engine/cli/output.h"
#include "engine/cli/paths.h"
#include "engine/device/trial.h"
#include "engine/model/blas_core.h"
#include "engine/store/store.h"
#include "engine/transport/exchange.h"
#include "reports/display.h"

enum { NAME_COLUMNS = 11 };

void doctor_find(struct doctor *doctor, enum finding finding, const char *name, const char *format,
                 ...)
{
	static const char *const words[] = {"ok  ", "    ", "no  ", "bad "};
	static const enum tone tones[] = {TONE_GOOD, TONE_PLAIN, TONE_FAULT, TONE_BAD};
	struct strbuf text = {0};
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	display_begin(&doctor->out, tones[finding], &doctor->style);
	strbuf_add(&doctor->out, words[finding]);
	display_end(&doctor->out, tones[finding], &doctor->style);
	strbuf_addf(&doctor->out, "%-*s ", NAME_COLUMNS, name);
	display_add_wrapped(&doctor->out, strbuf_text(&text), NAME_COLUMNS + 5, NAME_COLUMNS + 5,
	                    &doctor->style);
	strbuf_fini(&text);
	if (finding == FINDING_BAD)
		doctor->code = EXIT_CANNOT;
}

static void examine_build(struct doctor *doctor)
{
	const char *sanitizer = "none";
	struct utsname name;

#if defined(__SANITIZE_ADDRESS__)
	sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
	sanitizer = "thread";
#endif
	doctor_find(doctor, FINDING_FACT, "program", "adaptra-bench %s", version_text());
	doctor_find(doctor, FINDING_FACT, "compiler",
	            "GCC-compatible %s, C standard %ld, sanitizer: %s", __VERSION__,
	            __STDC_VERSION__, sanitizer);
	doctor_find(doctor, FINDING_FACT, "libraries",
	            "Lua " LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE
	            ", SQLite %s%s, OpenBLAS with kernels for %s",
	            sqlite3_libversion(),
	            strcmp(sqlite3_libversion(), SQLITE_VERSION) ? ", built for " SQLITE_VERSION
	                                                         : "",
	            blas_core_name());
	if (uname(&name) == 0)
		doctor_find(doctor, FINDING_FACT, "machine", "%s, %s %s", name.machine,
		            name.sysname, name.release);
}

static void examine_store(struct doctor *doctor, const char *path)
{
	struct stored_run *runs;
	struct store *store;
	struct err err = {0};
	size_t n_runs;
	int rc = store_open(path, STORE_READ, &store, &err);

	if (rc == -ENOENT) {
		doctor_find(doctor, FINDING_FACT, "results", "none yet in '%s'", path);
		return;
	}
	if (rc) {
		doctor_find(doctor, FINDING_BAD, "results", "%s", err.text);
		return;
	}
	rc = store_read_runs(store, &(struct store_query){0}, &runs, &n_runs, &err);
	if (rc == 0) {
		doctor_find(doctor, FINDING_GOOD, "results", "%zu runs in '%s'", n_runs, path);
		stored_runs_fini(runs, n_runs);
	} else {
		doctor_find(doctor, FINDING_BAD, "results", "%s", err.text);
	}
	if (store_close(store, &err))
		doctor_find(doctor, FINDING_BAD, "results", "%s", err.text);
}

/* Cut path down to the database's folder, or the first of those above it that is there: what is
 * missing would be made in it. */
static const char *existing_folder(char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/')) && slash != path) {
		*slash = '\0';
		if (access(path, F_OK) == 0)
			return path;
	}
	return slash ? "/" : ".";
}

static void examine_folder(struct doctor *doctor, const char *folder)
{
	if (access(folder, W_OK | X_OK) == 0)
		doctor_find(doctor, FINDING_GOOD, "data folder", "'%s' can be written", folder);
	else
		doctor_find(doctor, FINDING_BAD, "data folder",
		            "'%s' cannot be written: %s; name a database elsewhere with --store",
		            folder, strerror(errno));
}

static void examine_data(struct doctor *doctor)
{
	struct err err = {0};
	char *path;

	if (paths_store(doctor->options, &path, &err)) {
		doctor_find(doctor, FINDING_BAD, "data folder", "%s", err.text);
		return;
	}
	examine_store(doctor, path);
	examine_folder(doctor, existing_folder(path));
	free(path);
}

/* Returns how many there are. */
static int examine_gpus(struct doctor *doctor)
{
	const struct device_ops *ops;
	const struct device_config config = {.speed = 1};
	struct device_trial trial = {0};
	struct err err = {0};
	int rc = device_find("cuda", &ops, &err);

	rc = rc ? rc : device_try(ops, &config, NULL, &trial, &err);
	if (rc)
		doctor_find(doctor, FINDING_MISSING, "GPU", "%s", err.text);
	else
		doctor_find(doctor, FINDING_GOOD, "GPU", "%d of this kind: %s", trial.about.n_units,
		            trial.about.text);
	return trial.about.n_units;
}

/* They take a GPU a stage, and a pipeline has two at least. */
static void examine_exchanges(struct doctor *doctor, int n_gpus)
{
	const struct exchange_ops *ops;
	char version[EXCHANGE_VERSION_BYTES];
	struct err err = {0};
	int rc = exchange_find("nccl", &ops, &err);

	rc = rc ? rc : ops->version(version, &err);
	if (rc)
		doctor_find(doctor, FINDING_MISSING, "exchanges",
		            "%s; tensors of GPUs go through the host", err.text);
	else if (n_gpus < 2)
		doctor_find(doctor, FINDING_MISSING, "exchanges",
		            "%s, which takes a GPU for each stage; here the stream plane runs over "
		            "the host's transport, in stream order",
		            version);
	else
		doctor_find(doctor, FINDING_GOOD, "exchanges",
		            "%s, for the stream plane of up to %d stages with a GPU each", version,
		            n_gpus);
}

/* What the faults of live runs need. */
static void examine_network(struct doctor *doctor)
{
#ifdef HAVE_NETLINK
	doctor_examine_faults(doctor);
#else
	doctor_find(
		doctor, FINDING_MISSING, "injectors",
		"shaped only, for this build has no libnl: no lab, no fault in the kernel; install "
		"libnl-3-dev and build again");
#endif
}

static void examine_left_over(struct doctor *doctor)
{
#ifdef HAVE_NETLINK
	doctor_examine_left_over(doctor);
#else
	(void)doctor;
#endif
}

static int undo(const struct options *options)
{
#ifdef HAVE_NETLINK
	return doctor_undo(options);
#else
	(void)options;
	output_error("this build has no libnl, so it can neither change nor undo anything of the "
	             "network; install libnl-3-dev and build again");
	return EXIT_CANNOT;
#endif
}

int cmd_doctor(struct cli *cli)
{
	struct doctor doctor = {
		.options = &cli->options,
		.style = output_style(&cli->options),
		.code = EXIT_DONE,
	};
	int code;

	if (cli->options.wants_undo)
		return undo(&cli->options);
	examine_left_over(&doctor);
	examine_data(&doctor);
	doctor_examine_time(&doctor);
	doctor_examine_rights(&doctor);
	examine_network(&doctor);
	doctor_examine_rdma(&doctor);
	examine_exchanges(&doctor, examine_gpus(&doctor));
	examine_build(&doctor);
	code = output_result(&doctor.out);
	strbuf_fini(&doctor.out);
	if (code == EXIT_DONE && doctor.code == EXIT_DONE)
		output_next(&cli->options,
		            doctor.has_left_over ? "doctor --undo" : "sim scenarios/smoke.lua");
	return code ? code : doctor.code;
}
