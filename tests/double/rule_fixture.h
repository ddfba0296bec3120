/* rule_fixture.h - what the double does with who breaks a rule, tried in a process of its own. */
#ifndef TESTS_DOUBLE_RULE_FIXTURE_H
#define TESTS_DOUBLE_RULE_FIXTURE_H

#include <stddef.h>
#include <unistd.h>

#include "tests/child.h"
#include "tests/tap.h"

enum { RULE_ENDED_BY_DOUBLE = 86, RULE_SAID_BYTES = 512 };

struct rule {
	void (*breaks)(void);
	const char *said;
};

/* What a child says on stderr until it ends. */
static inline void rule_read_all(int descriptor, char *out, size_t n_bytes)
{
	size_t n = 0;
	ssize_t n_read;

	while (n + 1 < n_bytes && (n_read = read(descriptor, out + n, n_bytes - 1 - n)) > 0)
		n += (size_t)n_read;
	out[n] = '\0';
}

/* The exit status of a process that only does that, and what it says. */
static inline int rule_run(void (*what)(void), char said[RULE_SAID_BYTES])
{
	int ends[2];
	pid_t child;

	if (pipe(ends))
		return -1;
	child = child_start();
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		what();
		_exit(0);
	}
	(void)close(ends[1]);
	rule_read_all(ends[0], said, RULE_SAID_BYTES);
	(void)close(ends[0]);
	return child_wait(child);
}

static inline void rule_check(const struct rule *rule)
{
	char said[RULE_SAID_BYTES];

	tap_is_int(rule_run(rule->breaks, said), RULE_ENDED_BY_DOUBLE,
	           "who breaks a rule is ended");
	tap_contains(said, rule->said, "with the rule");
}

static inline void rule_check_kept(void (*keeps)(void))
{
	char said[RULE_SAID_BYTES];

	tap_is_int(rule_run(keeps, said), 0, "who keeps them goes on");
	tap_is_str(said, "", "and nothing is said");
}

#endif
