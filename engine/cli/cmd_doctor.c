/* cmd_doctor.c - `doctor`: what this machine and build can do. It says only what it has looked at.
 */
#include <errno.h>
#include <lua.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "engine/cli/paths.h"
#include "engine/model/blas_core.h"
#include "engine/store/store.h"
#include "reports/display.h"

enum finding { FINDING_GOOD, FINDING_FACT, FINDING_BAD, NAME_COLUMNS = 11 };

struct doctor {
	const struct options *options;
	struct report_style style;
	struct strbuf out;
	int code;
};

static void find(struct doctor *doctor, enum finding finding, const char *name, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

static void find(struct doctor *doctor, enum finding finding, const char *name, const char *format,
                 ...)
{
	static const char *const words[] = {"ok  ", "    ", "bad "};
	static const enum tone tones[] = {TONE_GOOD, TONE_PLAIN, TONE_BAD};
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

#if defined(__SANITIZE_ADDRESS__)
	sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
	sanitizer = "thread";
#endif
	find(doctor, FINDING_FACT, "program", "adaptra-bench %s", version_text());
	find(doctor, FINDING_FACT, "compiler", "GCC-compatible %s, C standard %ld, sanitizer: %s",
	     __VERSION__, __STDC_VERSION__, sanitizer);
	find(doctor, FINDING_FACT, "Lua",
	     LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE);
	if (strcmp(sqlite3_libversion(), SQLITE_VERSION) == 0)
		find(doctor, FINDING_FACT, "SQLite", SQLITE_VERSION);
	else
		find(doctor, FINDING_FACT, "SQLite", "%s, built for " SQLITE_VERSION,
		     sqlite3_libversion());
	find(doctor, FINDING_FACT, "OpenBLAS", "kernels for %s", blas_core_name());
}

static void examine_machine(struct doctor *doctor)
{
	struct utsname name;
	cpu_set_t cpus;

	if (uname(&name) == 0)
		find(doctor, FINDING_FACT, "machine", "%s, %s %s", name.machine, name.sysname,
		     name.release);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		find(doctor, FINDING_FACT, "CPU cores", "%d for this process, %ld in the machine",
		     CPU_COUNT(&cpus), sysconf(_SC_NPROCESSORS_ONLN));
	find(doctor, FINDING_FACT, "user", geteuid() == 0 ? "root" : "not root");
}

static void examine_store(struct doctor *doctor, const char *path)
{
	struct stored_run *runs;
	struct store *store;
	struct err err = {0};
	size_t n_runs;
	int rc = store_open(path, STORE_READ, &store, &err);

	if (rc == -ENOENT) {
		find(doctor, FINDING_FACT, "results", "none yet in '%s'", path);
		return;
	}
	if (rc) {
		find(doctor, FINDING_BAD, "results", "%s", err.text);
		return;
	}
	rc = store_read_runs(store, &(struct store_query){0}, &runs, &n_runs, &err);
	if (rc == 0) {
		find(doctor, FINDING_GOOD, "results", "%zu runs in '%s'", n_runs, path);
		stored_runs_fini(runs, n_runs);
	} else {
		find(doctor, FINDING_BAD, "results", "%s", err.text);
	}
	if (store_close(store, &err))
		find(doctor, FINDING_BAD, "results", "%s", err.text);
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
		find(doctor, FINDING_GOOD, "data folder", "'%s' can be written", folder);
	else
		find(doctor, FINDING_BAD, "data folder",
		     "'%s' cannot be written: %s; name a database elsewhere with --store", folder,
		     strerror(errno));
}

static void examine_data(struct doctor *doctor)
{
	struct err err = {0};
	char *path;

	if (paths_store(doctor->options, &path, &err)) {
		find(doctor, FINDING_BAD, "data folder", "%s", err.text);
		return;
	}
	examine_store(doctor, path);
	examine_folder(doctor, existing_folder(path));
	free(path);
}

static void examine_device(struct doctor *doctor, const char *name, const char *path,
                           const char *consequence)
{
	bool is_there = access(path, F_OK) == 0;

	find(doctor, FINDING_FACT, name, "%s is %s; %s", path, is_there ? "here" : "not here",
	     consequence);
}

/* What runs for real, and what later parts need: of those none is in this build, so nothing more
 * can be tried. */
static void examine_live_parts(struct doctor *doctor)
{
	find(doctor, FINDING_FACT, "live engine",
	     "worker processes over tcp, device paced; two free cores hold real time");
	examine_device(doctor, "GPU", "/dev/nvidiactl", "the cuda device is not in this build");
	examine_device(doctor, "RDMA", "/dev/infiniband",
	               "the verbs transport is not in this build");
	find(doctor, FINDING_FACT, "injectors",
	     "shaped, which holds messages in the transport of a live run; netem, rate and relay "
	     "are not in this build");
}

int cmd_doctor(struct cli *cli)
{
	struct doctor doctor = {
		.options = &cli->options,
		.style = output_style(&cli->options),
		.code = EXIT_DONE,
	};
	int code;

	examine_build(&doctor);
	examine_machine(&doctor);
	examine_data(&doctor);
	examine_live_parts(&doctor);
	code = output_result(&doctor.out);
	strbuf_fini(&doctor.out);
	if (code == EXIT_DONE && doctor.code == EXIT_DONE)
		output_next(&cli->options, "sim scenarios/smoke.lua");
	return code ? code : doctor.code;
}
