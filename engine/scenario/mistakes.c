/* mistakes.c - the list of everything that is wrong with a scenario. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/scenario/scenario.h"

static int keep(struct scenario_mistakes *mistakes, char *sentence)
{
	char **grown = mistakes->sentences;

	if (!sentence)
		return -ENOMEM;
	grown = array_grow(grown, &mistakes->capacity, mistakes->n_sentences + 1, sizeof(*grown));
	if (!grown) {
		free(sentence);
		return -ENOMEM;
	}
	mistakes->sentences = grown;
	mistakes->sentences[mistakes->n_sentences++] = sentence;
	return 0;
}

int scenario_mistake_add(struct scenario_mistakes *mistakes, int script_line, const char *format,
                         ...)
{
	struct strbuf sentence = {0};
	va_list args;

	if (script_line > 0 && mistakes->script_name)
		strbuf_addf(&sentence, "%s:%d: ", mistakes->script_name, script_line);
	else if (script_line > 0)
		strbuf_addf(&sentence, "line %d: ", script_line);
	va_start(args, format);
	strbuf_vaddf(&sentence, format, args);
	va_end(args);
	if (sentence.is_failed) {
		strbuf_fini(&sentence);
		return -ENOMEM;
	}
	return keep(mistakes, strbuf_take(&sentence));
}

void scenario_mistakes_fini(struct scenario_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->n_sentences; i++)
		free(mistakes->sentences[i]);
	free(mistakes->sentences);
	*mistakes = (struct scenario_mistakes){0};
}
