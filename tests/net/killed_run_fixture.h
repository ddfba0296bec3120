/* killed_run_fixture.h - a run that changes the network, and is killed.
 *
 * It makes a namespace of its own with a pair in it, puts a queueing discipline on one end and on
 * the loopback interface of the machine (of this test), and takes that down. An orphan of it stays
 * in the namespace. */
#ifndef TESTS_NET_KILLED_RUN_FIXTURE_H
#define TESTS_NET_KILLED_RUN_FIXTURE_H

#include <signal.h>
#include <sys/wait.h>

#include "injectors/interface.h"
#include "injectors/journal.h"
#include "tests/net/namespace_fixture.h"

enum { KILLED_RUN_HANDLE = 0xadab0000, KILLED_RUN_LIFE_S = 60 };

static const struct qdisc_settings killed_run_megabit = {
	.kind = QDISC_TBF,
	.tbf = {.rate_bits_per_s = 8000000, .burst_bytes = 10000, .limit_bytes = 100000}};

struct killed_run {
	struct journal *journal;
	struct netlink *machine, *own;
	struct namespace_id machine_id, own_id;
	int fd;
};

static inline int killed_run_note(struct killed_run *run, struct change change)
{
	int number;

	return journal_add(run->journal, &change, &number, NULL);
}

static inline int killed_run_make_namespace(struct killed_run *run)
{
	struct interface_pair pair = {.name = "left", .peer_name = "right", .mtu_bytes = 1500};
	struct change change = {.kind = CHANGE_NAMESPACE};
	int rc;

	if (namespace_make(1, &run->fd, NULL) || netlink_open(run->fd, &run->own, NULL) ||
	    namespace_identify(run->fd, &run->own_id, NULL))
		return 1;
	change.where = run->own_id;
	rc = killed_run_note(run, change);
	change = (struct change){
		.kind = CHANGE_INTERFACE, .where = run->own_id, .interface = "left"};
	pair.peer_namespace_fd = run->fd;
	return rc || killed_run_note(run, change) || interface_add_pair(run->own, &pair, NULL);
}

static inline int killed_run_put_qdisc(struct killed_run *run, struct netlink *netlink,
                                       const struct namespace_id *where, const char *name)
{
	struct change change = {.kind = CHANGE_QDISC, .where = *where, .qdisc_kind = QDISC_TBF};
	struct interface found;

	if (interface_find(netlink, name, &found, NULL))
		return 1;
	memcpy(change.interface, found.name, sizeof(change.interface));
	change.interface_index = found.index;
	change.qdisc = (struct qdisc_place){.interface_index = found.index,
	                                    .parent = QDISC_AT_ROOT,
	                                    .handle = KILLED_RUN_HANDLE};
	return killed_run_note(run, change) ||
	       qdisc_add(netlink, &change.qdisc, &killed_run_megabit, NULL);
}

static inline int killed_run_take_down(struct killed_run *run, const char *name)
{
	struct change change = {.kind = CHANGE_DOWN, .where = run->machine_id};
	struct interface found;

	if (interface_find(run->machine, name, &found, NULL))
		return 1;
	memcpy(change.interface, found.name, sizeof(change.interface));
	change.interface_index = found.index;
	return killed_run_note(run, change) ||
	       interface_set_up(run->machine, found.index, false, NULL);
}

static inline int killed_run_make_all(struct killed_run *run, const char *folder)
{
	if (journal_open(folder, &run->journal, NULL) ||
	    netlink_open(NAMESPACE_OWN, &run->machine, NULL) ||
	    namespace_identify(NAMESPACE_OWN, &run->machine_id, NULL))
		return 1;
	return killed_run_make_namespace(run) ||
	       killed_run_put_qdisc(run, run->own, &run->own_id, "left") ||
	       killed_run_put_qdisc(run, run->machine, &run->machine_id, "lo") ||
	       killed_run_take_down(run, "lo");
}

/* Tells its number and the namespace's. */
static inline void killed_run_orphan(struct killed_run *run, int channel)
{
	pid_t own = getpid();

	alarm(KILLED_RUN_LIFE_S); /* if the test ends before it is killed */
	if (namespace_enter(run->fd, NULL))
		_exit(1);
	close(run->fd);
	(void)!write(channel, &run->own_id, sizeof(run->own_id));
	(void)!write(channel, &own, sizeof(own));
	pause();
	_exit(0);
}

static inline void killed_run_live(const char *folder, int channel)
{
	struct killed_run run = {0};

	alarm(KILLED_RUN_LIFE_S);
	if (killed_run_make_all(&run, folder))
		_exit(1);
	if (fork() == 0)
		killed_run_orphan(&run, channel);
	pause();
	_exit(0);
}

/* The run's process, once all is made; *orphan_out is −1 where something failed. */
static inline pid_t killed_run_start(const char *folder, struct namespace_id *id_out,
                                     pid_t *orphan_out)
{
	int channel[2];
	pid_t pid;

	(void)!pipe(channel);
	pid = fork();
	if (pid == 0)
		killed_run_live(folder, channel[1]);
	close(channel[1]);
	*orphan_out = -1;
	if (read(channel[0], id_out, sizeof(*id_out)) == sizeof(*id_out))
		(void)!read(channel[0], orphan_out, sizeof(*orphan_out));
	close(channel[0]);
	return pid;
}

static inline void killed_run_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A run that is killed once all is made; returns its orphan. */
static inline pid_t killed_run_leave(const char *folder, struct namespace_id *id_out)
{
	pid_t orphan, pid = killed_run_start(folder, id_out, &orphan);

	killed_run_kill(pid);
	return orphan;
}

#endif
