/* hang_text.c - what a hang hangs on, in sentences, and as a scenario. */
#include "engine/cli/hang_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "engine/cli/scenario_text.h"

/* A dump does not count iterations: somewhere behind the warm-up, so that before and after show. */
enum { HANG_ITERATION = 10, SENDS_SHOWN = 8 };

static bool has_dump(const struct flight_recorder *recorder, int rank)
{
	for (size_t i = 0; i < recorder->n_dumps; i++)
		if (recorder->dumps[i].rank == rank)
			return true;
	return false;
}

static void add_ranks(const struct hang *hang, const char *separator, struct strbuf *out)
{
	for (int i = 0; i < hang->n_ranks; i++)
		strbuf_addf(out, "%s%d", i > 0 ? separator : "", hang->ranks[i]);
}

static void add_kind(const struct hang *hang, const struct flight_recorder *recorder,
                     struct strbuf *out)
{
	switch (hang->kind) {
	case HANG_NONE:
		strbuf_add(out, "every send and receive is done: nothing hangs here\n");
		return;
	case HANG_TRANSFER:
		strbuf_addf(out,
		            "%d ranks wait for a message from rank %d to rank %d, which both asked "
		            "for and which does not end\n",
		            hang->n_waiting, hang->ranks[0], hang->ranks[1]);
		return;
	case HANG_RANK:
		strbuf_addf(out, "%d %s for rank %d, which %s\n", hang->n_waiting,
		            hang->n_waiting == 1 ? "rank waits" : "ranks wait", hang->ranks[0],
		            has_dump(recorder, hang->ranks[0])
		                    ? "has nothing under way: it computes, or has stopped"
		                    : "left no dump, or asked for nothing");
		return;
	case HANG_CIRCLE:
		strbuf_addf(out, "%d ranks wait in a circle: ", hang->n_waiting);
		add_ranks(hang, " for ", out);
		strbuf_addf(out, " for %d\n", hang->ranks[0]);
		return;
	}
}

void hang_describe(const struct hang *hang, const struct flight_recorder *recorder,
                   struct strbuf *out)
{
	add_kind(hang, recorder, out);
	for (size_t i = 0; i < hang->n_sends && i < SENDS_SHOWN; i++) {
		strbuf_addf(out, "the first send from %d to %d without its receive",
		            hang->sends[i].from, hang->sends[i].to);
		if (hang->sends[i].sequence >= 0)
			strbuf_addf(out, " is number %" PRId64, hang->sends[i].sequence);
		strbuf_add_char(out, '\n');
	}
	if (hang->n_sends > SENDS_SHOWN)
		strbuf_addf(out, "and %zu more pairs have one\n", hang->n_sends - SENDS_SHOWN);
}

/* Each line as a comment. */
static void add_comment(const struct hang *hang, const struct flight_recorder *recorder,
                        struct strbuf *out)
{
	struct strbuf text = {0};
	const char *line;

	hang_describe(hang, recorder, &text);
	for (line = strbuf_text(&text); *line; line += strcspn(line, "\n") + 1) {
		strbuf_add(out, "-- ");
		strbuf_add_bytes(out, line, strcspn(line, "\n") + 1);
	}
	strbuf_fini(&text);
	strbuf_add(out, "--\n");
}

int hang_scenario(const struct hang *hang, const struct flight_recorder *recorder,
                  const char *source, struct strbuf *out, struct err *err)
{
	struct fault fault = {.kind = FAULT_DOWN,
	                      .start = {MOMENT_ITERATION, HANG_ITERATION},
	                      .end = {MOMENT_NEVER, 0},
	                      .from_stage = hang->ranks[0],
	                      .to_stage = hang->ranks[0]};

	if (hang->kind == HANG_NONE)
		return err_set(err, -EINVAL,
		               "every send and receive is done: there is no hang to "
		               "make a scenario of");
	if (hang->kind == HANG_CIRCLE) {
		struct strbuf text = {0};

		add_kind(hang, recorder, &text);
		(void)err_set(err, -EINVAL,
		              "%.*s; their orders do not match, which is no fault of a link",
		              (int)strcspn(strbuf_text(&text), "\n"), strbuf_text(&text));
		strbuf_fini(&text);
		return -EINVAL;
	}
	add_comment(hang, recorder, out);
	scenario_text(source, recorder->n_ranks, &fault, 1, out);
	return 0;
}
