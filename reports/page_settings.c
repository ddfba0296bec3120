/* page_settings.c - every setting in force: first those in which the schedules differ, then all. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/page_internal.h"
#include "reports/settings.h"

/* What one schedule ran with. */
struct list {
	struct setting *items;
	size_t n;
};

static const char *find(const struct list *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].path, path) == 0)
			return list->items[i].value;
	return NULL;
}

/* Is it another value under one of the schedules than under the first? */
static bool differs(const struct list *lists, size_t n, const char *path)
{
	const char *first = find(&lists[0], path);

	for (size_t i = 1; i < n; i++) {
		const char *other = find(&lists[i], path);

		if ((first == NULL) != (other == NULL) || (first && strcmp(first, other) != 0))
			return true;
	}
	return false;
}

static bool is_first(const struct list *lists, size_t list, const char *path)
{
	for (size_t i = 0; i < list; i++)
		if (find(&lists[i], path))
			return false;
	return true;
}

static void add_row(const struct list *lists, size_t n, const char *path, bool is_different,
                    struct strbuf *out)
{
	html_row(out);
	html_row_head(out, is_different ? "key strong" : "key", "%s%s", is_different ? "≠ " : "",
	              path);
	for (size_t i = 0; i < (is_different ? n : 1); i++) {
		const char *value = find(&lists[i], path);

		html_cell(out, is_different ? "text differs" : "text", "%s", value ? value : "—");
	}
	html_row_end(out);
}

/* The settings that differ, or those that do not. */
static size_t add_rows(const struct list *lists, size_t n, bool is_different, struct strbuf *out)
{
	size_t n_rows = 0;

	for (size_t l = 0; l < n; l++)
		for (size_t i = 0; i < lists[l].n; i++) {
			const char *path = lists[l].items[i].path;

			if (!is_first(lists, l, path) || differs(lists, n, path) != is_different)
				continue;
			add_row(lists, n, path, is_different, out);
			n_rows++;
		}
	return n_rows;
}

static void add_differences(const struct page *page, const struct list *lists, struct strbuf *out)
{
	size_t n = page->comparison->n_schedules;
	struct strbuf rows = {0};

	if (add_rows(lists, n, true, &rows) > 0) {
		html_sentence(out, "caption",
		              "In these (≠) the schedules differ; all else is the same.");
		html_table(out, "Settings that differ");
		html_head(out, "", "setting");
		for (size_t i = 0; i < n; i++)
			html_head(out, "", "%s", page->comparison->schedules[i].name);
		html_rows(out);
		strbuf_add(out, strbuf_text(&rows));
		html_table_end(out);
	} else if (n > 1) {
		html_sentence(out, "caption", "All schedules ran with the same.");
	}
	out->is_failed |= rows.is_failed;
	strbuf_fini(&rows);
}

static void add_all(const struct page *page, const struct list *lists, struct strbuf *out)
{
	add_differences(page, lists, out);
	html_details(out, "Everything that was the same");
	html_table(out, "Settings of all schedules");
	html_head(out, "", "setting");
	html_head(out, "", "value");
	html_rows(out);
	(void)add_rows(lists, page->comparison->n_schedules, false, out);
	html_table_end(out);
	html_details_end(out);
}

void page_settings(const struct page *page, struct strbuf *out)
{
	size_t n = page->comparison->n_schedules, n_read = 0;
	struct list *lists = array_new(n, sizeof(*lists));

	if (!lists) {
		out->is_failed = 1;
		return;
	}
	/* A run with settings of another program's making has none to show. */
	for (size_t i = 0; i < n; i++)
		if (page->runs[i].source.run &&
		    settings_read(page->runs[i].source.run->settings_json, &lists[i].items,
		                  &lists[i].n, NULL) == 0)
			n_read += lists[i].n > 0;
	if (n_read > 0)
		add_all(page, lists, out);
	for (size_t i = 0; i < n; i++)
		settings_free(lists[i].items, lists[i].n);
	free(lists);
}
