/* journal_text.c - the lines of a journal.
 *
 *     adaptra-bench journal 1 BOOT PID STARTED
 *     1 namespace INODE COOKIE
 *     2 interface INODE COOKIE NAME
 *     3 qdisc INODE COOKIE NAME INDEX PARENT HANDLE KIND
 *     4 down INODE COOKIE NAME INDEX
 *     3 undone
 *
 * Behind each stands a space and the XXH3 of what is before it, as 16 hexadecimal digits. Names of
 * interfaces have no spaces; the kernel takes none that have. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/base/array.h"
#include "injectors/journal_internal.h"

enum { CHECKSUM_DIGITS = 16, LINE_BYTES = 256 };

static void add_line(struct strbuf *text, const char *line)
{
	strbuf_addf(text, "%s %016" PRIx64 "\n", line, XXH3_64bits(line, strlen(line)));
}

void journal_add_head(struct strbuf *text, const struct journal_owner *owner)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof(line), "adaptra-bench journal 1 %s %d %" PRIu64, owner->boot_id,
	         owner->pid, owner->started);
	add_line(text, line);
}

void journal_add_undone(struct strbuf *text, int number)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof(line), "%d undone", number);
	add_line(text, line);
}

static void add_details(char *line, size_t n_bytes, const struct change *change)
{
	size_t n = strlen(line);

	switch (change->kind) {
	case CHANGE_NAMESPACE:
		break;
	case CHANGE_INTERFACE:
		snprintf(line + n, n_bytes - n, " %s", change->interface);
		break;
	case CHANGE_QDISC:
		snprintf(line + n, n_bytes - n, " %s %d %" PRIx32 " %" PRIx32 " %s",
		         change->interface, change->qdisc.interface_index, change->qdisc.parent,
		         change->qdisc.handle, qdisc_kind_name(change->qdisc_kind));
		break;
	case CHANGE_DOWN:
		snprintf(line + n, n_bytes - n, " %s %d", change->interface,
		         change->interface_index);
		break;
	}
}

static const char *const kind_names[] = {"namespace", "interface", "qdisc", "down"};
enum { N_KINDS = sizeof(kind_names) / sizeof(kind_names[0]) };

void journal_add_change(struct strbuf *text, int number, const struct change *change)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof(line), "%d %s %" PRIu64 " %" PRIu64, number, kind_names[change->kind],
	         change->where.inode, change->where.cookie);
	add_details(line, sizeof(line), change);
	add_line(text, line);
}

/* Whether words, of which n are wanted, are all there and nothing else: end is where sscanf() came
 * to, -1 where it did not. */
static bool is_whole(int n, int n_wanted, const char *text, int end)
{
	return n == n_wanted && end >= 0 && text[end] == '\0';
}

static bool parse_qdisc(const char *text, struct change *out)
{
	char kind[INTERFACE_NAME_BYTES];
	int end = -1;
	int n = sscanf(text, "%15s %d %" SCNx32 " %" SCNx32 " %15s%n", out->interface,
	               &out->interface_index, &out->qdisc.parent, &out->qdisc.handle, kind, &end);

	if (!is_whole(n, 5, text, end))
		return false;
	out->qdisc.interface_index = out->interface_index;
	for (out->qdisc_kind = QDISC_NETEM; out->qdisc_kind <= QDISC_SORTER; out->qdisc_kind++)
		if (strcmp(kind, qdisc_kind_name(out->qdisc_kind)) == 0)
			return true;
	return false;
}

static bool parse_details(const char *text, struct change *out)
{
	int n, end = -1;

	switch (out->kind) {
	case CHANGE_NAMESPACE:
		return *text == '\0';
	case CHANGE_INTERFACE:
		n = sscanf(text, "%15s%n", out->interface, &end);
		return is_whole(n, 1, text, end);
	case CHANGE_QDISC:
		return parse_qdisc(text, out);
	case CHANGE_DOWN:
		n = sscanf(text, "%15s %d%n", out->interface, &out->interface_index, &end);
		return is_whole(n, 2, text, end);
	}
	return false;
}

int journal_keep(struct journal *journal, const struct change *change)
{
	struct change *changes;
	bool *is_undone;

	changes = array_grow(journal->changes, &journal->capacity, journal->n_changes + 1,
	                     sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	journal->changes = changes;
	is_undone = array_grow(journal->is_undone, &journal->undone_capacity,
	                       journal->n_changes + 1, sizeof(*is_undone));
	if (!is_undone)
		return -ENOMEM;
	journal->is_undone = is_undone;
	is_undone[journal->n_changes] = false;
	changes[journal->n_changes++] = *change;
	return 0;
}

/* Everything of a line behind its number and word. */
static int parse_change(struct journal *journal, const char *word, const char *text)
{
	struct change change = {0};
	int kind = 0, end = -1;

	while (kind < N_KINDS && strcmp(word, kind_names[kind]) != 0)
		kind++;
	if (kind == N_KINDS ||
	    sscanf(text, "%" SCNu64 " %" SCNu64 " %n", &change.where.inode, &change.where.cookie,
	           &end) != 2 ||
	    end < 0)
		return -EBADMSG;
	change.kind = (enum change_kind)kind;
	return parse_details(text + end, &change) ? journal_keep(journal, &change) : -EBADMSG;
}

static int parse_line(struct journal *journal, const char *line, bool is_first)
{
	struct journal_owner *owner = &journal->owner;
	int number, end = -1;
	char word[16];

	if (is_first)
		return sscanf(line, "adaptra-bench journal 1 %39s %d %" SCNu64 "%n", owner->boot_id,
		              &owner->pid, &owner->started, &end) == 3 &&
		                       line[end] == '\0'
		               ? 0
		               : -EBADMSG;
	if (sscanf(line, "%d %15s %n", &number, word, &end) != 2 || number < 1)
		return -EBADMSG;
	if (end < 0)
		end = (int)strlen(line);
	if (strcmp(word, "undone") != 0)
		return (size_t)number == journal->n_changes + 1
		               ? parse_change(journal, word, line + end)
		               : -EBADMSG;
	if ((size_t)number > journal->n_changes || line[end] != '\0')
		return -EBADMSG;
	journal->is_undone[number - 1] = true;
	return 0;
}

/* Copy a line without its checksum if that is right. */
static bool check_line(const char *start, size_t n_bytes, char *line_out)
{
	char checksum[CHECKSUM_DIGITS + 1];
	size_t n = n_bytes - CHECKSUM_DIGITS - 1;

	if (n_bytes <= CHECKSUM_DIGITS + 1 || n >= LINE_BYTES || start[n] != ' ')
		return false;
	memcpy(line_out, start, n);
	line_out[n] = '\0';
	snprintf(checksum, sizeof(checksum), "%016" PRIx64, XXH3_64bits(line_out, n));
	return memcmp(checksum, start + n + 1, CHECKSUM_DIGITS) == 0;
}

/* The end of a line that begins there, behind its newline; NULL: there is none. */
static const char *line_end(const char *start, const char *end)
{
	const char *newline = memchr(start, '\n', (size_t)(end - start));

	return newline ? newline + 1 : NULL;
}

int journal_parse(struct journal *journal, const char *text, size_t n_bytes, size_t *whole_out,
                  struct err *err)
{
	const char *start = text, *end = text + n_bytes;
	int n_lines = 0, rc = 0;

	*whole_out = 0;
	for (const char *next; (next = line_end(start, end)); start = next) {
		char line[LINE_BYTES];

		rc = check_line(start, (size_t)(next - start) - 1, line)
		             ? parse_line(journal, line, n_lines == 0)
		             : -EBADMSG;
		if (rc)
			break;
		n_lines++;
		*whole_out = (size_t)(next - text);
	}
	/* A crash of the machine may leave the length of the last line, and not its bytes. */
	if (rc == -EBADMSG && !line_end(line_end(start, end), end))
		rc = 0;
	if (rc == -ENOMEM)
		return err_set(err, rc, "out of memory for the journal '%s'", journal->path);
	if (rc)
		return err_set(err, rc, "line %d of the journal '%s' is damaged", n_lines + 1,
		               journal->path);
	return n_lines > 0 ? 0
	                   : err_set(err, -ENODATA, "the journal '%s' has no line", journal->path);
}
