/* page_reproduce.c - the command that makes the same comparison again, and where this one is from.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/settings.h"

static const char OPTION[] = "option.", IMPORTED_FILE[] = "imported.file.";

/* As a shell reads it: in single quotes where it has to be. */
static void add_word(struct strbuf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=:+,@%";

	strbuf_add_char(out, ' ');
	if (*word && word[strspn(word, plain)] == '\0') {
		strbuf_add(out, word);
		return;
	}
	strbuf_add_char(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			strbuf_add(out, "'\\''");
		else
			strbuf_add_char(out, *word);
	strbuf_add_char(out, '\'');
}

static bool is_imported(const struct stored_run *run)
{
	return strcmp(run->mode, "imported") == 0;
}

/* Settings that the command line decides, written as it takes them. */
struct option {
	const char *path, *name;
};

static const struct option options[] = {
	{"iterations", "--iterations"},
	{"seed", "--seed"},
	{"repeats", "--repeat"},
};

/* The same, of live runs, where somebody has decided. */
static const struct option live_options[] = {
	{"lab", "--lab"},
	{"interfaces", "--allow-interface"},
	{"rdma_devices", "--rdma-device"},
};

static const char *value_of(const struct setting *settings, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(settings[i].path, path) == 0)
			return settings[i].value;
	return NULL;
}

static void add_settings(struct strbuf *out, const struct setting *settings, size_t n)
{
	const char *oracle = value_of(settings, n, "oracle");

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *value = value_of(settings, n, options[i].path);

		if (value)
			strbuf_addf(out, " %s %s", options[i].name, value);
	}
	for (size_t i = 0; i < n; i++) {
		struct strbuf word = {0};

		if (strncmp(settings[i].path, OPTION, strlen(OPTION)) != 0)
			continue;
		strbuf_addf(&word, "%s=%s", settings[i].path + strlen(OPTION), settings[i].value);
		strbuf_add(out, " --set");
		add_word(out, strbuf_text(&word));
		out->is_failed |= word.is_failed;
		strbuf_fini(&word);
	}
	if (oracle && strcmp(oracle, "true") == 0)
		strbuf_add(out, " --oracle");
}

static void add_live(struct strbuf *out, const struct stored_run *run,
                     const struct setting *settings, size_t n)
{
	strbuf_addf(out, " --speed %.12g --device", run->speed);
	add_word(out, run->device);
	strbuf_add(out, " --transport");
	add_word(out, run->transport);
	strbuf_add(out, " --injector");
	add_word(out, run->injector);
	for (size_t i = 0; i < sizeof(live_options) / sizeof(live_options[0]); i++) {
		const char *value = value_of(settings, n, live_options[i].path);

		if (!value)
			continue;
		strbuf_addf(out, " %s", live_options[i].name);
		add_word(out, value);
	}
}

static void add_import(struct strbuf *out, const struct setting *settings, size_t n)
{
	strbuf_add(out, "adaptra-bench import");
	for (size_t i = 0; i < n; i++)
		if (strncmp(settings[i].path, IMPORTED_FILE, strlen(IMPORTED_FILE)) == 0)
			add_word(out, settings[i].value);
	strbuf_add(out, " --as record");
}

/* All but the schedules. */
static void add_run(struct strbuf *out, const struct stored_run *run)
{
	bool is_live = strcmp(run->mode, "live") == 0;
	struct setting *settings = NULL;
	size_t n = 0;

	if (settings_read(run->settings_json, &settings, &n, NULL))
		n = 0;
	if (is_imported(run)) {
		add_import(out, settings, n);
	} else {
		strbuf_addf(out, "adaptra-bench %s", is_live ? "run" : "sim");
		add_word(out, *run->scenario_path ? run->scenario_path : "SCENARIO");
		add_settings(out, settings, n);
	}
	if (is_live)
		add_live(out, run, settings, n);
	settings_free(settings, n);
}

/* Has one of the schedules before i the same command, and, where schedule is not NULL, that name?
 */
static bool is_known(const struct page *page, const struct strbuf *commands, size_t i,
                     const char *schedule)
{
	for (size_t before = 0; before < i; before++)
		if (strcmp(strbuf_text(&commands[before]), strbuf_text(&commands[i])) == 0 &&
		    (!schedule || strcmp(page->runs[before].source.run->schedule, schedule) == 0))
			return true;
	return false;
}

/* The command of schedule first, with every schedule that has the same. */
static void add_command(const struct page *page, const struct strbuf *commands, size_t first,
                        struct strbuf *out)
{
	strbuf_addf(out, "%s%s", out->length ? "\n" : "", strbuf_text(&commands[first]));
	for (size_t i = first; i < page->comparison->n_schedules; i++) {
		const char *schedule = page->runs[i].source.run->schedule;

		if (is_imported(page->runs[i].source.run) ||
		    strcmp(strbuf_text(&commands[i]), strbuf_text(&commands[first])) != 0 ||
		    is_known(page, commands, i, schedule))
			continue;
		strbuf_add(out, " --schedule");
		add_word(out, schedule);
	}
}

/* One line a command: runs put together by hand may be from several. */
static void add_commands(const struct page *page, struct strbuf *out)
{
	size_t n = page->comparison->n_schedules;
	struct strbuf *commands = array_new(n, sizeof(*commands));
	struct strbuf text = {0};

	for (size_t i = 0; commands && i < n; i++) {
		add_run(&commands[i], page->runs[i].source.run);
		if (page->comparison->control.schedule)
			strbuf_add(&commands[i], " --control");
	}
	for (size_t i = 0; commands && i < n; i++)
		if (!is_known(page, commands, i, NULL))
			add_command(page, commands, i, &text);
	html_command(out, strbuf_text(&text));
	out->is_failed |= !commands || text.is_failed;
	for (size_t i = 0; commands && i < n; i++) {
		out->is_failed |= commands[i].is_failed;
		strbuf_fini(&commands[i]);
	}
	free(commands);
	strbuf_fini(&text);
}

static void add_fact(struct strbuf *out, const char *name, const char *value)
{
	html_row(out);
	html_row_head(out, "key", "%s", name);
	html_cell(out, "text", "%s", *value ? value : "—");
	html_row_end(out);
}

static void add_facts(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	const struct stored_run *run = page->runs[0].source.run;
	struct strbuf text = {0};

	html_table(out, "Where this comparison is from");
	html_head(out, "", "what");
	html_head(out, "", "value");
	html_rows(out);
	add_fact(out, "adaptra-bench", run->version);
	add_fact(out, "host", run->host);
	add_fact(out, "made", comparison->created);
	strbuf_addf(&text, "%" PRIu64, comparison->seed);
	add_fact(out, "seed", strbuf_text(&text));
	add_fact(out, "backends", comparison->backends);
	if (comparison->rnics && *comparison->rnics)
		add_fact(out, "RNICs", comparison->rnics);
	strbuf_clear(&text);
	strbuf_addf(&text, "%016" PRIx64, run->workload_fingerprint);
	add_fact(out, "workload", strbuf_text(&text));
	add_fact(out, "database", comparison->store_path);
	strbuf_clear(&text);
	for (size_t i = 0; i < comparison->n_schedules; i++)
		strbuf_addf(&text, "%s%" PRId64 " (%s)", i ? ", " : "",
		            comparison->schedules[i].run, comparison->schedules[i].name);
	add_fact(out, "runs", strbuf_text(&text));
	html_table_end(out);
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

void page_reproduce(const struct page *page, struct strbuf *out)
{
	for (size_t i = 0; i < page->comparison->n_schedules; i++)
		if (!page->runs[i].source.run)
			return;
	if (page->comparison->n_schedules == 0)
		return;
	html_sentence(
		out, "caption",
		"With the same version, this makes the same comparison; every option that the "
		"command line decides is written out. A path is from where the scenario was "
		"run.");
	add_commands(page, out);
	add_facts(page, out);
}
