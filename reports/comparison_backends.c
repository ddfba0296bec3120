/* comparison_backends.c - what the runs of a comparison ran on, in a line: where they differ, which
 * did on what. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "reports/comparison_internal.h"
#include "reports/settings.h"

static const char *device_of(const struct stored_run *run)
{
	return run->device;
}

static const char *transport_of(const struct stored_run *run)
{
	return run->transport;
}

static const char *injector_of(const struct stored_run *run)
{
	return run->injector;
}

/* The first run with the same word as run i. */
static size_t first_alike(const struct stored_run *runs, size_t i,
                          const char *(*word_of)(const struct stored_run *))
{
	size_t first = 0;

	while (strcmp(word_of(&runs[first]), word_of(&runs[i])) != 0)
		first++;
	return first;
}

static bool are_alike(const struct stored_run *runs, size_t n_runs,
                      const char *(*word_of)(const struct stored_run *))
{
	for (size_t i = 0; i < n_runs; i++)
		if (first_alike(runs, i, word_of) != 0)
			return false;
	return true;
}

/* "shaped (#3) and stream (#4, #7)" */
static void add_words(const struct stored_run *runs, size_t n_runs,
                      const char *(*word_of)(const struct stored_run *), struct strbuf *out)
{
	for (size_t i = 0; i < n_runs; i++) {
		const char *separator = " (";

		if (first_alike(runs, i, word_of) != i)
			continue;
		strbuf_addf(out, "%s%s", i ? " and " : "", word_of(&runs[i]));
		for (size_t k = i; k < n_runs; k++)
			if (first_alike(runs, k, word_of) == i) {
				strbuf_addf(out, "%s#%lld", separator, (long long)runs[k].run);
				separator = ", ";
			}
		strbuf_add(out, ")");
	}
}

/* What a setting says, where there is one: the same for all that ran alike. */
static void add_setting(const struct stored_run *runs, size_t n_runs, const char *path,
                        const char *what, struct strbuf *out)
{
	for (size_t i = 0; i < n_runs; i++) {
		struct setting *settings;
		bool has_said = false;
		size_t n;

		if (settings_read(runs[i].settings_json, &settings, &n, NULL))
			continue;
		for (size_t k = 0; k < n && !has_said; k++) {
			has_said = strcmp(settings[k].path, path) == 0;
			if (has_said)
				strbuf_addf(out, "; %s: %s", what, settings[k].value);
		}
		settings_free(settings, n);
		if (has_said)
			return;
	}
}

char *comparison_backends(const struct stored_run *runs, size_t n_runs)
{
	static const struct {
		const char *what;
		const char *(*word_of)(const struct stored_run *);
	} parts[] = {{"device ", device_of},
	             {", transport ", transport_of},
	             {", injector ", injector_of}};
	struct strbuf out = {0};
	char *text;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		strbuf_add(&out, parts[i].what);
		if (are_alike(runs, n_runs, parts[i].word_of))
			strbuf_add(&out, parts[i].word_of(&runs[0]));
		else
			add_words(runs, n_runs, parts[i].word_of, &out);
	}
	add_setting(runs, n_runs, "stream.carried_by", "stream plane", &out);
	add_setting(runs, n_runs, "device.gpus", "GPU", &out);
	text = out.is_failed ? NULL : strdup(strbuf_text(&out));
	strbuf_fini(&out);
	return text;
}
