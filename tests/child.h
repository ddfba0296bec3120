/* child.h - processes that a test starts: none is waited for without limit, and a fork that failed
 * is never taken for one. kill(-1, …) would reach everything on the machine. */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_LIMIT_S = 60, CHILD_NOT_ENDED = -1000 };

/* fork(), with stdout flushed before; 0 in the child, which is killed when its parent ends. Where
 * there can be no process the test ends at once. */
pid_t child_start(void);

/* Send a signal to one process; false: nothing was sent, since this is no process, or it is gone.
 */
bool child_signal(pid_t child, int number);

/* To all processes of a group that one of them leads. */
bool child_signal_group(pid_t leader, int number);

/* Wait until it has ended: its exit status, or minus the signal that ended it. A child that has not
 * ended after CHILD_LIMIT_S, longer where ADAPTRA_TEST_SLOW says so, or after
 * ADAPTRA_CHILD_LIMIT_S, is killed: CHILD_NOT_ENDED and a failed check. */
int child_wait(pid_t child);

/* The end of one that would go on for ever. */
void child_kill(pid_t child);

/* Read exactly n_bytes from a child, within the same limit; false: it has ended or is late. */
bool child_read(int descriptor, void *out, size_t n_bytes);

#endif
