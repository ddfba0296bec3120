/* script_text.h - runs scripts that a test has in its source. */
#ifndef TESTS_UNIT_SCRIPT_TEXT_H
#define TESTS_UNIT_SCRIPT_TEXT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/strbuf.h"
#include "engine/script/script.h"
#include "tests/folder.h"
#include "tests/tap.h"

enum { SCRIPT_PATH_BYTES = 256 };

/* A folder for this process's scripts. */
static char script_folder[SCRIPT_PATH_BYTES];

static inline void script_folder_open(void)
{
	snprintf(script_folder, sizeof(script_folder), "%s", folder_open());
}

static inline void script_folder_close(void)
{
	char path[SCRIPT_PATH_BYTES + 16];

	snprintf(path, sizeof(path), "%s/x.lua", script_folder);
	(void)unlink(path); /* there may be none */
	snprintf(path, sizeof(path), "%s/x.trace", script_folder);
	(void)unlink(path);
	(void)rmdir(script_folder);
}

static inline int script_load_bytes(const char *bytes, size_t n_bytes,
                                    const char *const *assignments, size_t n_assignments,
                                    struct script **out, struct scenario_mistakes *mistakes,
                                    struct err *err)
{
	static const char *const folders[] = {"scenarios/profiles"};
	char path[SCRIPT_PATH_BYTES + 16];
	const struct script_request request = {
		.path = path,
		.assignments = assignments,
		.n_assignments = n_assignments,
		.profile_folders = folders,
		.n_profile_folders = 1,
	};
	FILE *file;

	snprintf(path, sizeof(path), "%s/x.lua", script_folder);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
		abort();
	return script_load(&request, out, mistakes, err);
}

/* A valid scenario around a body of fields and the statements before it. */
static inline char *script_around(const char *before, const char *fields)
{
	struct strbuf text = {0};

	strbuf_addf(&text,
	            "local ab = require \"adaptra\" %s\n"
	            "return ab.scenario { title = \"t\", topology = ab.pipeline { stages = 4, "
	            "hosts = 2 },\n"
	            "workload = ab.profile \"uniform-10ms\", schedules = { \"1f1b\" }, iterations "
	            "= 100,\n"
	            "%s }\n",
	            before, fields);
	return strbuf_take(&text);
}

/* The script is refused with this one sentence, be it a mistake or an error. NULL: it loads. */
static inline void script_expect(const char *text, const char *sentence, const char *name)
{
	struct scenario_mistakes mistakes = {0};
	struct script *script = NULL;
	struct err err = {0};
	int rc = script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err);

	if (!sentence)
		tap_is_str(rc ? err.text : "", "", "%s", name);
	else if (tap_is_int(rc, -EINVAL, "%s: refused", name))
		tap_is_str(mistakes.n_sentences > 0 ? mistakes.sentences[0] : err.text, sentence,
		           "%s", name);
	if (mistakes.n_sentences > 1)
		tap_ok(false, "%s: one mistake, but also: %s", name, mistakes.sentences[1]);
	scenario_mistakes_fini(&mistakes);
	script_free(script);
}

/* script_expect() with statements in front of a valid scenario. */
static inline void script_expect_before(const char *before, const char *sentence, const char *name)
{
	char *text = script_around(before, "");

	script_expect(text, sentence, name);
	free(text);
}

static inline void script_expect_fields(const char *fields, const char *sentence, const char *name)
{
	char *text = script_around("", fields);

	script_expect(text, sentence, name);
	free(text);
}

#endif
