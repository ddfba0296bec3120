/* silence.c - who did not answer in time, for a sentence. */
#include <errno.h>
#include <stdio.h>

#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/replay/live_internal.h"

enum { NAMED_MOST = 8 };

/* Has somebody stopped the process, with SIGSTOP or a debugger? */
static bool is_stopped(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%*d %*[^)]) %c", &state) != 1)
		state = 0;
	(void)fclose(file);
	return state == 'T' || state == 't';
}

static void add_worker(const struct live *live, const struct crew_member *member,
                       struct strbuf *out)
{
	const struct topology *topology = &live->config.scenario->topology;
	int first = topology_first_stage(topology, member->host);
	int last = first + topology_stages_on_host(topology, member->host) - 1;

	strbuf_addf(out, "%s%s %d", out->length > 0 ? "; " : "", first == last ? "stage" : "stages",
	            first);
	if (last > first)
		strbuf_addf(out, " to %d", last);
	strbuf_addf(out, ", replica %d%s", member->replica,
	            is_stopped(member->pid) ? ", whose process is stopped" : "");
}

int silence_tell(const struct live *live, int timeout_ms, struct err *err)
{
	char limit[UNITS_TEXT_BYTES];
	struct strbuf names = {0};
	int n_silent = 0;

	for (int i = 0; i < live->n_crew; i++) {
		if (live->has_answered[i])
			continue;
		if (n_silent++ < NAMED_MOST)
			add_worker(live, &live->crew[i], &names);
	}
	if (n_silent > NAMED_MOST)
		strbuf_addf(&names, "; and %d more", n_silent - NAMED_MOST);
	units_format_duration((int64_t)timeout_ms * NS_PER_MS, limit);
	(void)err_set(err, -ETIMEDOUT, "%d of %d workers did not answer within %s: %s", n_silent,
	              live->n_crew, limit, strbuf_text(&names));
	strbuf_fini(&names);
	return -ETIMEDOUT;
}
