/* doctor_undo.c - `doctor --undo` puts right what killed runs left, and says what that was. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "engine/base/file.h"
#include "engine/cli/command.h"
#include "tests/folder.h"
#include "tests/net/killed_run_fixture.h"

enum { TEXT_BYTES = 8192, NOBODY = 65534 };

static char *journals; /* where runs and doctor keep them */

/* What a call of doctor printed, and how it ended. */
struct called {
	int code;
	char out[TEXT_BYTES], complaint[TEXT_BYTES];
};

static void read_into(const char *path, char *out)
{
	struct err err = {0};
	size_t n_bytes;
	char *text;

	out[0] = '\0';
	if (file_read(path, TEXT_BYTES, &text, &n_bytes, &err))
		return;
	snprintf(out, TEXT_BYTES, "%s", text);
	free(text);
}

static void redirect(const char *name, int fd)
{
	int file = open(folder_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(99);
	close(file);
}

static void call_doctor(bool wants_undo, struct called *out)
{
	struct cli cli = {.options = {.wants_undo = wants_undo, .columns = 200}};
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		redirect("out", STDOUT_FILENO);
		redirect("err", STDERR_FILENO);
		cli.options.store = "/dev/null/none";
		_exit(cmd_doctor(&cli));
	}
	waitpid(pid, &status, 0);
	out->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	read_into(folder_path("out"), out->out);
	read_into(folder_path("err"), out->complaint);
}

static bool is_up(struct netlink *machine)
{
	struct interface found;

	return interface_find(machine, "lo", &found, NULL) == 0 && found.is_up;
}

static void bury(pid_t orphan)
{
	if (orphan > 0)
		killed_run_kill(orphan);
}

static void test_nothing(void)
{
	struct called called;

	call_doctor(true, &called);
	tap_is_int(called.code, EXIT_DONE, "--undo without any journal succeeds");
	tap_is_str(called.out, "There is nothing to undo.\n", "and says that it did nothing");
}

static void test_killed(struct netlink *machine)
{
	struct namespace_id id = {0};
	struct called called;
	pid_t orphan = killed_run_leave(journals, &id);
	int fd;

	if (!tap_ok(orphan > 0 && !is_up(machine), "a run is killed while it disturbs"))
		return;
	call_doctor(false, &called);
	tap_contains(called.out, "left over   runs that are over left 5 changes of the network",
	             "doctor alone says so");
	tap_ok(!is_up(machine), "and changes nothing");
	call_doctor(true, &called);
	tap_is_int(called.code, EXIT_DONE, "--undo succeeds");
	tap_is_str(called.out,
	           "Of 1 run that is over:\n"
	           "  1 interface was removed, with the other end of its wire\n"
	           "  2 queueing disciplines were removed\n"
	           "  1 interface is up again\n"
	           "  1 namespace goes with the processes of its run that are still in it\n",
	           "and says what it did");
	tap_ok(is_up(machine), "and that is so");
	bury(orphan);
	tap_is_int(namespace_find(&id, &fd, NULL), -ENOENT, "no namespace stays");
	test_nothing();
}

/* A run that ends without closing its journal, and leaves nothing else. */
static void end_abruptly(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct killed_run run = {0};

		_exit(journal_open(journals, &run.journal, NULL) ||
		      killed_run_make_namespace(&run));
	}
	waitpid(pid, NULL, 0);
}

/* One run is over while another one goes on. */
static void test_running(struct netlink *machine)
{
	struct namespace_id id = {0};
	pid_t orphan, pid = killed_run_start(journals, &id, &orphan);
	struct called called;

	tap_ok(orphan > 0, "a run goes on");
	call_doctor(true, &called);
	tap_is_int(called.code, EXIT_DONE, "--undo beside it succeeds");
	tap_is_str(called.out,
	           "There is nothing to undo.\n"
	           "1 run is still going on; what it changed is left alone.\n",
	           "and says that it lives");
	end_abruptly();
	call_doctor(true, &called);
	tap_is_str(called.out,
	           "Of 1 run that is over:\n"
	           "  2 changes had gone already, with their interface, namespace or boot\n"
	           "1 run is still going on; what it changed is left alone.\n",
	           "what is over beside it is told apart");
	tap_ok(!is_up(machine), "what it does is left alone");
	killed_run_kill(pid);
	call_doctor(true, &called);
	tap_is_int(called.code, EXIT_DONE, "once it is killed, it is undone");
	tap_ok(is_up(machine), "as it has to be");
	bury(orphan);
}

/* A journal that another user put there says nothing about what a run did. */
static void test_foreign(struct netlink *machine)
{
	struct namespace_id id = {0};
	struct called called;
	pid_t orphan;
	char command[512];

	if (geteuid() != 0) {
		tap_skip("only root can give a file away");
		return;
	}
	orphan = killed_run_leave(journals, &id);
	snprintf(command, sizeof(command), "chown %d %s/*.journal", NOBODY, journals);
	(void)!system(command);
	call_doctor(true, &called);
	tap_is_int(called.code, EXIT_CANNOT, "another user's journal is refused");
	tap_contains(called.complaint, "is not a file of this user", "with a sentence");
	tap_ok(!is_up(machine), "and nothing is touched");
	snprintf(command, sizeof(command), "chown 0 %s/*.journal", journals);
	(void)!system(command);
	call_doctor(true, &called);
	tap_ok(called.code == EXIT_DONE && is_up(machine), "one's own is undone");
	bury(orphan);
}

int main(void)
{
	struct namespace_fixture fixture;
	struct netlink *machine;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	setenv("XDG_RUNTIME_DIR", folder_open(), 1);
	if (journal_default_folder(&journals, &err) ||
	    netlink_open(NAMESPACE_OWN, &machine, &err) || interface_set_up(machine, 1, true, &err))
		return tap_skip_all("no place to try: %s", err.text);
	test_nothing();
	test_killed(machine);
	test_running(machine);
	test_foreign(machine);
	(void)rmdir(journals);
	free(journals);
	netlink_close(machine);
	return fixture_done(&fixture);
}
