/* undo.c - what a killed run left in namespaces that a process of it still holds is put right. */
#include "injectors/undo.h"

#include <limits.h>
#include <sys/prctl.h>

#include "tests/folder.h"
#include "tests/net/killed_run_fixture.h"

static const char *folder;

static bool is_up(struct netlink *netlink, const char *name)
{
	struct interface found;

	return interface_find(netlink, name, &found, NULL) == 0 && found.is_up;
}

static void check_machine(struct netlink *machine, bool is_undone)
{
	struct qdisc_place place = {
		.interface_index = 1, .parent = QDISC_AT_ROOT, .handle = KILLED_RUN_HANDLE};
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
	pid_t orphan = killed_run_leave(folder, &id);
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
	struct killed_run run = {.machine = machine};
	struct err err = {0};
	struct qdisc found;

	(void)journal_open(folder, &run.journal, &err);
	(void)namespace_identify(NAMESPACE_OWN, &run.machine_id, &err);
	tap_is_int(killed_run_put_qdisc(&run, machine, &run.machine_id, "lo"), 0, "a qdisc is put");
	place.handle = KILLED_RUN_HANDLE;
	(void)qdisc_delete(machine, &place, QDISC_TBF, &err);
	(void)qdisc_add(machine, &other, &killed_run_megabit, &err);
	fixture_succeeds(undo_journal(run.journal, &summary, &err), &err, "what is gone is undone");
	tap_is_int(summary.n_gone, 1, "as gone");
	fixture_succeeds(qdisc_read(machine, &other, &found, &err), &err,
	                 "somebody else's stays where it is");
	(void)qdisc_delete(machine, &other, QDISC_TBF, &err);
	journal_close(run.journal);
}

/* The interface that went down is gone, and another one has its name: it stays as it is. */
static void test_replaced_interface(struct netlink *machine)
{
	struct interface_pair pair = {.name = "left", .peer_name = "right", .mtu_bytes = 1500};
	struct killed_run run = {.machine = machine};
	struct undo_summary summary = {0};
	struct interface found;
	struct err err = {0};

	pair.peer_namespace_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	(void)journal_open(folder, &run.journal, &err);
	(void)namespace_identify(NAMESPACE_OWN, &run.machine_id, &err);
	(void)interface_add_pair(machine, &pair, &err);
	tap_is_int(killed_run_take_down(&run, "left"), 0, "an interface is taken down");
	(void)interface_find(machine, "left", &found, &err);
	(void)interface_delete(machine, found.index, &err);
	fixture_succeeds(interface_add_pair(machine, &pair, &err), &err,
	                 "another one has its name");
	close(pair.peer_namespace_fd);
	fixture_succeeds(undo_journal(run.journal, &summary, &err), &err, "what is gone is undone");
	tap_is_int(summary.n_gone, 1, "as gone");
	tap_ok(!is_up(machine, "left"), "somebody else's stays down");
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
	test_replaced_interface(machine);
	netlink_close(machine);
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
