/* nearest.c - the known name that somebody probably meant.
 *
 * The distance is that of optimal string alignment: insertions, deletions, replacements and swaps
 * of neighbours count one each. Names of a command line are short; longer ones are never near. */
#include "engine/base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/strbuf.h"

enum { NAME_LENGTH_LIMIT = 127 };

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Row i holds the distances between the first i characters of a and every start of b. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][NAME_LENGTH_LIMIT + 1];

	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			row[j] = smaller(above[j], row[j - 1]) + 1;
			row[j] = smaller(row[j], above[j - 1] + !is_same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
			    is_same(a[i - 2], b[j - 1]))
				row[j] = smaller(row[j], second[j - 2] + 1);
		}
	}
	return rows[n_a % 3][n_b];
}

const char *nearest_name(const char *found, const char *const *names, size_t n_names)
{
	size_t n_found = strlen(found), best = NAME_LENGTH_LIMIT;
	const char *nearest = NULL;

	if (n_found > NAME_LENGTH_LIMIT)
		return NULL;
	for (size_t i = 0; i < n_names; i++) {
		size_t n_name = strlen(names[i]);
		size_t longer = n_name > n_found ? n_name : n_found;
		size_t most = longer < 3 ? 1 : longer / 3;
		size_t d;

		if (n_name > NAME_LENGTH_LIMIT)
			continue;
		d = distance(found, n_found, names[i], n_name);
		if (d <= most && d < best) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}

int nearest_refuse(const char *noun, const char *found, const char *const *names, size_t n_names,
                   struct err *err)
{
	const char *nearest = nearest_name(found, names, n_names);
	struct strbuf known = {0};

	for (size_t i = 0; i < n_names; i++)
		strbuf_addf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
	if (nearest)
		(void)err_set(err, -ENOENT, "no %s '%.64s'; did you mean '%s'? There are %s", noun,
		              found, nearest, strbuf_text(&known));
	else
		(void)err_set(err, -ENOENT, "no %s '%.64s'; there are %s", noun, found,
		              strbuf_text(&known));
	strbuf_fini(&known);
	return -ENOENT;
}
