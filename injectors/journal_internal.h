/* journal_internal.h - the lines of a journal, and journals that others left. */
#ifndef INJECTORS_JOURNAL_INTERNAL_H
#define INJECTORS_JOURNAL_INTERNAL_H

#include "engine/base/strbuf.h"
#include "injectors/journal.h"

enum { BOOT_ID_BYTES = 40 };

/* Who wrote it. */
struct journal_owner {
	char boot_id[BOOT_ID_BYTES];
	int pid;
	uint64_t started; /* when the process did, in the kernel's ticks since the boot */
};

struct journal {
	int fd;
	char *path;
	struct journal_owner owner;
	struct change *changes; /* number n is at n - 1 */
	bool *is_undone;
	size_t n_changes;
	size_t capacity, undone_capacity;
	bool is_damaged; /* the file stays, whatever is undone */
};

/* The process of that number; -ESRCH: there is none. */
int journal_owner_read(int pid, struct journal_owner *out, struct err *err);

/* Whether a process that wrote a journal still runs. */
bool journal_owner_is_alive(const struct journal_owner *owner);

/* Each line ends with its checksum and a newline. */
void journal_add_head(struct strbuf *text, const struct journal_owner *owner);
void journal_add_change(struct strbuf *text, int number, const struct change *change);
void journal_add_undone(struct strbuf *text, int number);

/* Take all of text into journal, which is empty but for its path; *whole_out is how many of its
 * bytes, NULs among them, are whole lines. A last line that is cut is skipped. -ENODATA: not even
 * the first is whole; -EBADMSG: one in the middle is damaged, err names it; those before it are
 * taken. */
int journal_parse(struct journal *journal, const char *text, size_t n_bytes, size_t *whole_out,
                  struct err *err);

/* Keep change under the next number, or -ENOMEM. */
int journal_keep(struct journal *journal, const struct change *change);

/* Take over a file that another process left; close with journal_close(). -EBUSY: that process, or
 * another one that undoes it, still runs; -EPERM: the file is another user's; -EBADMSG: damaged,
 * *out is set all the same and has what stands before the damage; -ENODATA: nothing was changed
 * yet, the file is removed. */
int journal_adopt(const char *path, struct journal **out, struct err *err);

#endif
