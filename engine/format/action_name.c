/* action_name.c - the names that PyTorch pipelining gives what a stage does. */
#include "engine/format/action_name.h"

#include "engine/format/text_internal.h"
#include "engine/format/vocabulary.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/topology.h"

bool action_name_parse(const char *text, size_t length, struct action_name *out)
{
	struct text_span rest = text_trim((struct text_span){text, length});
	struct action_name action;
	size_t n_letters = 0;

	if (text_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &action.stage) < 0)
		return false;
	while (n_letters < rest.length && !text_is_digit(rest.text[n_letters]))
		n_letters++;
	if (!vocabulary_find(VOCABULARY_PYTORCH, rest.text, n_letters, &action.kind))
		return false;
	rest.text += n_letters;
	rest.length -= n_letters;
	if (text_take_count(&rest, SCENARIO_MICROBATCHES_MAX - 1, &action.microbatch) < 0 ||
	    rest.length > 0)
		return false;
	*out = action;
	return true;
}

void action_name_add(enum observed_kind kind, int stage, int microbatch, struct strbuf *out)
{
	strbuf_addf(out, "%d%s%d", stage, vocabulary_word(VOCABULARY_PYTORCH, kind), microbatch);
}
