/* nightly_causes.c - what else was new on the night on which a number changed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/nightly.h"
#include "reports/settings.h"

enum { SETTINGS_MOST = 4 };

/* Where workers are tells histories apart (nightly_environment()), so it is never among what is too
 * much to be named. */
#define PLACE_NAMES "lab", "interfaces"
static const char *const places[] = {PLACE_NAMES};

enum { PLACES = sizeof(places) / sizeof(places[0]) };

/* Where a scenario lies and how it is worded changes nothing; what its text leads to does. */
static const char *const left_out[] = {"digest", "path", PLACE_NAMES, NULL};

static void add_separator(struct strbuf *out)
{
	if (out->length > 0)
		strbuf_add(out, ", ");
}

static void add_text(const char *name, const char *before, const char *after, struct strbuf *out)
{
	if (strcmp(before, after) == 0)
		return;
	add_separator(out);
	strbuf_addf(out, "%s %s and %s", name, before, after);
}

static const char *place_name(const char *text)
{
	return text[0] == '\0' || strcmp(text, "auto") == 0 ? "none" : text;
}

static void add_places(const struct stored_run *before, const struct stored_run *after,
                       struct strbuf *out)
{
	for (int i = 0; i < PLACES; i++) {
		char *a = settings_text(before->settings_json, places[i]);
		char *b = settings_text(after->settings_json, places[i]);

		if (a && b)
			add_text(places[i], place_name(a), place_name(b), out);
		out->is_failed |= !a || !b;
		free(a);
		free(b);
	}
}

static void add_texts(const struct stored_run *before, const struct stored_run *after,
                      struct strbuf *out)
{
	const struct {
		const char *name, *before, *after;
	} texts[] = {
		{"adaptra-bench", before->version, after->version},
		{"mode", before->mode, after->mode},
		{"host", before->host, after->host},
		{"device", before->device, after->device},
		{"transport", before->transport, after->transport},
		{"injector", before->injector, after->injector},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_text(texts[i].name, texts[i].before, texts[i].after, out);
	add_places(before, after, out);
}

int nightly_add_differences(const struct stored_run *before, const struct stored_run *after,
                            struct strbuf *out, struct err *err)
{
	struct strbuf settings = {0};
	int rc;

	add_texts(before, after, out);
	if (before->speed < after->speed || before->speed > after->speed) {
		add_separator(out);
		strbuf_addf(out, "speed %g and %g", before->speed, after->speed);
	}
	rc = settings_add_differences(before->settings_json, after->settings_json, SETTINGS_MOST,
	                              left_out, &settings, err);
	/* Settings of another program's making say nothing. */
	if (rc == 0 && settings.length > 0) {
		add_separator(out);
		strbuf_add(out, strbuf_text(&settings));
	}
	out->is_failed |= settings.is_failed;
	strbuf_fini(&settings);
	return rc == -EINVAL ? 0 : rc;
}

/* The schedule's first run of a comparison. */
static const struct stored_run *find_run(const struct stored_run *runs, size_t n_runs,
                                         const char *schedule)
{
	for (size_t i = 0; i < n_runs; i++)
		if (!runs[i].is_control && strcmp(runs[i].schedule, schedule) == 0)
			return &runs[i];
	return NULL;
}

int nightly_read_cause(struct store *store, const struct nightly_history *history, size_t schedule,
                       size_t night, struct strbuf *out, struct err *err)
{
	const struct nightly_schedule *of = &history->schedules[schedule];
	struct stored_run *runs[2] = {NULL, NULL};
	size_t n[2] = {0, 0}, before = night;
	const struct stored_run *a, *b;
	int rc = 0;

	do
		if (before-- == 0)
			return 0;
	while (!(of->values[NIGHTLY_P50_MS][before] > 0));
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = store_read_runs(
			store,
			&(struct store_query){.comparison =
		                                      history->comparisons[i ? night : before]},
			&runs[i], &n[i], err);
	a = rc ? NULL : find_run(runs[0], n[0], of->name);
	b = rc ? NULL : find_run(runs[1], n[1], of->name);
	if (a && b)
		rc = nightly_add_differences(a, b, out, err);
	for (int i = 0; i < 2; i++)
		stored_runs_fini(runs[i], n[i]);
	return rc;
}
