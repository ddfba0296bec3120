/* undo.h - puts right again what journals say was changed. */
#ifndef INJECTORS_UNDO_H
#define INJECTORS_UNDO_H

#include "injectors/journal.h"

/* What became of the changes that were pending. */
struct undo_summary {
	int n_journals; /* of runs that are over */
	int n_running;  /* of runs that are not; left alone */
	int n_pending;  /* of those journals, when they were looked at */
	int n_undone;   /* the sum of the next three */
	int n_interfaces_removed;
	int n_qdiscs_removed;
	int n_interfaces_up; /* that were taken down */
	int n_gone;          /* with their interface, namespace or boot */
	int n_held; /* namespaces that processes of the run are still in; they go with those */
};

/* Undo what is pending in this process's own journal, the last first. Goes on after an error; the
 * first one is returned, and what it was about stays pending. Twice is once. summary_out is added
 * to. */
int undo_journal(struct journal *journal, struct undo_summary *summary_out, struct err *err);

/* The same for every journal in folder whose run is over, from that folder alone. Journals of
 * another boot of the machine are removed: what they changed was lost with it. No folder is
 * success. */
int undo_folder(const char *folder, struct undo_summary *summary_out, struct err *err);

/* Only count what undo_folder() would have to do: n_journals, n_running, n_pending. */
int undo_look(const char *folder, struct undo_summary *summary_out, struct err *err);

#endif
