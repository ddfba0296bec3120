/* crew.c - the worker processes: their start, their orders and answers, their end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/units.h"
#include "engine/replay/live_internal.h"
#include "engine/replay/worker.h"

enum { LOOK_MS = 100, END_MS = 500 };

/* Nothing of the coordinator's but standard streams and the worker's own socket is the worker's to
 * hold. */
static int keep_only(int control)
{
	if (control > 3 && close_range(3, (unsigned)control - 1, 0))
		return -errno;
	return close_range((unsigned)control + 1, ~0U, 0) ? -errno : 0;
}

static _Noreturn void become_worker(const struct live *live, const struct crew_member *member,
                                    int control, int attempt, int first_iteration)
{
	struct board board = live->board;
	const struct worker_config config = {
		.live = &live->config,
		.model = &live->model,
		.board = &board,
		.host = member->host,
		.replica = member->replica,
		.attempt = attempt,
		.first_iteration = first_iteration,
		.control = control,
		.run = live->run + (uint64_t)attempt,
		.payload_bytes = live->payload_bytes,
	};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (keep_only(control))
		_exit(1);
	worker_main(&config);
}

static int start_one(struct live *live, struct crew_member *member, int attempt,
                     int first_iteration, struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "cannot make a socket for a worker: %s",
		               strerror(errno));
	member->pid = fork();
	if (member->pid == 0)
		become_worker(live, member, pair[1], attempt, first_iteration);
	(void)close(pair[1]);
	member->control = pair[0];
	if (member->pid > 0)
		return 0;
	member->pid = 0;
	return err_set(err, -errno, "cannot start a worker: %s", strerror(errno));
}

int crew_start(struct live *live, int attempt, int first_iteration, struct err *err)
{
	const struct topology *topology = &live->config.scenario->topology;
	int n = topology->n_hosts * topology->n_replicas, rc = 0;

	if (!live->crew) {
		live->crew = array_new((size_t)n, sizeof(*live->crew));
		if (!live->crew)
			return err_set(err, -ENOMEM, "no memory for %d workers", n);
		for (int i = 0; i < n; i++)
			live->crew[i] = (struct crew_member){.control = -1,
			                                     .host = i % topology->n_hosts,
			                                     .replica = i / topology->n_hosts};
	}
	live->n_crew = n;
	live->facts.n_workers = n;
	for (int i = 0; rc == 0 && i < n; i++)
		rc = start_one(live, &live->crew[i], attempt, first_iteration, err);
	return rc;
}

/* How a worker that does not answer any more ended. */
static int tell_gone(struct live *live, struct crew_member *member, struct err *err)
{
	const struct topology *topology = &live->config.scenario->topology;
	int first = topology_first_stage(topology, member->host), status = 0;
	int last = first + topology_stages_on_host(topology, member->host) - 1;

	if (waitpid(member->pid, &status, 0) == member->pid)
		member->pid = 0;
	if (WIFSIGNALED(status))
		return err_set(err, -EPIPE, "the worker of stages %d to %d was killed by signal %d",
		               first, last, WTERMSIG(status));
	return err_set(err, -EPIPE, "the worker of stages %d to %d ended with %d", first, last,
	               WEXITSTATUS(status));
}

int crew_order(struct live *live, const struct order *order, struct err *err)
{
	for (int i = 0; i < live->n_crew; i++)
		if (control_send(live->crew[i].control, order, sizeof(*order)))
			return tell_gone(live, &live->crew[i], err);
	return 0;
}

/* One answer that is there. 1: it was of the kind; 0: the job died; -errno. */
static int take_answer(struct live *live, struct crew_member *member, enum answer_kind kind,
                       struct crew_report *report, struct err *err)
{
	struct answer answer;

	if (control_receive(member->control, &answer, sizeof(answer), 0))
		return tell_gone(live, member, err);
	if (answer.kind == ANSWER_FAILED)
		return err_set(err, answer.code, "%s", answer.sentence);
	if (report && answer.kind == ANSWER_DIED) {
		report->died_ns = answer.died_ns;
		return 0;
	}
	if (answer.kind != kind)
		return err_set(err, -EPROTO, "a worker answered out of turn");
	if (report)
		report->fired |= answer.fired;
	return 1;
}

/* Sleep until one of those that have not answered says something. *which_out: -1: nobody yet. */
static int await_answer(struct live *live, const bool *has_answered, int *which_out,
                        struct err *err)
{
	struct pollfd fds[live->n_crew];
	int rc;

	for (int i = 0; i < live->n_crew; i++)
		fds[i] = (struct pollfd){.fd = has_answered[i] ? -1 : live->crew[i].control,
		                         .events = POLLIN};
	rc = poll(fds, (nfds_t)live->n_crew, LOOK_MS);
	*which_out = -1;
	if (interrupt_is_pending())
		return err_set(err, -EINTR, "interrupted");
	if (rc < 0 && errno != EINTR)
		return err_set(err, -errno, "cannot wait for workers: %s", strerror(errno));
	for (int i = 0; rc > 0 && i < live->n_crew; i++)
		if (fds[i].revents)
			*which_out = i;
	return 0;
}

int crew_collect(struct live *live, enum answer_kind kind, int timeout_ms,
                 struct crew_report *report, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + (int64_t)timeout_ms * NS_PER_MS;
	bool has_answered[live->n_crew];
	int n_left = live->n_crew, rc = 0;

	memset(has_answered, 0, sizeof(has_answered));
	while (n_left > 0) {
		int which;

		rc = await_answer(live, has_answered, &which, err);
		if (rc)
			return rc;
		if (which < 0 && clock_monotonic_ns() > until_ns)
			return err_set(err, -ETIMEDOUT,
			               "%d of %d workers did not answer within %d ms", n_left,
			               live->n_crew, timeout_ms);
		if (which < 0)
			continue;
		rc = take_answer(live, &live->crew[which], kind, report, err);
		if (rc <= 0)
			return rc;
		has_answered[which] = true;
		n_left--;
	}
	return 0;
}

static bool reap(struct live *live)
{
	bool has_left = false;

	for (int i = 0; i < live->n_crew; i++) {
		struct crew_member *member = &live->crew[i];

		if (member->pid > 0 && waitpid(member->pid, NULL, WNOHANG) == member->pid)
			member->pid = 0;
		has_left |= member->pid > 0;
	}
	return has_left;
}

static void close_sockets(struct live *live)
{
	for (int i = 0; i < live->n_crew; i++) {
		if (live->crew[i].control >= 0)
			(void)close(live->crew[i].control);
		live->crew[i].control = -1;
	}
}

void crew_kill(struct live *live)
{
	for (int i = 0; i < live->n_crew; i++)
		if (live->crew[i].pid > 0)
			(void)kill(live->crew[i].pid, SIGKILL);
	for (int i = 0; i < live->n_crew; i++) {
		if (live->crew[i].pid > 0)
			(void)waitpid(live->crew[i].pid, NULL, 0);
		live->crew[i].pid = 0;
	}
	close_sockets(live);
}

void crew_end(struct live *live)
{
	const struct order last = {.kind = ORDER_EXIT};

	for (int i = 0; i < live->n_crew; i++)
		if (live->crew[i].control >= 0)
			(void)control_send(live->crew[i].control, &last, sizeof(last));
	for (int waited = 0; reap(live) && waited < END_MS; waited++)
		clock_sleep_ns(NS_PER_MS);
	crew_kill(live);
	free(live->crew);
	live->crew = NULL;
	live->n_crew = 0;
}
