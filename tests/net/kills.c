/* kills.c - owners of labs and faults are killed at any time, and what they changed is undone. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "injectors/injector.h"
#include "injectors/journal_internal.h"
#include "injectors/lab_ports.h"
#include "injectors/undo.h"
#include "tests/folder.h"
#include "tests/net/namespace_fixture.h"

enum { N_KILLS = 8, N_STAGES = 3, LIFE_MS = 300, NAMESPACES_MAX = 16 };

static const char *folder;

static const struct topology topology = {
	.n_stages = N_STAGES, .n_hosts = N_STAGES, .n_replicas = 1, .n_rails = 2};

static const struct fault faults[] = {
	{.kind = FAULT_DELAY,
         .from_stage = 0,
         .to_stage = 1,
         .model = DELAY_LATENCY,
         .delay_ns = 30 * NS_PER_MS},
	{.kind = FAULT_RATE, .from_stage = 1, .to_stage = 2, .rate_bits_per_s = 1000000},
	{.kind = FAULT_DOWN, .from_stage = 2, .to_stage = 2, .rail = 1},
};
enum { N_FAULTS = sizeof(faults) / sizeof(faults[0]) };

/* What a run touches outside of a lab: one end of a wire of "the machine", as the user allowed. */
struct machine {
	struct netlink *netlink;
	struct namespace_id id;
};

static int locate_machine(void *context, const struct injector_target *target,
                          struct egress_port *out, struct err *err)
{
	const struct machine *machine = context;

	(void)target;
	(void)err;
	*out = (struct egress_port){.netlink = machine->netlink,
	                            .where = machine->id,
	                            .namespace_fd = NAMESPACE_OWN,
	                            .interface = "left",
	                            .mtu_bytes = 1500,
	                            .is_allowed = true};
	return 0;
}

/* All injectors that are here put what they can into force. */
static int apply_all(const struct injector_config *config, struct injector **opened)
{
	int n = 0;

	for (const struct injector_ops *const *ops = injector_list(); *ops; ops++) {
		if ((*ops)->open(config, &opened[n], NULL))
			continue;
		for (int i = 0; i < N_FAULTS; i++)
			if (injector_check(opened[n], &faults[i], NULL) == 0)
				(void)injector_apply(opened[n], &faults[i], NULL);
		n++;
	}
	return n;
}

/* Make, disturb, put right again. */
static void live_once(struct journal *journal, struct machine *machine)
{
	const struct lab_config config = {.n_hosts = N_STAGES, .n_rails = 2, .mtu_bytes = 1500};
	struct injector *opened[16];
	struct lab_ports ports = {.topology = &topology};
	struct injector_config in_lab = {.topology = &topology,
	                                 .message_bytes = 1000,
	                                 .journal = journal,
	                                 .locate = lab_locate,
	                                 .locate_context = &ports};
	struct injector_config outside = in_lab;
	struct lab *lab;
	int n;

	if (lab_open(&config, journal, &lab, NULL) || egress_open(journal, &in_lab.egress, NULL))
		_exit(1);
	ports.lab = lab;
	outside.egress = in_lab.egress;
	outside.locate = locate_machine;
	outside.locate_context = machine;
	n = apply_all(&in_lab, opened);
	n += apply_all(&outside, opened + n);
	while (n > 0)
		(void)injector_close(opened[--n], NULL);
	if (egress_close(in_lab.egress, NULL) || lab_close(lab, NULL))
		_exit(2);
}

/* Never returns. */
static void live(void)
{
	struct machine machine;
	struct journal *journal;

	alarm(60); /* if the test ends before it is killed */
	if (journal_open(folder, &journal, NULL) ||
	    netlink_open(NAMESPACE_OWN, &machine.netlink, NULL) ||
	    namespace_identify(NAMESPACE_OWN, &machine.id, NULL))
		_exit(3);
	for (;;)
		live_once(journal, &machine);
}

/* Changes of the only journal there may be that are pending, and namespaces it made. */
static int read_left(struct namespace_id *out, int *n_namespaces)
{
	struct journal *journal = NULL;
	struct change change;
	char command[128], path[256] = "";
	int n = 0;
	FILE *pipe;

	*n_namespaces = 0;
	snprintf(command, sizeof(command), "ls -d %s/*.journal 2>/dev/null", folder);
	pipe = popen(command, "re");
	if (pipe && fgets(path, sizeof(path), pipe))
		path[strcspn(path, "\n")] = '\0';
	if (pipe)
		pclose(pipe);
	if (!path[0] || journal_adopt(path, &journal, NULL))
		return 0;
	for (int at = INT32_MAX; (at = journal_pending_before(journal, at, &change)); n++)
		if (change.kind == CHANGE_NAMESPACE && *n_namespaces < NAMESPACES_MAX)
			out[(*n_namespaces)++] = change.where;
	journal_close(journal);
	return n;
}

static bool is_gone(const struct namespace_id *id)
{
	int fd;

	if (namespace_find(id, &fd, NULL))
		return true;
	close(fd);
	return false;
}

/* Kill a run at a moment that the number draws. Pending changes are added up. */
static void kill_one(struct netlink *machine, const char *before, int number, int *n_left)
{
	int64_t life_ns =
		(int64_t)(rng_uniform(rng_mix(5, (uint64_t)number)) * LIFE_MS * NS_PER_MS);
	struct namespace_id ids[NAMESPACES_MAX];
	struct undo_summary summary = {0};
	struct err err = {0};
	int status = 0, n_ids, n_wrong = 0;
	char *after;
	pid_t pid = fork();

	if (pid == 0)
		live();
	clock_sleep_ns(life_ns);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	after = fixture_interfaces(machine);
	tap_note("killed after %lld ms; the machine was %s", (long long)(life_ns / NS_PER_MS),
	         strcmp(after, before) == 0 ? "as before" : "disturbed");
	free(after);
	*n_left += read_left(ids, &n_ids);
	if (!WIFSIGNALED(status))
		tap_ok(false, "a run lives until it is killed: it ended with %d",
		       WEXITSTATUS(status));
	fixture_succeeds(undo_folder(folder, &summary, &err), &err, "a killed run is undone");
	for (int i = 0; i < n_ids; i++)
		n_wrong += !is_gone(&ids[i]);
	tap_is_int(n_wrong, 0, "its %d namespaces are gone", n_ids);
	tap_is_int(read_left(ids, &n_ids), 0, "and so is its journal");
	after = fixture_interfaces(machine);
	tap_is_str(after, before, "the machine is as it was");
	free(after);
}

static int n_kills(void)
{
	const char *wanted = getenv("ADAPTRA_KILLS");

	return wanted ? atoi(wanted) : N_KILLS;
}

int main(void)
{
	struct interface_pair pair = {.name = "left", .peer_name = "right", .mtu_bytes = 1500};
	struct namespace_fixture fixture;
	struct interface left;
	struct netlink *machine;
	struct err err = {0};
	char *before;
	int n_left = 0;

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	pair.peer_namespace_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	folder = folder_open();
	if (netlink_open(NAMESPACE_OWN, &machine, &err) ||
	    interface_add_pair(machine, &pair, &err) ||
	    interface_find(machine, "left", &left, &err) ||
	    interface_set_up(machine, left.index, true, &err))
		return tap_skip_all("no place to try: %s", err.text);
	before = fixture_interfaces(machine);
	for (int i = 0; i < n_kills(); i++)
		kill_one(machine, before, i, &n_left);
	tap_ok(n_left > 0, "%d changes were pending when runs were killed", n_left);
	free(before);
	netlink_close(machine);
	close(pair.peer_namespace_fd);
	tap_ok(rmdir(folder) == 0, "no journal is left");
	return fixture_done(&fixture);
}
