/* doctor_machine.c - what the kernel and this user's rights are good for, found by trying. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/stats.h"
#include "engine/base/units.h"
#include "engine/cli/doctor.h"
#include "engine/transport/transport.h"
#include "injectors/namespace.h"
#include "injectors/tap.h"

enum {
	CORES_WANTED = 2,
	N_SLEEPS = 15,
	LATE_US = 1000, /* beyond which ops of fast runs start visibly late */
	PATH_BYTES = 512,
	WORD_BYTES = 64,
};

#define INFINIBAND "/sys/class/infiniband"

static void examine_cores(struct doctor *doctor)
{
	long n_machine = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpus;
	int n;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return;
	n = CPU_COUNT(&cpus);
	if (n >= CORES_WANTED)
		doctor_find(doctor, FINDING_GOOD, "CPU cores",
		            "%d for this process, %ld in the machine; two free ones hold real time",
		            n, n_machine);
	else
		doctor_find(doctor, FINDING_MISSING, "CPU cores",
		            "%d for this process, %ld in the machine; live runs are late unless "
		            "--speed is lowered, a second core holds real time",
		            n, n_machine);
}

/* How late the kernel wakes a sleeper, in the median. */
static int64_t lateness_ns(void)
{
	int64_t late_ns[N_SLEEPS];

	for (int i = 0; i < N_SLEEPS; i++) {
		int64_t start_ns = clock_monotonic_ns();

		clock_sleep_ns(NS_PER_MS);
		late_ns[i] = clock_monotonic_ns() - start_ns - NS_PER_MS;
	}
	return stats_quantile_ns(late_ns, N_SLEEPS, 0.5);
}

static void examine_timers(struct doctor *doctor)
{
	char slack[UNITS_TEXT_BYTES], resolution[UNITS_TEXT_BYTES], late[UNITS_TEXT_BYTES];
	int64_t late_ns = lateness_ns();
	bool is_late = late_ns > LATE_US * (int64_t)NS_PER_US;
	struct timespec step = {0};

	(void)clock_getres(CLOCK_MONOTONIC, &step);
	doctor_find(doctor, is_late ? FINDING_MISSING : FINDING_GOOD, "timers",
	            "resolution %s, slack %s; a sleeper wakes %s late%s",
	            units_format_duration(step.tv_sec * (int64_t)NS_PER_S + step.tv_nsec,
	                                  resolution),
	            units_format_duration(prctl(PR_GET_TIMERSLACK), slack),
	            units_format_duration(late_ns, late),
	            is_late ? ", and so do ops and delayed packets; less load, or a kernel with "
	                      "CONFIG_HIGH_RES_TIMERS, helps"
	                    : "");
}

void doctor_examine_time(struct doctor *doctor)
{
	examine_cores(doctor);
	examine_timers(doctor);
}

static bool has_capability(const struct __user_cap_data_struct *data, int number)
{
	return data[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number);
}

static void examine_capabilities(struct doctor *doctor)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	const char *user = geteuid() == 0 ? "root" : "not root";
	bool has_net, has_sys;

	if (syscall(SYS_capget, &head, data))
		return;
	has_net = has_capability(data, CAP_NET_ADMIN);
	has_sys = has_capability(data, CAP_SYS_ADMIN);
	if (has_net && has_sys)
		doctor_find(doctor, FINDING_GOOD, "rights",
		            "%s, with CAP_NET_ADMIN and CAP_SYS_ADMIN", user);
	else
		doctor_find(
			doctor, FINDING_MISSING, "rights",
			"%s, without %s%s%s: a lab takes a user namespace, and no interface of the "
			"machine can be taken down; run as root",
			user, has_net ? "" : "CAP_NET_ADMIN", has_net || has_sys ? "" : " and ",
			has_sys ? "" : "CAP_SYS_ADMIN");
}

static void examine_tap(struct doctor *doctor, int namespace_fd)
{
	struct err err = {0};
	int fd;

	if (tap_open(namespace_fd, "probe", &fd, &err)) {
		doctor_find(doctor, FINDING_MISSING, "tun",
		            "%s; injector relay needs it: modprobe tun, or make /dev/net/tun "
		            "visible in the container",
		            err.text);
		return;
	}
	close(fd);
	doctor_find(doctor, FINDING_GOOD, "tun", "interfaces of a process can be made");
}

/* In a child, which does nothing else: whoever makes one is in it. */
static bool can_make_user_namespace(void)
{
	int status = -1;
	pid_t pid = _Fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) ? 1 : 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void examine_namespaces(struct doctor *doctor)
{
	struct err err = {0};
	int fd;

	if (namespace_make(1, &fd, &err)) {
		doctor_find(doctor, FINDING_MISSING, "namespaces",
		            "%s; without them --lab netns is refused and faults are held by "
		            "injector shaped",
		            err.text);
		return;
	}
	doctor->has_namespaces = true;
	doctor_find(doctor, FINDING_GOOD, "namespaces", "network namespaces can be made; %s",
	            can_make_user_namespace() ? "so can user namespaces, for users without rights"
	                                      : "no user namespaces, so labs take root");
	examine_tap(doctor, fd);
	close(fd);
}

void doctor_examine_rights(struct doctor *doctor)
{
	examine_capabilities(doctor);
	examine_namespaces(doctor);
}

/* The first line of a file of a device; "" if it cannot be read. */
static void read_word(const char *path, char *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, WORD_BYTES - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/* "mlx5_0 port 1: ACTIVE, Ethernet, 100 Gb/sec (4X EDR)" */
static void add_port(const char *device, const char *port, struct strbuf *out)
{
	static const char *const files[] = {"state", "link_layer", "rate"};
	char path[PATH_BYTES], word[WORD_BYTES];

	strbuf_addf(out, "%s%s port %s", out->length ? "; " : "", device, port);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), INFINIBAND "/%.100s/ports/%.32s/%s", device, port,
		         files[i]);
		read_word(path, word);
		/* A state is "4: ACTIVE". */
		strbuf_addf(out, "%s%s", i == 0 ? ": " : ", ",
		            i == 0 && strchr(word, ' ') ? strchr(word, ' ') + 1 : word);
	}
}

static void add_ports(const char *device, struct strbuf *out)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *ports;

	snprintf(path, sizeof(path), INFINIBAND "/%.100s/ports", device);
	ports = opendir(path);
	while (ports && (entry = readdir(ports)))
		if (entry->d_name[0] != '.')
			add_port(device, entry->d_name, out);
	if (ports)
		closedir(ports);
}

void doctor_examine_rdma(struct doctor *doctor)
{
	const struct transport_ops *verbs;
	const struct dirent *entry;
	struct strbuf text = {0};
	struct err err = {0};
	bool is_built = transport_find("verbs", &verbs, &err) == 0;
	DIR *devices = opendir(INFINIBAND);

	while (devices && (entry = readdir(devices)))
		if (entry->d_name[0] != '.')
			add_ports(entry->d_name, &text);
	if (devices)
		closedir(devices);
	if (text.length)
		doctor_find(doctor, is_built ? FINDING_GOOD : FINDING_MISSING, "RDMA", "%s%s%s",
		            strbuf_text(&text), is_built ? "" : "; ", err.text);
	else
		doctor_find(
			doctor, FINDING_MISSING, "RDMA",
			"no device; tensors move over tcp. Soft-RoCE makes one of any interface "
			"(modprobe rdma_rxe, rdma link add)%s%s",
			is_built ? "" : "; ", err.text);
	strbuf_fini(&text);
}
