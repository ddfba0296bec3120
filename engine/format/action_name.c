/* action_name.c - the names that PyTorch pipelining gives what a stage does. */
#include "engine/format/action_name.h"

#include <string.h>

#include "engine/format/text_internal.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/topology.h"

static const char *const letters[OBSERVED_KINDS] = {
	[OBSERVED_FORWARD] = "F",
	[OBSERVED_BACKWARD] = "B",
	[OBSERVED_BACKWARD_INPUT] = "I",
	[OBSERVED_BACKWARD_WEIGHT] = "W",
	[OBSERVED_SEND_FORWARD] = "SEND_F",
	[OBSERVED_RECEIVE_FORWARD] = "RECV_F",
	[OBSERVED_SEND_BACKWARD] = "SEND_B",
	[OBSERVED_RECEIVE_BACKWARD] = "RECV_B",
};

const char *action_letters(enum observed_kind kind)
{
	return letters[kind];
}

bool action_name_parse(const char *text, size_t length, struct action_name *out)
{
	struct text_span rest = text_trim((struct text_span){text, length});
	struct action_name action = {.kind = OBSERVED_OTHER};
	size_t n_letters = 0;

	if (text_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &action.stage) < 0)
		return false;
	while (n_letters < rest.length && !text_is_digit(rest.text[n_letters]))
		n_letters++;
	for (int kind = 0; kind < OBSERVED_KINDS; kind++)
		if (letters[kind] != NULL && strlen(letters[kind]) == n_letters &&
		    memcmp(letters[kind], rest.text, n_letters) == 0)
			action.kind = (enum observed_kind)kind;
	rest.text += n_letters;
	rest.length -= n_letters;
	if (action.kind == OBSERVED_OTHER ||
	    text_take_count(&rest, SCENARIO_MICROBATCHES_MAX - 1, &action.microbatch) < 0 ||
	    rest.length > 0)
		return false;
	*out = action;
	return true;
}

void action_name_add(enum observed_kind kind, int stage, int microbatch, struct strbuf *out)
{
	strbuf_addf(out, "%d%s%d", stage, letters[kind], microbatch);
}
