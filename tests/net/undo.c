/* undo.c - what a killed run left in namespaces that a process of it still holds is put right. */
#include "injectors/undo.h"

#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "injectors/interface.h"
#include "tests/folder.h"
#include "tests/net/namespace_fixture.h"

enum { HANDLE = 0xadab0000 };

static const char *folder;

static const struct qdisc_settings megabit = {
	.kind = QDISC_TBF,
	.tbf = {.rate_bits_per_s = 8000000, .burst_bytes = 10000, .limit_bytes = 100000}};

/* The run: a namespace of its own with a pair in it, a queueing discipline on one end, and the
 * loopback interface of the machine (of this test) taken down. */
struct run {
	struct journal *journal;
	struct netlink *machine, *own;
	struct namespace_id machine_id, own_id;
	int fd;
};

static int note(struct run *run, struct change change)
{
	int number;

	return journal_add(run->journal, &change, &number, NULL);
}

static int make_namespace(struct run *run)
{
	struct interface_pair pair = {.name = "left", .peer_name = "right", .mtu_bytes = 1500};
	struct change change = {.kind = CHANGE_NAMESPACE};
	int rc;

	if (namespace_make(1, &run->fd, NULL) || netlink_open(run->fd, &run->own, NULL) ||
	    namespace_identify(run->fd, &run->own_id, NULL))
		return 1;
	change.where = run->own_id;
	rc = note(run, change);
	change = (struct change){
		.kind = CHANGE_INTERFACE, .where = run->own_id, .interface = "left"};
	pair.peer_namespace_fd = run->fd;
	return rc || note(run, change) || interface_add_pair(run->own, &pair, NULL);
}

static int put_qdisc(struct run *run, struct netlink *netlink, const struct namespace_id *where,
                     const char *name)
{
	struct change change = {.kind = CHANGE_QDISC, .where = *where, .qdisc_kind = QDISC_TBF};
	struct interface found;

	if (interface_find(netlink, name, &found, NULL))
		return 1;
	memcpy(change.interface, found.name, sizeof(change.interface));
	change.interface_index = found.index;
	change.qdisc = (struct qdisc_place){
		.interface_index = found.index, .parent = QDISC_AT_ROOT, .handle = HANDLE};
	return note(run, change) || qdisc_add(netlink, &change.qdisc, &megabit, NULL);
}

static int take_down(struct run *run, const char *name)
{
	struct change change = {.kind = CHANGE_DOWN, .where = run->machine_id};
	struct interface found;

	if (interface_find(run->machine, name, &found, NULL))
		return 1;
	memcpy(change.interface, found.name, sizeof(change.interface));
	change.interface_index = found.index;
	return note(run, change) || interface_set_up(run->machine, found.index, false, NULL);
}

static int make_all(struct run *run)
{
	if (journal_open(folder, &run->journal, NULL) ||
	    netlink_open(NAMESPACE_OWN, &run->machine, NULL) ||
	    namespace_identify(NAMESPACE_OWN, &run->machine_id, NULL))
		return 1;
	return make_namespace(run) || put_qdisc(run, run->own, &run->own_id, "left") ||
	       put_qdisc(run, run->machine, &run->machine_id, "lo") || take_down(run, "lo");
}

/* A run in a process of its own, killed once all is made. An orphan of it stays in the namespace,
 * and tells its number and the namespace's. */
static pid_t killed_run(struct namespace_id *id_out)
{
	int channel[2], status;
	pid_t pid, orphan = -1;

	(void)!pipe(channel);
	pid = fork();
	if (pid == 0) {
		struct run run = {0};
		int rc;

		alarm(60);
		rc = make_all(&run);
		orphan = rc ? -1 : fork();
		if (orphan == 0) {
			alarm(60); /* if the test ends before it is killed */
			if (namespace_enter(run.fd, NULL))
				_exit(1);
			close(run.fd);
			orphan = getpid();
			(void)!write(channel[1], &run.own_id, sizeof(run.own_id));
			(void)!write(channel[1], &orphan, sizeof(orphan));
			pause();
			_exit(0);
		}
		if (rc)
			_exit(1);
		pause();
	}
	close(channel[1]);
	if (read(channel[0], id_out, sizeof(*id_out)) == sizeof(*id_out))
		(void)!read(channel[0], &orphan, sizeof(orphan));
	close(channel[0]);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return orphan;
}

static bool is_up(struct netlink *netlink, const char *name)
{
	struct interface found;

	return interface_find(netlink, name, &found, NULL) == 0 && found.is_up;
}

static void check_machine(struct netlink *machine, bool is_undone)
{
	struct qdisc_place place = {
		.interface_index = 1, .parent = QDISC_AT_ROOT, .handle = HANDLE};
	struct qdisc found;
	tap_is_int(is_up(machine, "lo"), is_undone, "the machine's interface is %s",
	           is_undone ? "up again" : "down");
	tap_is_int(qdisc_read(machine, &place, &found, NULL), is_undone ? -ENOENT : 0,
	           "and its queueing discipline %s", is_undone ? "gone" : "there");
}

static void check_held(const struct namespace_id *id)
{
	struct netlink *held;
	struct interface *list = NULL;
	struct err err = {0};
	size_t n = 0;
	int fd = -1;

	fixture_succeeds(namespace_find(id, &fd, &err), &err, "the orphan's namespace is there");
	(void)netlink_open(fd, &held, &err);
	(void)interface_list(held, &list, &n, &err);
	tap_is_int((int64_t)n, 1, "with nothing in it but its loopback interface");
	free(list);
	netlink_close(held);
	close(fd);
}

static void test_orphan(struct netlink *machine)
{
	struct undo_summary summary = {0}, again = {0};
	struct namespace_id id = {0};
	struct err err = {0};
	pid_t orphan = killed_run(&id);
	int fd;

	if (!tap_ok(orphan > 0, "a run is killed and leaves an orphan"))
		return;
	check_machine(machine, false);
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "it is undone");
	tap_is_int(summary.n_undone, 4, "a pair, two queueing disciplines, an interface");
	tap_is_int(summary.n_held, 1, "a namespace is left to the orphan");
	tap_is_int(summary.n_gone, 0, "nothing was gone");
	check_machine(machine, true);
	check_held(&id);
	fixture_succeeds(undo_folder(folder, &again, &err), &err, "again: success");
	tap_is_int(again.n_journals, 0, "and nothing to do");
	kill(orphan, SIGKILL);
	waitpid(orphan, NULL, 0);
	tap_is_int(namespace_find(&id, &fd, NULL), -ENOENT, "the namespace goes with the orphan");
}

/* Somebody took away what the run made, and put something of the same name there. */
static void test_replaced(struct netlink *machine)
{
	const struct qdisc_place other = {
		.interface_index = 1, .parent = QDISC_AT_ROOT, .handle = 0x00010000};
	struct qdisc_place place = other;
	struct undo_summary summary = {0};
	struct run run = {.machine = machine};
	struct err err = {0};
	struct qdisc found;

	(void)journal_open(folder, &run.journal, &err);
	(void)namespace_identify(NAMESPACE_OWN, &run.machine_id, &err);
	tap_is_int(put_qdisc(&run, machine, &run.machine_id, "lo"), 0, "a qdisc is put");
	place.handle = HANDLE;
	(void)qdisc_delete(machine, &place, QDISC_TBF, &err);
	(void)qdisc_add(machine, &other, &megabit, &err);
	fixture_succeeds(undo_journal(run.journal, &summary, &err), &err, "what is gone is undone");
	tap_is_int(summary.n_gone, 1, "as gone");
	fixture_succeeds(qdisc_read(machine, &other, &found, &err), &err,
	                 "somebody else's stays where it is");
	(void)qdisc_delete(machine, &other, QDISC_TBF, &err);
	journal_close(run.journal);
}

int main(void)
{
	struct namespace_fixture fixture;
	struct netlink *machine;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	/* The orphan becomes this process's child, so that it can be waited for. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	folder = folder_open();
	if (netlink_open(NAMESPACE_OWN, &machine, &err) || interface_set_up(machine, 1, true, &err))
		return tap_skip_all("no place to try: %s", err.text);
	test_orphan(machine);
	test_replaced(machine);
	netlink_close(machine);
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
