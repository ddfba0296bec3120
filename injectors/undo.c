/* undo.c - puts right again what journals say was changed.
 *
 * A change is only touched where it was made: in the same namespace, on the interface of the same
 * name or number, and with its own handle. What is found otherwise is not the run's any more and
 * counts as gone. */
#include "injectors/undo.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "injectors/journal_internal.h"

/* The namespace that was looked for last; changes of one stand together. */
struct visit {
	struct namespace_id id;
	bool is_set;
	int fd; /* -1: gone */
	struct netlink *netlink;
};

static void visit_end(struct visit *visit)
{
	netlink_close(visit->netlink);
	if (visit->fd >= 0)
		close(visit->fd);
	*visit = (struct visit){.fd = -1};
}

/* -ENOENT: the namespace is gone. */
static int visit_begin(struct visit *visit, const struct namespace_id *id, struct err *err)
{
	int rc = 0;

	if (!visit->is_set || !namespace_is_same(&visit->id, id)) {
		visit_end(visit);
		if (namespace_find(id, &visit->fd, NULL) == 0)
			rc = netlink_open(visit->fd, &visit->netlink, err);
		if (rc) {
			visit_end(visit);
			return rc;
		}
		visit->id = *id;
		visit->is_set = true;
	}
	return visit->fd < 0 ? -ENOENT : 0;
}

static int undo_interface(struct netlink *netlink, const struct change *change, struct err *err)
{
	struct interface found;
	int rc = interface_find(netlink, change->interface, &found, err);

	return rc ? rc : interface_delete(netlink, found.index, err);
}

/* qdisc_delete() is content with one that is gone. */
static int undo_qdisc(struct netlink *netlink, const struct change *change, struct err *err)
{
	struct qdisc found;
	int rc = qdisc_read(netlink, &change->qdisc, &found, err);

	return rc ? rc : qdisc_delete(netlink, &change->qdisc, change->qdisc_kind, err);
}

static int undo_down(struct netlink *netlink, const struct change *change, struct err *err)
{
	struct interface found;
	int rc = interface_find(netlink, change->interface, &found, err);

	if (!rc && found.index != change->interface_index)
		return -ENODEV;
	return rc ? rc : interface_set_up(netlink, found.index, true, err);
}

/* -ENOENT, -ENODEV: what was changed is gone. */
static int undo_change(struct visit *visit, const struct change *change, struct err *err)
{
	int rc = visit_begin(visit, &change->where, err);

	if (rc)
		return rc;
	switch (change->kind) {
	case CHANGE_NAMESPACE:
		return 0; /* it goes by itself */
	case CHANGE_INTERFACE:
		return undo_interface(visit->netlink, change, err);
	case CHANGE_QDISC:
		return undo_qdisc(visit->netlink, change, err);
	case CHANGE_DOWN:
		return undo_down(visit->netlink, change, err);
	}
	return 0;
}

static void count_undone(struct undo_summary *summary, enum change_kind kind)
{
	switch (kind) {
	case CHANGE_NAMESPACE:
		summary->n_held++;
		return;
	case CHANGE_INTERFACE:
		summary->n_interfaces_removed++;
		break;
	case CHANGE_QDISC:
		summary->n_qdiscs_removed++;
		break;
	case CHANGE_DOWN:
		summary->n_interfaces_up++;
		break;
	}
	summary->n_undone++;
}

/* Whether the change is settled. */
static bool count(struct undo_summary *summary, enum change_kind kind, int rc)
{
	if (rc == -ENOENT || rc == -ENODEV)
		summary->n_gone++;
	else if (rc == 0)
		count_undone(summary, kind);
	else
		return false;
	return true;
}

int undo_journal(struct journal *journal, struct undo_summary *summary_out, struct err *err)
{
	struct visit visit = {.fd = -1};
	struct change change;
	int number = INT_MAX, first = 0;

	while ((number = journal_pending_before(journal, number, &change))) {
		struct err own = {0};
		int rc = undo_change(&visit, &change, &own);

		/* Also on a full disk: there is room for a file to go. */
		if (count(summary_out, change.kind, rc))
			(void)journal_mark_undone(journal, number, NULL);
		else if (!first)
			first = err_set(err, rc, "change %d of '%s' is not undone: %s", number,
			                journal->path, own.text);
	}
	visit_end(&visit);
	return first;
}

static bool is_of_this_boot(const struct journal *journal)
{
	struct journal_owner now;

	/* Not known: then nothing is taken for gone. */
	return journal_owner_read(getpid(), &now, NULL) ||
	       strcmp(now.boot_id, journal->owner.boot_id) == 0;
}

static void forget_all(struct journal *journal, struct undo_summary *summary)
{
	struct change change;
	int number = INT_MAX;

	while ((number = journal_pending_before(journal, number, &change))) {
		(void)journal_mark_undone(journal, number, NULL); /* as undo_journal() */
		summary->n_gone++;
	}
}

static int count_pending(struct journal *journal, struct undo_summary *summary, struct err *err)
{
	struct change change;
	int number = INT_MAX;

	(void)err;
	while ((number = journal_pending_before(journal, number, &change)))
		summary->n_pending++;
	return 0;
}

static int undo_or_forget(struct journal *journal, struct undo_summary *summary, struct err *err)
{
	if (is_of_this_boot(journal))
		return undo_journal(journal, summary, err);
	forget_all(journal, summary);
	return 0;
}

/* What is done with a journal whose run is over. */
typedef int act_on_journal(struct journal *journal, struct undo_summary *summary, struct err *err);

static int act_on_file(const char *path, act_on_journal *act, struct undo_summary *summary,
                       struct err *err)
{
	struct journal *journal;
	int rc, damage;

	damage = journal_adopt(path, &journal, err);
	if (damage == -EBUSY)
		summary->n_running++;
	if (damage == -EBUSY || damage == -ENODATA)
		return 0;
	if (damage && damage != -EBADMSG)
		return damage;
	summary->n_journals++;
	rc = act(journal, summary, damage ? NULL : err);
	journal_close(journal);
	return damage ? damage : rc;
}

static bool is_journal(const char *name)
{
	static const char ending[] = ".journal";
	size_t n = strlen(name), n_ending = sizeof(ending) - 1;

	return n > n_ending && strcmp(name + n - n_ending, ending) == 0;
}

static int act_on_folder(const char *folder, act_on_journal *act, struct undo_summary *summary,
                         struct err *err)
{
	DIR *names = opendir(folder);
	struct dirent *entry;
	int first = 0;

	if (!names && errno == ENOENT)
		return 0;
	if (!names)
		return err_set(err, -errno, "cannot read the folder '%s': %s", folder,
		               strerror(errno));
	while ((entry = readdir(names))) {
		struct err own = {0};
		char *path;
		int rc;

		if (!is_journal(entry->d_name))
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			continue; /* out of memory: the file stays for the next time */
		rc = act_on_file(path, act, summary, &own);
		if (rc && !first)
			first = err_set(err, rc, "%s", own.text);
		free(path);
	}
	closedir(names);
	return first;
}

int undo_folder(const char *folder, struct undo_summary *summary_out, struct err *err)
{
	return act_on_folder(folder, undo_or_forget, summary_out, err);
}

int undo_look(const char *folder, struct undo_summary *summary_out, struct err *err)
{
	return act_on_folder(folder, count_pending, summary_out, err);
}
