/* crew.c - the worker processes: their start, their orders and answers, their end. */
#include <assert.h>
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

enum { LOOK_MS = 100, STOP_MS = 1000, END_MS = 500, GONE_MS = 1000 };

/* Nothing of the coordinator's but standard streams and the worker's own socket is the worker's to
 * hold. */
static int keep_only(int control)
{
	if (control > 3 && close_range(3, (unsigned)control - 1, 0))
		return -errno;
	return close_range((unsigned)control + 1, ~0U, 0) ? -errno : 0;
}

/* What all workers of an attempt are told. */
struct beginning {
	pid_t coordinator;
	int attempt;
	int first_iteration;
};

/* Before anything else: what leads there is not a worker's to hold. */
static void go_to_site(const struct live *live, const struct crew_member *member, int control)
{
	struct site *site = live->config.site;
	struct answer failed = {.kind = ANSWER_FAILED};
	struct err err = {0};

	if (!site)
		return;
	failed.code = site->ops->enter(site, member->replica, member->host, &err);
	if (failed.code == 0)
		return;
	memcpy(failed.sentence, err.text, sizeof(failed.sentence));
	(void)control_send(control, &failed, sizeof(failed));
	_exit(1);
}

static _Noreturn void become_worker(const struct live *live, const struct crew_member *member,
                                    int control, const struct beginning *beginning)
{
	struct board board = live->board;
	const struct worker_config config = {
		.live = &live->config,
		.model = &live->model,
		.board = &board,
		.host = member->host,
		.replica = member->replica,
		.attempt = beginning->attempt,
		.first_iteration = beginning->first_iteration,
		.coordinator = beginning->coordinator,
		.control = control,
		.run = live->run + (uint64_t)beginning->attempt,
		.payload_bytes = live->payload_bytes,
		.has_delegate_thread = live->has_delegate_threads,
	};

	go_to_site(live, member, control);
	if (keep_only(control))
		_exit(1);
	limits_raise(&live->config, member->host);
	worker_main(&config);
}

static int start_one(struct live *live, struct crew_member *member,
                     const struct beginning *beginning, struct err *err)
{
	int pair[2], code;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "cannot make a socket for a worker: %s",
		               strerror(errno));
	member->pid = fork();
	code = errno;
	if (member->pid == 0)
		become_worker(live, member, pair[1], beginning);
	(void)close(pair[1]);
	member->control = pair[0];
	if (member->pid > 0)
		return 0;
	member->pid = 0;
	return err_set(err, -code, "cannot start a worker: %s", strerror(code));
}

int crew_start(struct live *live, int attempt, int first_iteration, struct err *err)
{
	const struct topology *topology = &live->config.scenario->topology;
	const struct beginning beginning = {getpid(), attempt, first_iteration};
	int n = topology->n_hosts * topology->n_replicas, rc = 0;

	if (!live->crew) {
		live->crew = array_new((size_t)n, sizeof(*live->crew));
		live->polled = array_new((size_t)n, sizeof(*live->polled));
		live->has_answered = array_new((size_t)n, sizeof(*live->has_answered));
		if (!live->crew || !live->polled || !live->has_answered)
			return err_set(err, -ENOMEM, "no memory for %d workers", n);
		for (int i = 0; i < n; i++)
			live->crew[i] = (struct crew_member){.control = -1,
			                                     .host = i % topology->n_hosts,
			                                     .replica = i / topology->n_hosts};
	}
	live->n_crew = n;
	live->facts.n_workers = n;
	for (int i = 0; rc == 0 && i < n; i++)
		rc = start_one(live, &live->crew[i], &beginning, err);
	return rc;
}

/* Wait until the process has ended; one that has closed its socket does at once, or never will. */
static int await_end(const struct crew_member *member)
{
	int status = 0;

	assert(member->pid > 0); /* 0 and less are whole groups of processes */
	for (int waited = 0; waited < GONE_MS; waited++) {
		if (waitpid(member->pid, &status, WNOHANG) != 0)
			return status;
		clock_sleep_ns(NS_PER_MS);
	}
	(void)kill(member->pid, SIGKILL);
	(void)waitpid(member->pid, &status, 0);
	return status;
}

/* How a worker that does not answer any more ended. */
static int tell_gone(const struct live *live, struct crew_member *member, struct err *err)
{
	const struct topology *topology = &live->config.scenario->topology;
	int first = topology_first_stage(topology, member->host), status = await_end(member);
	int last = first + topology_stages_on_host(topology, member->host) - 1;

	member->pid = 0;
	if (interrupt_is_pending())
		return err_set(err, -EINTR, "interrupted");
	if (WIFSIGNALED(status))
		return err_set(err, -EPIPE,
		               "the worker of stages %d to %d, replica %d, was killed by signal %d "
		               "(%s)",
		               first, last, member->replica, WTERMSIG(status),
		               strsignal(WTERMSIG(status)));
	return err_set(err, -EPIPE, "the worker of stages %d to %d, replica %d, ended with %d",
	               first, last, member->replica, WEXITSTATUS(status));
}

int crew_find_gone(const struct live *live, struct err *err)
{
	for (int waited = 0; waited < GONE_MS / 2; waited++) {
		for (int i = 0; i < live->n_crew; i++) {
			/* Who was killed has none. */
			struct pollfd end = {.fd = live->crew[i].control};

			if (poll(&end, 1, 0) == 1 && (end.revents & POLLHUP))
				return tell_gone(live, &live->crew[i], err);
		}
		clock_sleep_ns(NS_PER_MS);
	}
	return 0;
}

int crew_order(struct live *live, const struct order *order, struct err *err)
{
	for (int i = 0; i < live->n_crew; i++)
		if (control_send(live->crew[i].control, order, sizeof(*order)))
			return tell_gone(live, &live->crew[i], err);
	return 0;
}

struct wanted {
	enum answer_kind kind;
	struct crew_report *report; /* NULL: a job that dies is none of this one's business */
	int n_left;
};

static bool has_died(const struct wanted *wanted)
{
	return wanted->report && wanted->report->died_ns >= 0;
}

static void note_answer(struct live *live, int i, struct wanted *wanted)
{
	wanted->n_left -= !live->has_answered[i];
	live->has_answered[i] = true;
}

/* Of those who say so the first to have noticed is believed. */
static void note_death(struct live *live, const struct answer *answer, struct crew_report *report)
{
	board_set_died(&live->board, true);
	if (report->died_ns >= 0 && answer->died_ns >= report->died_ns)
		return;
	report->died_ns = answer->died_ns;
	memcpy(report->sentence, answer->sentence, sizeof(answer->sentence));
}

/* One answer that is there. Who has answered may still fail, or find that the job is dead. */
static int take_answer(struct live *live, int i, struct wanted *wanted, struct err *err)
{
	struct answer answer;

	if (control_receive(live->crew[i].control, &answer, sizeof(answer), 0))
		return tell_gone(live, &live->crew[i], err);
	if (answer.kind == ANSWER_FAILED)
		return err_set(err, answer.code, "%s", answer.sentence);
	if (answer.kind == ANSWER_OP_STARTED)
		return 0; /* that it came is all: the board says which */
	if (answer.kind == ANSWER_DIED) {
		if (!wanted->report)
			return 0;
		note_death(live, &answer, wanted->report);
		note_answer(live, i, wanted);
		return 0;
	}
	if (answer.kind != wanted->kind || live->has_answered[i])
		return err_set(err, -EPROTO, "a worker answered out of turn");
	if (wanted->report)
		wanted->report->handled |= answer.handled;
	note_answer(live, i, wanted);
	return 0;
}

/* Sleep until somebody says something, and take that. *is_quiet_out: nobody did. */
static int take_answers(struct live *live, struct wanted *wanted, bool *is_quiet_out,
                        struct err *err)
{
	int64_t wait_ns = watch_wait_ms(live, LOOK_MS) * (int64_t)NS_PER_MS;
	int rc = wanted->report ? injection_continue(live, &wait_ns, err) : 0;
	const struct timespec limit = {.tv_nsec = wait_ns};

	if (rc)
		return rc;
	for (int i = 0; i < live->n_crew; i++)
		live->polled[i] = (struct pollfd){.fd = live->crew[i].control, .events = POLLIN};
	rc = ppoll(live->polled, (nfds_t)live->n_crew, &limit, NULL);
	*is_quiet_out = rc <= 0;
	if (interrupt_is_pending())
		return err_set(err, -EINTR, "interrupted");
	if (rc < 0 && errno != EINTR)
		return err_set(err, -errno, "cannot wait for workers: %s", strerror(errno));
	watch_look(live);
	for (int i = 0; rc > 0 && i < live->n_crew && wanted->n_left > 0; i++)
		if (live->polled[i].revents) {
			int taken = take_answer(live, i, wanted, err);

			if (taken)
				return taken;
		}
	return 0;
}

static void kill_one(struct crew_member *member)
{
	(void)kill(member->pid, SIGKILL);
	(void)waitpid(member->pid, NULL, 0);
	member->pid = 0;
	(void)close(member->control);
	member->control = -1;
}

/* The job has died: who waits for a rail that nobody else will make, or has been stopped, cannot be
 * waited for. */
static void kill_silent(struct live *live)
{
	for (int i = 0; i < live->n_crew; i++)
		if (!live->has_answered[i])
			kill_one(&live->crew[i]);
}

/* By when nobody may be quiet any more. */
static int64_t limit_ns(int64_t from_ns, int limit_ms)
{
	return from_ns + (int64_t)limit_ms * NS_PER_MS;
}

int crew_collect(struct live *live, enum answer_kind kind, int timeout_ms,
                 struct crew_report *report, struct err *err)
{
	int64_t until_ns = limit_ns(clock_monotonic_ns(), timeout_ms);
	struct wanted wanted = {kind, report, live->n_crew};

	memset(live->has_answered, 0, (size_t)live->n_crew * sizeof(*live->has_answered));
	while (wanted.n_left > 0) {
		bool is_quiet, had_died = has_died(&wanted);
		int rc = take_answers(live, &wanted, &is_quiet, err);

		if (rc)
			return rc;
		if (has_died(&wanted) && !had_died)
			until_ns = limit_ns(clock_monotonic_ns(), STOP_MS);
		if (!is_quiet || clock_monotonic_ns() <= until_ns)
			continue;
		if (!had_died)
			return silence_tell(live, timeout_ms, err);
		kill_silent(live);
		return 0;
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
	free(live->polled);
	free(live->has_answered);
	live->crew = NULL;
	live->polled = NULL;
	live->has_answered = NULL;
	live->n_crew = 0;
}
