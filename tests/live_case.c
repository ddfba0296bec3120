/* live_case.c - a scenario that runs for real in worker processes, and what came of it. */
#include "tests/live_case.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/scratch.h"
#include "tests/slowness.h"
#include "tests/tap.h"

enum { TEXT_BYTES = 256, SPEEDS_MAX = 4, RUNS_MAX = 5 };

/* Of this program, since it counts. */
static int n_forks;

static void count_fork(void)
{
	n_forks++;
}

void live_case_init(struct live_case *c, int n_stages, int n_microbatches, int n_hosts,
                    int n_replicas)
{
	*c = (struct live_case){.device = "cpu", .transport = "tcp", .speed = 1000};
	scenario_fixture(&c->scenario, n_stages, n_microbatches, 10 * NS_PER_MS);
	c->scenario.topology.n_hosts = n_hosts;
	c->scenario.topology.n_replicas = n_replicas;
	c->scenario.n_iterations = 4;
	c->scenario.recovery.checkpoint_every = 2;
	capture_init(&c->capture, true);
}

void live_case_pace(struct live_case *c, double speed)
{
	c->device = "paced";
	c->may_be_slower = true;
	c->speed = speed / slowness_of_build() / slowness_of_machine();
}

void live_case_fini(struct live_case *c)
{
	capture_fini(&c->capture);
	scenario_fini(&c->scenario);
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		(void)closedir(dir);
	return n;
}

int live_case_children(void)
{
	char path[64];
	int n = 0, pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	if (!file)
		return waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1;
	while (fscanf(file, "%d", &pid) == 1)
		n++;
	(void)fclose(file);
	return n;
}

static void keep_losses(struct live_case *c)
{
	for (int i = 0; i < LIVE_CASE_ITERATIONS_MAX; i++)
		c->losses[i] = NAN;
	for (size_t i = 0; i < c->capture.n_iterations; i++) {
		const struct record_iteration *row = &c->capture.iterations[i];

		if (row->is_complete && row->iteration < LIVE_CASE_ITERATIONS_MAX)
			c->losses[row->iteration] = row->loss;
	}
}

static int run_in(struct live_case *c, const char *schedule, const char *folder)
{
	struct live_config config = {.scenario = &c->scenario,
	                             .seed = c->scenario.seed,
	                             .speed = c->speed,
	                             .about = c->about,
	                             .transport_parts = c->transport,
	                             .rdma_devices = c->rdma_devices,
	                             .exchange = c->exchange,
	                             .occupies_streams = c->occupies_streams,
	                             .delegates = c->delegates,
	                             .payload_bytes = c->payload_bytes,
	                             .folder = folder,
	                             .patience_ms = c->patience_ms,
	                             .watcher = c->watcher,
	                             .site = c->site};
	struct executor *executor = NULL;
	int rc = device_find(c->device, &config.device, &c->err);

	rc = rc ? rc : transport_find(c->transport, &config.transport, &c->err);
	if (c->transport_ops)
		config.transport = c->transport_ops;
	rc = rc ? rc : live_open(&config, &executor, &c->err);
	if (rc)
		return rc;
	rc = capture_request(&c->capture,
	                     (struct sim_request){.executor = executor, .order = c->order},
	                     &c->scenario, schedule);
	c->err = c->capture.err;
	c->facts = live_facts(executor);
	live_close(executor);
	return rc;
}

/* Others on the machine take from the model's caches what its own time was measured with before: a
 * speed that is refused now may be held a moment later, and half of it is held more often. */
static int run_slower(struct live_case *c, const char *schedule, const char *folder)
{
	int rc = run_in(c, schedule, folder);

	for (int i = 1; i < SPEEDS_MAX && c->may_be_slower && rc == -EINVAL &&
	                strstr(c->err.text, "use --speed ");
	     i++) {
		c->speed /= 2;
		rc = run_in(c, schedule, folder);
	}
	return rc;
}

int live_case_run(struct live_case *c, const char *schedule)
{
	int n_descriptors = count_descriptors(), n_before = n_forks;
	int64_t start_ns = clock_monotonic_ns();
	char folder[TEXT_BYTES] = "";
	struct scratch scratch;

	if (n_forks == 0)
		(void)pthread_atfork(count_fork, NULL, NULL);
	capture_fini(&c->capture);
	capture_init(&c->capture, true);
	c->err = (struct err){0};
	c->rc = scratch_open(&scratch, &c->err);
	if (c->rc == 0) {
		snprintf(folder, sizeof(folder), "%s", scratch.folder);
		c->rc = run_slower(c, schedule, c->folder ? c->folder : folder);
		scratch_close(&scratch);
	}
	c->n_started = n_forks - n_before - 1;
	c->took_ns = clock_monotonic_ns() - start_ns;
	keep_losses(c);
	if (live_case_children() > c->n_other_children)
		tap_is_int(live_case_children(), c->n_other_children, "no process is left");
	if (count_descriptors() != n_descriptors)
		tap_is_int(count_descriptors(), n_descriptors, "no descriptor is left open");
	if (access(folder, F_OK) == 0)
		tap_ok(false, "no folder is left: %s", folder);
	return c->rc;
}

int live_case_simulate(struct live_case *c, const char *schedule, struct capture *capture)
{
	struct model_config model =
		model_default_config(c->scenario.topology.n_stages, c->scenario.n_microbatches, 1);
	int64_t tensor_bytes = (int64_t)model_message_bytes(&model);

	capture_init(capture, true);
	c->scenario.profile.message_bytes =
		c->payload_bytes > tensor_bytes ? c->payload_bytes : tensor_bytes;
	return capture_run(capture, &c->scenario, schedule);
}

static int count_other_rows(const struct capture *a, const struct capture *b)
{
	int n = 0;

	for (size_t i = 0; i < a->n_iterations && i < b->n_iterations; i++) {
		const struct record_iteration *x = &a->iterations[i], *y = &b->iterations[i];

		n += x->attempt != y->attempt || x->iteration != y->iteration ||
		     x->is_complete != y->is_complete || x->plane != y->plane;
	}
	return n;
}

static bool are_alike(const struct capture *a, const struct capture *b)
{
	return a->n_iterations == b->n_iterations && count_other_rows(a, b) == 0 &&
	       a->n_faults == b->n_faults && a->n_decisions == b->n_decisions;
}

/* Whom an outage meets depends on the moment at which it begins: a run that the machine kept from
 * its moments is repeated, and must still have the same losses. */
static void repeat(struct live_case *c, const char *schedule, const char *name)
{
	double losses[LIVE_CASE_ITERATIONS_MAX];

	tap_note("%s (%s): not as in sim, with ops up to %.1f ms late; once more", name, schedule,
	         (double)c->facts.late_ns_max / NS_PER_MS);
	memcpy(losses, c->losses, sizeof(losses));
	(void)live_case_run(c, schedule);
	live_case_has_losses(c, losses, "%s (%s): losses are equal again", name, schedule);
}

void live_case_check_like_sim(struct live_case *c, const char *schedule, const char *name)
{
	const struct capture *live = &c->capture;
	struct capture sim;

	tap_is_int(live_case_simulate(c, schedule, &sim), 0, "%s: sim can do it: %s", name,
	           sim.err.text);
	for (int i = 1; i < RUNS_MAX && c->rc == 0 && !are_alike(live, &sim); i++)
		repeat(c, schedule, name);
	tap_is_int((int64_t)live->n_iterations, (int64_t)sim.n_iterations,
	           "%s: as many iterations as in sim", name);
	tap_is_int(count_other_rows(live, &sim), 0, "%s: with the same attempts and planes", name);
	tap_is_int((int64_t)live->n_faults, (int64_t)sim.n_faults, "%s: as many faults", name);
	tap_is_int((int64_t)live->n_decisions, (int64_t)sim.n_decisions, "%s: as many decisions",
	           name);
	capture_fini(&sim);
}

bool live_case_has_losses(const struct live_case *c, const double *want, const char *name, ...)
{
	char text[TEXT_BYTES];
	int n = c->scenario.n_iterations, differs = -1;
	va_list args;

	va_start(args, name);
	(void)vsnprintf(text, sizeof(text), name, args);
	va_end(args);
	if (c->rc)
		return tap_ok(false, "%s: it ends well, and not with: %s", text, c->err.text);
	for (int i = n - 1; i >= 0; i--)
		if (isnan(c->losses[i]) || memcmp(&c->losses[i], &want[i], sizeof(double)) != 0)
			differs = i;
	if (differs < 0)
		return tap_ok(true, "%s", text);
	return tap_ok(false, "%s; iteration %d: %.17g, wanted %.17g", text, differs,
	              c->losses[differs], want[differs]);
}

double live_case_transfer_ms(const struct capture *capture, size_t i, int from_stage, int to_stage,
                             int microbatch)
{
	enum op_kind kind = to_stage > from_stage ? OP_F : OP_B;
	const struct record_op *op = capture_op(capture, i, from_stage, kind, microbatch);

	/* A whole backward's gradient leaves after W. */
	if (kind == OP_B && op && op->message_arrive_ns < 0)
		op = capture_op(capture, i, from_stage, OP_W, microbatch);
	if (!op || op->message_arrive_ns < 0)
		return NAN;
	return (double)(op->message_arrive_ns - op->message_start_ns) / NS_PER_MS;
}
