/* namespace_fixture.h - a network namespace for one test, which goes with the test's process.
 *
 * What the test makes on "the machine" is made there. The real machine's interfaces are looked at
 * before and after. */
#ifndef TESTS_NET_NAMESPACE_FIXTURE_H
#define TESTS_NET_NAMESPACE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/strbuf.h"
#include "injectors/namespace.h"
#include "injectors/netlink.h"
#include "tests/tap.h"

/* A process with several threads may enter no user namespace, and ThreadSanitizer has one of its
 * own in each. */
#if defined(__SANITIZE_THREAD__)
enum { FIXTURE_HAS_THREADS = 1 };
#else
enum { FIXTURE_HAS_THREADS = 0 };
#endif

struct namespace_fixture {
	struct netlink *machine; /* the real one */
	char *before;
};

static inline struct nl_msg *fixture_dump_links(void)
{
	struct ifinfomsg head = {.ifi_family = AF_UNSPEC};
	struct nl_msg *message = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);

	if (message && nlmsg_append(message, &head, sizeof(head), NLMSG_ALIGNTO) == 0)
		return message;
	nlmsg_free(message);
	return NULL;
}

/* Every interface that netlink sees: index, name, flags, MTU, queueing discipline; the caller's to
 * free. Whether a carrier is there is the world's doing and left out. */
static inline char *fixture_interfaces(struct netlink *netlink)
{
	const unsigned shown = IFF_UP | IFF_PROMISC | IFF_NOARP | IFF_MULTICAST;
	struct netlink_answer answer = {0};
	const struct nlmsghdr *head = NULL;
	struct strbuf text = {0};
	struct err err = {0};

	if (netlink_request(netlink, fixture_dump_links(), &answer, &err))
		strbuf_add(&text, err.text);
	while ((head = netlink_next(&answer, head))) {
		const struct ifinfomsg *info = nlmsg_data(head);
		struct nlattr *attributes[IFLA_MAX + 1];

		if (nlmsg_parse((struct nlmsghdr *)head, sizeof(*info), attributes, IFLA_MAX, NULL))
			continue;
		strbuf_addf(&text, "%d %s flags %x mtu %u qdisc %s\n", info->ifi_index,
		            nla_get_string(attributes[IFLA_IFNAME]), info->ifi_flags & shown,
		            nla_get_u32(attributes[IFLA_MTU]),
		            nla_get_string(attributes[IFLA_QDISC]));
	}
	netlink_answer_fini(&answer);
	return strbuf_take(&text);
}

/* A check that a call went well; its sentence is shown if not. */
static inline bool fixture_succeeds(int rc, const struct err *err, const char *name)
{
	return tap_ok(rc == 0, "%s%s%s", name, rc ? ": " : "", rc ? err->text : "");
}

/* Into a namespace of one's own; why not: skip the test. */
static inline bool fixture_begin(struct namespace_fixture *fixture, struct err *err)
{
	int fd, rc;

	*fixture = (struct namespace_fixture){0};
	rc = namespace_make(1, &fd, err);
	if (rc)
		return false;
	rc = netlink_open(NAMESPACE_OWN, &fixture->machine, err);
	if (!rc)
		fixture->before = fixture_interfaces(fixture->machine);
	if (!rc)
		rc = namespace_enter(fd, err);
	close(fd);
	if (rc)
		netlink_close(fixture->machine);
	return rc == 0;
}

/* The last check; returns the exit status of main(). */
static inline int fixture_done(struct namespace_fixture *fixture)
{
	char *after = fixture_interfaces(fixture->machine);

	tap_is_str(after, fixture->before, "the machine's own interfaces are as they were");
	free(after);
	free(fixture->before);
	netlink_close(fixture->machine);
	return tap_done();
}

#endif
