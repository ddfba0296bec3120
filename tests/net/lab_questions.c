/* lab_questions.c - hosts of a lab ask often who has an address: an interface that is up again
 * loses its first question to a bridge that has not noticed yet, and the kernel's next one is a
 * second later. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/replay/site.h"
#include "tests/child.h"
#include "tests/folder.h"
#include "tests/net/namespace_fixture.h"
#include "tests/scenario_fixture.h"

enum { N_STAGES = 2, N_RAILS = 2, N_WANTED = 20, LIMIT_S = 30 };

/* How many packets the interface has sent, in this process's namespace. */
static long n_sent(const char *interface)
{
	FILE *file = fopen("/proc/thread-self/net/dev", "re");
	char line[256], name[16];
	long n = -1, found;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " %15[^:]: %*d %*d %*d %*d %*d %*d %*d %*d %*d %ld", name,
		           &found) == 2 &&
		    strcmp(name, interface) == 0)
			n = found;
	if (file)
		(void)fclose(file);
	return n;
}

/* On a host of its own: one datagram for an address that nobody has, after which each packet is a
 * question whose it is. 0: there were more than the kernel's three. */
static int ask(struct site *site, int rail)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	int64_t end_ns = clock_monotonic_ns() + LIMIT_S * (int64_t)NS_PER_S;
	char name[16];
	long n_before;
	int fd;

	snprintf(name, sizeof(name), "rail%d", rail);
	if (site->ops->enter(site, 0, 0, NULL))
		return 1;
	n_before = n_sent(name);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	to.sin_addr.s_addr = htonl(0x0a000063 | (uint32_t)rail << 16);
	if (n_before < 0 || sendto(fd, "", 1, 0, (struct sockaddr *)&to, sizeof(to)) != 1)
		return 2;
	while (n_sent(name) < n_before + N_WANTED && clock_monotonic_ns() < end_ns)
		clock_sleep_ns(NS_PER_MS);
	return n_sent(name) >= n_before + N_WANTED ? 0 : 3;
}

int main(void)
{
	struct scenario scenario;
	struct site_config config = {.scenario = &scenario,
	                             .speed = 1,
	                             .message_bytes = 4096,
	                             .injector = "auto",
	                             .transport = "tcp"};
	const struct site_ops *ops;
	struct site *site = NULL;
	struct namespace_fixture fixture;
	struct err err = {0};

	if (!fixture_begin(&fixture, &err))
		return tap_skip_all("%s", err.text);
	(void)setenv("XDG_RUNTIME_DIR", folder_open(), 1);
	scenario_fixture(&scenario, N_STAGES, 1, NS_PER_MS);
	scenario.topology.n_hosts = N_STAGES;
	scenario.topology.n_rails = N_RAILS;
	if (fixture_succeeds(site_find("netns", &ops, &err), &err, "there are labs") &&
	    fixture_succeeds(ops->open(&config, &site, &err), &err, "and one is made"))
		for (int rail = 0; rail < N_RAILS; rail++) {
			pid_t pid = child_start();

			if (pid == 0)
				_exit(ask(site, rail));
			tap_is_int(child_wait(pid), 0, "a host asks often on rail %d", rail);
		}
	fixture_succeeds(site_close(site, &err), &err, "it goes");
	scenario_fini(&scenario);
	return fixture_done(&fixture);
}
