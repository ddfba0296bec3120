/* journal.h - what is changed outside of the process, written down before it is changed.
 *
 * A journal is one text file a run, in a folder of its user's: a line a change, each with a
 * checksum, only ever appended to and on the disk before the change is made. So whatever ends a
 * run, its file says all that may have to be undone (undo.h), and perhaps one thing that was not
 * done yet. A line that was cut while it was written stands for a change that was not made. */
#ifndef INJECTORS_JOURNAL_H
#define INJECTORS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injectors/interface.h"
#include "injectors/namespace.h"
#include "injectors/qdisc.h"

enum change_kind {
	CHANGE_NAMESPACE, /* a namespace is the run's own; it goes with its last process */
	CHANGE_INTERFACE, /* an interface is made, in a namespace of the run's own */
	CHANGE_QDISC,     /* a queueing discipline is put on an interface */
	CHANGE_DOWN,      /* an interface that was up is taken down */
};

struct change {
	enum change_kind kind;
	struct namespace_id where;            /* NAMESPACE: which one it is */
	char interface[INTERFACE_NAME_BYTES]; /* all others */
	int interface_index;                  /* DOWN; QDISC: the same as in qdisc */
	struct qdisc_place qdisc;             /* QDISC */
	enum qdisc_kind qdisc_kind;           /* QDISC */
};

struct journal;

/* Where journals of this user are: $XDG_RUNTIME_DIR/adaptra-bench, for root /run/adaptra-bench if
 * that is not set. *out is the caller's to free. -ENOENT: not set, and not root. */
int journal_default_folder(char **out, struct err *err);

/* Begin a file in folder, which is made if need be, for its user only. One process at a time writes
 * to a journal, the one that opened it; that one being alive keeps others from undoing it. */
int journal_open(const char *folder, struct journal **out, struct err *err);

/* Blocks until the line is on the disk; make the change afterwards. *number_out names it. -EPERM:
 * an interface in a namespace that is not one of this journal's. */
int journal_add(struct journal *journal, const struct change *change, int *number_out,
                struct err *err);

/* The change is undone; twice is once. Where that cannot be written it is so all the same, but who
 * finds the file before it goes has to undo it again. */
int journal_mark_undone(struct journal *journal, int number, struct err *err);

/* The last change that is not undone, of those before the one of that number; 0: none. Numbers
 * begin with 1; for the last of all start with INT_MAX. */
int journal_pending_before(const struct journal *journal, int number, struct change *out);

/* The file goes when nothing is pending, and stays for undo.h else. */
void journal_close(struct journal *journal);

#endif
